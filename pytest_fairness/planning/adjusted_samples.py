"""Samples that earlier models' answers adjust: how much smaller one of them may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_fairness.core.dry_run_results import AdjustedPlan, NeededSample
from pytest_fairness.planning.protocols import SimulatedRuns, Threshold

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.pilot_samples import AdjustedSampler

SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The sizes of adjusted samples that are tried, as shares of the size without adjustment."""
MOST_MEASURED = 3
"""The most earlier models that are adjusted by the others."""
ADJUSTED_DRAWS = 12
"""The samples of each model."""

Widths = Mapping[tuple[str, str, str], float]
"""Mean squared widths of the intervals of a threshold over samples, by metric and slice."""


def plan_adjusted(threshold: Threshold, runs: SimulatedRuns, needed: NeededSample | None) -> AdjustedPlan | None:
    """Return the items of an adjusted sample whose interval is as wide as that of ``needed`` items without adjustment.

    Each earlier model is sampled as if it were the new one, and adjusted by the others; the smallest saving counts. A
    model that resembles the others less saves less.

    Args:
        threshold: The threshold.
        runs: The planned run.
        needed: The sample for *fair* in 80% of runs, if there is one.

    Returns:
        The plan; None without earlier models that have answered every item.
    """
    earlier = runs.earlier_models
    if not earlier:
        return None
    names = list(dict.fromkeys(model.run for model in earlier))
    plain = AdjustedPlan(runs=names, models=len(earlier))
    samplers = runs.adjusted_samplers(MOST_MEASURED)
    if needed is None or not samplers or needed.items >= samplers[0].items:
        return plain
    per_item = runs.attempts / runs.items
    shares = [_find_share(threshold, runs, sampler, needed.items) for sampler in samplers]
    sufficient = [share for share in shares if share is not None]
    if len(sufficient) < len(shares):
        return plain
    items = math.ceil(max(sufficient) * needed.items)
    calls, plain_calls = (math.ceil(number * per_item) for number in (items, needed.items))
    return AdjustedPlan(runs=names, models=len(earlier), items=items, calls=calls, plain_calls=plain_calls)


def _find_share(threshold: Threshold, runs: SimulatedRuns, sampler: AdjustedSampler, size: int) -> float | None:
    """Return the smallest of `SHARES` whose adjusted intervals are as narrow as those of ``size`` plain items."""
    samples = _ThresholdSamples(threshold, runs, sampler)
    plain_widths = samples.widths(size, adjusted=False)
    low, high = 0, len(SHARES)
    while low < high:
        middle = (low + high) // 2
        widths = samples.widths(math.ceil(SHARES[middle] * size), adjusted=True)
        is_narrow = bool(plain_widths) and all(
            widths.get(name, math.inf) <= width < math.inf for name, width in plain_widths.items()
        )
        low, high = (low, middle) if is_narrow else (middle + 1, high)
    return SHARES[low] if low < len(SHARES) else None


class _ThresholdSamples:
    """A threshold on samples of one earlier model, in the same orders for each size."""

    def __init__(self, threshold: Threshold, runs: SimulatedRuns, sampler: AdjustedSampler) -> None:
        self._threshold, self._sampler, self._repetitions = threshold, sampler, runs.repetitions
        self._orders = runs.orders(sampler.items, ADJUSTED_DRAWS)
        self._dependence: Dependence | None = None

    def widths(self, size: int, *, adjusted: bool) -> Widths:
        """Return the mean squared widths of its intervals; infinite if one is not known."""
        squares: dict[tuple[str, str, str], list[float]] = {}
        for order in self._orders:
            for estimate in self._estimates(self._sampler.draw(order, size, self._repetitions, adjusted=adjusted)):
                name = estimate.metric, estimate.family, repr(sorted(estimate.slice.items()))
                squares.setdefault(name, []).append(interval_width(estimate) ** 2)
        return {name: fmean(widths) for name, widths in squares.items()}

    def _estimates(self, sample: Measured) -> Sequence[Estimate]:
        judgment = self._threshold.judge(sample, self._dependence)
        self._dependence = judgment.dependence or self._dependence
        return judgment.estimates


def interval_width(estimate: Estimate) -> float:
    """Return the width of an interval on its scale; infinite if it is not known."""
    if estimate.invalid or not estimate.low <= estimate.high:
        return math.inf
    if estimate.log_scale:
        return math.log(estimate.high / estimate.low) if estimate.low > 0 and estimate.high < math.inf else math.inf
    return estimate.high - estimate.low
