"""``samples_*.jsonl``, which lm-evaluation-harness writes with ``--log_samples``, as a table."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.json_records import Record, read_records
from pytest_fairness.imports.recorded_answers import RecordedAnswer, TableImporter

_NOUN = "a sample of lm-evaluation-harness"
_SAMPLE_FIELDS = frozenset(
    [
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    ]
)
"""The fields of a sample that are not metrics."""
_UNREAD = "[invalid]"
"""The text that a filter of lm-evaluation-harness gives for an answer that it cannot read."""
_FILE = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*")


class LmEvalImport(TableImporter):
    """The import ``lm-eval``."""

    help = "samples of lm-evaluation-harness (--log_samples), as a table with a row for each"
    parts = "filter"

    def add_files(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            nargs="+",
            metavar="SAMPLES.jsonl",
            help="samples_TASK_DATE.jsonl; several where they are tasks with the same metrics",
        )

    def read(self, arguments: Namespace, notes: list[str]) -> Iterator[RecordedAnswer]:  # noqa: ARG002
        files: list[Path] = arguments.file
        metrics: dict[Path, set[str]] = {}
        for file in files:
            metrics[file] = set()
            for where, sample in read_records(file, _NOUN):
                answer = _answer(where, sample, _task(file) if len(files) > 1 else "")
                metrics[file] |= answer.scores.keys()
                yield answer
            if metrics[file] != metrics[files[0]]:
                raise FairnessError(
                    f"{file} has other metrics than {files[0]}: {', '.join(sorted(metrics[file] ^ metrics[files[0]]))};"
                    " import them one by one"
                )


def _answer(where: str, sample: Record, task: str) -> RecordedAnswer:
    if "doc_id" not in sample or not isinstance(sample.get("doc"), Mapping | str):
        raise FairnessError(
            f"{where} is no sample of lm-evaluation-harness, which has doc_id and doc: name a samples_*.jsonl"
        )
    names = sample.get("metrics")  # written since 0.4.3
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        names = [name for name in sample if name not in _SAMPLE_FIELDS]
    doc = sample["doc"] if isinstance(sample["doc"], Mapping) else {}
    number = f"{sample['doc_id']}"
    return RecordedAnswer(
        where,
        f"{task}/{number}" if task else number,
        1,
        {name: sample.get(name) for name in names if name != "bypass"},
        {**({"task": task} if task else {}), **doc, "target": sample.get("target")},
        _ungraded(sample),
        {"filter": str(sample.get("filter", "none"))},
    )


def _ungraded(sample: Record) -> str:
    """Return the reason that the metrics of a sample do not count; empty where they do."""
    if (answers := list(_texts(sample.get("resps")))) and not any(text.strip() for text in answers):
        return "are empty"
    if (read := list(_texts(sample.get("filtered_resps")))) and all(text.strip() == _UNREAD for text in read):
        return "could not be read by the filter"
    return ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif value is not None:
        yield str(value)


def _task(file: Path) -> str:
    match = _FILE.fullmatch(file.name)
    return match["task"] if match else file.name.partition(".")[0]
