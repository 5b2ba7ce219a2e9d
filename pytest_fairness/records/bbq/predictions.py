"""Import of recorded answers to BBQ, in its authors' layout, as a replay file."""

from __future__ import annotations

import logging
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import Importer, counted, did_you_mean, read_records, write_lines
from pytest_fairness.extending import json_text as json

_ANSWERS = ("ans0", "ans1", "ans2")
_ITEM_FIELDS = {
    *("example_id", "question_index", "question_polarity", "context_condition", "category", "answer_info"),
    *("additional_metadata", "context", "question", *_ANSWERS, "label"),
}
"""The fields of a BBQ record; every other column holds the answers of a model."""

_SHORTEST_BEGINNING = 12
"""The least characters of a cut-off answer that is completed: a shorter one could be the beginning of anything."""

_log = logging.getLogger(__name__)


def convert(preds: Path, column: str, out: Path) -> int:
    """Write one replay line for each line of ``preds``, with the answer in ``column``; return their number.

    ``preds`` is a JSONL file, or a folder of them (BBQ has one for each category).
    What matches a choice is written as that choice's text, with the recorded answer in the
    note; what matches none is written as recorded, and its number logged as a warning.
    Raises `FairnessError` for an unknown column, a malformed line or a repeated question.
    """
    lines: list[str] = []
    unmatched: list[str] = []
    seen: dict[tuple[str, int], str] = {}
    for where, record in _records(preds):
        name = _name(record, where)
        if name in seen:
            raise FairnessError(f"{where}: the question {name[0]} {name[1]} stands at {seen[name]} already")
        seen[name] = where
        raw = _answer(record, column, where)
        text = match(raw, record)
        if text is None:
            unmatched.append(where)
        metadata = {"category": name[0], "example_id": name[1]}
        recorded = {"metadata": metadata, "text": raw if text is None else text, "note": {"raw": raw}}
        lines.append(json.dumps(recorded, ensure_ascii=False))
    if not lines:
        raise FairnessError(f"{preds}: no line holds a record")
    write_lines(out, lines)
    if unmatched:
        shown = ", ".join(unmatched[:5]) + (", ..." if len(unmatched) > 5 else "")
        _log.warning("%s of %s answers match no choice and are kept as they are: %s", len(unmatched), len(lines), shown)
    return len(lines)


def match(raw: str, record: Mapping[str, Any]) -> str | None:
    """Return the text of the choice that a recorded answer matches, or None.

    >>> match("unknown.", {"ans0": "The girl", "ans1": "The boy", "ans2": "Unknown", "answer_info": {}})
    'Unknown'
    """
    index = match_index(raw, record)
    return None if index is None else _choices(record)[index]


def match_index(raw: str, record: Mapping[str, Any]) -> int | None:
    """Return the index of the choice that a recorded answer matches, or None.

    The rules are those of the authors' analysis script (BBQ_calculate_bias_score.R): equal
    without case, full stops and apostrophes (UnifiedQA writes O'Brien for Obrien); else the
    beginning of one choice alone, since the model drops letters ("pantsu"); else it holds the
    first two words of the text that names a choice's group.

    >>> match_index("the boy", {"ans0": "The girl", "ans1": "The boy", "ans2": "Unknown", "answer_info": {}})
    1
    """
    answer = _normalized(raw)
    choices = [_normalized(choice) for choice in _choices(record)]
    if answer in choices:
        return choices.index(answer)
    if len(answer) >= _SHORTEST_BEGINNING:
        completions = [index for index, choice in enumerate(choices) if choice.startswith(answer)]
        if len(completions) == 1:
            return completions[0]
    for index, name in enumerate(_ANSWERS):
        words = str((record["answer_info"].get(name) or [""])[0]).split()
        if len(words) >= 2 and _normalized(" ".join(words[:2])) in answer:
            return index
    return None


def _choices(record: Mapping[str, Any]) -> list[str]:
    """Return the choices as the suite shows them: without the stray braces of a few records."""
    return [str(record[name]).replace("{", "").replace("}", "").strip() for name in _ANSWERS]


def columns_of(record: Mapping[str, Any]) -> list[str]:
    """Return the columns that hold the answers of models."""
    return [name for name in record if name not in _ITEM_FIELDS]


def _normalized(text: str) -> str:
    return text.strip().rstrip(".").strip().replace("'", "").lower()


def _records(preds: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each record with its file and line."""
    for file in sorted(preds.glob("*.jsonl")) if preds.is_dir() else [preds]:
        yield from read_records(file, "a BBQ record")


def _name(record: Mapping[str, Any], where: str) -> tuple[str, int]:
    """Return the key of a question: its category, and `example_id`, which starts from 0 in every category."""
    missing = [field for field in ("category", "example_id", "answer_info", *_ANSWERS) if record.get(field) is None]
    if missing:
        raise FairnessError(f"{where}: no field {missing[0]!r}: a record of predictions holds its BBQ item as well")
    if not isinstance(record["answer_info"], dict):
        raise FairnessError(f"{where}: answer_info is {record['answer_info']!r}: it must be an object")
    try:
        return str(record["category"]), int(record["example_id"])
    except (TypeError, ValueError):
        raise FairnessError(f"{where}: example_id is {record['example_id']!r}: it must be a whole number") from None


def _answer(record: Mapping[str, Any], column: str, where: str) -> str:
    columns = columns_of(record)
    if column not in columns:
        if not columns:
            raise FairnessError(f"{where}: no column of answers: it holds the fields of a BBQ item only")
        raise FairnessError(f"{where}: no column {column!r}; {did_you_mean(column, columns)}")
    answer = record[column]
    if not isinstance(answer, str):
        raise FairnessError(f"{where}: {column} is {answer!r}: an answer must be a text")
    return answer


class PredictionsImport(Importer):
    """The import ``bbq-predictions``."""

    help = "predictions in the layout of the BBQ repository"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("predictions", type=Path, metavar="PREDS.jsonl", help="a file, or a folder of them")
        parser.add_argument("--column", required=True, help="the column that holds the answers")

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        count = convert(arguments.predictions, arguments.column, out)
        return [f"{counted(count, 'recorded answer')} written to {out}; test them with --fairness-model replay:{out}"]
