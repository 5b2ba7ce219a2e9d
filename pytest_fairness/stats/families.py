"""Simultaneous intervals of ratios, odds ratios, differences and rates that are judged together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from itertools import combinations

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.limits import SampleChange
from pytest_fairness.core.marks import DIFFERENCES, ODDS_RATIOS, RATIOS, MarkScale
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats.breakdowns import GroupComparison
from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.group_estimates import (
    StrictTail,
    annotate_name,
    comparison_reason,
    contrast_estimate,
    group_counts,
)
from pytest_fairness.stats.linear_estimate import IDENTITY, LOG, LOGIT, Ends, LinearEstimate, Scale, negligible
from pytest_fairness.stats.metric_names import MetricName
from pytest_fairness.stats.outcome_vectors import NO_ODDS, GroupOutcomes, OutcomeVector
from pytest_fairness.stats.quantiles import t_tail

DRAWS = 20_000
SEED = 20_240_229
NO_PART = 1e-9
"""Part of a pair's variance that other pairs do not explain, by rounding."""
FEWEST_DRAWS = 20
"""Number of draws beyond a simulated quantile, below which Bonferroni's tail is used instead."""


Naming = Callable[[str, str], MetricName]
"""A function from two groups to the name of their comparison."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to compare two groups: by ratio, odds ratio or difference."""

    metric: MetricKind
    fold: Callable[[float, float], Ends]
    """A function that folds an interval to the usual order: ratios up to 1, differences from 0."""
    key: str
    """The sign between two groups in a member's name."""
    link: Scale
    """The function of their means in which the comparison is linear: see `contrast`."""
    marks: MarkScale
    """The scale of its marks; of a difference, for rates only."""

    def check(self, vector: OutcomeVector) -> None:
        """Raise `FairnessError` for an outcome that groups cannot be compared by."""
        if self.link is LOGIT and not vector.is_rate:
            raise FairnessError(f"{vector.name} {NO_ODDS}")


def _fold_ratio(low: float, high: float) -> Ends:
    return min(low, 1 / high), min(high, 1.0)


RATIO = Kind(MetricKind.RATIO, _fold_ratio, "/", LOG, RATIOS)
ODDS_RATIO = Kind(MetricKind.ODDS_RATIO, _fold_ratio, "/", LOGIT, ODDS_RATIOS)
DIFFERENCE = Kind(MetricKind.DIFFERENCE, lambda low, high: (max(low, 0.0), max(high, -low)), "-", IDENTITY, DIFFERENCES)


def family(
    kind: Kind, comparison: GroupComparison, naming: Naming, items: Callable[[Sequence[GroupOutcomes]], int]
) -> Mapping[str, Estimate]:
    """Return one estimate per pair of groups, or per group and reference.

    Without a reference, ratios are the smaller over the larger and differences the larger minus the smaller.
    """
    groups, to = comparison.groups, comparison.to
    if to is None:
        pairs = [_ordered(first, second, larger_first=kind is DIFFERENCE) for first, second in combinations(groups, 2)]
    else:
        reference = next(group for group in groups if group.name == to)
        pairs = [(group, reference) for group in groups if group is not reference]
    pairs = [comparison.sample.compared(comparison.vector, comparison.by, *pair) for pair in pairs]
    contrasts = [
        None
        if comparison_reason([first, second], kind.link)
        else contrast([first.graded, second.graded], (1, -1), kind.link)
        for first, second in pairs
    ]
    tail = simultaneous([pair for pair in contrasts if pair is not None], folded=to is None)
    members = {}
    setting = comparison.sample.setting
    for (first, second), graded in zip(pairs, contrasts, strict=True):
        name, number = naming(first.name, second.name), items((first, second))
        breakdown = comparison.lazy_breakdown(first, second, link=kind.link)
        estimate = contrast_estimate(
            setting, name, (first, second), number, breakdown, tail, link=kind.link, graded=graded
        )
        if to is None and not estimate.invalid:  # chance, or ungraded answers, may reverse the order of the two rates
            estimate = estimate.with_ends(kind.fold)
        members[f"{first.name}{kind.key}{second.name}"] = estimate
    return members


