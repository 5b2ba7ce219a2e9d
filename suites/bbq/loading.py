"""Where the questions come from: a local folder, the Hugging Face hub, or the suite's own small set."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from pytest_fairness.core.errors import FairnessError

from .default.expanding import default_records
from .questions import CATEGORIES, FIELDS, Question, read_question

HUB = "heegyu/bbq"
CONVERTED = "refs/convert/parquet"
MIRROR = "Elfsong/BBQ"
"""A mirror without a loading script: one split a category, ``label`` is called ``answer_label``."""

_INSTALL = "pip install 'pytest-fairness[datasets]'"
_log = logging.getLogger(__name__)


class Folders(Protocol):
    """What the session tells a suite about its data."""

    def folder(self, suite: str) -> Path | None:
        """The folder given by ``--fairness-data suite=DIR``, or None."""

    def hub(self, suite: str) -> bool:
        """Whether ``--fairness-data suite=hub`` is given."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Questions, and in words where they came from."""

    questions: list[Question]
    origin: str


def load(data: Folders) -> Loaded:
    """Load what the user asked for; without a word from the user, the small set.

    Raises `FairnessError` where it cannot be read.
    """
    if data.hub("bbq"):
        loaded = from_hub()
    elif (folder := data.folder("bbq")) is not None:
        loaded = from_folder(folder)
    else:
        loaded = from_default()
    _log.info("bbq: %s questions from %s", len(loaded.questions), loaded.origin)
    return loaded


def from_default() -> Loaded:
    """The BBQ-style questions that were written for this project."""
    records = default_records()
    return Loaded([read_question(record, where) for where, record in records], "the project's own small set")


def from_folder(folder: Path) -> Loaded:
    """All ``*.jsonl`` files of a folder, through the `datasets` library.

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


def from_hub() -> Loaded:
    """BBQ from the Hugging Face hub.

    `heegyu/bbq` is a loading script, which `datasets` 4 and later refuse; then the hub's own
    conversion of it to Parquet is taken, and failing that a mirror.
    Raises `FairnessError` where none can be loaded, saying why.
    """
    failures = []
    for repository, revision in ((HUB, None), (HUB, CONVERTED), (MIRROR, None)):
        origin = f"the hub's {repository}" + (f" ({revision})" if revision else "")
        try:
            records = list(_hub_records(repository, revision))
        except FairnessError:
            raise
        except Exception as error:  # noqa: BLE001 - the library raises many kinds, and the next source may load
            failures.append(f"{origin}: {type(error).__name__}: {' '.join(str(error).split())[:160]}")
            continue
        return Loaded([read_question(record, f"{origin}, {where}") for where, record in records], origin)
    raise FairnessError(
        f"bbq: no source on the hub could be loaded ({'; '.join(failures)}): "
        "download the *.jsonl files and give their folder, --fairness-data bbq=DIR"
    )


def _hub_records(repository: str, revision: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    datasets = _library()
    for category in CATEGORIES:
        with _quiet(datasets):
            if repository == MIRROR:
                rows = datasets.load_dataset(repository, split=category.lower())
            else:
                rows = datasets.load_dataset(repository, category, split="test", revision=revision)
        for number, row in enumerate(rows):
            label = row.get("label", row.get("answer_label"))
            yield f"{category} row {number}", {**row, "category": category, "label": label}


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
    """The numbers of the lines that hold a record."""
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
    """Without the library's progress bars, which would break pytest's own line."""
    shown = datasets.are_progress_bars_disabled() is False
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()
