"""Differences of two estimates of the same metric, from the results files of their runs.

Two runs of one design, or two models on the same items, share the effects of items. So
their difference is computed cluster by cluster, from the influence of each cluster on either error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pytest_fairness.stats.linear_estimate import Ends, LinearEstimate, negligible, observed_degrees
from pytest_fairness.stats.quantiles import t_quantile, t_tail

TAIL = 0.025
"""Probability to err on either side of a 95% interval."""


@dataclass(frozen=True, slots=True)
class ReportedEstimate:
    """An estimate in a results file; all numbers are logarithms where ``log``."""

    value: float
    low: float
    high: float
    confidence: float = 0.95
    """Confidence of the interval from ``low`` to ``high``."""
    log: bool = False
    influences: Mapping[str, float] = field(default_factory=dict)
    """Influence of each cluster; the squares sum to the variance by cluster. Empty where the file lacks it."""
    error: float = 0.0
    """Standard error; with a crossed factor its square exceeds the variance by cluster."""
    ungraded: int = 0
    """The number of ungraded attempts; ``low`` and ``high`` hold under every imputation."""

    @property
    def unclustered(self) -> float:
        """The variance beyond that of the clusters."""
        return max(0.0, self.error**2 - self._cluster_variance)

    @property
    def margins(self) -> Ends:
        """The distances of the ends below and above the value, of a 95% interval whatever its own confidence."""
        scale = t_quantile(TAIL, math.inf) / t_quantile((1 - self.confidence) / 2, math.inf)
        return max(0.0, self.value - self.low) * scale, max(0.0, self.high - self.value) * scale

    @property
    def ungraded_margins(self) -> Ends:
        """The parts of the margins that ungraded answers add."""
        if not self.ungraded:
            return 0.0, 0.0
        sampling_margin = t_quantile(TAIL, math.inf) * max(self.error, math.sqrt(self._cluster_variance))
        below, above = self.margins
        return max(0.0, below - sampling_margin), max(0.0, above - sampling_margin)

    @property
    def _cluster_variance(self) -> float:
        return sum(influence**2 for influence in self.influences.values())


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a new estimate and an old one; of logarithms, their ratio."""

    value: float
    low: float
    high: float
    p_value: float
    """Two-sided p-value of no change."""
    paired: bool
    """Whether it is computed cluster by cluster."""
    same: bool = False
    """Whether all clusters have equal values in both runs, as with the same answers: there is no interval then."""


def difference(new: ReportedEstimate, old: ReportedEstimate) -> Difference | None:
    """Return the difference of two estimates with its 95% interval; None where one of them is not finite.

    It is paired where at least half of the clusters are in both: the variance is the sum of
    (a - b)^2 over all clusters, with the influences a and b of a cluster in either run (zero where it
    is missing), and the interval is Student's t. No model of the correlation is needed: clusters
    without any add a^2 + b^2 on average. Else the two are taken as independent, and
    their own intervals are combined (Zou and Donner 2008, MOVER).

    >>> names = [f"item {number}" for number in range(100)]
    >>> before = {name: 0.005 * (-1) ** index for index, name in enumerate(names)}
    >>> after = {name: 0.8 * value for name, value in before.items()}
    >>> old = ReportedEstimate(0.5, 0.4, 0.6, influences=before, error=0.05)
    >>> change = difference(ReportedEstimate(0.45, 0.37, 0.53, influences=after, error=0.04), old)
    >>> round(change.value, 2), round(change.low, 3), round(change.high, 3), change.paired
    (-0.05, -0.07, -0.03, True)

    Where values and influences are equal no cluster differs, and there is no interval; of logarithms
    the result is a ratio. Of absolute values (``abs``) the influences are those of the value, times its sign.
    """
    if not (math.isfinite(new.value) and math.isfinite(old.value)):
        return None
    contrast = _contrast(new, old, -1)
    if not new.log:
        return contrast
    low, high = ((math.inf if end > 700 else math.exp(end)) for end in (contrast.low, contrast.high))
    return Difference(math.exp(contrast.value), low, high, contrast.p_value, contrast.paired, contrast.same)


