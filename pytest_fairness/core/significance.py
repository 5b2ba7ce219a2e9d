"""p-values from intervals: the smallest error at which an interval still supports a claim, and Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pytest_fairness.core.decisions import OPERATORS, OPPOSITES

SMALLEST = 1e-9
"""Smallest p-value: below it the approximations behind an interval do not hold."""
FARTHEST = 5.997807015007687
"""The normal quantile that is exceeded with that probability."""
PRECISION = 1e-7
"""Width of a normal quantile's bracket at which a search ends: below 1e-6 of any tail down to the smallest."""

Ends = Callable[[float], tuple[float, float]]
"""A function from the probability to err on either side to the ends of an interval."""
Point = tuple[float, float]
"""A normal quantile and the margin of a claim there."""
Margin = Callable[[float], float]
"""A function from a tail to a number that is above 0 where an interval at that tail supports a claim."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's 1979 procedure: those up to alpha contain an error with at most alpha.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = largest
    return corrected


def one_sided(ends_at: Ends, claim: str, bound: float, error: float) -> float:
    """Return the p-value of the claim that a number lies on one side of a bound: the smallest tail that supports it.

    >>> import math
    >>> round(one_sided(lambda tail: (0.1 - 0.05 * math.log(0.5 / tail), 1.0), ">", 0.0, 0.05), 4)
    0.0677

    Args:
        ends_at: The interval of the number at any tail.
        claim: ``<``, ``<=``, ``>`` or ``>=``.
        bound: The bound.
        error: The standard error, in whose units distances are measured; any number will do.

    Returns:
        From `SMALLEST` to 1.
    """
    supports, opposes = (_margin(ends_at, op, bound, error) for op in (claim, OPPOSITES[claim]))
    if (middle := supports(0.5)) > 0:
        return _search(supports, middle)
    return 1 - _search(opposes, middle) if (middle := opposes(0.5)) > 0 else 0.5


def two_sided(ends_at: Ends, value: float, error: float) -> float:
    """Return the p-value of one value of a number: twice the smallest tail at which its interval excludes the value."""
    return min(1.0, 2 * min(one_sided(ends_at, claim, value, error) for claim in "<>"))


def _margin(ends_at: Ends, op: str, bound: float, error: float) -> Margin:
    """Return the margin of the claim that the whole interval lies on one side of the bound: -1 to 1, and never 0."""
    holds, index = OPERATORS[op], 0 if op in (">", ">=") else 1
    unit = error if error > 0 and math.isfinite(error) else 1.0

    def margin(tail: float) -> float:
        end = ends_at(tail)[index]
        distance = abs(end - bound) / unit
        # On the bound or infinitely far the margin jumps, so that no interpolation leads there.
        size = distance / (1 + distance) if 0 < distance < math.inf else 1.0
        return size if holds(end, bound) else -size

    return margin


def _search(claim: Margin, middle: float) -> float:
    """Return the smallest tail at which a claim is supported that has the margin ``middle`` at 0.5.

    The search is over normal quantiles, in which the margin is closest to linear: by inverse quadratic interpolation,
    and by bisection where the last three points are too far from linear (Chandrupatla 1997, Advances in Engineering
    Software 28, 145-149). It takes a dozen intervals, bisection alone 30.
    """
    smallest = claim(SMALLEST)
    if smallest > 0:
        return SMALLEST
    # The newest point, and the last one on the other side of zero.
    new, other = (0.0, middle), (FARTHEST, smallest)
    share = 0.5
    while abs(new[0] - other[0]) > PRECISION:
        quantile = new[0] + share * (other[0] - new[0])
        point = quantile, claim(_normal_tail(quantile))
        new, other, before = (point, other, new) if (point[1] > 0) == (new[1] > 0) else (point, new, other)
        least = min(PRECISION / 2 / abs(new[0] - other[0]), 0.5)
        share = min(max(_interpolated(new, other, before), least), 1 - least)
    return _normal_tail((new if new[1] > 0 else other)[0])


def _normal_tail(quantile: float) -> float:
    return math.erfc(quantile / math.sqrt(2)) / 2


def _interpolated(new: Point, other: Point, before: Point) -> float:
    """Return the position of the zero between the first two of three points, as a share of the way from new to other.

    0.5 where they are too far from linear.
    """
    (a, f_a), (b, f_b), (c, f_c) = new, other, before
    xi, phi = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
    if not (phi**2 < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    first = f_a / (f_b - f_a) * f_c / (f_b - f_c)
    return first + (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b)
