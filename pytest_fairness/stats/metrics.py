"""Estimates by functions of sums: a metric of the user's own, and the correlation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Clustering, Columns, Floats, Rows
from pytest_fairness.stats.fillings import Group, group
from pytest_fairness.stats.functionals import Functional, UndefinedError, kinked, linear, unseen_ends
from pytest_fairness.stats.group_estimates import Setting, counted
from pytest_fairness.stats.linear import Ends, LinearEstimate
from pytest_fairness.stats.naming import Name
from pytest_fairness.stats.outcomes import NO_ATTEMPTS, Apart, Outcome, Reader, Reading, UnboundedError
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

KINKED = (
    "it bends within its error, as a maximum, a minimum or a size does, and no interval holds there: "
    "take ratios(...) or differences(...) of the groups, or abs() of an estimate"
)
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
    span: Ends | None = None,
    known: Callable[[Group, Any], Group] = lambda everyone, _: everyone,
) -> Estimate:
    """Return a function of sums with its interval.

    ``span`` is the range that it cannot leave, which chooses the scale of its interval; ``known``
    adds to the group of all attempts, given which are ungraded, what its numbers do not show.

    Raises `FairnessError` where it has left its span, as it is or however its ungraded attempts are filled in.
    """
    first = np.where(sample.empty, np.nan, sample.values[:, 0])
    reading = Reading("", first, first, first, None, unbounded=sample.unbounded)
    everyone = known(group("all", reading, np.arange(len(first)), clusterings), sample.empty)
    counts = counted([everyone], items) | {"breakdown": breakdown}
    if reason := invalid_reason([everyone]):
        return setting.invalid(name, reason, **counts)
    filled = [
        np.where(sample.empty[:, np.newaxis], each, sample.values) for each in _worst(functional, sample, sample.filled)
    ]
    try:
        made = [_linear(functional, sample, each, clusterings, span) for each in (sample.values, *filled)]
    except UndefinedError as undefined:
        return setting.invalid(name, f"{name.title} cannot be computed: {undefined}", **counts)
    kept = ~sample.empty
    if not functional.smooth and kinked(functional, sample.values[kept], clusterings[0][kept], made[0].natural_error):
        return setting.estimate(name, made, **counts, invalid=KINKED)
    return setting.estimate(name, made, **counts, suspect=suspect_reason([everyone], setting.tail))


def _linear(
    functional: Functional, sample: Sample, values: Floats, clusterings: Sequence[Clustering], span: Ends | None
) -> LinearEstimate:
    kept = ~np.isnan(values[:, 0])
    here = [clustering[kept] for clustering in clusterings]
    found = linear(functional, values[kept], here, span)
    if found.error > 0:
        return found
    hypotheses = [each.mean(axis=0) for each in _worst(functional, sample, sample.unseen())]
    return replace(found, unseen=partial(unseen_ends, functional, values[kept], found.clusters, hypotheses))


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
