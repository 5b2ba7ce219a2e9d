"""Test of whether an estimate is the same in every answer format of its probe."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_fairness.core.estimates import Estimate


def p_equal(estimates: Sequence[Estimate]) -> float | None:
    """Return the p-value of equal values, of estimates on parts of one sample.

    Cochran's Q over its degrees of freedom, k - 1, against the F distribution with as many denominators as the
    smallest part has sources less one. Parts that share their sources are positively correlated, which makes Q smaller:
    the test is then conservative.

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
