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
from pytest_fairness.stats import metric_names
from pytest_fairness.stats.columns import Clustering, Columns, Floats, Rows
from pytest_fairness.stats.custom_metrics import Functional, UndefinedError, has_kink, linearize, unseen_ends
from pytest_fairness.stats.group_estimates import Setting, group_counts
from pytest_fairness.stats.history import ClusterMap, EarlierEstimate, adjust_by_history
from pytest_fairness.stats.linear_estimate import Ends, LinearEstimate
from pytest_fairness.stats.metric_names import MetricName
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, Outcome, OutcomeVector
from pytest_fairness.stats.outcomes import NO_ATTEMPTS, IndependentSum, OutcomeReader, UnboundedError
from pytest_fairness.stats.validity import invalid_reason, suspect_reason
from pytest_fairness.stats.worst_case import group

KINKED = (
    "it bends within its error, as a maximum, a minimum or a size does, and no interval holds there: "
    "take ratios(...) or differences(...) of the groups, or abs() of an estimate"
)
MOST_SUPPOSED = 2_000
"""Attempts whose other possible grades are looked at where all clusters agree; plenty for a mean."""


@dataclass(frozen=True, slots=True)
class EarlierSamples:
    """Outcomes of the answers of earlier models: to all items, and to those of the sample."""

    clusters: ClusterMap
    whole: MetricSample
    part: MetricSample
    clusterings: tuple[Clustering, Clustering]
    """The clusters of both."""


@dataclass(frozen=True, slots=True)
class MetricSample:
    """Several outcomes of the same attempts."""

    values: Floats
    """Shape (attempts, outcomes); a row is nan where one outcome is ungraded, unless they are an `IndependentSum`."""
    empty: Any
    """Shape (attempts,): whether one of its outcomes is ungraded."""
    filled: Sequence[Floats]
    """The same with the ungraded rows graded: one for each way in which they could have been."""
    unseen: Callable[[], Sequence[Floats]]
    """Some of the attempts with their grades forgotten: one array (attempts, outcomes) for each way to grade them."""
    unbounded: str = ""
    """The reason that the possible grades of an ungraded attempt are unknown; empty where they are known."""
    shares: Floats | None = None
    """The probability of all options together, of propensities, shape (attempts,)."""

    @property
    def missing(self) -> Floats:
        """Shape (attempts,): which share of each is ungraded."""
        shares: Floats = self.empty.astype(np.float64)
        return shares if self.shares is None else np.where(self.empty, 1.0, 1.0 - self.shares)

    def mapped(self, change: Callable[[Floats, Floats], Floats]) -> MetricSample:
        """Other columns, computed from the first two of this sample."""
        if self.shares is not None:
            raise FairnessError(
                "a correlation of propensities is not that of answers: compare groups, or leave out propensities"
            )
        kept = change(*self.values.T) if len(self.values) and not self.empty.all() else self.values
        return MetricSample(
            kept, np.isnan(kept[:, 0]), [change(*filled.T) for filled in self.filled], list, self.unbounded
        )


def read_sample(
    columns: Columns,
    reader: OutcomeReader,
    outcomes: Sequence[Outcome],
    functions: Sequence[Callable[[GradedAttempt], Any]],
    rows: Rows,
) -> MetricSample:
    """Read several outcomes of these attempts together."""
    if columns.arrays:
        readings = [reader.named(outcome) for outcome in outcomes if isinstance(outcome, str)]
        if len(readings) < len(outcomes):
            raise FairnessError(NO_ATTEMPTS)
        return _from_arrays(readings, rows)
    if all(isinstance(function, IndependentSum) for function in functions):
        alone = np.column_stack([reader.computed([function], rows) for function in functions])
        is_empty, values = np.isnan(alone).any(axis=1), np.nan_to_num(alone)
    else:
        values = reader.computed(functions, rows)
        is_empty = np.isnan(values[:, 0])
    shares = reader.graded_shares(functions, rows)
    empty = np.flatnonzero(is_empty if shares is None else is_empty | (shares < 1))
    filled, unbounded = [], ""
    try:
        supposed = [reader.supposed(functions, rows[index]) for index in empty]
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
        return [
            np.array([hypotheses[way % len(hypotheses)] for hypotheses in ways if hypotheses]) for way in range(number)
        ]

    return MetricSample(values, is_empty, filled, unseen, unbounded, shares)


