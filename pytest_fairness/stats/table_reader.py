"""Graded attempts from a recorded table."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, did_you_mean, short_repr
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.json_records import read_records

_WORDS = {"true": True, "false": False}
_PLAIN = (bool, int, str)


def attempts(
    rows: Iterable[Mapping[str, Any]],
    *,
    item: str,
    groups: Sequence[str],
    source: str | None = None,
    crossed: str | None = None,
) -> list[GradedAttempt]:
    """Return one graded attempt per row. Raises `FairnessError` for a column that a row lacks."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise FairnessError(f"groups is {short_repr(groups)}: give a list of column names")
    if not isinstance(rows, Iterable):
        raise FairnessError(f"the rows are {short_repr(rows)}: give a list of mappings from column to value")
    table = list(rows)
    roles = [item, *groups, *(name for name in (source, crossed) if name is not None)]
    for name in roles:
        if not isinstance(name, Hashable):
            raise FairnessError(f"a column is {short_repr(name)}: give its name")
    named = set(roles)
    prompts: dict[tuple[Any, ...], Prompt] = {}
    members: dict[str, dict[tuple[Any, ...], Prompt]] = {}
    sources: dict[str, str | None] = {}
    keys = []
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise FairnessError(
                f"row {number + 1} is {short_repr(row)}: give a mapping from column to value, of a DataFrame "
                "df.to_dict('records')"
            )
        if not row.keys() >= named:
            lacking = next(name for name in roles if name not in row)
            raise FairnessError(f"row {number + 1} has no column {lacking!r}: {did_you_mean(lacking, map(str, row))}")
        key = tuple([row[name] for name in roles])
        try:
            is_known = key in prompts
        except TypeError:
            name = next(name for name, value in zip(roles, key, strict=True) if not _has_hash(value))
            raise FairnessError(
                f"row {number + 1}: its {name} is {row[name]!r:.60}: write a text or a number"
            ) from None
        keys.append(key)
        if not is_known:
            metadata = {} if crossed is None or row[crossed] is None else {crossed: str(row[crossed])}
            own = groups_of(row, groups, f"row {number + 1}")
            prompts[key] = Prompt(f"recorded: {row[item]}", groups=own, metadata=metadata)
            members.setdefault(str(row[item]), {})[key] = prompts[key]
            sources[str(row[item])] = None if source is None or row[source] is None else str(row[source])
    shared: dict[tuple[type, Any], Grade] = {}
    items = {name: ProbeItem(name, list(own.values()), sources[name]) for name, own in members.items()}
    return [
        GradedAttempt(
            items[str(key[0])],
            prompts[key],
            Attempt(f"row {number + 1}", number),
            {name: _shared(shared, value) for name, value in row.items() if name not in named},
        )
        for number, (key, row) in enumerate(zip(keys, table, strict=True))
    ]


def read(path: str | Path, texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a CSV, TSV, JSONL or Parquet file; the columns in ``texts`` are kept as they are written.

    Raises `FairnessError` for a file that is missing, of another kind or broken.
    """
    path = Path(path)
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FairnessError(f"{path} ends in {path.suffix!r}: a table ends in {', '.join(readers)}")
    if not path.is_file():
        raise FairnessError(f"there is no file {path}")
    return reader(path, texts)


def groups_of(row: Mapping[str, Any], attributes: Sequence[str], where: str) -> dict[str, str]:
    """Return the groups of a row; one whose attribute is None is in none.

    Args:
        row: The row.
        attributes: The columns of groups.
        where: What the row is called in an error.

    Raises:
        FairnessError: A group has no name: whom the row is about is not known.
    """
    for name in attributes:
        value = row[name]
        if not value.strip() if isinstance(value, str) else str(value) in ("nan", "NaT", "<NA>"):
            raise FairnessError(
                f"{where}: its {name} is {value!r}: name the group, or write null in a JSONL file for a row of none"
            )
    return {name: str(row[name]) for name in attributes if row[name] is not None}


def _has_hash(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _shared(grades: dict[tuple[type, Any], Grade], value: Any) -> Grade:
    """Return one grade per value: a table of millions of fields has a handful of them."""
    if not isinstance(value, _PLAIN):
        return _grade(value)
    key = (type(value), value)
    grade = grades.get(key)
    if grade is None:
        grade = grades[key] = _grade(value)
    return grade


def _grade(value: Any) -> Grade:
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Grade.none("unparsed", "empty in the table")
    if isinstance(value, float | int) and not abs(value) <= sys.float_info.max:
        return Grade.none("unparsed", "no finite number in the table")
    return Grade(value)


def _csv(path: Path, texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        reader = csv.DictReader(file, delimiter=separator)
        try:
            names = list(reader.fieldnames or ())
            if len(names) == 1 and (other := next((mark for mark in ";,\t|" if mark in names[0]), None)):
                raise FairnessError(f"{path}: its fields are separated by {other!r}: separate them by {separator!r}")
            if twice := next((name for name in names if name and names.count(name) > 1), None):
                raise FairnessError(f"{path}: two columns are called {twice!r}: give each a name of its own")
            for row in reader:
                if None in row or None in row.values():
                    raise FairnessError(f"{path}, line {reader.line_num}: its fields are not those of the first line")
                yield {name: value if name in texts else _value(value) for name, value in row.items()}
        except UnicodeDecodeError:
            raise FairnessError(f"{path} is not UTF-8: save it so") from None


def _value(text: str) -> Any:
    """Return what a field of a CSV file means: nothing, true or false, a number, or a text."""
    text = text.strip()
    if not text:
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def _jsonl(path: Path, _: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    return (row for _, row in read_records(path, "a row of a table"))


def _parquet(path: Path, _: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    try:
        from pyarrow import ArrowException  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError as error:
        raise FairnessError("reading Parquet needs pyarrow: pip install pyarrow") from error
    try:
        for batch in ParquetFile(path).iter_batches():
            yield from batch.to_pylist()
    except ArrowException as error:
        raise FairnessError(f"{path} is no Parquet file: {error}") from error
