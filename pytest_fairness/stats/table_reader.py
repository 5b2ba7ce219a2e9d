"""Graded attempts from a recorded table."""

from __future__ import annotations

import csv
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, did_you_mean, short_repr
from pytest_fairness.core.formatting import counted, plain_name
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.json_records import read_records
from pytest_fairness.core.placebos import ORIGINAL, PLACEBO
from pytest_fairness.stats.frames import read_frame
from pytest_fairness.stats.table_columns import (
    columns_of,
    failure_columns,
    failure_in,
    is_missing,
    refuse_models,
    select_rows,
)

_WORDS = {"true": True, "false": False}
_PLAIN = (bool, int, str)
_SEPARATOR = "sep="
"""The beginning of a first line in which spreadsheets declare the separator of fields."""
_OTHER_FILES = {
    b"PK\x03\x04": "a spreadsheet's own file",
    b"\xd0\xcf\x11\xe0": "a spreadsheet's own file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a compressed file",
}
"""The first bytes of files that are no text, whatever their names end in."""
_UNNAMED = "Unnamed: {}"
"""The name that pandas gives a column without one, such as the index in its own CSV files."""
ExtremesOf = Sequence[Any] | Callable[[Prompt], Sequence[Any]]
"""The extreme values of a grade, or a function from a prompt to them."""
_NO_GROUPS = frozenset(
    ("", "nan", "NaN", "NaT", "<NA>", "null", "NULL", "undefined", "n/a", "N/A", "#N/A", "#NULL!", "#REF!", "#VALUE!")
)
"""The texts that programs write for a value that is missing. None and NA may be names: a faith, and a country."""
MANY_TIMES = 10
"""A group is rare beside one of this many times as many rows."""
SHORTEST_NAME = 4
"""The fewest characters of a name of which another may be a misspelling."""
DEEPEST = 4
"""The deepest level of nested objects that becomes columns."""


def read_attempts(
    rows: Iterable[Mapping[str, Any]],
    *,
    item: str,
    groups: Sequence[str],
    source: str | None = None,
    crossed: str | None = None,
    placebo: str | None = None,
    select: Mapping[str, Any] | None = None,
    grades: Sequence[str] | None = None,
) -> tuple[list[GradedAttempt], list[Mapping[str, Any]]]:
    """Return the selected rows, and one graded attempt for each.

    Raises `FairnessError` for a column that a row lacks, for groups that look alike, and for answers of several models.
    """
    roles = _read_roles(item, groups, source, crossed, placebo)
    named = set(roles)
    numbered = _selected_rows(rows, item, groups, roles, select or {})
    columns = columns_of(row for _, row in numbered)
    only = None if grades is None else set(_read_grades(grades, roles))
    for name in (*roles, *(only or ())):
        if numbered and name not in columns:
            raise FairnessError(f"the table has no column {short_repr(name)}: {did_you_mean(name, map(str, columns))}")
    failures = failure_columns([row for _, row in numbered], {*named, *(select or {}), *(only or ())})
    prompts: dict[tuple[Any, ...], Prompt] = {}
    members: dict[str, dict[tuple[Any, ...], Prompt]] = {}
    sources: dict[str, str | None] = {}
    keys: list[tuple[Any, ...]] = []
    written: dict[tuple[Any, Any], str] = {}
    for number, row in numbered:
        if not row.keys() >= named:
            lacking = next(name for name in roles if name not in row)
            raise FairnessError(f"row {number} has no column {lacking!r}: {did_you_mean(lacking, map(str, row))}")
        key = tuple([row[name] if type(row[name]) is str else _id(row, name, number, written) for name in roles])
        is_known = key in prompts
        keys.append(key)
        if not is_known:
            if is_missing(row[item]):
                raise FairnessError(f"row {number}: its {item} is empty")
            drawn = {name: column for name, column in ((crossed, crossed), (PLACEBO, placebo)) if column is not None}
            metadata = {str(name): str(row[column]) for name, column in drawn.items() if not is_missing(row[column])}
            own = groups_of(row, groups, f"row {number}")
            prompts[key] = Prompt(f"recorded: {row[item]}", groups=own, metadata=metadata)
            members.setdefault(str(row[item]), {})[key] = prompts[key]
            sources[str(row[item])] = None if source is None or is_missing(row[source]) else str(row[source])
    for name in groups:
        named_groups = (prompts[key].groups.get(name) for key in keys)
        check_groups(name, zip((number for number, _ in numbered), named_groups, strict=True))
    if placebo is not None:
        _check_levels(placebo, {str(row[placebo]) for _, row in numbered if not is_missing(row[placebo])})
    shared: dict[tuple[type, Any], Grade] = {}
    items = {name: ProbeItem(name, list(own.values()), sources[name]) for name, own in members.items()}
    graded = [
        GradedAttempt(
            items[str(key[0])],
            prompts[key],
            Attempt(f"row {number}", number - 1),
            {
                name: _shared(shared, value)
                for name, value in row.items()
                if name not in named and (only is None or name in only)
            }
            | _failed(row, named, failures),
        )
        for key, (number, row) in zip(keys, numbered, strict=True)
    ]
    return graded, [row for _, row in numbered]


