"""Numbers and estimates in words: with digits enough to check a verdict by eye."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

DAY = 86_400.0
"""Seconds."""
_UNITS = {"h": 3_600.0, "d": DAY, "w": 7 * DAY}


def age(text: str) -> float:
    """Return the seconds of a length of time as a user writes it.

    >>> age("30d"), age("1.5h")
    (2592000.0, 5400.0)

    Raises:
        ValueError: It is none, or not above 0 and below 100 years; the message says how to write one.
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)([hdw])", text.strip(), re.ASCII)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= 36_525 * DAY:
        raise ValueError("write days, hours or weeks, as in 30d, 12h or 4w")
    return seconds


def decimals(values: Iterable[float], bounds: Iterable[float], least: int = 3) -> int:
    """Return how many decimals show on which side of each bound each value lies (six at most).

    >>> decimals([0.79996], [0.8])
    5
    """
    pairs = [(v, b) for v in values for b in bounds if v != b and math.isfinite(v) and math.isfinite(b)]
    for digits in range(least, 6):
        if all(round(v, digits) != round(b, digits) for v, b in pairs):
            return digits
    return 6 if pairs else least


def number(value: float, digits: int) -> str:
    """Return a value with that many decimals; what is not finite, in words."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:.{digits}f}"


class Interval(Protocol):
    """A value with its interval, as results have it."""

    @property
    def estimate(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class BoundComparison(Protocol):
    """A comparison with a number, as results have it."""

    @property
    def op(self) -> str: ...
    @property
    def bound(self) -> float: ...


class Bounded(Protocol):
    """A threshold with its bounds, as results have it."""

    @property
    def bounds(self) -> tuple[float | None, float | None]: ...
    @property
    def comparisons(self) -> Sequence[BoundComparison]: ...
    @property
    def own(self) -> Mapping[str, object]: ...


class Subject(Protocol):
    """A metric of a slice: an estimate, or its result."""

    @property
    def title(self) -> str: ...
    @property
    def slice(self) -> Mapping[str, Any]: ...


def figures(result: Interval, comparisons: Sequence[BoundComparison] = ()) -> tuple[str, str, str]:
    """Return a value, its lower and its upper end as texts, with digits enough for its comparisons.

    >>> from pytest_fairness.core.results import ComparisonResult, GroupResult
    >>> figures(GroupResult(estimate=0.7, low=0.63, high=None), [ComparisonResult(op=">=", bound=0.8)])
    ('0.700', '0.630', 'unknown')
    """
    values = [math.nan if end is None else end for end in (result.estimate, result.low, result.high)]
    digits = decimals(values, [comparison.bound for comparison in comparisons])
    value, low, high = (number(value, digits) for value in values)
    return value, low, high


def bounds_of(row: Bounded) -> str:
    """Return the bounds of a threshold: ``0.8 to 1.2``, ``>= 0.8``, or nothing.

    Followed by ``(override)`` where pyproject.toml sets them.
    """
    low, high = row.bounds
    own = " (override)" if "bounds" in row.own else ""
    if low is not None and high is not None:
        return f"{low:g} to {high:g}{own}"
    return " and ".join(f"{comparison.op} {comparison.bound:g}" for comparison in row.comparisons) + own


def span_text(span: Sequence[float | None]) -> str:
    """Return a lower and an upper bound, where there are such.

    >>> span_text((0.8, 1.2)), span_text((0.8, None)), span_text((None, 0.15))
    ('0.8 to 1.2', 'at least 0.8', 'at most 0.15')
    """
    low, high = span
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return f"at most {high:g}" if low is None else f"at least {low:g}"


def format_subject(subject: Subject) -> str:
    """Return what was estimated: ``rate of hired where gender=female``."""
    where = ", ".join(f"{name}={value}" for name, value in subject.slice.items())
    return f"{subject.title}{f' where {where}' if where else ''}"
