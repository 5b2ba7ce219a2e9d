"""Probabilities that a rerun falls outside its bounds: by prediction from one run, and by the history of runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.decisions import OPERATORS

PRIOR = (1.0, 4.0)
"""Parameters of the beta prior of the rate at which runs fall outside: its mean is 0.2."""


def is_outside(value: float, comparisons: Sequence[tuple[str, float]]) -> bool:
    """Return whether a value breaks one of these comparisons (operator, bound).

    >>> is_outside(0.79, [(">=", 0.8), ("<=", 1.2)])
    True
    """
    return not all(OPERATORS[op](value, bound) for op, bound in comparisons)


def outside_probability(comparisons: Sequence[Comparison]) -> float | None:
    """Return the probability that the value of a rerun of equal size lies outside the bounds; None if unknown.

    It is predictive: both runs have an error, so the values differ with a standard deviation of sqrt(2) errors.
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
    """Return the probability that the rate of runs outside the bounds exceeds ``largest``.

    The posterior of the rate under a Beta(1, 4) prior is Beta(1 + outside, 4 + runs - outside).

    Args:
        outside: The number of runs that fell outside.
        runs: The number of runs.
        largest: The rate, from 0 to 1.

    >>> round(rate_exceeds(0, 0, 0.2), 3), round(rate_exceeds(4, 6, 0.2), 3)
    (0.41, 0.967)
    """
    from scipy.special import betainc  # type: ignore[import-untyped]

    successes, failures = PRIOR
    return float(1 - betainc(successes + outside, failures + runs - outside, largest))
