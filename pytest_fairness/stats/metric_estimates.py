"""Estimates of functions of sums: custom metrics, and the correlation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Clustering, Columns, Floats, Rows
from pytest_fairness.stats.custom_metrics import Functional, UndefinedError, has_kink, linearize, unseen_ends
from pytest_fairness.stats.group_estimates import Setting, group_counts
from pytest_fairness.stats.linear_estimate import Ends, LinearEstimate
from pytest_fairness.stats.metric_names import MetricName
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, Outcome, OutcomeVector, UnboundedError, group
from pytest_fairness.stats.outcomes import NO_ATTEMPTS, IndependentSum, OutcomeReader
from pytest_fairness.stats.rare_deviations import find_rare_deviations
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

KINKED = (
    "it bends within its error, as a maximum, a minimum or a size does, and no interval holds there: "
    "take ratios(...) or differences(...) of the groups, or abs() of an estimate"
)


@dataclass(frozen=True, slots=True)
class MetricSample:
    """Several outcomes of the same attempts."""

    values: Floats
    """Shape (attempts, outcomes); a row is nan where one outcome is ungraded, unless all are an `IndependentSum`."""
    clusterings: Sequence[Clustering]
    """Their clusters: by source, then (with a crossed factor) by level and by cell."""
    is_ungraded: Any
    """Whether one of its outcomes is ungraded, shape (attempts,)."""
    imputed: Sequence[Floats]
    """The values with ungraded rows imputed: one array for each possible grade."""
    hypothetical: Callable[[], Sequence[Floats]]
    """A function to the values of some attempts under other grades: one array for each possible grade."""
    unbounded: str = ""
    """The reason that the possible grades of an ungraded attempt are unknown; empty where they are known."""
    shares: Floats | None = None
    """Total probability of the options of each attempt, for propensities, shape (attempts,)."""

    @property
    def missing(self) -> Floats:
        """The share of each attempt that is ungraded, shape (attempts,)."""
        shares: Floats = self.is_ungraded.astype(np.float64)
        return shares if self.shares is None else np.where(self.is_ungraded, 1.0, 1.0 - self.shares)

    def transform(self, function: Callable[[Floats, Floats], Floats]) -> MetricSample:
        """Return other columns of the same attempts, computed from the first two of this sample."""
        if self.shares is not None:
            raise FairnessError(
                "a correlation of propensities is not that of answers: compare groups, or leave out propensities"
            )
        values = function(*self.values.T) if len(self.values) and not self.is_ungraded.all() else self.values
        imputed = [function(*columns.T) for columns in self.imputed]
        return replace(self, values=values, is_ungraded=np.isnan(values[:, 0]), imputed=imputed, hypothetical=list)


def read_sample(
    columns: Columns,
    reader: OutcomeReader,
    outcomes: Sequence[Outcome],
    rows: Rows,
    clusterings: Sequence[Clustering],
) -> MetricSample:
    """Return several outcomes of some attempts, with all grades that the ungraded ones could have had.

    Args:
        columns: The sample.
        reader: The reader of its outcomes.
        outcomes: The outcomes.
        rows: The attempts.
        clusterings: Their clusters.
    """
    functions = [reader.function(outcome) for outcome in outcomes]
    if columns.arrays:
        vectors = [reader.named(outcome) for outcome in outcomes if isinstance(outcome, str)]
        if len(vectors) < len(outcomes):
            raise FairnessError(NO_ATTEMPTS)
        return _from_arrays(vectors, rows, clusterings)
    if all(isinstance(function, IndependentSum) for function in functions):
        separate = np.column_stack([reader.computed([function], rows) for function in functions])
        is_ungraded, values = np.isnan(separate).any(axis=1), np.nan_to_num(separate)
    else:
        values = reader.computed(functions, rows)
        is_ungraded = np.isnan(values[:, 0])
    shares = reader.graded_shares(functions, rows)
    incomplete = np.flatnonzero(is_ungraded if shares is None else is_ungraded | (shares < 1))
    unbounded = ""
    try:
        possible = [reader.require_hypotheses(functions, rows[index]) for index in incomplete]
    except UnboundedError as error:
        possible, unbounded = [], str(error)
    imputed = []
    # An attempt with fewer possible grades than another repeats them.
    for index in range(max(map(len, possible), default=0)):
        complete = values.copy()
        complete[incomplete] = [hypotheses[index % len(hypotheses)] for hypotheses in possible]
        imputed.append(complete)

    def hypothetical() -> list[Floats]:
        possible = list(filter(None, reader.hypotheses(functions, rows)))
        number = max(map(len, possible), default=0)
        return [np.array([hypotheses[index % len(hypotheses)] for hypotheses in possible]) for index in range(number)]

    return MetricSample(values, clusterings, is_ungraded, imputed, hypothetical, unbounded, shares)


def functional_estimate(
    setting: Setting,
    name: MetricName,
    functional: Functional,
    sample: MetricSample,
    items: int,
    breakdown: LazyBreakdown,
    span: Ends | None,
    annotate: Callable[[GroupOutcomes, Any], GroupOutcomes],
) -> Estimate:
    """Return the estimate of a function of sums.

    Args:
        setting: The settings of the sample.
        name: The parts of its name.
        functional: The function.
        sample: The outcomes that it sums.
        items: The number of items.
        breakdown: The function that gives the estimate's breakdown.
        span: The range that the function cannot leave; it determines the scale of the interval.
        annotate: A function that marks the group of all attempts as invalid or suspect, given its ungraded shares.

    Raises:
        FairnessError: The value lies outside its span, as graded or under an imputation.
    """
    first = np.where(sample.is_ungraded, np.nan, sample.values[:, 0])
    vector = OutcomeVector("", first, first, first, None, unbounded=sample.unbounded, weights=sample.shares)
    everyone = annotate(group("all", vector, np.arange(len(first)), sample.clusterings), sample.missing)
    counts = group_counts([everyone], items) | {"breakdown": breakdown, "span": span}
    if reason := invalid_reason([everyone]):
        values = sample.values[~sample.is_ungraded]
        observed = float(functional.at(values.sum(axis=0)[np.newaxis])[0]) if len(values) else math.nan
        return setting.invalid(name, reason, observed=observed, **counts)
    imputed = [
        np.where(sample.missing[:, np.newaxis] > 0, extreme, sample.values)
        for extreme in _extremes(functional, sample, sample.imputed)
    ]
    samples = (sample.values, *imputed)
    try:
        estimates = [_linear_estimate(functional, sample, values, span) for values in samples]
    except UndefinedError as undefined:
        return setting.invalid(name, f"{name.title} cannot be computed: {undefined}", **counts)
    # test_metric_with_a_kink_within_its_error_is_invalid, test_kink_that_ungraded_answers_reach_is_invalid
    if not functional.smooth and any(
        _has_kink(functional, sample, values, one) for values, one in zip(samples, estimates, strict=True)
    ):
        return setting.estimate(name, estimates, **counts, invalid=KINKED)
    return setting.estimate(name, estimates, **counts, suspect=suspect_reason([everyone], setting.tail))


def _linear_estimate(functional: Functional, sample: MetricSample, values: Floats, span: Ends | None) -> LinearEstimate:
    """Return a function of sums as a linear estimate, with exact ends where too few clusters show its error."""
    graded = ~np.isnan(values[:, 0])
    estimate = linearize(functional, values[graded], [clustering[graded] for clustering in sample.clusterings], span)
    if estimate.error > 0 and not (estimate.open and estimate.leading == 0):
        return estimate
    means = [outcomes.mean(axis=0) for outcomes in _extremes(functional, sample, sample.hypothetical())]
    if not means:
        return estimate
    if estimate.error > 0:
        # test_few_sources_that_deviate_decide_a_mean
        rare = find_rare_deviations(functional, values[graded], sample.clusterings[0][graded], means)
        return estimate if rare is None else replace(estimate, exact=rare.ends)
    return replace(estimate, unseen=partial(unseen_ends, functional, values[graded], estimate.clusters, means))


def _has_kink(functional: Functional, sample: MetricSample, values: Floats, estimate: LinearEstimate) -> bool:
    """Return whether a function has a kink within its error, as graded or under an imputation."""
    graded = ~np.isnan(values[:, 0])
    return has_kink(functional, values[graded], sample.clusterings[0][graded], estimate)


def _extremes(functional: Functional, sample: MetricSample, possible: Sequence[Floats]) -> list[Floats]:
    """Return the values, of several possible ones of each attempt, that lower the metric most, and that raise it most.

    Attempts differ in which grade lowers it (the options of a choice are shuffled, a question
    is asked with both polarities). So each is chosen by itself: by the metric of the sample with that attempt added.
    """
    if not possible:
        return []
    values = np.stack(list(possible))
    sums = sample.values[~sample.is_ungraded].sum(axis=0) + values.reshape(-1, values.shape[2])
    metrics = np.nan_to_num(functional.at(sums)).reshape(values.shape[:2])
    attempts = np.arange(values.shape[1])
    return [values[metrics.argmin(axis=0), attempts], values[metrics.argmax(axis=0), attempts]]


def _from_arrays(vectors: Sequence[OutcomeVector], rows: Rows, clusterings: Sequence[Clustering]) -> MetricSample:
    """Return a sample without attempts: ungraded rows have their lowest sums, or their highest."""
    values, lowest, highest = (
        np.column_stack([numbers[rows] for numbers in arrays])
        for arrays in zip(*((vector.values, vector.lowest, vector.highest) for vector in vectors), strict=True)
    )
    is_ungraded = np.isnan(values).any(axis=1)
    values[is_ungraded] = np.nan
    return MetricSample(values, clusterings, is_ungraded, [lowest, highest] if is_ungraded.any() else [], list)
