"""Sources of the questions: a local folder, the Hugging Face hub, or the suite's own small set."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_fairness import DataFolders, FairnessError

from .default.expanding import default_records
from .questions import CATEGORIES, FIELDS, Question, read_question

HUB = "heegyu/bbq"
CONVERTED = "refs/convert/parquet"

_INSTALL = "pip install './pytest-fairness[datasets]'"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Questions, and in words where they came from."""

    questions: list[Question]
    origin: str


def load(data: DataFolders) -> Loaded:
    """Load what the user asked for; without a word from the user, the small set.

    Raises `FairnessError` where it cannot be read.
    """
    if data.hub("bbq"):
        loaded = from_hub(data.revision("bbq"))
    elif (folder := data.folder("bbq")) is not None:
        loaded = from_folder(folder)
    else:
        loaded = from_default()
    _log.info("bbq: %s questions from %s", len(loaded.questions), loaded.origin)
    return loaded


def from_default() -> Loaded:
    """Return the BBQ-style questions that were written for this project."""
    records = default_records()
    return Loaded([read_question(record, where) for where, record in records], "the project's own small set")


def from_folder(folder: Path) -> Loaded:
    """Return all ``*.jsonl`` files of a folder, through the `datasets` library.

    Raises `FairnessError`, naming file and line where one is at fault.
    """
    if not folder.is_dir():
        raise FairnessError(f"bbq: {folder} is no folder: give one with BBQ's *.jsonl files")
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise FairnessError(f"bbq: {folder} holds no *.jsonl file: BBQ has one for each category")
    questions: list[Question] = []
    for file in files:
        # One file at a time: the columns of two categories can differ, and one data set has one schema.
        rows = _rows_of(file)
        questions += [read_question(row, f"{file}:{line}") for line, row in zip(_lines(file), rows, strict=True)]
    return Loaded(questions, f"{folder} ({len(files)} files)")


def from_hub(revision: str) -> Loaded:
    """BBQ from the Hugging Face hub, at one commit: what is measured must not change by itself.

    `heegyu/bbq` is a loading script, which `datasets` 4 and later refuse; they read a commit of the branch
    `refs/convert/parquet`, the hub's own conversion of it.
    Raises `FairnessError` where no commit is given, or it cannot be loaded.
    """
    way_out = "or download BBQ's *.jsonl files and give their folder, --fairness-data bbq=DIR"
    if not re.fullmatch("[0-9a-f]{40}", revision):
        raise FairnessError(
            f"bbq: a data set of the hub changes: pin {HUB} to a commit of its branch {CONVERTED}, "
            f"--fairness-data bbq=hub@COMMIT (40 hexadecimal digits), {way_out}"
        )
    origin = f"the hub's {HUB} ({revision})"
    try:
        records = list(_hub_records(revision))
    except FairnessError:
        raise
    except Exception as error:  # noqa: BLE001 - the library raises many kinds
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raise FairnessError(f"bbq: {origin} could not be loaded ({reason}): name another commit, {way_out}") from None
    return Loaded([read_question(record, f"{origin}, {where}") for where, record in records], origin)


def _hub_records(revision: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    datasets = _library()
    for category in CATEGORIES:
        with _quiet(datasets):
            rows = datasets.load_dataset(HUB, category, split="test", revision=revision)
        for number, row in enumerate(rows):
            yield f"{category} row {number}", {**row, "category": category}


def _rows_of(file: Path) -> list[dict[str, Any]]:
    datasets = _library()
    try:
        with _quiet(datasets):
            table = datasets.Dataset.from_json(str(file))
    except Exception as error:  # noqa: BLE001 - the library raises many kinds, none of which names the line
        _refuse_bad_line(file)
        reason = " ".join(str(error.__cause__ or error).split())[:200]
        raise FairnessError(f"{file}: the datasets library cannot read it: {reason}") from None
    wanted = [name for name in table.column_names if name in FIELDS]
    rows: list[dict[str, Any]] = table.select_columns(wanted).to_list()
    return rows


def _lines(file: Path) -> Iterator[int]:
    """Yield the numbers of the lines that hold a record."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number


def _refuse_bad_line(file: Path) -> None:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                if line.strip() and not isinstance(json.loads(line), dict):
                    raise FairnessError(f"{file}:{number}: not a JSON object, as a BBQ record is")
            except ValueError as error:
                raise FairnessError(f"{file}:{number}: not valid JSON: {error}") from None


def _library() -> Any:
    # Inside a function: importing it takes over a second, and the small set needs none of it.
    try:
        return import_module("datasets")
    except ImportError:
        raise FairnessError(f"bbq: this data is read with the datasets library: {_INSTALL}") from None


@contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Switch off the library's progress bars, which would break pytest's own line."""
    shown = datasets.are_progress_bars_disabled() is False
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()
