"""Files of TOML: what they hold, and the line of every key for errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.serialization import KeyPath, RecordContext, read_record

T = TypeVar("T", bound=Any)

_KEY = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w-]+)"""
_KEYS = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_STATEMENT = re.compile(rf"\s*(?:(?P<open>\[\[?)[ \t]*(?P<header>{_KEYS})[ \t]*\]\]?|(?P<keys>{_KEYS})[ \t]*=|)")
_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[\]{}\n]''', re.DOTALL
)
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file and what it holds; empty where there is none."""

    path: Path
    name: str
    """The file, as errors call it."""
    text: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, name: str = "") -> TomlFile:
        """Return the file at a path.

        Args:
            path: The file.
            name: The file, as errors call it; default: the path.

        Raises:
            FairnessError: It cannot be read, or is not valid TOML; the message has file and line.
            FileNotFoundError: There is none.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark of its encoding
        except FileNotFoundError:
            raise
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise FairnessError(f"{path} cannot be read: {why}") from None
        return cls.parse(text, name or str(path), path)

    @classmethod
    def parse(cls, text: str, name: str, path: Path | None = None) -> TomlFile:
        """Return the file with a text.

        Raises:
            FairnessError: It is not valid TOML; the message has file and line.
        """
        import tomllib  # most runs have no such file

        try:
            document = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            match = re.search(r"at line (\d+)", str(error))
            line = match[1] if match else str(text.count("\n") + 1)
            raise FairnessError(f"{name}:{line}: not valid TOML: {error}") from None
        return cls(path or Path(name), name, text, document)

    def line(self, *path: str | int) -> int:
        """Return the line, from 1, of the value at a path, or of the nearest table that holds it.

        >>> TomlFile.parse("[[a]]\\nx = 1\\n[[a]]\\nx = 2", "f.toml").line("a", 1, "x")
        4
        """
        lines = _lines_of(self.text)
        return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 1)

    def where(self, *path: str | int) -> str:
        """Return the file and the line of a value: ``accepted.toml:12``."""
        return f"{self.name}:{self.line(*path)}"

    def context(self, *path: str | int, subject: str = "", prefix: str = "", way_out: str = "") -> RecordContext:
        """Return the context of the record at a path.

        Args:
            path: The keys and indices that lead to it.
            subject: The record, in errors; default: its last key.
            prefix: What stands before the names of its fields in errors.
            way_out: The end of errors about fields that are missing.
        """
        return RecordContext(
            subject or str(path[-1]),
            prefix,
            form="a table",
            way_out=way_out,
            locate=lambda inner: f"{self.where(*path, *inner)}: ",
        )

    def records(self, kind: type[T], table: str, way_out: str) -> Iterator[tuple[T, RecordContext]]:
        """Yield the records of a file that holds tables of one name only, in order, each with its context.

        Args:
            kind: A dataclass for `read_record`, with a field ``where`` for the file and line.
            table: The name of the tables, which stands in ``[[name]]``.
            way_out: The end of errors about the layout of the file.

        Raises:
            FairnessError: In one line, with file and line.
        """
        for key in self.document:
            if key != table:
                raise FairnessError(
                    f"{self.where(key)}: the file has {key!r}: write [[{table}]] tables only; {way_out}"
                )
        entries = self.document.get(table, [])
        if not isinstance(entries, list):
            raise FairnessError(f"{self.where(table)}: {table!r} is no list of tables: write [[{table}]]; {way_out}")
        for index, entry in enumerate(entries):
            context = self.context(table, index, subject="an entry", way_out=way_out)
            if not isinstance(entry, dict):
                raise context.error(f"an entry is {entry!r:.80}: write a table [[{table}]]")
            yield replace(read_record(kind, entry, context), where=self.where(table, index)), context


@lru_cache(maxsize=8)
def _lines_of(text: str) -> dict[KeyPath, int]:
    """Return the line of each table and key of a valid TOML text; what is within a value has the line of its key.

    >>> _lines_of('# a\\n[tool."a b"]\\nx = 1\\nz.w = [\\n 1]\\n')[("tool", "a b", "z", "w")]
    4
    """
    lines: dict[KeyPath, int] = {}
    counts: Counter[KeyPath] = Counter()
    """The tables of each ``[[name]]`` so far."""
    table: KeyPath = ()
    position, line = 0, 1
    while position < len(text):
        statement = _STATEMENT.match(text, position)
        assert statement is not None  # noqa: S101 - it matches an empty text, too
        begin = max(statement.start("open"), statement.start("keys"), position)
        line += text.count("\n", position, begin)
        if statement["open"]:
            *parents, name = _split(statement["header"])
            path = (*_indexed(parents, counts), name)
            counts[path] += statement["open"] == "[["
            path = table = _indexed([name], counts, path[:-1])
        else:
            path = (*table, *_split(statement["keys"])) if statement["keys"] else ()
        for end in range(1, len(path)):
            lines.setdefault(path[:end], line)
        lines[path] = line
        position = _end_of_statement(text, statement.end())
        line += text.count("\n", begin, position)
    return lines


def _end_of_statement(text: str, position: int) -> int:
    """Return the position behind the line break that ends a statement: one outside of texts, lists and tables."""
    depth = 0
    for token in _TOKEN.finditer(text, position):
        if token[0] == "\n" and depth == 0:
            return token.end()
        depth += _DEPTH.get(token[0], 0)
    return len(text)


def _split(keys: str) -> list[str]:
    """Return the parts of a dotted key.

    >>> _split('''tool . "a.b".'c' ''')
    ['tool', 'a.b', 'c']
    """
    import tomllib

    node: Any = tomllib.loads(f"{keys} = 0")
    parts: list[str] = []
    while isinstance(node, dict):
        ((part, node),) = node.items()
        parts.append(part)
    return parts


def _indexed(keys: list[str], counts: Mapping[KeyPath, int], path: KeyPath = ()) -> KeyPath:
    """Return a path, extended by keys, with the index of the last table behind each name of a list of tables."""
    for key in keys:
        path = (*path, key)
        if count := counts.get(path, 0):
            path = (*path, count - 1)
    return path


def entry_lines(text: str, table: str, index: int) -> tuple[int, int]:
    """Return the lines of a table ``[[name]]``, from 0: its first, and the one behind its last value.

    Comments and empty lines before the next table are left to that.

    Args:
        text: The content of the file.
        table: The name of the tables.
        index: The number of the table, from 0.

    Raises:
        LookupError: The tables have another layout: ``name = [{...}]``.
    """
    starts = _lines_of(text)
    all_lines = text.split("\n")
    first = starts[table, index] - 1
    end = starts.get((table, index + 1), len(all_lines) + 1) - 1
    lines = all_lines[first:end]
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return first, first + len(lines)