def check_groups(attribute: str, groups: Iterable[tuple[int, str | None]]) -> None:
    """Check the names of groups: one that is spelled in two ways would be missing from every comparison.

    A warning names a group of few rows within an edit of another: a typing error, or a rare group.

    Args:
        attribute: The column.
        groups: The number and the group of each row.

    Raises:
        FairnessError: Two groups look alike: they differ in blanks, case or invisible characters.
    """
    first: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for number, group in groups:
        if group is not None:
            first.setdefault(group, number)
            counts[group] += 1
    plain_names: dict[str, str] = {}
    for group in first:
        other = plain_names.setdefault(plain_name(group), group)
        if other != group:
            raise FairnessError(
                f"{attribute} has two groups that look alike, {other!a} (row {first[other]}) and {group!a} "
                f"(row {first[group]}): write one name"
            )
    for group, count in counts.items():
        near = [other for other in counts if counts[other] >= MANY_TIMES * count and is_near(group, other)]
        if near:
            warnings.warn(
                f"{attribute} is {group!r} in {counted(count, 'row')}, first in row {first[group]}: should it be "
                f"{near[0]!r}, as in {counted(counts[near[0]], 'row')}?",
                stacklevel=5,
            )


def is_near(name: str, other: str) -> bool:
    """Return whether two names of four letters or more differ by one letter, or by two that are exchanged.

    >>> is_near("womam", "woman"), is_near("wman", "woman"), is_near("wmoan", "woman"), is_near("male", "female")
    (True, True, True, False)
    >>> is_near("age 18", "age 19")
    False
    """
    start = _shared_letters(name, other)
    end = _shared_letters(name[start:][::-1], other[start:][::-1])
    first, second = name[start : len(name) - end], other[start : len(other) - end]
    is_edit = max(len(first), len(second)) <= 1 or (len(first) == 2 and first == second[::-1])
    return is_edit and min(len(name), len(other)) >= SHORTEST_NAME and f"{first}{second}".isalpha()


def _shared_letters(name: str, other: str) -> int:
    """Return the number of letters with which both names begin."""
    return next(
        (index for index, pair in enumerate(zip(name, other, strict=False)) if len(set(pair)) > 1),
        min(len(name), len(other)),
    )


def _read_grades(grades: Sequence[str], roles: Sequence[str]) -> Sequence[str]:
    """Return the columns that are grades. Raises `FairnessError` for no list, and for one with another role."""
    if isinstance(grades, str) or not isinstance(grades, Sequence):
        raise FairnessError(f"grades is {short_repr(grades)}: give a list of column names")
    if twice := next((name for name in grades if name in roles), None):
        raise FairnessError(f"{twice!r} is a grade and has another role: leave it out of `grades`")
    return grades


def _check_levels(placebo: str, levels: set[str]) -> None:
    """Check the values of a placebo's column: answers at any level but the original are read by flips alone."""
    # test_table_names_the_original_of_its_placebo
    if ORIGINAL not in levels or len(levels) < 2:
        raise FairnessError(
            f"the column {placebo!r} holds {', '.join(map(repr, sorted(levels)[:3])) or 'nothing'}: a placebo has the "
            f"value {ORIGINAL!r} in answers to a text that was reworded, and another in those to each wording of it"
        )
    if alike := next((level for level in sorted(levels - {ORIGINAL}) if plain_name(level) == ORIGINAL), None):
        raise FairnessError(f"the column {placebo!r} holds {alike!r}, which looks like {ORIGINAL!r}: write one of them")


def _failed(row: Mapping[str, Any], roles: Collection[str], failures: Sequence[str]) -> dict[str, Grade]:
    """Return the grades of a row that are none, since another column says that the answer or its grader failed."""
    reason = failure_in(row, failures) if failures else ""
    none = Grade.none("error", reason)
    numbers = {name for name, value in row.items() if isinstance(value, bool | int | float) or hasattr(value, "item")}
    return dict.fromkeys(numbers - {*roles, *failures}, none) if reason else {}


