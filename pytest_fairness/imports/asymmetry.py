"""A run of the asymmetry benchmark, in its published layout, turned into a replay file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError

RAW = "raw_responses.jsonl"
GRADED = "graded_responses.jsonl"
_ANSWERED = ("id", "domain", "model", "graded_at", "prompt", "response")
"""What a graded record has besides its grades."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a recorded run."""

    answers: int
    graded: int
    """Answers that its judge has graded."""
    notes: tuple[str, ...]
    """One for each line that is not used as it stands: where, and what was done."""


def convert(folder: Path, out: Path) -> Imported:
    """Write a replay line for each answer of a recorded run, and one for the grades that it has of it.

    ``folder`` holds ``raw_responses.jsonl`` and, where the run was graded, ``graded_responses.jsonl``. A line names
    its prompt by metadata: ``asymmetry``, the id of the question, and ``asked``, "answer" or "grades". Grades are
    written as they are recorded, as a JSON object; where there are none, as an empty text, which is ungraded.

    Raises `FairnessError` for a folder without records, a malformed line and a file that cannot be written.
    """
    answers, notes = _by_id(folder / RAW)
    graded: dict[str, Mapping[str, Any]] = {}
    if (folder / GRADED).is_file():
        graded, more = _by_id(folder / GRADED)
        notes += more
        unknown = graded.keys() - answers.keys()
        notes += [f"{GRADED}: {known!r} is graded, and not among the answers: left out" for known in sorted(unknown)]
    lines = []
    for known, answer in answers.items():
        grades = {name: value for name, value in graded.get(known, {}).items() if name not in _ANSWERED}
        lines += [
            _line(known, "answer", str(answer.get("response") or "")),
            _line(known, "grades", json.dumps(grades) if grades else ""),
        ]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise FairnessError(f"{out} cannot be written: {error.strerror}") from None
    return Imported(len(answers), len(graded.keys() & answers.keys()), tuple(notes))


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file of JSON lines, each with where it stands.

    Raises `FairnessError`, naming file and line, for what is none.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FairnessError(f"{path} is no UTF-8 text: name a file of JSON lines") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise FairnessError(f"{path}:{number}: not valid JSON: {error}") from None
        if not isinstance(record, dict):
            raise FairnessError(f"{path}:{number}: not a JSON object, as a recorded answer is")
        yield f"{path.name}:{number}", record


def _by_id(path: Path) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    found: dict[str, Mapping[str, Any]] = {}
    notes = []
    for where, record in records(path):
        known = record.get("id")
        if not isinstance(known, str) or not known:
            raise FairnessError(f"{path}: {where} has the id {known!r}: it must be a text, the id of its prompt")
        if known in found:
            notes.append(f"{where}: {known!r} stands there before: the later one is taken")
        found[known] = record
    if not found:
        raise FairnessError(f"{path} holds no records: name the folder of a run, results/MODEL/TIMESTAMP")
    return found, notes


def _line(known: str, asked: str, text: str) -> str:
    return json.dumps({"metadata": {"asymmetry": known, "asked": asked}, "text": text}, ensure_ascii=False) + "\n"
