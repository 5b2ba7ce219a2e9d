"""JSON objects within texts of models, and numbers as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeGuard

from pytest_fairness.core import json_text as json

_MOST_OBJECTS = 50
"""Largest number of braces of a text at which an object is searched for."""


def json_objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield every complete object in a text with its start and end, without those within another object.

    >>> [content for content, _, _ in json_objects('First {"a": 1}, then {"b": {"c": 2}} and {broken')]
    [{'a': 1}, {'b': {'c': 2}}]
    """
    decoder, position = json.JSONDecoder(strict=False), text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            return
        end = position + 1
        try:
            loaded, end = decoder.raw_decode(text, position)
            yield loaded, position, end
        except (ValueError, RecursionError):
            pass
        position = text.find("{", end)


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number of JSON: true and false are none, though they are integers to Python.

    >>> is_number(1.5), is_number(True)
    (True, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole_number(value: object) -> int | None:
    """Return a whole number of JSON, which some servers write as 20.0; None for any other value.

    >>> whole_number(20), whole_number(20.0), whole_number(0.5), whole_number("20")
    (20, 20, None, None)
    >>> whole_number(float("inf")), whole_number(10**400) == 10**400
    (None, True)
    """
    return int(value) if is_number(value) and (isinstance(value, int) or value.is_integer()) else None


def finite(value: float) -> float | None:
    """Return a number; None for an infinity or nan, which JSON does not know."""
    return float(value) if math.isfinite(value) else None


def finite_value(value: Any) -> Any:
    """Return any value as it is, but None for an infinity or nan."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
