"""Estimates by functions of sums: a metric of the user's own, and the correlation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Clustering, Columns, Floats, Rows
from pytest_fairness.stats.contrasts import NO_VARIATION, Setting, counted
from pytest_fairness.stats.fillings import Group, group
from pytest_fairness.stats.functionals import Functional, UndefinedError, estimated, interval, slope, unseen_ends
from pytest_fairness.stats.intervals import Ends, Spread
from pytest_fairness.stats.naming import Name
from pytest_fairness.stats.outcomes import NO_ATTEMPTS, Apart, Outcome, Reader, Reading, UnboundedError
from pytest_fairness.stats.quantiles import t_quantile
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

ROUNDING = 1e-9
"""By how much sums of floating-point numbers may leave a range, as a share of its ends."""
MOST_SUPPOSED = 2_000
"""Attempts whose other possible grades are looked at where all clusters agree; plenty for a mean."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Several outcomes of the same attempts."""

    values: Floats
    """Shape (attempts, outcomes); a whole row is nan where one of its outcomes is ungraded, unless they are `Apart`."""
    empty: Any
    """Shape (attempts,): whether one of its outcomes is ungraded."""
    filled: Sequence[Floats]
    """The same with the ungraded rows graded: one for each way in which they could have been."""
    unseen: Callable[[], Sequence[Floats]]
    """Some of the attempts with their grades forgotten: one array (attempts, outcomes) for each way to grade them."""
    unbounded: str = ""
    """Why nobody knows how an ungraded attempt could have been graded; empty where that is known."""

    def mapped(self, change: Callable[[Floats, Floats], Floats]) -> Sample:
        """Other columns, computed from the first two of this sample."""
        kept = change(*self.values.T) if len(self.values) and not self.empty.all() else self.values
        return Sample(kept, np.isnan(kept[:, 0]), [change(*filled.T) for filled in self.filled], list, self.unbounded)