def functional_estimate(
    setting: Setting,
    name: MetricName,
    functional: Functional,
    sample: MetricSample,
    clusterings: Sequence[Clustering],
    items: int,
    breakdown: LazyBreakdown,
    span: Ends | None = None,
    history: EarlierSamples | None = None,
    annotate: Callable[[GroupOutcomes, Any], GroupOutcomes] = lambda everyone, _: everyone,
) -> Estimate:
    """Return a function of sums with its interval.

    ``history`` holds the same outcomes of earlier models' answers, by which it is adjusted where that helps;
    ``span`` is the range that it cannot leave, which chooses the scale of its interval; ``annotate``
    adds to the group of all attempts, given which are ungraded, what its numbers do not show.

    Raises `FairnessError` where it has left its span, as it is or however its ungraded attempts are filled in.
    """
    first = np.where(sample.empty, np.nan, sample.values[:, 0])
    reading = OutcomeVector("", first, first, first, None, unbounded=sample.unbounded, weights=sample.shares)
    everyone = annotate(group("all", reading, np.arange(len(first)), clusterings), sample.missing)
    counts = group_counts([everyone], items) | {"breakdown": breakdown, "span": span}
    if reason := invalid_reason([everyone]):
        return setting.invalid(name, reason, **counts)
    filled = [
        np.where(sample.missing[:, np.newaxis] > 0, extreme, sample.values)
        for extreme in _worst(functional, sample, sample.filled)
    ]
    try:
        made = [_linear(functional, sample, filling, clusterings, span) for filling in (sample.values, *filled)]
        graded = made[0]
    except UndefinedError as undefined:
        return setting.invalid(name, f"{name.title} cannot be computed: {undefined}", **counts)
    if history is not None and (closer := _adjusted(functional, sample, filled, made, clusterings, span, history)):
        made, name = closer, metric_names.history_name(name, len(history.whole.values))
    kept = ~sample.empty
    if not functional.smooth and has_kink(functional, sample.values[kept], clusterings[0][kept], graded):
        return setting.estimate(name, made, **counts, invalid=KINKED)
    return setting.estimate(name, made, **counts, suspect=suspect_reason([everyone], setting.tail))


def _adjusted(
    functional: Functional,
    sample: MetricSample,
    filled: Sequence[Floats],
    estimates: Sequence[LinearEstimate],
    clusterings: Sequence[Clustering],
    span: Ends | None,
    history: EarlierSamples,
) -> list[LinearEstimate] | None:
    """Return estimates adjusted by earlier answers; None where they are no closer, or their error not known."""
    if sample.shares is not None or len(clusterings) > 1:
        return None

    def earlier_estimate(of: MetricSample, clusters: Clustering) -> EarlierEstimate:
        if of.shares is not None:
            raise UndefinedError("propensities")
        kept = ~of.empty
        clustering = clusters[kept]
        estimate = linearize(functional, of.values[kept], [clustering], span)
        influences = np.zeros(history.clusters.size)
        influences[np.unique(clustering.codes)] = estimate.influences[0]
        return EarlierEstimate(estimate, influences, estimate.unseen)

    try:
        whole = earlier_estimate(history.whole, history.clusterings[0])
        part = earlier_estimate(history.part, history.clusterings[1])
    except (UndefinedError, FairnessError):
        return None
    made: list[LinearEstimate] = []
    for plain, values in zip(estimates, (sample.values, *filled), strict=True):
        codes = np.unique(clusterings[0].codes[~np.isnan(values[:, 0])])
        influences = history.clusters.summed(plain.influences[0], codes)
        closer = adjust_by_history(plain, influences, plain.unseen, whole, part)
        if closer is None and not made:
            return None
        made.append(plain if closer is None else closer)
    return made


def _linear(
    functional: Functional, sample: MetricSample, values: Floats, clusterings: Sequence[Clustering], span: Ends | None
) -> LinearEstimate:
    kept = ~np.isnan(values[:, 0])
    here = [clustering[kept] for clustering in clusterings]
    estimate = linearize(functional, values[kept], here, span)
    if estimate.error > 0:
        return estimate
    hypotheses = [outcomes.mean(axis=0) for outcomes in _worst(functional, sample, sample.unseen())]
    return replace(estimate, unseen=partial(unseen_ends, functional, values[kept], estimate.clusters, hypotheses))


def _worst(functional: Functional, sample: MetricSample, ways: Sequence[Floats]) -> list[Floats]:
    """Return, of several ways to grade each attempt, those that together lower the metric most, and raise it most.

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


def _from_arrays(readings: Sequence[OutcomeVector], rows: Rows) -> MetricSample:
    """Return a sample without attempts: all sums of an ungraded row are at their lowest, or all at their highest."""
    columns = [
        np.column_stack([column[rows] for column in group])
        for group in zip(*((reading.values, reading.lowest, reading.highest) for reading in readings), strict=True)
    ]
    values, lowest, highest = columns
    empty = np.isnan(values).any(axis=1)
    values[empty] = np.nan
    return MetricSample(values, empty, [lowest, highest] if empty.any() else [], list)
