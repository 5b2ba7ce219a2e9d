"""Power of a planned run, by the normal approximation.

Values, errors and bounds of a ratio are logarithms, since its interval is made on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats.quantiles import t_quantile

POWER = 0.8
"""Probability of a verdict for which runs are planned."""
MOST_TIMES = 1000.0
"""Largest factor of the number of items that a plan proposes."""

Bounds = tuple[float | None, float | None]
"""The lowest and the highest value that is fair; None where there is no such end."""


def probabilities(value: float, error: float, df: float, bounds: Bounds, tail: float) -> tuple[float, float, float]:
    """Return the probabilities of fair, unfair and undecided when the truth is ``value``.

    Args:
        value: The true value, about which estimates are taken as normally distributed.
        error: Their standard error.
        df: Degrees of freedom of Student's t interval.
        bounds: The bounds of the threshold.
        tail: The probability to err on either side: 0.025 for a 95% interval.

    >>> fair, unfair, undecided = probabilities(0.0, 0.05, 99, (-0.2, 0.2), 0.025)
    >>> round(fair, 3), round(unfair, 3), round(undecided, 3)
    (0.956, 0.0, 0.044)

    Raises:
        ValueError: The error is not above zero.
    """
    if not error > 0:
        raise ValueError(f"the error is {error!r}: it must be above zero")
    low, high = bounds
    estimates = NormalDist(value, error)
    margin = t_quantile(tail, df) * error
    not_above_low = 0.0 if low is None else estimates.cdf(low + margin)
    below_high = 1.0 if high is None else estimates.cdf(high - margin)
    fair = max(0.0, below_high - not_above_low)
    below = 0.0 if low is None else estimates.cdf(low - margin)
    above = 0.0 if high is None else 1 - estimates.cdf(high + margin)
    return fair, below + above, max(0.0, 1 - fair - (below + above))


def rate_variance(kind: MetricKind, rate: float) -> float:
    """Return the variance that one trial of a rate between 0 and 1 has, on the scale of a comparison of rates.

    >>> kinds = MetricKind.DIFFERENCE, MetricKind.RATIO, MetricKind.ODDS_RATIO
    >>> [round(rate_variance(kind, 0.2), 2) for kind in kinds]
    [0.16, 4.0, 6.25]
    """
    if kind is MetricKind.ODDS_RATIO:
        return 1 / (rate * (1 - rate))
    return (1 - rate) / rate if kind.log_scale else rate * (1 - rate)


def rate_ratio(kind: MetricKind, ratio: float, rate: float) -> float:
    """Return the ratio of another rate to this one, between 0 and 1, where a metric of the two is ``ratio``.

    >>> rate_ratio(MetricKind.RATIO, 0.8, 0.5), round(rate_ratio(MetricKind.ODDS_RATIO, 2 / 3, 0.5), 9)
    (0.8, 0.8)
    """
    return ratio / (1 - rate + ratio * rate) if kind is MetricKind.ODDS_RATIO else ratio


def is_narrow(error: float, df: float, bounds: Bounds, tail: float) -> bool:
    """Return whether two bounds are closer together than an interval is wide, so that it is inside for no value.

    >>> is_narrow(0.1, 99, (-0.2, 0.2), 0.025), is_narrow(0.1, 99, (-0.1, 0.1), 0.025)
    (False, True)
    """
    low, high = bounds
    return low is not None and high is not None and 2 * t_quantile(tail, df) * error > high - low


def items_for(value: float, error: float, df: float, bounds: Bounds, tail: float) -> float | None:
    """Return the factor of the number of items (or sources) at which *fair* has probability `POWER`.

    The squared error is inversely proportional to their number, the degrees of freedom are proportional to it.
    The factor can be below 1. None where none up to `MOST_TIMES` is enough: the value lies on a bound, or outside.

    >>> round(items_for(0.0, 0.1, 39, (math.log(0.8), math.log(1.2)), 0.025), 2)
    2.71
    """

    def fair(times: float) -> float:
        return probabilities(value, error / math.sqrt(times), max(1.0, df * times), bounds, tail)[0]

    return smallest_factor(fair)


def smallest_factor(power: Callable[[float], float]) -> float | None:
    """Return the smallest factor at which an increasing power reaches `POWER`; None above `MOST_TIMES`."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    low, high = 1 / MOST_TIMES, MOST_TIMES
    if power(high) < POWER:
        return None
    if power(low) >= POWER:
        return low
    return math.exp(brentq(lambda log: power(math.exp(log)) - POWER, math.log(low), math.log(high), xtol=1e-6))