def joint(
    columns: Columns,
    reader: Reader,
    outcomes: Sequence[Outcome],
    functions: Sequence[Callable[[GradedAttempt], Any]],
    rows: Rows,
) -> Sample:
    """Read several outcomes of these attempts together."""
    if columns.arrays:
        readings = [reader.named(outcome) for outcome in outcomes if isinstance(outcome, str)]
        if len(readings) < len(outcomes):
            raise FairnessError(NO_ATTEMPTS)
        return _from_arrays(readings, rows)
    if all(isinstance(function, Apart) for function in functions):
        alone = np.column_stack([reader.computed([function], rows) for function in functions])
        is_empty, values = np.isnan(alone).any(axis=1), np.nan_to_num(alone)
    else:
        values = reader.computed(functions, rows)
        is_empty = np.isnan(values[:, 0])
    empty = np.flatnonzero(is_empty)
    filled, unbounded = [], ""
    try:
        supposed = [reader.supposed(functions, rows[place]) for place in empty]
    except UnboundedError as error:
        supposed, unbounded = [], str(error)
    for way in range(max(map(len, supposed), default=0)):
        full = values.copy()
        full[empty] = [ways[way % len(ways)] for ways in supposed]
        filled.append(full)

    def unseen() -> list[Floats]:
        some = rows[:: max(1, len(rows) // MOST_SUPPOSED)]
        ways = [reader.hypotheses(functions, row, forget=True) for row in some]
        number = max(map(len, ways), default=0)
        return [np.array([found[way % len(found)] for found in ways if found]) for way in range(number)]

    return Sample(values, is_empty, filled, unseen, unbounded)


def functional_estimate(
    setting: Setting,
    name: Name,
    functional: Functional,
    sample: Sample,
    clusterings: Sequence[Clustering],
    items: int,
    breakdown: LazyBreakdown,
    back: Callable[[float], float] | None = None,
    span: tuple[float, float] | None = None,
    known: Callable[[Group, Any], Group] = lambda everyone, _: everyone,
) -> Estimate:
    """A function of sums with its interval.

    ``back`` takes value and ends from the scale it was made on; ``span`` is the range that it cannot leave; ``known``
    adds to the group of all attempts, given which are ungraded, what its numbers do not show.

    Raises `FairnessError` where it has left its span, as it is or however its ungraded attempts are filled in.
    """
    first = np.where(sample.empty, np.nan, sample.values[:, 0])
    reading = Reading("", first, first, first, None, unbounded=sample.unbounded)
    everyone = known(group("all", reading, np.arange(len(first)), clusterings), sample.empty)
    counts = counted([everyone], items) | {"breakdown": breakdown}
    if reason := invalid_reason([everyone]):
        return setting.invalid(name, reason, **counts)
    try:
        value, ends, found = _hull(functional, sample, clusterings, setting.tail, span)
    except UndefinedError as undefined:
        return setting.invalid(name, f"{name.title} cannot be computed: {undefined}", **counts)
    if ends[0] == ends[1]:
        return setting.invalid(name, NO_VARIATION, **counts)

    def ends_at(tail: float) -> Ends:
        low, high = _hull(functional, sample, clusterings, tail, span)[1]
        return (low, high) if back is None else (back(low), back(high))

    error = found.error or (ends[1] - ends[0]) / 2 / t_quantile(setting.tail, found.df)
    if back is not None:
        error *= slope(back, value)  # the delta method
        value, ends = back(value), (back(ends[0]), back(ends[1]))
    suspect = suspect_reason([everyone], setting.tail)
    return setting.estimate(name, value, ends, error=error, df=found.df, suspect=suspect, ends_at=ends_at, **counts)


def _hull(
    functional: Functional,
    sample: Sample,
    clusterings: Sequence[Clustering],
    tail: float,
    span: tuple[float, float] | None,
) -> tuple[float, Ends, Spread]:
    """The value and error on graded attempts, and the hull of the intervals of all fillings."""
    filled = [
        np.where(sample.empty[:, np.newaxis], each, sample.values) for each in _worst(functional, sample, sample.filled)
    ]
    found = [_interval(functional, sample, each, clusterings, tail) for each in (sample.values, *filled)]
    all_ends = [ends if span is None else within(span, value, ends) for value, ends, _ in found]
    ends = min(low for low, _ in all_ends), max(high for _, high in all_ends)
    return found[0][0], ends, found[0][2]


def within(span: tuple[float, float], value: float, ends: Ends) -> Ends:
    """An interval in the range that a metric cannot leave.

    Raises `FairnessError` for a value outside of that: then the range is wrong, and so would be its ends.
    """
    low, high = span
    slack = ROUNDING * max([1.0, *(abs(end) for end in span if math.isfinite(end))])
    if not low - slack <= value <= high + slack:
        raise FairnessError(
            f"the metric comes to {value:.6g}, outside its span of {low:g} to {high:g}: give the range that its "
            "function cannot leave, span=(LOWEST, HIGHEST), or none"
        )
    return min(max(ends[0], low), value), max(min(ends[1], high), value)


def _interval(
    functional: Functional, sample: Sample, values: Floats, clusterings: Sequence[Clustering], tail: float
) -> tuple[float, Ends, Spread]:
    kept = ~np.isnan(values[:, 0])
    here = [clustering[kept] for clustering in clusterings]
    value, found = estimated(functional, values[kept], here)
    if found.error > 0:
        return value, interval(value, found, tail), found
    sources = len(np.unique(here[0].codes))
    hypotheses = [each.mean(axis=0) for each in _worst(functional, sample, sample.unseen())]
    return value, unseen_ends(functional, values[kept], sources, hypotheses, tail), found


def _worst(functional: Functional, sample: Sample, ways: Sequence[Floats]) -> list[Floats]:
    """Of several ways to grade each attempt, those that together lower the metric most, and raise it most.

    Attempts differ in which grade does which (the options of a choice are shuffled, a question
    is asked both ways round), so each is taken for itself: by the metric with it added once more.
    """
    if not ways:
        return []
    every = np.stack(list(ways))
    added = sample.values[~sample.empty].sum(axis=0) + every.reshape(-1, every.shape[2])
    effects = np.nan_to_num(functional.at(added)).reshape(every.shape[:2])
    attempts = np.arange(every.shape[1])
    return [every[effects.argmin(axis=0), attempts], every[effects.argmax(axis=0), attempts]]


def _from_arrays(readings: Sequence[Reading], rows: Rows) -> Sample:
    """Without attempts, all sums of an ungraded row are at their lowest, or all at their highest."""
    columns = [
        np.column_stack([column[rows] for column in group])
        for group in zip(*((reading.values, reading.lowest, reading.highest) for reading in readings), strict=True)
    ]
    values, lowest, highest = columns
    empty = np.isnan(values).any(axis=1)
    values[empty] = np.nan
    return Sample(values, empty, [lowest, highest] if empty.any() else [], list)
