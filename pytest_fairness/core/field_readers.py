"""Readers of fields that people write: each returns a value, or raises `ValueError` with the rule that it breaks."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

from pytest_fairness.core.formatting import is_plain_line
from pytest_fairness.core.json_objects import is_number

MOST_CHARACTERS = 1_000
"""Largest number of characters of a line."""


def number(
    low: float | None = None,
    high: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    unit: str = "",
) -> Callable[[Any], float]:
    """Return a reader of finite numbers.

    Args:
        low: The least value.
        high: The greatest.
        above: A limit that every value exceeds.
        below: A limit that none reaches.
        unit: ``of seconds``, for errors.

    >>> number(0.8, below=1)(0.95)
    0.95
    >>> number(0.8, below=1)(1)
    Traceback (most recent call last):
    ValueError: it must be a number from 0.8 to below 1
    """
    words = f"number{unit and f' {unit}'}{_range(low, high, above, below)}"
    rule = f"it must be a {'finite ' if words == 'number' else ''}{words}"

    def read(value: Any) -> float:
        is_inside = is_number(value) and math.isfinite(value) and _is_in_range(value, low, high, above, below)
        if not is_inside:
            raise ValueError(rule)
        return value  # type: ignore[no-any-return]  # a number

    return read


def whole(low: int | None = None, high: int | None = None) -> Callable[[Any], int]:
    """Return a reader of whole numbers within bounds, both included.

    >>> whole(1, 10_000)(0)
    Traceback (most recent call last):
    ValueError: it must be a whole number from 1 to 10,000
    """
    rule = f"it must be a whole number{_range(low, high)}"

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not _is_in_range(value, low, high):
            raise ValueError(rule)
        return value

    return read


def choice(*words: str) -> Callable[[Any], str]:
    """Return a reader of texts that are one of some words.

    >>> choice("chat", "responses")("grpc")
    Traceback (most recent call last):
    ValueError: it must be one of chat, responses
    """

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"it must be one of {', '.join(words)}")
        return value

    return read


def matching(predicate: Callable[[Any], bool], rule: str) -> Callable[[Any], Any]:
    """Return a reader of values for which a predicate holds.

    >>> matching(str.isdigit, "write digits")("x")
    Traceback (most recent call last):
    ValueError: write digits
    """

    def read(value: Any) -> Any:
        if not predicate(value):
            raise ValueError(rule)
        return value

    return read


def text_of(rule: str, *, empty: bool = True) -> Callable[[Any], str]:
    """Return a reader of texts.

    Args:
        rule: What to write, for errors: ``it must be a text such as "${GIT_SHA}"``.
        empty: Whether a text may be empty.
    """
    return matching(lambda value: isinstance(value, str) and (empty or bool(value.strip())), rule)


def some_text(value: object) -> str:
    """Return a text that is not empty.

    Raises:
        ValueError: The value is something else; the message is the rule.
    """
    if not isinstance(value, str) or not value:
        raise ValueError("write a text")
    return value


def line_of_text(value: object) -> str:
    """Return a text of one printable line, without spaces around it.

    Raises:
        ValueError: The value is something else; the message is the rule.

    >>> line_of_text(" under review ")
    'under review'
    """
    line = some_text(value).strip()
    if not line:
        raise ValueError("write a text that is not empty")
    if not is_plain_line(line):
        raise ValueError("write one line, without control characters")
    if len(line) > MOST_CHARACTERS:
        raise ValueError(f"it has {len(line):,} characters: write at most {MOST_CHARACTERS:,}")
    return line


def texts_of(rule: str) -> Callable[[Any], tuple[str, ...]]:
    """Return a reader of lists of texts, at least one and none of them empty.

    Args:
        rule: What to write, for errors.
    """

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
            raise ValueError(rule)
        return tuple(value)

    return read


def day(value: object) -> date:
    """Return a date.

    Raises:
        ValueError: The value is none; the message is the rule.
    """
    if type(value) is not date:  # a datetime is a date, too
        raise ValueError("write a date without quotes, as in 2026-12-31")
    return value


def _is_in_range(
    value: float,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> bool:
    return (
        (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
    )


def _range(low: float | None, high: float | None, above: float | None = None, below: float | None = None) -> str:
    """Return a range in words, with a blank before it; empty for all numbers.

    >>> _range(1, 10_000), _range(None, None, above=0), _range(1, None), _range(0.8, None, below=1)
    (' from 1 to 10,000', ' above 0', ' from 1 up', ' from 0.8 to below 1')
    """
    start = "" if above is None else f" above {_shown(above)}"
    limit = "" if below is None else f"below {_shown(below)}"
    start = start if low is None else f" from {_shown(low)}"
    limit = limit if high is None else _shown(high)
    if not limit:
        return f"{start} up" if low is not None else start
    return f"{start} to {limit}" if start else f" up to {limit}" if high is not None else f" {limit}"


def _shown(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:,g}"
