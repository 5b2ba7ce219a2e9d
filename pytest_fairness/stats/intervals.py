"""Intervals of a rate or mean, of a difference and of a ratio of two parts.

Each takes ``tail``: the probability to err on either side (0.025 for a 95% interval).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.jackknife import combined, degrees, negligible, observed_degrees, sparse_factor
from pytest_fairness.stats.quantiles import jeffreys_ends, t_quantile, wilson_ends
from pytest_fairness.stats.skewness import STRAIGHT, Skew, log_ratio_skew, mean_skew
from pytest_fairness.stats.sums import Part

FEWEST_EVENTS = 5
"""Effective events, and others, of each group from which the jackknife alone is trusted."""

LARGEST_LOG = 700
"""Of a number that a float holds; a tail of 1e-9 and few clusters lead beyond it."""

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """The error of an estimate on the scale its interval is made on."""

    error: float
    df: float
    skew: Skew = STRAIGHT

    def ends(self, value: float, tail: float) -> Ends:
        """Student's t, with both ends moved towards the longer tail."""
        below, above = self.skew.reaches(t_quantile(tail, self.df), self.error)
        return value - below, value + above


def mean_spread(part: Part) -> Spread:
    """The error of a rate or mean."""
    return _spread([part], part.deviations, [1.0], mean_skew(part.deviations[0]).bent(part.bend))


def difference_spread(first: Part, second: Part) -> Spread:
    """The error of ``first - second``."""
    deviations = [a - b for a, b in zip(first.deviations, second.deviations, strict=True)]
    weights = [first.variance, second.variance]
    skew = mean_skew(deviations[0]).bent(_bend([first.bend, -second.bend], weights))
    return _spread([first, second], deviations, weights, skew)


def ratio_spread(first: Part, second: Part) -> Spread:
    """The error of the logarithm of ``first / second``."""
    deviations = [a - b for a, b in zip(first.log_deviations, second.log_deviations, strict=True)]
    known = first.effective * first.value + second.effective * second.value if _binary(first, second) else math.inf
    weights = [part.variance / part.value**2 for part in (first, second)]
    bends = [first.bend / first.value, -second.bend / second.value]
    skew = log_ratio_skew(first.log_deviations[0], second.log_deviations[0]).bent(_bend(bends, weights))
    return _spread([first, second], deviations, weights, skew, known)


def _bend(bends: list[float], variances: list[float]) -> float:
    """Of a contrast, from those of its parts: each counts by its share of the variance."""
    total = sum(variances)
    return sum(b * v for b, v in zip(bends, variances, strict=True)) / total if total > 0 else 0.0


def mean_interval(part: Part, tail: float) -> Ends:
    """Of a rate: Wilson's with the effective number of attempts; of a mean: Student's t."""
    if part.binary:
        return _rate_ends(part, tail)
    error = mean_spread(part)
    if error.error == 0:
        return _stretched(part.value, [part], tail)
    low, high = error.ends(part.value, tail)
    # A corrected rate; one that is itself outside says more with its ends than without.
    return (max(low, 0.0), min(high, 1.0)) if part.rate and 0 < part.value < 1 else (low, high)


def difference_interval(first: Part, second: Part, tail: float) -> Ends:
    """Of ``first - second``: Student's t; with few events also Newcombe's 1998 hybrid of the rates' own intervals."""
    error = difference_spread(first, second)
    value = first.value - second.value
    ends = error.ends(value, tail) if error.error > 0 else _stretched(value, [first, second], tail)
    if not _few(first, second):
        return ends
    (low1, high1), (low2, high2) = _few_ends(first, tail), _few_ends(second, tail)
    low = value - math.hypot(first.value - low1, high2 - second.value)
    high = value + math.hypot(high1 - first.value, second.value - low2)
    return min(ends[0], low), max(ends[1], high)


