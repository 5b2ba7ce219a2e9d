"""Sources of the questions: a local folder, the Hugging Face hub, or the suite's own small set."""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_fairness import DataFolders, FairnessError
from pytest_fairness.extending import Record, read_records
from pytest_fairness.records.bbq.questions import CATEGORIES, FIELDS, BBQQuestion, read_question

from .default.templates import default_records
from .layouts import COLUMNS, ESBBQ_CATEGORIES, MBBQ_NAME, is_catalan, layout_of, read_esbbq, read_kobbq

HUB = "heegyu/bbq"
CONVERTED = "refs/convert/parquet"
HUBS = {"esbbq": "BSC-LT/EsBBQ", "cabbq": "BSC-LT/CaBBQ", "kobbq": "naver-ai/kobbq"}
"""Data sets of the hub in other languages, by the name that ``NAME = "hub@COMMIT"`` has for each."""
NAMES = ("bbq", "mbbq", *HUBS)
"""The names by which ``[tool.pytest-fairness.data]`` gives questions."""

_ALL_COLUMNS = (*FIELDS, *COLUMNS)
_INSTALL = "pip install './pytest-fairness[datasets]'"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedQuestions:
    """Questions, and in words where they came from."""

    questions: list[BBQQuestion]
    origin: str


def load(data: DataFolders) -> LoadedQuestions:
    """Load what the user named; without a name, the small set.

    Raises `FairnessError` where it cannot be read, or two data sets are named.
    """
    named = [name for name in NAMES if data.hub(name) or data.folder(name) is not None]
    if len(named) > 1:
        raise FairnessError(
            f"[tool.pytest-fairness.data] names {' and '.join(named)}: one run is about one of them, "
            "since a verdict pools its questions"
        )
    if not named:
        loaded = from_default()
    elif (folder := data.folder(named[0])) is not None:
        loaded = from_folder(folder)
    else:
        loaded = from_hub(data.revision(named[0]), named[0])
    _log.info("bbq: %s questions from %s", len(loaded.questions), loaded.origin)
    return loaded


def from_default() -> LoadedQuestions:
    """Return the BBQ-style questions that were written for this project."""
    records = default_records()
    return LoadedQuestions([read_question(record, where) for where, record in records], "the project's own small set")


def from_folder(folder: Path) -> LoadedQuestions:
    """Return all questions of a folder in the layout of BBQ, MBBQ, EsBBQ, CaBBQ or KoBBQ.

    Of MBBQ the control sets are left out; of EsBBQ and CaBBQ a CSV is taken before the JSON lines of the same name;
    of KoBBQ the samples of its test before all samples. Raises `FairnessError`, naming file and line where one is
    at fault.
    """
    if not folder.is_dir():
        raise FairnessError(f"bbq: {folder} is no folder: give one with BBQ's *.jsonl files")
    files, left_out = _chosen(folder)
    if not files:
        below = sorted(path.name for path in folder.iterdir() if path.is_dir() and _chosen(path)[0])
        raise FairnessError(
            f"bbq: {folder} holds no *.jsonl file: BBQ has one for each category"
            + (f"; its folder {below[0]} has such files: name that" if below else "")
        )
    questions: list[BBQQuestion] = []
    for file in files:
        questions += _questions_of(file)
    left_out = f"; {left_out} left out" if left_out else ""
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    return LoadedQuestions(questions, f"{folder} ({count}{left_out})")


def _chosen(folder: Path) -> tuple[list[Path], str]:
    """Return the files that hold questions, and in words those that are left out."""
    tables = sorted(folder.glob("*.tsv"))
    tests = [file for file in tables if file.stem.endswith("_test_samples")]
    samples = [file for file in tables if file.stem.endswith("_samples")]
    tables = tests or samples or tables
    rows = sorted(folder.glob("*.csv"))
    names = {file.stem for file in rows}
    lines = [file for file in sorted(folder.glob("*.jsonl")) if file.stem not in names]
    controls = [file for file in lines if (match := MBBQ_NAME.fullmatch(file.stem)) and match["control"]]
    kept = [file for file in lines if file not in controls]
    return [*kept, *rows, *tables], f"{len(controls)} control sets" if controls else ""


