"""Power of a run of a given size before it is made, by the normal approximation.

Values, errors and bounds of a ratio are given as logarithms, since its interval is made on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from pytest_fairness.stats.quantiles import t_quantile

POWER = 0.8
"""The probability of a verdict that a run is planned for."""
MOST_TIMES = 1000.0
"""Most times as many items that a plan proposes."""

Bounds = tuple[float | None, float | None]
"""The lowest and the highest value that is fair; None where there is no such end."""


def probabilities(value: float, error: float, df: float, bounds: Bounds, tail: float) -> tuple[float, float, float]:
    """Return the probabilities of fair, unfair and undecided when the truth is ``value``.

    The estimate is taken to be normally distributed about ``value`` with the standard error
    ``error``, and its interval to be Student's t with ``df`` degrees of freedom at ``tail``
    (0.025 for 95%) on either side.

    >>> fair, unfair, undecided = probabilities(0.0, 0.05, 99, (-0.2, 0.2), 0.025)
    >>> round(fair, 3), round(unfair, 3), round(undecided, 3)
    (0.956, 0.0, 0.044)

    Raises `ValueError` for an error that is not above zero.
    """
    if not error > 0:
        raise ValueError(f"the error is {error!r}: it must be above zero")
    low, high = bounds
    point = NormalDist(value, error)
    reach = t_quantile(tail, df) * error
    above = 0.0 if low is None else point.cdf(low + reach)
    below = 1.0 if high is None else point.cdf(high - reach)
    fair = max(0.0, below - above)
    unfair = (0.0 if low is None else point.cdf(low - reach)) + (0.0 if high is None else 1 - point.cdf(high + reach))
    return fair, unfair, max(0.0, 1 - fair - unfair)


def is_narrow(error: float, df: float, bounds: Bounds, tail: float) -> bool:
    """Return whether two bounds are closer together than an interval is wide, so that it lies inside at no value.

    >>> is_narrow(0.1, 99, (-0.2, 0.2), 0.025), is_narrow(0.1, 99, (-0.1, 0.1), 0.025)
    (False, True)
    """
    low, high = bounds
    return low is not None and high is not None and 2 * t_quantile(tail, df) * error > high - low


def items_for(value: float, error: float, df: float, bounds: Bounds, tail: float) -> float | None:
    """Return how many times as many items (or sources) make *fair* as probable as `POWER`; below 1, fewer do.

    The squared error falls with their number, and the degrees of freedom grow with it. None
    where no number up to 1,000 times as many does: the value lies on a bound, or outside.

    >>> round(items_for(0.0, 0.1, 39, (math.log(0.8), math.log(1.2)), 0.025), 2)
    2.71
    """

    def fair(times: float) -> float:
        return probabilities(value, error / math.sqrt(times), max(1.0, df * times), bounds, tail)[0]

    return least(fair, 1 / MOST_TIMES, MOST_TIMES)


def least(chance: Callable[[float], float], low: float, high: float) -> float | None:
    """Return the least argument at which a growing chance reaches `POWER`; None where none up to ``high`` does."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    if chance(high) < POWER:
        return None
    if chance(low) >= POWER:
        return low
    return math.exp(brentq(lambda log: chance(math.exp(log)) - POWER, math.log(low), math.log(high), xtol=1e-6))


def times_for(observed: Sequence[tuple[float, float]], tail: float) -> float:
    """Return how many times as many items are *fair* with probability `POWER`, from what so many times as many were.

    ``observed`` holds pairs of times and probability (above 0, below 1), the last one looked at
    last. The distance from the truth to the bound is z(1 - tail) + z(probability) errors, and
    grows with the square root of the number of items: straight between two numbers that have
    `POWER` between them, in proportion from the last one where there are none.

    >>> round(times_for([(1.0, 0.5)], 0.025), 2), round(times_for([(1.0, 0.5), (2.25, 0.9)], 0.025), 2)
    (2.04, 1.76)
    """
    z = NormalDist().inv_cdf
    below = max(((times, chance) for times, chance in observed if chance < POWER), default=None)
    above = min(((times, chance) for times, chance in observed if chance >= POWER), default=None)
    if below and above and below[0] < above[0]:
        share = (z(POWER) - z(below[1])) / (z(above[1]) - z(below[1]))
        return (math.sqrt(below[0]) + share * (math.sqrt(above[0]) - math.sqrt(below[0]))) ** 2
    times, chance = observed[-1]
    reach = z(1 - tail)
    now = reach + max(z(chance), -reach / 2)  # of less a share tells next to nothing
    return times * ((reach + z(POWER)) / now) ** 2


def repetitions_for(times: float, share: float) -> float | None:
    """Return how many times as many repetitions do what ``times`` as many items do; None where no number does.

    ``share`` is the part of the squared error that comes from repetitions (`CostEstimate.repetition_share`):
    with t times as many items and r times as many repetitions it becomes (1 - share) / t + share / (t r).

    >>> repetitions_for(2.0, 0.75)
    3.0
    >>> repetitions_for(4.0, 0.5) is None
    True
    """
    left = 1 / times - (1 - share)
    return share / left if left > 0 else None


def labels_for(value: float, error: float, df: float, bounds: Bounds, tail: float, share: float) -> float | None:
    """Return how many times as many labels make *fair* as probable as `POWER`; None where no number does.

    ``share`` is the part of the squared error that comes from labels (`Estimate.label_share`): with t times as
    many, the squared error is (1 - share) + share / t times what it was.

    >>> labels_for(0.0, 0.1, 99, (-0.4, 0.4), 0.025, 0.9) < 1 < labels_for(0.0, 0.1, 99, (-0.2, 0.2), 0.025, 0.9)
    True
    >>> labels_for(0.0, 0.1, 200, (-0.2, 0.2), 0.025, 0.1) is None
    True
    """

    def fair(times: float) -> float:
        return probabilities(value, error * math.sqrt(1 - share + share / times), df, bounds, tail)[0]

    return least(fair, 1 / MOST_TIMES, MOST_TIMES)


def detectable(error: float, df: float, bounds: Bounds, tail: float) -> Bounds:
    """Return the values below and above the bounds, nearest to them, that are found unfair with probability `POWER`.

    >>> below, above = detectable(0.1, 99, (-0.2, 0.2), 0.025)
    >>> round(below, 3), round(above, 3)
    (-0.483, 0.483)
    """
    reach = (t_quantile(tail, df) + NormalDist().inv_cdf(POWER)) * error
    low, high = bounds
    return None if low is None else low - reach, None if high is None else high + reach
