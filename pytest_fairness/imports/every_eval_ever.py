"""Instance-level data of Every Eval Ever, the schema of the EvalEval coalition, as a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.json_records import Record, read_document, read_records
from pytest_fairness.imports.recorded_answers import RecordedAnswer, TableImporter

_NOUN = "instance-level data of Every Eval Ever"
_PARTS = {
    "result": "evaluation_result_id",
    "evaluation": "evaluation_name",
    "run": "evaluation_id",
    "model": "model_id",
    "schema": "schema_version",
}
_REQUIRED = ("evaluation_name", "sample_id", "evaluation")


class EveryEvalEverImport(TableImporter):
    """The import ``every-eval-ever``."""

    help = "instance-level data of Every Eval Ever (UUID_samples.jsonl), as a table with a row for each sample"
    parts = ", ".join(_PARTS)

    def add_files(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            metavar="FILE",
            help="UUID_samples.jsonl, or UUID.json with its samples in the same folder",
        )

    def read(self, arguments: Namespace, notes: list[str]) -> Iterator[RecordedAnswer]:  # noqa: ARG002
        for where, record in read_records(_samples_of(arguments.file), _NOUN):
            yield _answer(where, record)


def _samples_of(file: Path) -> Path:
    """Return the file of samples of an aggregate file, which names it by its path in the shared repository."""
    if file.suffix != ".json":
        return file
    aggregate = read_document(file, "a file of Every Eval Ever")
    if "evaluation_results" not in aggregate:
        raise FairnessError(f"{file} is no file of Every Eval Ever: it has no evaluation_results")
    samples = file.with_name(f"{file.stem}_samples.jsonl")
    if not samples.is_file():
        raise FairnessError(
            f"{file} has results without their samples: there is no {samples.name} in its folder, and no interval "
            "can be made of a score alone"
        )
    return samples


def _answer(where: str, record: Record) -> RecordedAnswer:
    evaluation = record.get("evaluation")
    missing = [name for name in _REQUIRED if record.get(name) is None]
    if missing or not isinstance(evaluation, Mapping):
        raise FairnessError(f"{where}: no {(missing or ['evaluation'])[0]!r}: {_NOUN} has {', '.join(_REQUIRED)}")
    scores = {name: evaluation.get(name) for name in ("score", "is_correct")}
    metadata = record.get("metadata")
    return RecordedAnswer(
        where,
        str(record["sample_id"]),
        None,
        scores,
        metadata if isinstance(metadata, Mapping) else {},
        _ungraded(record),
        {part: str(record[name]) for part, name in _PARTS.items() if record.get(name) is not None},
    )


def _ungraded(record: Mapping[str, Any]) -> str:
    """Return the reason that the score of a sample does not count; empty where it does."""
    if record.get("error"):
        return "failed"
    output = record.get("output")
    raw = output.get("raw") if isinstance(output, Mapping) else None
    texts = raw if isinstance(raw, list) else [raw]
    return "are empty" if raw is not None and not any(str(text or "").strip() for text in texts) else ""