def _questions_of(file: Path) -> list[BBQQuestion]:
    records = _records_of(file)
    layout = layout_of(records[0][1]) if records else None
    if layout == "KoBBQ":
        return [read_kobbq(record, where) for where, record in records]
    if layout == "EsBBQ":
        language = "ca" if is_catalan(str(record.get("context")) for _, record in records[:200]) else "es"
        return [read_esbbq(record, where, language) for where, record in records]
    named = MBBQ_NAME.fullmatch(file.stem)
    benchmark, language = ("MBBQ", named["language"]) if named else ("BBQ", "en")
    return [read_question(record, where, benchmark=benchmark, language=language) for where, record in records]


def from_hub(revision: str, name: str = "bbq") -> LoadedQuestions:
    """Return a data set of the Hugging Face hub at one commit: what is measured must not change by itself.

    `heegyu/bbq` is a loading script, which `datasets` 4 and later refuse; they read a commit of the branch
    `refs/convert/parquet`, the hub's own conversion of it.
    Raises `FairnessError` where no commit is given, or it cannot be loaded.
    """
    if name == "mbbq":
        raise FairnessError(
            "mbbq: MBBQ is not read from the hub: download its files from github.com/Veranep/MBBQ "
            'and give their folder, mbbq = "DIR" in [tool.pytest-fairness.data]'
        )
    repository = HUBS.get(name, HUB)
    what = "BBQ's *.jsonl files" if name == "bbq" else "its published files"
    way_out = f'or download {what} and give their folder, {name} = "DIR" in [tool.pytest-fairness.data]'
    if not re.fullmatch("[0-9a-f]{40}", revision):
        branch = f" of its branch {CONVERTED}" if name == "bbq" else ""
        raise FairnessError(
            f"{name}: a data set of the hub changes: pin {repository} to a commit{branch}, "
            f'{name} = "hub@COMMIT" (40 hexadecimal digits), {way_out}'
        )
    origin = f"the hub's {repository} ({revision})"
    try:
        records = list(_hub_records(name, repository, revision))
    except FairnessError:
        raise
    except Exception as error:  # noqa: BLE001 - the library raises many kinds
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raise FairnessError(
            f"{name}: {origin} could not be loaded ({reason}): name another commit, {way_out}"
        ) from None
    readers: dict[str, Callable[[Mapping[str, Any], str], BBQQuestion]] = {
        "bbq": read_question,
        "kobbq": read_kobbq,
        "esbbq": partial(read_esbbq, language="es"),
        "cabbq": partial(read_esbbq, language="ca"),
    }
    return LoadedQuestions([readers[name](record, f"{origin}, {where}") for where, record in records], origin)


def _hub_records(name: str, repository: str, revision: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    datasets = _library()
    subsets = {"bbq": CATEGORIES, "kobbq": (None,)}.get(name, ESBBQ_CATEGORIES)
    for subset in subsets:
        with _quiet(datasets):
            rows = datasets.load_dataset(repository, subset, split="test", revision=revision)
        for number, row in enumerate(rows):
            yield f"{subset or 'test'} row {number}", {**row, "category": subset} if name == "bbq" else row


def _records_of(file: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the records of a file, each with its place.

    Raises `FairnessError` for a file that cannot be read, and for one of another layout.
    """
    records = list(read_records(file, "a BBQ record") if file.suffix == ".jsonl" else _table_rows(file))
    columns = {name: None for _, record in records for name in record}
    if records and layout_of(columns) is None:
        raise FairnessError(
            f"{file} has the columns {', '.join(columns)[:120]}: "
            "bbq reads BBQ, MBBQ, EsBBQ, CaBBQ and KoBBQ as they are published"
        )
    return [(where, {name: record.get(name) for name in columns if name in _ALL_COLUMNS}) for where, record in records]


def _table_rows(file: Path) -> Iterator[tuple[str, Record]]:
    """Yield the rows of a table with every cell as it is written: "None" and "n/a" are texts of the benchmark.

    A row may be several lines, so that rows are counted.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t" if file.suffix == ".tsv" else ",", strict=True)
            for number, row in enumerate(reader, 1):
                if None in row or None in row.values():
                    raise FairnessError(f"{file}, row {number}: its fields are not those of the first line")
                yield f"{file}, row {number}", row
    except UnicodeDecodeError:
        raise FairnessError(f"{file} is not UTF-8: save it so") from None
    except csv.Error as error:
        raise FairnessError(f"{file} cannot be read: {error}") from None


def _library() -> Any:
    # Inside a function: importing it takes over a second, and the small set needs none of it.
    try:
        return import_module("datasets")
    except ImportError:
        raise FairnessError(f"bbq: data of the hub are read with the datasets library: {_INSTALL}") from None


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