def times_for(observed: Sequence[tuple[float, float]], tail: float) -> float:
    """Return the factor of the number of items at which *fair* has probability `POWER`, from simulated factors.

    The distance from the truth to the bound is z(1 - tail) + z(probability) errors, and is
    proportional to the square root of the number of items. It is interpolated between two factors with
    `POWER` between them; where there are none, it is extrapolated from the last factor.

    Args:
        observed: Pairs of a factor and its probability of *fair* (above 0, below 1), the last simulated one last.
        tail: The probability to err on either side.

    >>> round(times_for([(1.0, 0.5)], 0.025), 2), round(times_for([(1.0, 0.5), (2.25, 0.9)], 0.025), 2)
    (2.04, 1.76)
    """
    z = NormalDist().inv_cdf
    below = max(((times, power) for times, power in observed if power < POWER), default=None)
    above = min(((times, power) for times, power in observed if power >= POWER), default=None)
    if below and above and below[0] < above[0]:
        share = (z(POWER) - z(below[1])) / (z(above[1]) - z(below[1]))
        return (math.sqrt(below[0]) + share * (math.sqrt(above[0]) - math.sqrt(below[0]))) ** 2
    times, power = observed[-1]
    quantile = z(1 - tail)
    distance = quantile + max(z(power), -quantile / 2)  # a lower power carries next to no information
    return times * ((quantile + z(POWER)) / distance) ** 2


def repetitions_for(times: float, share: float) -> float | None:
    """Return the factor of the number of repetitions with the effect of ``times`` as many items; None if none has it.

    With t times as many items and r times as many repetitions, the squared error is (1 - share) / t + share / (t r)
    times what it was.

    Args:
        times: The factor of the number of items.
        share: The part of the squared error that is due to repetitions (`Estimate.repetition_share`).

    >>> repetitions_for(2.0, 0.75)
    3.0
    >>> repetitions_for(4.0, 0.5) is None
    True
    """
    remaining = 1 / times - (1 - share)
    return share / remaining if remaining > 0 else None


def labels_for(value: float, error: float, df: float, bounds: Bounds, tail: float, share: float) -> float | None:
    """Return the factor of the number of labels at which *fair* has probability `POWER`; None where none is enough.

    With t times as many labels, the squared error is (1 - share) + share / t times what it was, where ``share`` is the
    part that is due to labels (`Estimate.label_share`).

    >>> labels_for(0.0, 0.1, 99, (-0.4, 0.4), 0.025, 0.9) < 1 < labels_for(0.0, 0.1, 99, (-0.2, 0.2), 0.025, 0.9)
    True
    >>> labels_for(0.0, 0.1, 200, (-0.2, 0.2), 0.025, 0.1) is None
    True
    """

    def fair(times: float) -> float:
        return probabilities(value, error * math.sqrt(1 - share + share / times), df, bounds, tail)[0]

    return smallest_factor(fair)


def detectable(error: float, df: float, bounds: Bounds, tail: float) -> Bounds:
    """Return the values outside the bounds, nearest to them, at which *unfair* has probability `POWER`.

    >>> below, above = detectable(0.1, 99, (-0.2, 0.2), 0.025)
    >>> round(below, 3), round(above, 3)
    (-0.483, 0.483)
    """
    distance = (t_quantile(tail, df) + NormalDist().inv_cdf(POWER)) * error
    low, high = bounds
    return None if low is None else low - distance, None if high is None else high + distance
