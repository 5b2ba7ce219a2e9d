"""A run of the asymmetry benchmark, in its published layout, turned into a replay file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import Importer, counted, read_records, write_lines
from pytest_fairness.extending import json_text as json

RAW = "raw_responses.jsonl"
GRADED = "graded_responses.jsonl"
RECORD = "a recorded answer"
_ANSWERED = ("id", "domain", "model", "graded_at", "prompt", "response")
"""The fields of a graded record besides its grades."""


@dataclass(frozen=True, slots=True)
class ImportedAsymmetry:
    """Counts and notes of an imported run."""

    answers: int
    graded: int
    """Answers that its judge has graded."""
    notes: tuple[str, ...]
    """One for each line that is not used unchanged: its position, and what was done."""


def convert(folder: Path, out: Path) -> ImportedAsymmetry:
    """Write a replay line for each answer of a recorded run, and one for its grades.

    ``folder`` holds ``raw_responses.jsonl`` and, where the run was graded, ``graded_responses.jsonl``. The prompt
    of a line is given by metadata: ``asymmetry``, the id of the question, and ``asked``, "answer" or "grades". Grades
    are written as recorded, as a JSON object; without grades the text is empty, which is ungraded.

    Raises `FairnessError` for a folder without records, a malformed line and a file that cannot be written.
    """
    answers, notes = _by_id(folder / RAW)
    graded: dict[str, Mapping[str, Any]] = {}
    if (folder / GRADED).is_file():
        graded, graded_notes = _by_id(folder / GRADED)
        notes += graded_notes
        unknown = graded.keys() - answers.keys()
        notes += [f"{GRADED}: {id_!r} is graded, and not among the answers: left out" for id_ in sorted(unknown)]
    lines = []
    for id_, answer in answers.items():
        grades = {name: value for name, value in graded.get(id_, {}).items() if name not in _ANSWERED}
        lines += [
            _line(id_, "answer", str(answer.get("response") or "")),
            _line(id_, "grades", json.dumps(grades) if grades else ""),
        ]
    write_lines(out, lines)
    return ImportedAsymmetry(len(answers), len(graded.keys() & answers.keys()), tuple(notes))


def _by_id(path: Path) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    by_id: dict[str, Mapping[str, Any]] = {}
    notes = []
    for where, record in read_records(path, RECORD):
        id_ = record.get("id")
        if not isinstance(id_, str) or not id_:
            raise FairnessError(f"{where} has the id {id_!r}: it must be a text, the id of its prompt")
        if id_ in by_id:
            notes.append(f"{where}: {id_!r} stands there before: the later one is taken")
        by_id[id_] = record
    if not by_id:
        raise FairnessError(f"{path} holds no records: name the folder of a run, results/MODEL/TIMESTAMP")
    return by_id, notes


def _line(id_: str, kind: str, text: str) -> str:
    return json.dumps({"metadata": {"asymmetry": id_, "asked": kind}, "text": text}, ensure_ascii=False)


class AsymmetryImport(Importer):
    """The import ``asymmetry``."""

    help = "a run of the asymmetry benchmark, with its grades where it has any"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="results/MODEL/TIMESTAMP")

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        imported = convert(arguments.folder, out)
        summary = f"{counted(imported.answers, 'answer')}, {imported.graded:,} of them graded, written to {out}"
        options = f"--fairness-data asymmetry={arguments.folder} --fairness-model replay:{out}"
        return [*imported.notes, f"{summary}; test them with {options}"]
