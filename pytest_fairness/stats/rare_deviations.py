"""Ends of a weighted mean of which nearly all clusters have one value, as the errors of a model that hardly errs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.custom_metrics import Functional, cluster_sums
from pytest_fairness.stats.linear_estimate import ROUNDING, Ends

DRAWS = 2048
"""Number of draws of the weights of clusters that deviate; those of all others are integrated exactly."""


@dataclass(frozen=True)
class RareDeviations:
    """Clusters that deviate from the value of the others, with the clusters that would deviate most."""

    usual: float
    """The value of the clusters that do not deviate."""
    others: int
    """Their number."""
    distances: Floats
    """The value of each deviating cluster less the usual one; the last two are unseen, the lowest and the highest."""
    weights: Floats
    """The weight of each of these in the mean, over that of a cluster that does not deviate."""

    def ends(self, tail: float) -> Ends:
        """Return both ends of the mean, which need no variance.

        The upper end is the quantile of the mean of all clusters and an unseen one that deviates most, with weights
        that are spacings of uniform numbers (a flat Dirichlet distribution). For clusters that deviate either not at
        all or as far as they can, it is that of Clopper and Pearson 1934; if none deviates, it is an unseen share.

        Args:
            tail: The probability to err on either side: 0.025 for a 95% interval.

        Returns:
            Lower and upper end; neither lies beyond the usual value on the other side.

        Source:
            Gaffke 2005, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
            variable; Learned-Miller and Thomas 2020, arXiv:1905.06208. That it keeps its error is proven for two
            values, and found by simulation for others (`tests/benchmarks/near_perfect.py`).

        >>> deviations = RareDeviations(0.0, 99, np.array([1.0, -1.0, 1.0]), np.ones(3))
        >>> low, high = deviations.ends(0.025)
        >>> round(low, 3), round(high, 4)  # one of 100: Clopper and Pearson have 0.0545
        (-0.036, 0.0545)
        """
        return self.usual - self._reach(tail, -1), self.usual + self._reach(tail, 1)

    def _reach(self, tail: float, side: int) -> float:
        """Return the largest mean distance to a side that is not rejected."""
        from scipy.optimize import brentq  # type: ignore[import-untyped]
        from scipy.special import betainc  # type: ignore[import-untyped]

        unseen = len(self.distances) - (1 if side > 0 else 2)
        chosen = [unseen, *range(len(self.distances) - 2)]
        # Clusters that deviate to the other side count as if they did not: a larger reach, of less error by the draws.
        distances, weights = np.maximum(side * self.distances[chosen], 0.0), self.weights[chosen]
        apart, weighed = self._draws @ (distances * weights), self._draws @ weights
        deviating = len(chosen)

        def excess(mean: float) -> float:
            with np.errstate(divide="ignore", invalid="ignore"):
                beyond = apart - mean * weighed
                share = np.where(beyond > 0, mean / (mean + beyond), 1.0)
            return float(np.mean(1 - betainc(deviating, self.others, share))) - tail

        farthest = float(distances.max())
        return float(brentq(excess, 0.0, farthest)) if farthest > 0 and excess(0.0) > 0 else 0.0

    @cached_property
    def _draws(self) -> Floats:
        """Weights of the deviating clusters and of the unseen one, that add to one, shape (draws, clusters)."""
        spacings = np.random.default_rng(0).standard_exponential((DRAWS, len(self.distances) - 1))
        draws: Floats = spacings / spacings.sum(axis=1, keepdims=True)
        return draws


# test_metrics_that_are_no_means_cause_no_warning
@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def find_rare_deviations(
    functional: Functional, values: Floats, clustering: Clustering, extremes: Sequence[Floats]
) -> RareDeviations | None:
    """Return the clusters that deviate from most others.

    Args:
        functional: A function of sums.
        values: The summands of each attempt, shape (attempts, names), none nan.
        clustering: The clusters by source.
        extremes: The mean summands of unseen clusters that lower the value most, and that raise it most.

    Returns:
        None where half of the clusters deviate, or where the function is no weighted mean of the clusters' own values.

    >>> share = Functional(lambda s: s.x / s.n, ("x", "n"))
    >>> values = np.column_stack([np.arange(40) < 1, np.ones(40)]).astype(float)
    >>> ends = [np.array([0.0, 1.0]), np.array([1.0, 1.0])]
    >>> rare = find_rare_deviations(share, values, Clustering(np.arange(40), 40), ends)
    >>> rare.usual, rare.others, rare.distances.tolist()
    (0.0, 39, [1.0, 0.0, 1.0])
    """
    sums, counts = cluster_sums(values, clustering)
    own = functional.at(sums)
    if not np.isfinite(own).any():
        return None
    usual = float(np.nanmedian(own))
    if not math.isfinite(usual):
        return None
    tolerance = ROUNDING * max(1.0, abs(usual))
    deviate = np.abs(own - usual) > tolerance  # a cluster without a value is none
    others = sums[~deviate].sum(axis=0)
    if 2 * np.count_nonzero(deviate) >= len(sums):
        return None
    # test_more_deviation_never_lowers_the_exact_end
    order = np.lexsort((own[deviate], np.abs(own[deviate] - usual)))
    added = np.vstack([sums[deviate][order], *(counts.max() * means for means in extremes)])
    distances = np.append(own[deviate][order], functional.at(added[-2:])) - usual
    once, twice = functional.at(others + added) - usual, functional.at(others + 2 * added) - usual
    shares = np.where(np.abs(distances) > tolerance, once / (distances - once), 0.0)
    pooled = float((shares[:-2] * distances[:-2]).sum()) / (1 + float(shares[:-2].sum()))
    expected = [usual, *(2 * shares * distances / (1 + 2 * shares)), usual + pooled]
    computed = [functional.at(others[np.newaxis])[0], *twice, functional.at(sums.sum(axis=0)[np.newaxis])[0]]
    # test_metric_that_is_no_mean_has_no_exact_ends
    if not (np.all(shares >= 0) and np.allclose(computed, expected, rtol=0.0, atol=10 * tolerance)):
        return None
    number = len(sums) - int(np.count_nonzero(deviate))
    return RareDeviations(usual, number, distances, shares * number)
