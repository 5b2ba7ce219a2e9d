"""p-values of a threshold's two claims, by inverting the intervals that decide it.

A threshold is unfair where its interval lies outside a bound. The p-value of that claim is
the smallest tail at which the interval still does: it is at most 0.025
exactly where the verdict of a 95% interval is unfair. The p-value of the claim that it is fair is that of
two one-sided tests (Schuirmann 1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.decisions import OPPOSITES
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.significance import one_sided


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


def _one_sided(comparison: Comparison, *, against: bool) -> float | None:
    """Return the p-value of the claim that the estimate lies beyond the bound (``against``), or within it."""
    estimate, op = comparison.estimate, comparison.op
    ends_at = estimate.strict_at or estimate.ends_at if against else estimate.ends_at
    if estimate.invalid or ends_at is None:
        return None
    claim = OPPOSITES[op] if against else op
    return one_sided(ends_at, claim, comparison.bound, estimate.error)


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
