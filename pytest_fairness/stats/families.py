"""Ratios that are judged together: the wider ends that their claims of unfairness need."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.breakdowns import Compared
from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.contrasts import counted, ratio_estimate, ratio_reason
from pytest_fairness.stats.fillings import Group
from pytest_fairness.stats.intervals import ratio_spread
from pytest_fairness.stats.naming import Name
from pytest_fairness.stats.quantiles import t_tail
from pytest_fairness.stats.sums import Part

DRAWS = 20_000
SEED = 20_240_229


Naming = Callable[[str, str], Name]
"""From two groups to the name of their ratio."""


def ratio_family(compared: Compared, naming: Naming, items: Callable[[Sequence[Group]], int]) -> Mapping[str, Estimate]:
    """One estimate per pair: all pairs, the smaller rate over the larger, or each group over the reference."""
    groups, to = compared.groups, compared.to
    if to is None:
        pairs = [_ordered(first, second) for first, second in combinations(groups, 2)]
    else:
        reference = next(group for group in groups if group.name == to)
        pairs = [(group, reference) for group in groups if group is not reference]
    sound = [(first.graded, second.graded) for first, second in pairs if not ratio_reason(first, second)]
    tail = simultaneous(sound)
    found = {}
    for first, second in pairs:
        name = naming(first.name, second.name)
        number = items((first, second))
        breakdown = compared.broken_down(first, second, log=True)
        estimate = ratio_estimate(compared.origin.setting, name, first, second, number, breakdown, tail)
        found[f"{first.name}/{second.name}"] = estimate if to is not None or estimate.invalid else _folded(estimate)
    return found


def worst_estimate(compared: Compared, name: Name, members: Mapping[str, Estimate], items: int) -> Estimate:
    """The smallest ratio of a family. Its point is biased low: the smallest of many errs downwards.

    Lower end: the smallest pointwise lower end. Upper end: the smallest simultaneous upper
    end; by simulation the interval covers in 96 to 99.9% of samples at 95%. A pair that
    could not be measured leaves the others able to show the model unfair, and nothing else.
    """
    counts = counted(compared.groups, items)
    sound = [member for member in members.values() if not member.invalid]
    broken = next((member.invalid for member in members.values() if member.invalid), "")
    if not sound:
        reason = broken or "fewer than two groups"
        return compared.origin.setting.invalid(name, reason, breakdown=compared.broken_down(), **counts)
    worst = min(sound, key=lambda member: member.value)
    low = 0.0 if broken else min(member.low for member in sound)
    high = min(member.high if member.strict_high is None else member.strict_high for member in sound)

    def ends_at(tail: float) -> tuple[float, float]:
        lows = [member.ends_at(tail)[0] for member in sound if member.ends_at]
        highs = [at(tail)[1] for member in sound if (at := member.strict_at or member.ends_at)]
        low = 0.0 if broken else min(lows)
        return low, max(min(highs), low, worst.value)

    suspect = broken or next((member.suspect for member in sound if member.suspect), "")
    sparse = next((member.sparse for member in sound if member.sparse), "")
    return replace(
        worst,
        metric=name.metric,
        title=name.title,
        low=low,
        high=max(high, low, worst.value),
        strict_low=None,
        strict_high=None,
        ends_at=ends_at,
        strict_at=None,
        suspect=suspect,
        sparse=sparse,
        **counts,
    )


def _folded(estimate: Estimate) -> Estimate:
    """A ratio's interval as that of the smaller over the larger, whichever group that is in truth.

    Which rate is smaller was seen, not known: a filling, or chance, may turn them round.
    """

    def fold(low: float, high: float) -> tuple[float, float]:
        return min(low, 1 / high), min(high, 1.0)

    strict_low = estimate.low if estimate.strict_low is None else estimate.strict_low
    strict_high = estimate.high if estimate.strict_high is None else estimate.strict_high
    ends_at, strict_at = estimate.ends_at, estimate.strict_at
    low, high = fold(estimate.low, estimate.high)
    strict_low, strict_high = fold(strict_low, strict_high)
    return replace(
        estimate,
        low=low,
        high=high,
        strict_low=strict_low,
        strict_high=strict_high,
        ends_at=None if ends_at is None else lambda tail: fold(*ends_at(tail)),
        strict_at=None if strict_at is None else lambda tail: fold(*strict_at(tail)),
    )


def _ordered(first: Group, second: Group) -> tuple[Group, Group]:
    one, other = first.graded.value, second.graded.value
    swapped = not math.isnan(one) and not math.isnan(other) and other < one
    return (second, first) if swapped else (first, second)


def simultaneous(pairs: Sequence[tuple[Part, Part]]) -> Callable[[float], float]:
    """From a tail to that at which all pairs' log-ratio intervals hold together with probability ``1 - 2 * tail``.

    The maximum of a multivariate t (Hothorn, Bretz and Westfall 2008), with the pairs'
    correlations as the clusters show them, by seeded simulation; no family pays more than Bonferroni asks.
    Pairs with a rate of zero have no logarithm: where there is one, Bonferroni's tail is taken.
    """

    def bonferroni(tail: float) -> float:
        return tail / max(len(pairs), 1)

    if len(pairs) < 2 or any(first.value <= 0 or second.value <= 0 for first, second in pairs):
        return bonferroni
    spreads = [ratio_spread(first, second) for first, second in pairs]
    df = min(spread.df for spread in spreads)
    parts = list({id(part): part for pair in pairs for part in pair}.values())
    place = {id(part): number for number, part in enumerate(parts)}
    # By source and by crossed factor; what they share is left in, which keeps the matrix definite.
    stacked = np.vstack([np.concatenate(part.log_deviations[:2]) for part in parts])
    contrast = np.zeros((len(pairs), len(parts)))
    for number, (first, second) in enumerate(pairs):
        contrast[number, place[id(first)]] += 1
        contrast[number, place[id(second)]] -= 1
    covariance = contrast @ (stacked @ stacked.T) @ contrast.T
    errors = np.sqrt(np.diag(covariance))
    if np.any(errors <= 0):
        return bonferroni
    largest = _largest(covariance / np.outer(errors, errors), df)

    def largest_of_all(tail: float) -> float:
        return float(np.clip(t_tail(float(np.quantile(largest, 1 - 2 * tail)), df), bonferroni(tail), tail))

    return largest_of_all


def _largest(correlation: Floats, df: float) -> Floats:
    """Draws of the largest absolute value of a multivariate t."""
    generator = np.random.default_rng(SEED)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > 1e-12
    root = vectors[:, kept] * np.sqrt(values[kept])
    largest: Floats = np.abs(generator.standard_normal((DRAWS, root.shape[1])) @ root.T).max(axis=1)
    if np.isfinite(df):
        largest = largest / np.sqrt(generator.chisquare(df, DRAWS) / df)
    return largest
