"""Probabilities that a threshold changes its outcome: by prediction, and by its history."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.decisions import OPERATORS

PRIOR = (1.0, 4.0)
"""Beta distribution of the rate at which runs fall outside, before any was seen: 0.2 on average."""


def is_outside(value: float, comparisons: Sequence[tuple[str, float]]) -> bool:
    """Return whether a value breaks one of these comparisons (operator, bound).

    >>> is_outside(0.79, [(">=", 0.8), ("<=", 1.2)])
    True
    """
    return not all(OPERATORS[op](value, bound) for op, bound in comparisons)


def outside_probability(comparisons: Sequence[Comparison]) -> float | None:
    """Chance that a rerun of equal size puts the point outside the bounds. None where it cannot be computed.

    Predictive, as the flip probability: the rerun's point differs from this one's by sqrt(2) errors.
    """
    if not comparisons:
        return None
    estimate = comparisons[0].estimate
    if estimate.invalid or not estimate.error > 0:
        return None
    rerun = NormalDist(estimate.value, estimate.error * 2**0.5)
    lower = [comparison.bound for comparison in comparisons if comparison.op in (">", ">=")]
    upper = [comparison.bound for comparison in comparisons if comparison.op in ("<", "<=")]
    inside = (rerun.cdf(min(upper)) if upper else 1.0) - (rerun.cdf(max(lower)) if lower else 0.0)
    return min(1.0, 1 - max(inside, 0.0))


def rate_exceeds(outside: int, runs: int, largest: float) -> float:
    """Probability that more than the share ``largest`` of runs falls outside, after ``outside`` of ``runs`` did.

    The rate's posterior under a Beta(1, 4) prior: Beta(1 + outside, 4 + runs - outside).

    >>> round(rate_exceeds(0, 0, 0.2), 3), round(rate_exceeds(4, 6, 0.2), 3)
    (0.41, 0.967)
    """
    from scipy.special import betainc  # type: ignore[import-untyped]

    successes, failures = PRIOR
    return float(1 - betainc(successes + outside, failures + runs - outside, largest))
