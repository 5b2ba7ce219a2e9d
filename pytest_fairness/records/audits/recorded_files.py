"""Downloaded folders of recorded answers: their files, and the fields of a record."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pytest_fairness import FairnessError
from pytest_fairness.extending import is_number, read_records

T = TypeVar("T")

LINES = ("*.jsonl", "*.jsonl.xz")
RECORD = "a recorded answer"
"""One object of these files, for messages."""


def stem(path: Path) -> str:
    """Return a file's name without its ending.

    >>> stem(Path("gpt-3.5-turbo.jsonl.xz"))
    'gpt-3.5-turbo'
    """
    return path.name.removesuffix(".xz").removesuffix(".jsonl").removesuffix(".json")


def line_records(folder: Path, noun: str = RECORD) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Yield the objects of all files of JSON lines in a folder, each with its file, and its file and line in words."""
    for path in line_files(folder):
        for where, record in read_records(path, noun):
            yield path, where, record


def field(record: dict[str, Any], name: str, kind: type[T], where: str) -> T:
    """Return a field of a record. Raises `FairnessError` where it is missing or of another type."""
    value = record.get(name)
    if not isinstance(value, kind):
        problem = f"is {value!r:.60}" if name in record else "is missing"
        raise FairnessError(f"{where}: {name} {problem}: it must be {_NOUNS.get(kind, kind.__name__)}")
    return value


def number(value: object, name: str, where: str) -> float:
    """Return a number of a record. Raises `FairnessError` for any other value, and for one too large to count with.

    >>> number(3, "score", "scores.jsonl:1")
    3.0
    """
    if is_number(value):
        with suppress(OverflowError):  # a whole number of JSON may have any number of digits
            if math.isfinite(found := float(value)):
                return found
    raise FairnessError(f"{where}: {name} is {value!r:.60}: it must be a number")


_NOUNS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "a whole number"}


def line_files(folder: Path) -> list[Path]:
    """Return the files of JSON lines in a folder, by name."""
    files: dict[str, Path] = {}
    for path in sorted(path for pattern in LINES for path in folder.glob(pattern)):
        if (first := files.setdefault(stem(path), path)) is not path:
            raise FairnessError(f"{first} and {path.name} are of one model: keep one")
    return list(files.values())


def read_csv(path: Path) -> list[list[str]]:
    """Return the rows of a table, its head first. Raises `FairnessError` where it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FairnessError(f"{path} cannot be read: {error}") from None


def read_table(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of a table by its head, each with its file and line. Raises `FairnessError`.

    Empty rows are left out; what a row lacks at its end is empty.
    """
    head, *rows = read_csv(path) or [[]]
    return [
        (f"{path}, row {count}", {name: row[index] if index < len(row) else "" for index, name in enumerate(head)})
        for count, row in enumerate(rows, 2)
        if row
    ]
