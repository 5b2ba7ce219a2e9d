"""Text on the terminal: columns, padding and lines, with characters that take two columns or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from pytest_fairness.core.formatting import is_plain_line
from pytest_fairness.plugin.compat import terminal_width

NARROWEST = 40
"""The least width of a line, in columns."""


class ModelRow(Protocol):
    """A row about one model."""

    @property
    def model(self) -> str | None: ...


ModelRowType = TypeVar("ModelRowType", bound=ModelRow)


def group_by_model(rows: Iterable[ModelRowType]) -> dict[str, list[ModelRowType]]:
    """Return the rows by model, in their order."""
    models: dict[str, list[ModelRowType]] = {}
    for row in rows:
        models.setdefault(row.model or "no model", []).append(row)
    return models


def pad(text: str, columns: int) -> str:
    """Return a text with spaces up to a number of columns.

    >>> pad("ab", 4), pad("\u7537", 4)
    ('ab  ', '\u7537  ')
    """
    return text + " " * (columns - terminal_width(text))


def wrap_text(text: str, width: int, indent: str = " ", next_indent: str = "   ") -> list[str]:
    """Return a sentence in lines of at most ``width - 1`` columns.

    Words stay whole, so that commands can be copied; one that is wider than a line is cut. Control characters of an
    untrusted text become spaces.

    Args:
        text: The sentence.
        width: The columns of the terminal.
        indent: The start of the first line.
        next_indent: The start of the others.

    >>> wrap_text("needs about 91 sources for 80% power", 40, "", "  ")
    ['needs about 91 sources for 80% power']
    >>> [terminal_width(line) for line in wrap_text("\u7537\u5973 " * 9, 40)]
    [35, 12]
    """
    plain = "".join(character if is_plain_line(character) else " " for character in text)
    room = max(NARROWEST, width) - 1
    lines, line, is_empty = [], indent, True
    for word in plain.split():
        parts = list(_split_word(word, room - len(next_indent)))
        for number, part in enumerate(parts):
            addition = part if is_empty or number else f" {part}"
            if is_empty or (not number and terminal_width(line + addition) <= room):
                line += addition
            else:
                lines.append(line)
                line = next_indent + part
            is_empty = False
    return [*lines, line] if not is_empty else []


def _split_word(word: str, columns: int) -> Iterator[str]:
    """Yield a word, split if it is wider than a line."""
    part = ""
    for character in word if terminal_width(word) > columns else ():
        if terminal_width(part + character) > columns:
            yield part
            part = ""
        part += character
    yield part or word
