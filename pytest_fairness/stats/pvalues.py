"""p-values of a threshold's two claims, by inverting the very intervals that decide it.

A threshold is unfair where its interval lies outside a bound. The p-value of that claim is
the smallest probability to err at which the interval still does: it is at most 0.025
exactly where a 95% interval calls it unfair. The same of the claim that it is fair is the
two one-sided tests' (Schuirmann 1987).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.decisions import OPERATORS, OPPOSITES
from pytest_fairness.core.estimates import Ends, Estimate

SMALLEST = 1e-9
"""Below, the approximations behind an interval say nothing."""
_STEPS = 30


def p_unfair(comparisons: Sequence[Comparison], asserted: int = 1) -> float | None:
    """Return the p-value of the claim that an estimate lies outside the bounds it was compared with: from 1e-9 to 1.

    Args:
        comparisons: All of a threshold test, the way round in which they must hold.
        asserted: How many metrics they are of; the smallest p-value counts that many times (Bonferroni).

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

    None where that cannot be claimed whatever the interval says.
    """
    if any(comparison.estimate.suspect or comparison.estimate.sparse for comparison in comparisons):
        return None
    tails = [_one_sided(comparison, against=False) for comparison in comparisons]
    p_values = [p for p in tails if p is not None]
    return max(p_values) if p_values and len(p_values) == len(tails) else None


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's 1979 procedure: rejecting those up to alpha errs anywhere with at most alpha.

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
    estimate, bound = comparison.estimate, comparison.bound
    at = _ends(estimate, strict=against)
    if estimate.invalid or at is None:
        return None
    holds = OPERATORS[OPPOSITES[comparison.op] if against else comparison.op]
    end = 0 if (comparison.op in (">", ">=")) != against else 1
    fails = OPERATORS[comparison.op if against else OPPOSITES[comparison.op]]
    return _smallest_tail(lambda tail: holds(at(tail)[end], bound), lambda tail: fails(at(tail)[1 - end], bound))


def _ends(estimate: Estimate, *, strict: bool) -> Ends | None:
    return estimate.strict_at or estimate.ends_at if strict else estimate.ends_at


def _smallest_tail(claimed: Callable[[float], bool], opposite: Callable[[float], bool]) -> float:
    """Return the smallest tail at which a claim is made; one less that of the opposite claim where it never is."""
    if not claimed(0.5):
        return 1 - _bisected(opposite) if opposite(0.5) else 0.5
    return _bisected(claimed)


def _bisected(claimed: Callable[[float], bool]) -> float:
    low, high = SMALLEST, 0.5
    if claimed(low):
        return low
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if claimed(middle) else (middle, high)
    return high
