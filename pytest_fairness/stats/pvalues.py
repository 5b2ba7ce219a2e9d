"""p-values of a threshold's two claims, by inverting the intervals that decide it.

A threshold is unfair where its interval lies outside a bound. The p-value of that claim is
the smallest tail at which the interval still does: it is at most 0.025
exactly where the verdict of a 95% interval is unfair. The p-value of the claim that it is fair is that of
two one-sided tests (Schuirmann 1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.decisions import OPERATORS, OPPOSITES
from pytest_fairness.core.estimates import Ends, Estimate
from pytest_fairness.stats.quantiles import t_quantile, t_tail

SMALLEST = 1e-9
"""Smallest p-value: below it the approximations behind an interval do not hold."""
PRECISION = 1e-7
"""Width of a normal quantile's bracket at which a search ends: below 1e-6 of any tail down to the smallest."""

Point = tuple[float, float]
"""A normal quantile and the margin of a claim there."""
Margin = Callable[[float], float]
"""A function from a tail to a number that is above 0 where an interval at that tail supports a claim."""


def p_unfair(comparisons: Sequence[Comparison], asserted: int = 1) -> float | None:
    """Return the p-value of the claim that an estimate lies outside the bounds it was compared with: from 1e-9 to 1.

    Args:
        comparisons: All comparisons of a threshold test, as they must hold.
        asserted: The number of their metrics, by which the smallest p-value is multiplied (Bonferroni).

    Returns:
        The p-value; families are corrected over their members. None where there is no interval to invert.

    >>> from pytest_fairness.stats.measured import Measured
    >>> rows = [{"item": n, "yes": n % 10 < 3} for n in range(100)]
    >>> rate = Measured.from_rows(rows, item="item", groups=[]).rate("yes")
    >>> from pytest_fairness.core.comparisons import compare
    >>> p = p_unfair([compare(rate, "<=", 0.2)])
    >>> round(p, 3), rate.low > 0.2
    (0.011, True)
    """
    tails = [_one_sided(comparison, against=True) for comparison in comparisons]
    p_values = [p for p in tails if p is not None]
    return min(1.0, asserted * min(p_values)) if p_values else None


def p_fair(comparisons: Sequence[Comparison]) -> float | None:
    """Return the p-value of the claim that an estimate lies inside all bounds: from 1e-9 to 1.

    None where that cannot be claimed, whatever the interval.
    """
    if any(comparison.estimate.suspect or comparison.estimate.sparse for comparison in comparisons):
        return None
    tails = [_one_sided(comparison, against=False) for comparison in comparisons]
    p_values = [p for p in tails if p is not None]
    return max(p_values) if p_values and len(p_values) == len(tails) else None


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


def _one_sided(comparison: Comparison, *, against: bool) -> float | None:
    """Return the p-value of the claim that the estimate lies beyond the bound (``against``), or within it."""
    estimate, op = comparison.estimate, comparison.op
    ends_at = estimate.strict_at or estimate.ends_at if against else estimate.ends_at
    if estimate.invalid or ends_at is None:
        return None
    claim, opposite = (OPPOSITES[op], op) if against else (op, OPPOSITES[op])
    return _smallest_tail(_margin(ends_at, claim, comparison), _margin(ends_at, opposite, comparison))


def _margin(ends_at: Ends, op: str, comparison: Comparison) -> Margin:
    """Return the margin of the claim that the whole interval lies on one side of the bound: -1 to 1, and never 0."""
    holds, index, bound = OPERATORS[op], 0 if op in (">", ">=") else 1, comparison.bound
    error = comparison.estimate.error
    unit = error if error > 0 and math.isfinite(error) else 1.0

    def margin(tail: float) -> float:
        end = ends_at(tail)[index]
        distance = abs(end - bound) / unit
        # On the bound or infinitely far the margin jumps, so that no interpolation leads there.
        size = distance / (1 + distance) if 0 < distance < math.inf else 1.0
        return size if holds(end, bound) else -size

    return margin


def _smallest_tail(claim: Margin, opposite: Margin) -> float:
    """Return the smallest tail at which a claim is supported; where none is, 1 less that of the opposite claim."""
    if (middle := claim(0.5)) > 0:
        return _search(claim, middle)
    return 1 - _search(opposite, middle) if (middle := opposite(0.5)) > 0 else 0.5


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
    new, other = (0.0, middle), (t_quantile(SMALLEST, math.inf), smallest)
    share = 0.5
    while abs(new[0] - other[0]) > PRECISION:
        quantile = new[0] + share * (other[0] - new[0])
        point = quantile, claim(t_tail(quantile, math.inf))
        new, other, before = (point, other, new) if (point[1] > 0) == (new[1] > 0) else (point, new, other)
        least = min(PRECISION / 2 / abs(new[0] - other[0]), 0.5)
        share = min(max(_interpolated(new, other, before), least), 1 - least)
    return t_tail((new if new[1] > 0 else other)[0], math.inf)


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


def p_equal(estimates: Sequence[Estimate]) -> float | None:
    """Return the p-value of equal values of estimates on parts of one sample.

    Cochran's Q over its degrees of freedom, k - 1, has an F distribution whose denominator has the degrees of freedom
    of the smallest part: its sources less one. Parts that share their sources are positively correlated, which makes
    Q smaller: the test is then conservative.

    Args:
        estimates: One for each format.

    Returns:
        From 0 to 1; None where fewer than two have a standard error.

    Source:
        W. G. Cochran, The combination of estimates from different experiments, Biometrics 10 (1954) 101-129;
        B. L. Welch, On the comparison of several mean values, Biometrika 38 (1951) 330-336.
    """
    parts = [part for part in estimates if math.isfinite(part.value) and 0 < part.error < math.inf]
    if len(parts) < 2:
        return None
    from scipy.special import fdtrc  # type: ignore[import-untyped]

    log = all(part.log_scale and part.value > 0 for part in parts)
    values = [math.log(part.value) if log else part.value for part in parts]
    weights = [1 / (part.error / part.value if log else part.error) ** 2 for part in parts]
    mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)
    q = sum(weight * (value - mean) ** 2 for weight, value in zip(weights, values, strict=True))
    between = len(parts) - 1
    within = max(min(part.sources or part.items for part in parts) - 1, 1)
    return float(fdtrc(between, within, q / between))