def _read_roles(item: str, groups: Sequence[str], *others: str | None) -> list[str]:
    """Return the columns that are no grades. Raises `FairnessError` for what is no column's name, and for two roles."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise FairnessError(f"groups is {short_repr(groups)}: give a list of column names")
    roles = [item, *groups, *(name for name in others if name is not None)]
    for name in roles:
        if not isinstance(name, Hashable):
            raise FairnessError(f"a column is {short_repr(name)}: give its name")
    if item in groups:
        raise FairnessError(f"{item!r} is the item and a group: an item would have one group only")
    return roles


def _selected_rows(
    rows: Iterable[Mapping[str, Any]],
    item: str,
    groups: Sequence[str],
    roles: Sequence[str],
    select: Mapping[str, Any],
) -> Sequence[tuple[int, Mapping[str, Any]]]:
    """Return the selected rows, each with its number, from 1.

    Raises `FairnessError` for rows that are no mappings, and for answers of several models.
    """
    if not isinstance(rows, Iterable) or hasattr(rows, "columns"):
        raise FairnessError(
            f"the rows are {short_repr(rows)}: give a list of mappings from column to value; a data frame goes to "
            "from_table"
        )
    table = list(rows)
    for number, row in enumerate(table, 1):
        if not isinstance(row, Mapping):
            raise FairnessError(
                f"row {number} is {short_repr(row)}: give a mapping from column to value; a data frame goes to "
                "from_table"
            )
    numbered = select_rows(list(map(with_nested, table)), select, "the rows")
    refuse_models([row for _, row in numbered], item, groups, roles, "the rows have")
    return numbered


def read_table(table: Any, item: str, groups: Sequence[str], others: Sequence[str]) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a file or of a data frame.

    Args:
        table: The path of a file, or a frame.
        item: The column of the item.
        groups: The columns of groups.
        others: Further columns whose meaning is declared.

    Raises:
        FairnessError: It cannot be read.
    """
    roles = _read_roles(item, groups, *others)
    return read(table, roles) if isinstance(table, str | PathLike) else read_frame(table, groups, roles)