def ratio_interval(first: Part, second: Part, tail: float) -> Ends:
    """Of ``first / second``: Student's t on the logarithm; with few events also a hybrid of the rates' own intervals.

    The hybrid is Donner and Zou's 2012 (MOVER), which a rate of zero does not break.
    """
    if first.value == 0 and second.value == 0:
        return 0.0, math.inf
    hybrid = _hybrid_ratio(first, second, tail) if _few(first, second) else None
    if (first.value == 0 or second.value == 0) and hybrid is not None:
        return hybrid
    error = ratio_spread(first, second)
    if error.error > 0:
        low, high = error.ends(math.log(first.value / second.value), tail)
    else:
        if first.span is None or second.span is None:
            return -math.inf, math.inf
        width = max(first.span[1] - first.span[0], second.span[1] - second.span[0])
        share = _unseen(min(first.sources, second.sources), tail)
        reach = share * width / min(first.value, second.value)
        low, high = (math.log(first.value / second.value) + sign * reach for sign in (-1, 1))
    ends = math.exp(low), math.exp(high) if high < LARGEST_LOG else math.inf
    return ends if hybrid is None else (min(ends[0], hybrid[0]), max(ends[1], hybrid[1]))


def _spread(
    parts: list[Part], deviations: list[Floats], weights: list[float], skew: Skew, known: float = math.inf
) -> Spread:
    """The error of a contrast of parts, from its clusters' deviations (one array per clustering)."""
    sources = int(np.count_nonzero(sum(part.counts[0] for part in parts)))
    own_share = fmean(part.own_share for part in parts)
    variance = combined([float(np.square(each).sum()) for each in deviations], own_share)
    if negligible(variance, sources):
        return Spread(0.0, max(sources - 1.0, 1.0))
    dfs = _degrees(parts, weights)
    return Spread(math.sqrt(variance * sparse_factor(deviations[0], dfs[0], known)), min(dfs), skew)


def _degrees(parts: list[Part], weights: list[float]) -> list[float]:
    """Of the sources by their sizes, and of the crossed factor: a cluster's share squared, weighted by its part."""
    found = []
    for clustering in range(len(parts[0].counts))[:2]:
        contributions = np.zeros(len(parts[0].counts[clustering]))
        for part, weight in zip(parts, weights, strict=True):
            squares = np.square(part.shares[clustering])
            contributions += (weight or 1e-12) * squares / squares.sum()
        found.append(degrees(contributions))
    if len(found) > 1:
        found.append(max(sum(part.levels for part in parts) - len(parts), 1.0))
    return found


def _rate_ends(part: Part, tail: float) -> Ends:
    df = min(_degrees([part], [1.0]))
    if part.count > part.sources:
        df = min(df, observed_degrees(part.deviations[0], part.sources))
    quantile = t_quantile(tail, df)
    ends = wilson_ends(part.value, part.effective, quantile)
    if part.events >= FEWEST_EVENTS:
        return ends
    few = _few_ends(part, tail)
    if part.value in (0.0, 1.0):
        return few
    return min(ends[0], few[0]), max(ends[1], few[1])


def _few_ends(part: Part, tail: float) -> Ends:
    """Of a rate of few events: not exact ends, which make the hybrids cover 99% and more."""
    return jeffreys_ends(part.value, part.effective, tail)


def _binary(first: Part, second: Part) -> bool:
    return first.binary and second.binary


def _few(first: Part, second: Part) -> bool:
    return _binary(first, second) and min(first.events, second.events) < FEWEST_EVENTS


def _hybrid_ratio(first: Part, second: Part, tail: float) -> Ends:
    (low1, high1), (low2, high2) = _few_ends(first, tail), _few_ends(second, tail)
    rate1, rate2 = first.value, second.value
    product = rate1 * rate2
    lower = low1 * (2 * rate1 - low1)
    low = lower / (product + math.sqrt(product**2 - lower * high2 * (2 * rate2 - high2))) if lower > 0 else 0.0
    upper = low2 * (2 * rate2 - low2)
    if upper <= 0:
        return low, math.inf
    return low, (product + math.sqrt(product**2 - upper * high1 * (2 * rate1 - high1))) / upper


def _unseen(clusters: int, tail: float) -> float:
    """The largest share of clusters that could differ when none of those seen did."""
    return 1 - math.exp(math.log(tail) / clusters)


def _stretched(value: float, parts: list[Part], tail: float) -> Ends:
    """Ends for clusters that all agree: what an unseen share of them could add."""
    share = _unseen(min(part.sources for part in parts), tail)
    spans = [part.span for part in parts]
    if any(span is None for span in spans):
        return -math.inf, math.inf
    width = max(high - low for low, high in filter(None, spans))
    if len(parts) > 1:
        return value - share * width, value + share * width
    low, high = spans[0] or (value, value)
    return value - share * (value - low), value + share * (high - value)