def worst_estimate(
    comparison: GroupComparison, name: MetricName, members: Mapping[str, Estimate], items: int
) -> Estimate:
    """Return the smallest ratio of a family. Its point is biased low: the smallest of many errs downwards.

    Lower end: the smallest pointwise lower end. Upper end: the smallest simultaneous upper
    end; by simulation the interval covers in 96 to 99.9% of samples at 95%. Where a pair
    could not be measured, the others can still show the model unfair, but not fair.
    """
    counts, name = group_counts(comparison.groups, items), annotate_name(name, comparison.groups)
    sound = [member for member in members.values() if not member.invalid]
    invalid = next((member.invalid for member in members.values() if member.invalid), "")
    if not sound:
        return comparison.sample.setting.invalid(name, invalid, breakdown=comparison.lazy_breakdown(), **counts)
    worst = min(sound, key=lambda member: member.value)
    # test_group_without_answers_makes_the_family_invalid
    low = 0.0 if invalid else min(member.low for member in sound)
    # test_worst_ratio_takes_the_smallest_interval_ends
    high = min(member.strict_ends[1] for member in sound)

    def ends_at(tail: float) -> tuple[float, float]:
        lows = [member.ends_at(tail)[0] for member in sound if member.ends_at]
        highs = [at(tail)[1] for member in sound if (at := member.strict_at or member.ends_at)]
        low = 0.0 if invalid else min(lows)
        return low, max(min(highs), low, worst.value)

    def project(tail: float, change: SampleChange) -> tuple[float, float, float]:
        projected = [member.projection(tail, change) for member in sound if member.projection]
        lows, highs, errors = zip(*projected, strict=True)
        return 0.0 if invalid else min(lows), max(*highs, worst.value), max(errors)

    suspect = invalid or next((member.suspect for member in sound if member.suspect), "")
    sparse = next((member.sparse for member in sound if member.sparse), "")
    return replace(
        worst,
        **name.fields(),
        low=low,
        high=max(high, low, worst.value),
        strict_low=None,
        strict_high=None,
        ends_at=ends_at,
        projection=project,
        strict_at=None,
        suspect=suspect,
        sparse=sparse,
        **{**counts, "levels_unit": worst.levels_unit},
    )


def _ordered(first: GroupOutcomes, second: GroupOutcomes, *, larger_first: bool) -> tuple[GroupOutcomes, GroupOutcomes]:
    first_value, second_value = first.graded.value, second.graded.value
    swapped = first_value < second_value if larger_first else second_value < first_value  # False where one is nan
    return (second, first) if swapped else (first, second)


def simultaneous(pairs: Sequence[LinearEstimate], *, folded: bool) -> StrictTail:
    """Return a map from a family-wise error to the tail of each pair at which all claims of unfairness keep it.

    The maximum of a multivariate t (Hothorn, Bretz and Westfall 2008), with the pairs' correlations estimated from
    the clusters, by seeded simulation; the tail is never smaller than Bonferroni's. Bonferroni's is used where a pair
    has no logarithm, no variation or an infinite error, and in far tails, where the simulation has too few draws.

    Args:
        pairs: The contrasts of all pairs.
        folded: Whether the order of each pair follows from the data. It is then two claims, one for each order.
    """
    # test_large_family_is_corrected_by_bonferroni
    sides = 2 if folded else 1
    claims = sides * max(len(pairs), 1)

    def bonferroni(tail: float) -> float:
        return tail / claims

    errors = np.array(
        [math.sqrt(sum(float(np.square(influences).sum()) for influences in pair.influences[:2])) for pair in pairs]
    )
    is_sound = np.isfinite(errors) & (errors > 0)
    # test_family_with_an_undefined_error_is_corrected_by_bonferroni
    if len(pairs) < 2 or not is_sound.all() or any(negligible(pair.variance, pair.clusters) for pair in pairs):
        return bonferroni
    df = min(pair.df for pair in pairs)
    # By source and by crossed factor, without subtracting their cells, which keeps the matrix positive definite.
    stacked = np.vstack([np.concatenate(pair.influences[:2]) for pair in pairs]) / errors[:, np.newaxis]
    largest = _largest(stacked @ stacked.T, df)

    @cache
    def largest_of_all(tail: float) -> float:
        # The simulated maximum is two-sided; unless folded, only one of its sides is a claim.
        beyond = (1 if folded else 2) * tail
        # test_large_family_is_corrected_by_bonferroni
        if beyond < FEWEST_DRAWS / DRAWS:
            return bonferroni(tail)
        return float(np.clip(t_tail(float(np.quantile(largest, 1 - beyond)), df), bonferroni(tail), tail / sides))

    return largest_of_all


def _largest(correlation: Floats, df: float) -> Floats:
    """Return draws of the largest absolute value of a multivariate t."""
    root = _root(correlation)
    normals, generator = _normal_draws(len(root))
    largest: Floats = reduce(np.maximum, np.abs(root.T @ normals))
    if np.isfinite(df):
        largest = largest / np.sqrt(deepcopy(generator).chisquare(df, DRAWS) / df)
    return largest


def _root(correlation: Floats) -> Floats:
    """Return a matrix L with L^T L = ``correlation``, shape (rank, pairs): Cholesky's, without rows of zeros.

    The pairs of k groups have a rank of k - 1, so 30 groups need 29 draws each, and not 435. Pairs keep their order, so
    that rounding changes nothing: eigenvectors have any sign, and with equal eigenvalues any direction.
    """
    rows: list[Floats] = []
    remaining = correlation.diagonal().copy()
    for index in range(len(correlation)):
        if remaining[index] > NO_PART:
            explained = sum((row[index] * row for row in rows), np.zeros(len(correlation)))
            rows.append((correlation[index] - explained) / np.sqrt(remaining[index]))
            remaining -= np.square(rows[-1])
    return np.array(rows)


@lru_cache(maxsize=2)
def _normal_draws(size: int) -> tuple[Floats, np.random.Generator]:
    """Return normal draws, shape (size, DRAWS), and the generator in the state after them."""
    generator = np.random.default_rng(SEED)
    return generator.standard_normal((size, DRAWS)), generator
