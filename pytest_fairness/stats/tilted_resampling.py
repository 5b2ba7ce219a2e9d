"""Samples whose true mean is a bound: clusters resampled with unequal probabilities.

The probabilities have the least Kullback-Leibler divergence from equal ones of all under which the
mean is the bound: exponential tilting (Efron 1981, "Nonparametric standard errors and confidence
intervals", Canadian Journal of Statistics 9, 139-158). So the error rates of a rate or mean without groups, which has
no labels to exchange, can be measured on its bound.
"""

from __future__ import annotations

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Codes, Floats
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.pilot_samples import SourcePool

FEWEST_EFFECTIVE = 5
"""Smallest effective number of clusters under tilted probabilities: with fewer, samples repeat a few of them."""
LARGEST_TILT = 1e4
"""End of the interval in which the tilt is searched for."""


class Tilt:
    """Sampler of samples like a measured one, but with a known mean.

    Args:
        pool: The clusters.
        values: The value of each attempt of the pool, shape (attempts,); nan for attempts outside the mean.
        mean: The true mean of the samples that are drawn.

    Raises:
        FairnessError: No probabilities give that mean, or too few clusters have a large one.
    """

    def __init__(self, pool: SourcePool, values: Floats, mean: float) -> None:
        clusters = pool.columns.sources
        graded = ~np.isnan(values)
        codes, size = clusters.codes[graded], clusters.size
        sums: Floats = np.bincount(codes, weights=values[graded], minlength=size).astype(np.float64)
        counts: Floats = np.bincount(codes, minlength=size).astype(np.float64)
        self._pool = pool
        self._probabilities = tilted_probabilities(sums, counts, mean)
        effective = 1 / np.square(self._probabilities).sum()
        # test_unreachable_mean_is_refused
        if effective < FEWEST_EFFECTIVE:
            raise FairnessError(
                f"a mean of {mean:g} is far from these answers: {effective:.1f} of {clusters.size:,} clusters "
                f"bear on it, and {FEWEST_EFFECTIVE} are needed"
            )

    def draw(self, generator: np.random.Generator) -> Measured:
        """Return one sample of as many clusters as the pool has."""
        sources: Codes = generator.choice(len(self._probabilities), len(self._probabilities), p=self._probabilities)
        return self._pool.sample(sources, lambda rows: rows)


def tilted_probabilities(sums: Floats, counts: Floats, mean: float) -> Floats:
    """Return the probabilities of clusters under which their attempts have a given mean.

    Args:
        sums: The sum of each cluster's values, shape (clusters,).
        counts: The number of each cluster's attempts, shape (clusters,).
        mean: The mean, between the smallest and the largest mean of a cluster.

    Returns:
        Probabilities that add up to 1, shape (clusters,).

    Raises:
        FairnessError: The means of all clusters lie on one side of that mean.

    >>> tilted_probabilities(np.array([0.0, 0.0, 1.0]), np.ones(3), 0.5).round(3).tolist()
    [0.25, 0.25, 0.5]
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    deviations = sums - mean * counts
    if not deviations.min() < 0 < deviations.max():
        raise FairnessError(f"no cluster lies {'below' if deviations.min() >= 0 else 'above'} a mean of {mean:g}")
    scaled = deviations / np.abs(deviations).max()
    # The mean of the scaled deviations grows with the tilt, so there is one root.
    tilt = brentq(lambda tilt: _softmax(tilt * scaled) @ scaled, -LARGEST_TILT, LARGEST_TILT, xtol=1e-12)
    return _softmax(tilt * scaled)


def _softmax(exponents: Floats) -> Floats:
    weights: Floats = np.exp(exponents - exponents.max())
    probabilities: Floats = weights / weights.sum()
    return probabilities
