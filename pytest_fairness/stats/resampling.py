"""Cluster bootstrap of functions of sums, as a matrix product: thousands of resamples in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from pytest_fairness.core.errors import FairnessError, short_repr
from pytest_fairness.stats.columns import Clustering, Codes, Floats
from pytest_fairness.stats.custom_metrics import Functional, cluster_sums
from pytest_fairness.stats.outcome_vectors import OutcomeVector, group
from pytest_fairness.stats.validity import invalid_reason

MOST_COUNTS = 4_000_000
"""Largest number of drawn clusters in memory at a time: 32 MB."""

MULTINOMIAL_RATIO = 6
"""Smallest number of clusters per distinct row of sums at which drawing counts is faster than drawing clusters."""


def draw_resamples(
    functional: Functional, values: Floats, clusterings: Sequence[Clustering], draws: int, seed: int
) -> Floats:
    """Return the values of a functional in resamples of whole clusters.

    Each resample draws as many clusters as there are, with replacement.

    Args:
        functional: The function of sums.
        values: The summands of each attempt, shape (attempts, names); rows of nan are left out.
        clusterings: The clusters, without a crossed factor.
        draws: The number of resamples.
        seed: The seed of the random generator.

    Returns:
        Values of shape (draws,); nan where the function has none.

    Raises:
        FairnessError: There are fewer than 1 draws, a crossed factor, or too few clusters for an interval.

    Source:
        Efron 1979; for clusters Davison and Hinkley 1997, section 3.8.
    """
    for name, given, least in (("draws", draws, 1), ("seed", seed, 0)):
        if not isinstance(given, Integral) or given < least:
            raise FairnessError(f"{name} is {short_repr(given)}: it must be a whole number of at least {least}")
    if len(clusterings) > 1:
        raise FairnessError("resamples draw whole sources and know no crossed factor: take the interval of metric(...)")
    first = values[:, 0]
    everyone = group("all", OutcomeVector("", first, first, first, None), np.arange(len(first)), clusterings)
    if reason := invalid_reason([everyone]):
        raise FairnessError(f"nothing to resample: {reason}")
    # Clusters with equal sums are drawn together: where grades have few values, there are few distinct sums.
    graded = ~np.isnan(first)
    sums, _ = cluster_sums(values[graded], clusterings[0][graded])
    distinct, sizes = np.unique(sums, axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    chunk_size = max(1, MOST_COUNTS // int(sizes.sum()))
    chunks = [min(chunk_size, draws - start) for start in range(0, draws, chunk_size)]
    return functional.at(np.concatenate([_draw_counts(generator, sizes, chunk) @ distinct for chunk in chunks]))


def _draw_counts(generator: np.random.Generator, sizes: Codes, draws: int) -> Codes:
    """Return how often each distinct sum is drawn, shape (draws, sums), when ``sizes`` clusters have it."""
    clusters = int(sizes.sum())
    if len(sizes) * MULTINOMIAL_RATIO <= clusters:
        return generator.multinomial(clusters, sizes / clusters, draws)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    cells = codes[generator.integers(clusters, size=(draws, clusters))]
    cells += len(sizes) * np.arange(draws)[:, np.newaxis]
    return np.bincount(cells.ravel(), minlength=draws * len(sizes)).reshape(draws, len(sizes))
