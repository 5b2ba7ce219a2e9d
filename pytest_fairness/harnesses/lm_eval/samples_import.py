"""``samples_*.jsonl``, which lm-evaluation-harness writes with ``--log_samples``, as a table."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import Record, read_records
from pytest_fairness.tables import RecordedAnswer, TableImporter

_NOUN = "a sample of lm-evaluation-harness"
_SAMPLE_FIELDS = frozenset(
    [
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    ]
)
"""The fields of a sample that are not metrics."""
_UNREAD = (None, "", "[invalid]")
"""The values that filters of lm-evaluation-harness give for an answer that they cannot read."""
_FILE = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*")


class LmEvalImport(TableImporter):
    """The import ``lm-eval``."""

    help = "samples of lm-evaluation-harness (--log_samples), as a table with a row for each"
    parts = "filter, folder"

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
                answer = _answer(where, sample, _task(file) if len(files) > 1 else "", _folder(file))
                metrics[file] |= answer.scores.keys()
                yield answer
            if metrics[file] != metrics[files[0]]:
                raise FairnessError(
                    f"{file} has other metrics than {files[0]}: {', '.join(sorted(metrics[file] ^ metrics[files[0]]))};"
                    " import them one by one"
                )


def _folder(file: Path) -> str:
    """Return the name of a file's folder, which lm-evaluation-harness calls by the model."""
    return file.resolve().parent.name


def _answer(where: str, sample: Record, task: str, folder: str) -> RecordedAnswer:
    if "doc_id" not in sample or not isinstance(sample.get("doc"), Mapping | str):
        raise FairnessError(
            f"{where} is no sample of lm-evaluation-harness, which has doc_id and doc: name a samples_*.jsonl"
        )
    names = sample.get("metrics")  # written since 0.4.3
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        names = [name for name in sample if name not in _SAMPLE_FIELDS]
    doc = sample["doc"] if isinstance(sample["doc"], Mapping) else {"doc": sample["doc"]}
    number = f"{sample['doc_id']}"
    return RecordedAnswer(
        where,
        f"{task}/{number}" if task else number,
        1,
        {name: sample.get(name) for name in names if name != "bypass"},
        {**({"task": task} if task else {}), **doc, "target": sample.get("target")},
        _ungraded(sample),
        {"filter": str(sample.get("filter", "none")), "folder": folder},
    )


def _ungraded(sample: Record) -> str:
    """Return the reason that the metrics of a sample do not count; empty where they do."""
    answers = list(_entries(sample.get("resps")))
    if answers and all(entry is None or not str(entry).strip() for entry in answers):
        return "are empty"
    has_filter = "filtered_resps" in sample
    return "could not be read by the filter" if has_filter and is_unread(sample["filtered_resps"]) else ""


def is_unread(filtered: Any) -> bool:
    """Return whether a filter could read none of the responses to a document.

    >>> [is_unread(filtered) for filtered in (["[invalid]"], [["[invalid]", "A"]], [None], [], [["-3.5", "False"]])]
    [True, False, True, False, False]
    """
    entries = list(_entries(filtered))
    read = (entry.strip() if isinstance(entry, str) else entry for entry in entries)
    return bool(entries) and all(isinstance(entry, str | None) and entry in _UNREAD for entry in read)


def _entries(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for entry in value:
            yield from _entries(entry)
    else:
        yield value


def _task(file: Path) -> str:
    match = _FILE.fullmatch(file.name)
    return match["task"] if match else file.name.partition(".")[0]