def change_in_gap(new: ReportedEstimate, old: ReportedEstimate, parity: float) -> tuple[int, float]:
    """Return whether the new estimate is further from ``parity`` than the old one: 1, or -1 for nearer; and a p-value.

    |n| - |o| has the sign of (n - o)(n + o), with n and o as distances from parity. So n is further away
    where n - o and n + o lie on the same side of zero, nearer where they do not. Both must
    differ from zero: the larger p-value counts (an intersection-union test, Berger 1982).
    The direction is 0 where one of them is 0, or an estimate has no value.
    """
    if not (math.isfinite(new.value) and math.isfinite(old.value)):
        return 0, 1.0
    change = _contrast(new, old, -1)
    total = _contrast(new, old, 1, 2 * parity)
    return sign_of(change.value) * sign_of(total.value), max(change.p_value, total.p_value)


def _contrast(new: ReportedEstimate, old: ReportedEstimate, sign: int, offset: float = 0.0) -> Difference:
    """Return ``new + sign * old - offset``, paired where at least half of the clusters are in both."""
    value = new.value + sign * old.value - offset
    names = list({**new.influences, **old.influences})
    shared = len(new.influences.keys() & old.influences.keys())
    # test_mostly_different_items_are_independent
    if 2 * shared < len(names) or not names:
        return _independent_contrast(new, old, sign, value)
    deviations = np.array([new.influences.get(name, 0.0) + sign * old.influences.get(name, 0.0) for name in names])
    variance = float(np.square(deviations).sum())
    unclustered = _combined_error(math.sqrt(new.unclustered), math.sqrt(old.unclustered), sign) ** 2
    if negligible(variance, len(names)):
        varies = any(abs(influence) > 1e-12 for influence in new.influences.values())
        if sign < 0 and varies and abs(value) < 1e-12:
            return Difference(0.0, 0.0, 0.0, 1.0, paired=True, same=True)
        return _independent_contrast(new, old, sign, value)
    estimate = LinearEstimate(
        value,
        [deviations],
        [max(1.0, min(len(names) - 1.0, observed_degrees(deviations, len(names))))],
        len(names),
        unclustered=unclustered,
    )
    margin = t_quantile(TAIL, estimate.df) * estimate.error
    below, above = (margin + sum(margins) for margins in _by_side(new.ungraded_margins, old.ungraded_margins, sign))
    # Ungraded answers widen the side towards zero, and so make a claim of a change less certain.
    towards_zero = below if value > 0 else above
    p_value = 2 * t_tail(abs(value) / (estimate.error * towards_zero / margin), estimate.df)
    return Difference(value, value - below, value + above, min(1.0, p_value), paired=True)


def _independent_contrast(new: ReportedEstimate, old: ReportedEstimate, sign: int, value: float) -> Difference:
    """Return a contrast from the intervals of both estimates."""
    below, above = (_combined_error(*margins, sign) for margins in _by_side(new.margins, old.margins, sign))
    towards_zero = below if value > 0 else above
    if towards_zero == 0 or value == 0:
        p_value = 1.0
    else:
        p_value = 2 * t_tail(t_quantile(TAIL, math.inf) * abs(value) / towards_zero, math.inf)
    return Difference(value, value - below, value + above, min(1.0, p_value), paired=False)


def _by_side(new: Ends, old: Ends, sign: int) -> tuple[Ends, Ends]:
    """Return the margins of both estimates below their contrast, then above; a difference swaps the old one's."""
    return (new[0], old[0 if sign > 0 else 1]), (new[1], old[1 if sign > 0 else 0])


def _combined_error(new: float, old: float, sign: int) -> float:
    """Return the error of a contrast of two runs whose correlation is unknown, but not negative.

    It cancels in a difference, so independence is the worst case. In a sum it is full correlation.
    """
    return math.hypot(new, old) if sign < 0 else new + old


def sign_of(value: float) -> int:
    """Return 1 for a positive number, -1 for a negative one, else 0."""
    return (value > 0) - (value < 0)
