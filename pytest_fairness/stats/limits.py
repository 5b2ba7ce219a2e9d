"""The limit of an undecided threshold, from projections of its interval to larger samples.

A projection is the interval of a sample that repeats this one: with more items or sources, with more levels of a
crossed factor, or with endless repetitions. It has all parts of an interval, so advice and verdicts share all rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.limits import MOST_TIMES, UNCHANGED, Limit, LimitKind, SampleChange
from pytest_fairness.core.messages import is_open_by_ungraded
from pytest_fairness.core.placebos import is_held_by_placebo
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.stats.power import POWER
from pytest_fairness.stats.quantiles import t_quantile

FEW_TIMES = 10.0
"""The factor of the number of items from which on more levels are advised, if fewer times as many are enough."""
PRECISION = 1.0002
"""The relative precision of a factor."""
UNEQUAL = 0.5
"""The share of sources that they are worth, below which their sizes decide, and not their number."""


def with_limit(judgment: Judgment, next_share: float = 1.0, first_tail: float | None = None) -> Judgment:
    """Return an undecided judgment with what limits it.

    Args:
        judgment: The judgment.
        next_share: The error probability of the next run's intervals over that of this run's.
        first_tail: The probability to err of a first run, if it is a later one.
    """
    if judgment.verdict is not Verdict.UNDECIDED or judgment.deciding is None or judgment.sensitivity:
        return judgment
    estimate = judgment.deciding.estimate
    bounds = [comparison.bound for comparison in judgment.about_deciding]
    limit = find_limit(estimate, bounds, next_share)
    if limit is not None and is_open_by_ungraded(judgment):
        limit = Limit(kind=LimitKind.UNGRADED, unit=limit.unit, has=limit.has)
    elif not judgment.straddles:
        limit = _limit_of_claim(estimate)
    elif limit is not None and first_tail is not None and _Projected(estimate, bounds, first_tail).is_decided():
        limit = replace(limit, kind=LimitKind.RUNS)
    return replace(judgment, limit=limit)


def find_limit(estimate: Estimate, bounds: Sequence[float], next_share: float = 1.0) -> Limit | None:
    """Return what limits an estimate that is compared with bounds, with the number that decides it in 80% of runs.

    Args:
        estimate: The estimate, whose value is taken as the truth.
        bounds: The bounds.
        next_share: The error probability of the next run's intervals over that of the estimate's.

    Returns:
        None for an estimate without an error, or without bounds.
    """
    if not bounds or estimate.invalid or not estimate.error > 0:
        return None
    power = 0.0 if estimate.agreed else NormalDist().inv_cdf(POWER)
    projected = _Projected(estimate, bounds, next_share * (1 - estimate.confidence) / 2)
    now, unit = _size(estimate)
    worth = estimate.equal_sources or float(now)
    by_size = _smallest(lambda times: projected.is_decided(SampleChange(sources=times), power))
    by_levels = by_both = None
    if estimate.levels:
        by_levels = _smallest(lambda times: projected.is_decided(SampleChange(levels=times), power))
        if by_size is None and by_levels is None:
            by_both = _smallest(lambda times: projected.is_decided(SampleChange(times, times), power))
    if by_levels is not None and (by_size is None or by_size > max(FEW_TIMES, by_levels)):
        return _limit_of_levels(estimate, by_levels)
    if by_both is not None:
        with_levels = _smallest(lambda times: projected.is_decided(SampleChange(times, by_both), power)) or by_both
        return replace(_limit_of_levels(estimate, by_both), items=_whole(now * with_levels))
    if by_size is None:
        kind = LimitKind.PLACEBO if is_held_by_placebo(estimate, max(bounds)) else LimitKind.BOUND
        return Limit(kind=kind, unit=unit, has=now)
    by_size = max(by_size, estimate.fewest_sources / max(worth, 1.0))
    if worth < UNEQUAL * now:
        return Limit(kind=LimitKind.SIZE, unit=unit, has=now, needs=max(now, _whole(worth * by_size)), worth=worth)
    return Limit(kind=LimitKind.SIZE, unit=unit, has=now, needs=max(now + 1, _whole(now * by_size)))


def stays_open(estimate: Estimate, bounds: Sequence[float], tail: float, *, grows: bool) -> bool:
    """Return whether no size of a sample decides an estimate, if it holds.

    Args:
        estimate: The estimate.
        bounds: The bounds with which it is compared.
        tail: The probability to err on either side.
        grows: Whether items can be added; else only repetitions can.
    """
    if not bounds or estimate.invalid or not estimate.error > 0:
        return False
    share = estimate.repetition_share
    remaining = 0.0 if share is None else math.sqrt(max(0.0, 1 - share))
    change = SampleChange(sources=MOST_TIMES) if grows else SampleChange(error=max(remaining, 1e-6))
    return not _Projected(estimate, bounds, tail).is_decided(change)


@dataclass(frozen=True, slots=True)
class _Projected:
    """An estimate with the bounds that its projected intervals shall clear."""

    estimate: Estimate
    bounds: Sequence[float]
    tail: float

    def is_decided(self, change: SampleChange = UNCHANGED, power: float = 0.0) -> bool:
        """Return whether the interval of a changed sample clears the bounds.

        Args:
            change: The change of the sample.
            power: The distance from each bound, in standard errors.
        """
        value, log_scale = self.estimate.value, self.estimate.log_scale and self.estimate.value > 0
        low, high, error = self._interval(change)
        numbers = [value, low, high, *self.bounds]
        if log_scale:  # an interval of a ratio is one of its logarithm
            numbers = [math.log(number) if number > 0 else -math.inf for number in numbers]
            error /= value
        position, low, high, *bounds = numbers
        room = power * error
        return all(
            low - room >= bound if bound < position else high + room <= bound and bound > position for bound in bounds
        )

    def _interval(self, change: SampleChange) -> tuple[float, float, float]:
        estimate = self.estimate
        if estimate.projection is not None:
            return estimate.projection(self.tail, change)
        error = estimate.error * change.error / math.sqrt(change.sources)
        reach = t_quantile(self.tail, estimate.df * change.sources) * error
        if estimate.log_scale and estimate.value > 0:
            factor = math.exp(reach / estimate.value)
            return estimate.value / factor, estimate.value * factor, error
        return estimate.value - reach, estimate.value + reach, error


def _size(estimate: Estimate) -> tuple[int, str]:
    """Return the number of items or sources, and their noun.

    Where items share sources, the sources are what an interval counts: more items of each hardly narrow it.
    """
    return (estimate.sources, "sources") if 0 < estimate.sources < estimate.items else (estimate.items, "items")


def _limit_of_levels(estimate: Estimate, times: float) -> Limit:
    has = estimate.levels
    needs = max(has + 1, _whole(has * times))
    return Limit(kind=LimitKind.LEVELS, unit=estimate.levels_unit, has=has, needs=needs)


def _limit_of_claim(estimate: Estimate) -> Limit | None:
    """Return the limit of an estimate inside its bounds that supports no claim; None where no number is known."""
    now, unit = _size(estimate)
    worth = estimate.equal_sources or float(now)
    if not estimate.sparse or estimate.fewest_sources <= worth:
        return None
    return Limit(
        kind=LimitKind.EVENTS, unit=unit, has=now, needs=_whole(now * estimate.fewest_sources / max(worth, 1.0))
    )


def _whole(number: float) -> int:
    return math.ceil(number / PRECISION)


def _smallest(is_enough: Callable[[float], bool]) -> float | None:
    """Return the smallest factor that is enough, from 1; None where the largest is not."""
    if is_enough(1.0):
        return 1.0
    if not is_enough(MOST_TIMES):
        return None
    low, high = 1.0, float(MOST_TIMES)
    while high > low * PRECISION:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
