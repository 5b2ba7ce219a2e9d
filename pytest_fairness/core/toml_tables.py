"""Strict reader of files with TOML tables of one name: every error has a file and a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import is_plain_line

T = TypeVar("T")
MOST_CHARACTERS = 1_000
"""Largest number of characters of a text."""


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table of a file, with its lines."""

    content: Mapping[str, Any]
    name: str
    """The name of the file in errors."""
    line: int
    """Its first line, from 1."""
    text: str

    @property
    def where(self) -> str:
        """The file and the line: ``accepted.toml:12``."""
        return f"{self.name}:{self.line}"

    def check_fields(self, required: Sequence[str], optional: Sequence[str] = (), way_out: str = "") -> None:
        """Raise `FairnessError` for a field that is unknown or missing."""
        fields = (*required, *optional)
        for field in self.content:
            if field not in fields:
                raise self.error(field, f"an entry has no {field!r}; {did_you_mean(field, fields)}")
        for field in required:
            if field not in self.content:
                end = f"; {way_out}" if way_out else ""
                raise FairnessError(f"{self.where}: the entry has no {field!r}{end}")

    def field(self, field: str, read: Callable[[object], T]) -> T:
        """Return the value of a field.

        Args:
            field: The field.
            read: A function that checks and converts the value, and raises `ValueError` with the broken rule.

        Raises:
            FairnessError: The value breaks a rule; the message has its line.
        """
        try:
            return read(self.content[field])
        except ValueError as error:
            raise self.error(field, f"{field} is {shown_value(self.content[field])}: {error}") from None

    def error(self, field: str, problem: str) -> FairnessError:
        """Return an error at the line of a field."""
        match = re.search(rf"(?m)^[ \t]*[\"']?{re.escape(field)}[\"']?[ \t]*=", self.text)
        line = self.line + (self.text.count("\n", 0, match.start()) if match else 0)
        return FairnessError(f"{self.name}:{line}: {problem}")


def read_toml_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        FairnessError: It cannot be read.
        FileNotFoundError: There is none.
    """
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark of its encoding
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FairnessError(f"{path} cannot be read: {why}") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Args:
        text: What the file holds.
        name: The file, as errors call it.

    Raises:
        FairnessError: It is not valid TOML; the message has file and line.
    """
    import tomllib  # most runs have no such file

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"at line (\d+)", str(error))
        line = match[1] if match else str(text.count("\n") + 1)
        raise FairnessError(f"{name}:{line}: not valid TOML: {error}") from None


def parse_tables(text: str, name: str, table: str, way_out: str) -> list[TomlTable]:
    """Return the tables of a text that holds tables of one name only, in order.

    Args:
        text: The content of the file.
        name: The file, as errors call it.
        table: The name of the tables, which stands in ``[[name]]``.
        way_out: The end of errors about the layout of the file.

    Raises:
        FairnessError: In one line, with file and line.

    >>> [entry.where for entry in parse_tables("[[a]]\\nx = 1\\n[[a]]\\nx = 2\\n", "f.toml", "a", "")]
    ['f.toml:1', 'f.toml:3']
    """
    document = parse_toml(text, name)
    for key in document:
        if key != table:
            raise FairnessError(f"{name}:1: the file has {key!r}: write [[{table}]] tables only; {way_out}")
    entries = document.get(table, [])
    if not isinstance(entries, list):
        raise FairnessError(f"{name}:1: {table!r} is no list of tables: write [[{table}]]; {way_out}")
    tables = []
    for entry, (line_, block) in zip(entries, table_blocks(text, table, len(entries)), strict=True):
        if not isinstance(entry, dict):
            raise FairnessError(f"{name}:{line_}: an entry is {entry!r:.80}: write a table [[{table}]]")
        tables.append(TomlTable(entry, name, line_, block))
    return tables


def table_blocks(text: str, table: str, count: int | None = None) -> list[tuple[int, str]]:
    """Return the first line, from 1, and the text of each table; of a file in another layout, the whole.

    Args:
        text: The content of the file.
        table: The name of the tables.
        count: The number of tables, where it is known.
    """
    header = re.compile(rf"(?m)^[ \t]*\[\[[ \t]*{re.escape(table)}[ \t]*\]\]")
    starts = [match.start() for match in header.finditer(text)]
    if count is not None and len(starts) != count:
        return [(1, text)] * count
    ends = [*starts, len(text)][1:]
    return [(text.count("\n", 0, start) + 1, text[start:end]) for start, end in zip(starts, ends, strict=False)]


def shown_value(value: object) -> str:
    """Return a value as text for errors, with at most 80 characters."""
    text = value.isoformat() if isinstance(value, date) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def line_of_text(value: object) -> str:
    """Return a text that is not empty; raise `ValueError`, with the rule, for any other value."""
    if not isinstance(value, str) or not value:
        raise ValueError("write a text")
    return value


def written_text(value: object) -> str:
    """Return a text of one printable line, without spaces around it.

    Raises:
        ValueError: The value is something else; the message is the rule.

    >>> written_text(" under review ")
    'under review'
    """
    text = line_of_text(value).strip()
    if not text:
        raise ValueError("write a text that is not empty")
    if not is_plain_line(text):
        raise ValueError("write one line, without control characters")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has {len(text):,} characters: write at most {MOST_CHARACTERS:,}")
    return text
