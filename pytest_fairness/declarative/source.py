"""Values of a file with their lines and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.errors import FairnessError


class DeclarationError(FairnessError):
    """A mistake in a file that declares probes, in one line: file, line, column, field, rule, way out."""


@dataclass(slots=True)
class LocatedValue:
    """One value of a file.

    ``value`` is a text, a number, true or false, None, a list of nodes, or a dict of nodes by key.
    """

    file: str
    """The file's name in messages."""
    field: str
    """The path of keys to it, such as ``vary.gender.female``; empty for a whole document."""
    line: int
    """Counted from 1."""
    column: int | None
    """Counted from 1; None where only the line is known."""
    value: Any
    text: str = ""
    """A scalar as written in the file: 1.50 is not 1.5 here."""
    first: int | None = None
    """The line on which its text begins; for a block scalar, ``line`` is that of its ``|`` or ``>``."""
    inline: int | None = None
    """The column at which its text begins, if the text is on one line and without escapes."""
    key_column: int | None = None
    key_line: int | None = None

    def error(self, message: str, *, line: int | None = None, column: int | None = None) -> DeclarationError:
        """Return the error of a mistake in this value, or at another line and column of its text."""
        position = (line, column) if line is not None else (self.line, self.column)
        return located_error(self.file, *position, message, self.field)

    def key_error(self, message: str) -> DeclarationError:
        """Return the error of a mistake in the key of this value."""
        if self.key_line is None:
            return self.error(message)
        return located_error(self.file, self.key_line, self.key_column, message, self.field.rpartition(".")[0])

    def get(self, *keys: str) -> LocatedValue | None:
        """Return the value at a path of keys; None where there is none."""
        node: LocatedValue | None = self
        for key in keys:
            node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
        return node

    @property
    def plain(self) -> Any:
        """The value without lines and columns."""
        if isinstance(self.value, dict):
            return {key: child.plain for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain for child in self.value]
        return self.value

    @property
    def children(self) -> Iterator[LocatedValue]:
        if isinstance(self.value, dict):
            yield from self.value.values()
        elif isinstance(self.value, list):
            yield from self.value


def located_error(file: str, line: int, column: int | None, message: str, field: str = "") -> DeclarationError:
    """Return an error such as ``pay.probe.yaml:3:5: vary.gender: it has no value: ...``."""
    position = f"{file}:{line}" if column is None else f"{file}:{line}:{column}"
    shown = " ".join(f"{field}: {message}".removeprefix(": ").split())
    return DeclarationError(f"{position}: {shown}")
