"""From deviations of clusters to a variance and its degrees of freedom."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_fairness.stats.columns import Floats


def combined(variances: Sequence[float], own_share: float = 0.0) -> float:
    """One variance from those by source, by crossed factor and by cell of the two.

    Cameron, Gelbach and Miller 2011: the first two count what they share twice. Where the
    subtraction leaves less than a one-way variance, that one is taken: by source, or by the
    factor as far as that is the attempts' own (``own_share``: `Centre.share`). By a factor
    whose sums still hold what items add (0) it is no bound, but mostly noise.

    >>> combined([0.4])
    0.4
    >>> round(combined([0.4, 0.3, 0.1]), 3)
    0.6
    >>> combined([0.4, 0.9, 0.9]), round(combined([0.4, 0.9, 0.9], 0.5), 3)
    (0.4, 0.45)
    """
    if len(variances) == 1:
        return variances[0]
    by_source, by_factor, by_cell = variances
    return max(by_source + max(by_factor - by_cell, 0.0), own_share * by_factor)


def negligible(variance: float, clusters: int) -> bool:
    """Whether a variance is zero but for rounding, as when all clusters agree."""
    return variance <= (1e-9 / max(clusters, 1)) ** 2


def degrees(contributions: Floats) -> float:
    """Degrees of freedom of a variance that is a sum over clusters of expected ``contributions``.

    Satterthwaite 1946: (sum c)^2 / sum c^2, less one in the same proportion; clusters of
    equal size give their number less one. Never under 1.

    >>> degrees(np.ones(8))
    7.0
    """
    present = contributions[contributions > 0]
    if len(present) < 2:
        return 1.0
    effective = float(present.sum() ** 2 / np.square(present).sum())
    return max(effective * (len(present) - 1) / len(present), 1.0)


def observed_degrees(deviations: Floats, clusters: int) -> float:
    """Degrees of freedom of a variance as its clusters' ``deviations`` show them.

    Few clusters that make most of a variance leave it uncertain: two over its squared
    relative error, which with m = (sum d^2)^2 / sum d^4 is 2 m / (1 - m / clusters).

    >>> observed_degrees(np.array([3.0, 0.0, -3.0, 0.0]), 4)
    8.0
    """
    squares = np.square(deviations)
    total = float(squares.sum())
    if total <= 0:
        return math.inf
    differing = total**2 / float(np.square(squares).sum())
    return 2 * differing / (1 - differing / clusters) if differing < clusters * (1 - 1e-9) else math.inf


def sparse_factor(deviations: Floats, df: float, known: float = math.inf) -> float:
    """By how much a variance grows when few clusters make it.

    A handful of clusters that differ says little about how many more could have: the
    variance grows as if to the effective number of clusters that differ, m = (sum d^2)^2 /
    sum d^4, came two more. By simulation: without them 95% intervals cover down to 90% where
    a dozen paired items differ, with four more than 99%. Deviations as normal ones have
    (m = df / 3), or twice as rare, are left alone, and so is what ``known`` events account for.

    >>> sparse_factor(np.array([1.0, -1.0, 1.0, -1.0] * 50), 199)
    1.0
    >>> sparse_factor(np.array([1.0, 0.0, 0.0, 0.0] * 2), 600)
    1.98
    """
    squares = np.square(deviations)
    total = float(squares.sum())
    if total <= 0:
        return 1.0
    differing = total**2 / float(np.square(squares).sum())
    return 1.0 + max(0.0, 2 / differing - 2 / min(df / 6, known))
