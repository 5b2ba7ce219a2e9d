"""Samples whose true mean is a bound: clusters drawn again with unequal chances.

The chances are those nearest to equal ones, in the sense of Kullback and Leibler, under which the
mean is the bound: exponential tilting (Efron 1981, "Nonparametric standard errors and confidence
intervals", Canadian Journal of Statistics 9, 139-158). So a rate or mean without groups, for which no
labels can be exchanged, is certified on its bound as a ratio is.
"""

from __future__ import annotations

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Codes, Floats
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.pilot_samples import SourcePool

FEWEST_EFFECTIVE = 5
"""Clusters that the tilted chances are worth: with fewer, samples repeat a few of them."""
LARGEST_TILT = 1e4


class Tilt:
    """Sampler of samples like a measured one, but with a known mean.

    >>> tilted_chances(np.array([0.0, 0.0, 1.0]), np.ones(3), 0.5).round(3).tolist()
    [0.25, 0.25, 0.5]
    """

    def __init__(self, supply: SourcePool, values: Floats, mean: float) -> None:
        """Prepare the chances of clusters.

        Args:
            supply: The clusters.
            values: Of each attempt of the supply, shape (attempts,); nan for what the mean is not of.
            mean: The truth of the samples that are drawn.

        Raises:
            FairnessError: Where no chances give that mean, or too few clusters have a share in them.
        """
        clusters = supply.columns.sources
        graded = ~np.isnan(values)
        of, size = clusters.codes[graded], clusters.size
        sums: Floats = np.bincount(of, weights=values[graded], minlength=size).astype(np.float64)
        counts: Floats = np.bincount(of, minlength=size).astype(np.float64)
        self._supply = supply
        self._chances = tilted_chances(sums, counts, mean)
        effective = 1 / np.square(self._chances).sum()
        if effective < FEWEST_EFFECTIVE:
            raise FairnessError(
                f"a mean of {mean:g} is far from these answers: {effective:.1f} of {clusters.size:,} clusters "
                f"bear on it, and {FEWEST_EFFECTIVE} are needed"
            )

    def draw(self, generator: np.random.Generator) -> Measured:
        """Draw one sample of as many clusters."""
        chosen: Codes = generator.choice(len(self._chances), len(self._chances), p=self._chances)
        return self._supply.sample(chosen, lambda rows: rows)


def tilted_chances(sums: Floats, counts: Floats, mean: float) -> Floats:
    """Return the chances of clusters under which the mean of their attempts is that of a bound.

    Args:
        sums: Of the values of each cluster's attempts, shape (clusters,).
        counts: Of those attempts.
        mean: Between the smallest and the largest mean of a cluster.

    Returns:
        Chances that add up to 1, shape (clusters,).

    Raises:
        FairnessError: Where all clusters lie on one side of that mean.
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    beyond = sums - mean * counts
    if not beyond.min() < 0 < beyond.max():
        raise FairnessError(f"no cluster lies {'below' if beyond.min() >= 0 else 'above'} a mean of {mean:g}")
    scaled = beyond / np.abs(beyond).max()
    # Under each tilt the mean of the scaled deviations grows with it, so there is one root.
    tilt = brentq(lambda tilt: _chances(scaled, tilt) @ scaled, -LARGEST_TILT, LARGEST_TILT, xtol=1e-12)
    return _chances(scaled, tilt)


def _chances(scaled: Floats, tilt: float) -> Floats:
    exponents = tilt * scaled
    weights: Floats = np.exp(exponents - exponents.max())
    chances: Floats = weights / weights.sum()
    return chances
