"""Instance-level data of Every Eval Ever, the schema of the EvalEval coalition, as a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import Record, finish_reasons, read_document, read_records
from pytest_fairness.harnesses.inspect_ai.log_import import UNREAD
from pytest_fairness.harnesses.lm_eval.samples_import import is_unread
from pytest_fairness.tables import RecordedAnswer, TableImporter

_NOUN = "instance-level data of Every Eval Ever"
_PARTS = {
    "result": "evaluation_result_id",
    "evaluation": "evaluation_name",
    "run": "evaluation_id",
    "model": "model_id",
    "schema": "schema_version",
}
_STOP = ("stop_reason", "finish_reason")
"""The metadata in which converters keep why an answer ended."""
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
    # A sample without a number belongs to each result: it is ungraded in all of them.
    parts = {part: name for part, name in _PARTS.items() if part != "result" or not _has_no_number(record)}
    return RecordedAnswer(
        where,
        str(record["sample_id"]),
        None,
        scores,
        metadata if isinstance(metadata, Mapping) else {},
        _ungraded(record),
        {part: str(record.get(name) or "none") for part, name in parts.items()},
    )


def _ungraded(record: Mapping[str, Any]) -> str:
    """Return the reason that the score of a sample does not count; empty where it does."""
    if error := record.get("error"):
        return f"failed: {error}"
    metadata = record.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    stop = next((metadata[name] for name in _STOP if metadata.get(name)), "")
    if finish_reasons.normalize_reason(stop) in finish_reasons.INCOMPLETE:
        return f"were cut off, filtered or refused: {stop}"
    texts = _answers(record)
    if texts is not None and not any(text.strip() for text in texts):
        return "are empty"
    # The converter of inspect_ai's logs writes what its scorer said in place of the answer.
    if texts and (words := next((words for words in UNREAD if texts[-1].startswith(words)), "")):
        return f"could not be graded: {words}"
    extracted = _extracted(record)
    if extracted and all(is_unread([value]) for value in extracted):
        return "could not be read by the tool's filter"
    return "have no score" if _has_no_number(record) else ""


def _has_no_number(record: Mapping[str, Any]) -> bool:
    """Return whether the converter of lm-evaluation-harness found no number, and wrote the score 0 of no result."""
    metadata = record.get("metadata")
    return (
        record.get("evaluation_result_id") is None
        and isinstance(metadata, Mapping)
        and metadata.get("lm_eval_metrics") is not None
    )


def _answers(record: Mapping[str, Any]) -> list[str] | None:
    """Return the texts of an answer, or of the last turn of a conversation; None where the record has none."""
    output, messages = record.get("output"), record.get("messages")
    if isinstance(output, Mapping):
        raw = output.get("raw")
        return None if raw is None else [str(text or "") for text in (raw if isinstance(raw, list) else [raw])]
    replies = [
        message
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, Mapping) and message.get("role") == "assistant"
    ]
    if not replies or replies[-1].get("tool_calls"):
        return None
    return [str(replies[-1].get("content") or "")]


def _extracted(record: Mapping[str, Any]) -> list[Any]:
    """Return the values that the tool has extracted as final answers."""
    attributions = record.get("answer_attribution")
    return [
        attribution.get("extracted_value")
        for attribution in (attributions if isinstance(attributions, list) else ())
        if isinstance(attribution, Mapping) and attribution.get("is_terminal", True)
    ]
