"""Differences of two estimates of the same question, from what their runs reported.

Two runs of one design, or two models on the same items, share what makes an item hard. So
their difference is taken cluster by cluster, from what each cluster added to either error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pytest_fairness.stats.linear_estimate import LinearEstimate, negligible, observed_degrees
from pytest_fairness.stats.quantiles import t_quantile, t_tail

TAIL = 0.025
"""The probability to err on either side: of a 95% interval."""


@dataclass(frozen=True, slots=True)
class ReportedEstimate:
    """An estimate as its run reported it. All numbers are logarithms where ``log``."""

    value: float
    low: float
    high: float
    confidence: float = 0.95
    """Confidence of the interval from ``low`` to ``high``."""
    log: bool = False
    influences: Mapping[str, float] = field(default_factory=dict)
    """Influence of each cluster on the error; the squares sum to its variance. Empty where it was not kept."""
    error: float = 0.0
    """Standard error: more than the influences come to where they are not all of it (a crossed factor)."""
    ungraded: int = 0
    """Attempts without a grade; ``low`` and ``high`` hold however they are filled in."""

    @property
    def unexplained(self) -> float:
        """The variance beyond that of the clusters."""
        return max(0.0, self.error**2 - self._explained)

    def reaches(self, tail: float) -> tuple[float, float]:
        """Return how far the interval reaches below and above the value, at another ``tail`` than its own."""
        scale = t_quantile(tail, math.inf) / t_quantile((1 - self.confidence) / 2, math.inf)
        return max(0.0, self.value - self.low) * scale, max(0.0, self.high - self.value) * scale

    def stretch(self, tail: float) -> tuple[float, float]:
        """Return what ungraded answers add to the interval below and above."""
        if not self.ungraded:
            return 0.0, 0.0
        chance = t_quantile(tail, math.inf) * max(self.error, math.sqrt(self._explained))
        below, above = self.reaches(tail)
        return max(0.0, below - chance), max(0.0, above - chance)

    @property
    def _explained(self) -> float:
        return sum(influence**2 for influence in self.influences.values())


@dataclass(frozen=True, slots=True)
class Difference:
    """The new estimate less the old one; of logarithms, their ratio: the new one over the old."""

    value: float
    low: float
    high: float
    p_value: float
    """Two-sided, of no change."""
    paired: bool
    """Whether cluster by cluster."""
    same: bool = False
    """Whether every cluster came out the same, as where the answers are: there is nothing to tell apart."""


def difference(new: ReportedEstimate, old: ReportedEstimate, tail: float = TAIL) -> Difference | None:
    """Return the difference of two estimates with its interval; None where one of them is not finite.

    Paired where at least half of the clusters are in both: the variance is the sum of
    (a - b)^2 over all clusters, a and b being what each adds to either error (zero where it
    is missing), and the interval Student's t. It needs no model of what the two share: items
    that have nothing in common add a^2 + b^2 on average. Else the two are independent, and
    their own intervals are combined (Zou and Donner 2008, MOVER).

    >>> names = [f"item {number}" for number in range(100)]
    >>> hard = {name: 0.005 * (-1) ** place for place, name in enumerate(names)}
    >>> less = {name: 0.8 * value for name, value in hard.items()}
    >>> old = ReportedEstimate(0.5, 0.4, 0.6, influences=hard, error=0.05)
    >>> found = difference(ReportedEstimate(0.45, 0.37, 0.53, influences=less, error=0.04), old)
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3), found.paired
    (-0.05, -0.07, -0.03, True)

    Where values and influences are equal no cluster differs, and there is no interval; of logarithms
    the result is a ratio. Of sizes (``abs``) the influences are those of the size, as its sign was seen.
    """
    if not (math.isfinite(new.value) and math.isfinite(old.value)):
        return None
    contrast = _contrast(new, old, -1, tail)
    if not new.log:
        return contrast
    low, high = ((math.inf if end > 700 else math.exp(end)) for end in (contrast.low, contrast.high))
    return Difference(math.exp(contrast.value), low, high, contrast.p_value, contrast.paired, contrast.same)


def change_in_gap(new: ReportedEstimate, old: ReportedEstimate, parity: float) -> tuple[int, float]:
    """Return whether the new estimate is further from ``parity`` than the old one: 1, or -1 for nearer; and a p-value.

    |n| - |o| has the sign of (n - o)(n + o), both taken from parity. So n is further away
    where n - o and n + o lie on the same side of zero, nearer where they do not. Both must
    be told from zero: the larger p-value counts (an intersection-union test, Berger 1982),
    whatever sides the two have; of sizes, with parity 0, likewise. 0 where no side is known.
    """
    if not (math.isfinite(new.value) and math.isfinite(old.value)):
        return 0, 1.0
    less = _contrast(new, old, -1, TAIL)
    total = _contrast(new, old, 1, TAIL, 2 * parity)
    return _sign(less.value) * _sign(total.value), max(less.p_value, total.p_value)


def _contrast(new: ReportedEstimate, old: ReportedEstimate, sign: int, tail: float, less: float = 0.0) -> Difference:
    """``new + sign * old - less``, paired where it can be."""
    value = new.value + sign * old.value - less
    names = list({**new.influences, **old.influences})
    shared = len(new.influences.keys() & old.influences.keys())
    if 2 * shared < len(names) or not names:
        return _independent(new, old, sign, tail, value)
    deviations = np.array([new.influences.get(name, 0.0) + sign * old.influences.get(name, 0.0) for name in names])
    variance = float(np.square(deviations).sum())
    rest = _either(math.sqrt(new.unexplained), math.sqrt(old.unexplained), sign) ** 2
    if negligible(variance, len(names)):
        moves = any(abs(influence) > 1e-12 for influence in new.influences.values())
        if sign < 0 and moves and abs(value) < 1e-12:
            return Difference(0.0, 0.0, 0.0, 1.0, paired=True, same=True)
        return _independent(new, old, sign, tail, value)
    made = LinearEstimate(
        value,
        [deviations],
        [max(1.0, min(len(names) - 1.0, observed_degrees(deviations, len(names))))],
        len(names),
        unclustered=rest,
    )
    df, error = made.df, made.error
    reach = t_quantile(tail, df) * error
    below, above = (reach + sum(ends) for ends in _together(new.stretch(tail), old.stretch(tail), sign))
    # The ungraded answers' share stands in the way of a claim as well.
    towards = below if value > 0 else above
    p_value = 2 * t_tail(abs(value) / (error * towards / reach), df)
    return Difference(value, value - below, value + above, min(1.0, p_value), paired=True)


def _independent(new: ReportedEstimate, old: ReportedEstimate, sign: int, tail: float, value: float) -> Difference:
    below, above = (_either(*ends, sign) for ends in _together(new.reaches(tail), old.reaches(tail), sign))
    towards = below if value > 0 else above
    if towards == 0 or value == 0:
        p_value = 1.0
    else:
        p_value = 2 * t_tail(t_quantile(tail, math.inf) * abs(value) / towards, math.inf)
    return Difference(value, value - below, value + above, min(1.0, p_value), paired=False)


_Ends = tuple[float, float]


def _together(new: _Ends, old: _Ends, sign: int) -> tuple[_Ends, _Ends]:
    """Return what reaches below of both, then above: of a difference the old one's ends change places."""
    return (new[0], old[0 if sign > 0 else 1]), (new[1], old[1 if sign > 0 else 0])


def _either(new: float, old: float, sign: int) -> float:
    """Two errors as one. What two runs share, unknown here, leaves a difference; in a sum it counts twice."""
    return math.hypot(new, old) if sign < 0 else new + old


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
