"""Axes of charts: positions of values, ranges and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_fairness.core.threshold_results import EstimateResult

_MARGIN = 0.06
_REACH = 4
"""The most by which an interval may extend the axis, in multiples of the range of the points."""
_LARGEST = 1e300
"""The largest value that is drawn; larger ones are drawn there. Twice as much is still finite."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from ``low`` to ``high`` at positions from ``start`` to ``end``, linear or logarithmic.

    >>> axis = Axis(0.5, 2.0, 0, 100, log=True)
    >>> [round(axis.at(value)) for value in (0.5, 1, 2, 7)]
    [0, 50, 100, 100]
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the position of a value, clamped to the ends of the axis."""
        low, high = _scaled(self.low, log=self.log), _scaled(self.high, log=self.log)
        share = (_scaled(value, log=self.log) - low) / (high - low)
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def ticks(self) -> list[float]:
        """Return three to nine round numbers (1, 2 or 5 times a power of ten), in order."""
        if not self.log or self.high / self.low < 8:
            return _steps(self.low, self.high)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        leap = math.ceil((last - first) / 5)
        digits = (1, 2, 5) if last - first <= 3 else (1,)
        powers = range(first - first % leap, last + 1, leap)
        return [tick for power in powers for digit in digits if self.holds(tick := float(f"{digit}e{power}"))]


def axis_over(points: Iterable[float], ends: Iterable[float | None], start: float, end: float, *, log: bool) -> Axis:
    """Return the axis that shows all points, and the ends of intervals unless they are far away.

    On a logarithmic axis values up to 0 count as far away. If all values have one sign, the
    axis ends at 0; if all are at most 1, at 1.
    """
    shown = sorted(_scaled(point, log=log) for point in points if not log or point > 0) or ([0.0] if log else [])
    interval_ends = sorted(_scaled(value, log=log) for value in ends if value is not None and (not log or value > 0))
    extent = [*interval_ends, *shown]
    # If one end of an interval is far away, the nearer end still gives a scale for the axis.
    nearer = min(shown[0] - min(extent), max(extent) - shown[-1])
    reach = max(_REACH * (shown[-1] - shown[0]), 5 * _REACH * nearer)
    if reach:
        extent = [min(max(value, shown[0] - reach), shown[-1] + reach) for value in extent]
    low, high = min(extent), max(extent)
    if high - low <= max(1e-4 * max(abs(low), abs(high)), 1e-9):
        pad = max(0.1 * abs(low), 0.05)
        low, high = low - pad, high + pad
    margin = _MARGIN * (high - low)
    left, right = low - margin, high + margin
    if log:
        left, right = (math.exp(min(max(value, -690.0), 690.0)) for value in (left, right))
    elif low >= 0:
        left, right = max(left, 0.0), min(right, 1.0) if high <= 1 else right
    elif high <= 0:
        right = min(right, 0.0)
    return Axis(left, right, start, end, log=log)


def is_log(estimates: Sequence[EstimateResult], bounds: Iterable[float | None] = ()) -> bool:
    """Return whether estimates are ratios to draw, with bounds, on a logarithmic axis, which has no 0."""
    are_ratios = all(estimate.log_scale and (estimate.value is None or estimate.value > 0) for estimate in estimates)
    return are_ratios and all(end is None or end >= 0 for end in (*(estimate.low for estimate in estimates), *bounds))


def _scaled(value: float, *, log: bool) -> float:
    if log:
        return math.log(value) if 0 < value < math.inf else math.copysign(math.inf, value - 1)
    return min(max(value, -_LARGEST), _LARGEST)


def _steps(low: float, high: float) -> list[float]:
    rough = (high - low) / 8
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((digit * power for digit in (1, 2, 5) if digit * power >= rough), 10 * power)
    return [float(f"{multiple * step:.12g}") for multiple in range(math.ceil(low / step), math.floor(high / step) + 1)]