def read(path: str | PathLike[str], texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a CSV, TSV, JSONL or Parquet file; the columns in ``texts`` are kept as they are written.

    Raises `FairnessError` for a file that is missing, of another kind or broken.
    """
    path = Path(path)
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        way_out = ", so save it as CSV UTF-8" if path.suffix.lower() in (".xlsx", ".xls", ".ods") else ""
        raise FairnessError(f"{path} ends in {path.suffix!r}: a table ends in {', '.join(readers)}{way_out}")
    if not path.is_file():
        raise FairnessError(f"there is no file {path}")
    return reader(path, texts)


def read_columns(path: str | Path, texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table as `read` does, with a column for each field of a nested object: ``decision.score``."""
    return map(with_nested, read(path, texts))


def with_nested(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with a column for each field of its objects, beside them.

    >>> with_nested({"id": 1, "decision": {"advance": True, "why": {"short": "fits"}}})["decision.why.short"]
    'fits'
    """
    if not any(isinstance(value, Mapping) for value in row.values()):
        return row
    return {**row, **dict(_nested(row, "", 0))}


def _nested(values: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and depth < DEEPEST:
            yield from _nested(value, f"{prefix}{name}.", depth + 1)
        elif prefix:
            yield f"{prefix}{name}", value


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
        if str(value).strip() in _NO_GROUPS:
            raise FairnessError(
                f"{where}: its {name} is {value!r}: name the group, or write null in a JSONL file for a row of none"
            )
        if isinstance(value, list | tuple | set | Mapping):
            raise FairnessError(f"{where}: its {name} is {value!r:.60}: write one group, as a text or a number")
    return {name: str(row[name]) for name in attributes if row[name] is not None}


def check_extremes_names(declared: Mapping[str, ExtremesOf] | None, attempts: Sequence[GradedAttempt]) -> None:
    """Raise `FairnessError` for extremes of a grade that no attempt has."""
    names = {name for attempt in attempts for name in attempt.grades} if declared else set()
    for name in declared or {}:
        if name not in names:
            raise FairnessError(f"extremes of {name!r}: no grade has that name; {did_you_mean(name, map(str, names))}")


def read_extremes(
    declared: Mapping[str, ExtremesOf] | None,
) -> Mapping[str, Callable[[Prompt], Sequence[Any]]]:
    """Return the extremes of grades as functions of a prompt.

    >>> read_extremes({"rating": (1, 5)})["rating"](Prompt("How good is it?"))
    (1, 5)

    Args:
        declared: The extremes, each a list of values, or a function.

    Raises:
        FairnessError: The extremes of a grade are no values.
    """
    if declared is not None and not isinstance(declared, Mapping):
        raise FairnessError(f"extremes is {short_repr(declared)}: give a pair by grade, as in {{'rating': (1, 5)}}")
    functions: dict[str, Callable[[Prompt], Sequence[Any]]] = {}
    for name, extremes in (declared or {}).items():
        if not callable(extremes) and (isinstance(extremes, str) or not isinstance(extremes, Sequence) or not extremes):
            raise FairnessError(f"extremes of {name!r} are {short_repr(extremes)}: give a pair, as in (1, 5)")
        functions[name] = extremes if callable(extremes) else partial(_constant, tuple(extremes))
    return functions


def _constant(values: Sequence[Any], _: Prompt) -> Sequence[Any]:
    return values


def _id(row: Mapping[str, Any], name: str, number: int, written: dict[tuple[Any, Any], str]) -> Any:
    """Return an id, group or level that is no text; None where it is missing.

    Args:
        row: The row.
        name: The column.
        number: The number of the row.
        written: The text of each value of a column, which is added to.

    Raises:
        FairnessError: It is no text or number, or a number that another row writes otherwise: 1 and 1.0 are equal.
    """
    value = row[name]
    try:
        hash(value)
    except TypeError:
        raise FairnessError(f"row {number}: its {name} is {value!r:.60}: write a text or a number") from None
    if is_missing(value):
        return None
    # test_numbers_that_are_written_in_two_ways_are_refused
    first = written.setdefault((name, value), str(value))
    if first != str(value):
        raise FairnessError(f"row {number}: its {name} is {value}, and {first} in a row above: write one of them")
    return value


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
    if not isinstance(value, str) and is_missing(value):
        return Grade.none("unparsed", "empty in the table")
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float | int) and not abs(value) <= sys.float_info.max:
        return Grade.none("unparsed", "no finite number in the table")
    return Grade(value)


def _csv(path: Path, texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as binary:
        beginning = binary.read(4)
    if kind := next((kind for magic, kind in _OTHER_FILES.items() if beginning.startswith(magic)), None):
        raise FairnessError(f"{path} is {kind}: save it as CSV UTF-8")
    separator, skipped = "\t" if path.suffix.lower() == ".tsv" else ",", 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            first = file.readline().strip("\r\n")
            if first.lower().startswith(_SEPARATOR) and len(first) == len(_SEPARATOR) + 1:
                separator, skipped = first[-1], 1
            else:
                file.seek(0)
            reader = csv.reader(file, delimiter=separator)
            header = next((row for row in reader if any(row)), [])
            names = _column_names(path, header, separator)
            for row in reader:
                if not any(map(str.strip, row)):  # what a spreadsheet writes for a row of empty cells
                    continue
                if len(row) != len(names):
                    number = reader.line_num + skipped
                    raise FairnessError(f"{path}, line {number}: its fields are not those of the first line")
                yield {
                    name: text if name in texts else _value(text)
                    for name, title, text in zip(names, header, row, strict=True)
                    if title.strip() or text.strip()
                }
        except UnicodeDecodeError:
            raise FairnessError(f"{path} is not UTF-8: save it so") from None
        except csv.Error as error:
            raise FairnessError(f"{path}, line {reader.line_num + skipped}: {error}") from None


def _column_names(path: Path, header: Sequence[str], separator: str) -> list[str]:
    """Return the names of a CSV file's columns. Raises `FairnessError` for another separator, and for equal names."""
    names = [name if name.strip() else _UNNAMED.format(index) for index, name in enumerate(header)]
    if len(names) == 1 and (other := next((mark for mark in ";,\t|" if mark in names[0]), None)):
        raise FairnessError(
            f"{path}: its fields are separated by {other!r}: separate them by {separator!r}, or write sep={other} as "
            "its first line"
        )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise FairnessError(f"{path}: two columns are called {twice!r}: give each a name of its own")
    return names


def _value(text: str) -> Any:
    """Return what a field of a CSV file means: nothing, true or false, a number, or a text."""
    text = text.strip()
    if not text:
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return text if "_" in text else float(text)  # Python's own 1_000 is no number of a table
    except ValueError:
        return text


def _jsonl(path: Path, _: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    # NaN is not null: pandas writes the one for a group that is missing, its author the other for a row of none.
    return (row for _, row in read_records(path, "a row of a table", float))


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
