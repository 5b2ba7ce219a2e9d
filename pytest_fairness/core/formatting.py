"""Numbers and estimates in words: with digits enough to check a verdict by eye."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.results import ComparisonResult, MetricResult, ThresholdResult


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


def figures(result: Interval, comparisons: Sequence[ComparisonResult] = ()) -> tuple[str, str, str]:
    """Return a value, its lower and its upper end as texts, with digits enough for its comparisons.

    >>> from pytest_fairness.core.results import ComparisonResult, GroupResult
    >>> figures(GroupResult(estimate=0.7, low=0.63, high=None), [ComparisonResult(op=">=", bound=0.8)])
    ('0.700', '0.630', 'unknown')
    """
    values = [math.nan if end is None else end for end in (result.estimate, result.low, result.high)]
    digits = decimals(values, [comparison.bound for comparison in comparisons])
    value, low, high = (number(value, digits) for value in values)
    return value, low, high


def bounds_of(row: ThresholdResult) -> str:
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


def estimate_text(estimate: Estimate, bounds: Iterable[float] = ()) -> str:
    """``0.712 (95% CI 0.634 to 0.798)``."""
    digits = decimals((estimate.value, estimate.low, estimate.high), list(bounds))
    low, high = number(estimate.low, digits), number(estimate.high, digits)
    level = f"{estimate.confidence * 100:.4g}% CI"
    return f"{number(estimate.value, digits)} ({level} {low} to {high})"


def subject_text(estimate: Estimate) -> str:
    """Return what was estimated: ``rate of hired where gender=female``."""
    return _subject(estimate.title, estimate.slice)


def format_subject(result: MetricResult) -> str:
    """Return what a result is an estimate of."""
    return _subject(result.title, result.slice)


def _subject(title: str, parts: Mapping[str, Any]) -> str:
    where = ", ".join(f"{name}={value}" for name, value in parts.items())
    return f"{title}{f' where {where}' if where else ''}"


def counts_text(estimate: Estimate) -> str:
    """Return what it was computed from: ``100 items, 3,000 attempts, 5 ungraded``."""
    ungraded = sum(estimate.ungraded.values())
    counts = f"{estimate.items:,} items, {estimate.attempts:,} attempts"
    return f"{counts}, {ungraded:,} ungraded" if ungraded else counts


def described(estimate: Estimate) -> str:
    """Return an estimate as it shows itself outside a threshold."""
    numbers = f"invalid: {estimate.invalid}" if estimate.invalid else estimate_text(estimate)
    return f"{subject_text(estimate)}: {numbers}; {counts_text(estimate)}"
