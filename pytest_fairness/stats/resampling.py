"""The cluster bootstrap of a function of sums, as a matrix product: thousands of resamples in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Clustering, Codes, Floats
from pytest_fairness.stats.custom_metrics import Functional, cluster_sums
from pytest_fairness.stats.outcome_vectors import OutcomeVector
from pytest_fairness.stats.validity import invalid_reason
from pytest_fairness.stats.worst_case import group

MOST_COUNTS = 4_000_000
"""Number of drawn clusters that are held at a time: 32 MB."""

FEW_KINDS = 6
"""Clusters a kind from which drawing counts of kinds is faster than drawing clusters."""


def draw_resamples(
    functional: Functional, values: Floats, clusterings: Sequence[Clustering], draws: int, seed: int
) -> Floats:
    """Return a functional of ``draws`` resamples of whole clusters, shape (draws,); nan where it has no value.

    ``values`` are numbers per attempt, shape (attempts, names); rows of nan are left out. Each
    resample draws as many clusters as there are, with replacement (Efron 1979; clusters:
    Davison and Hinkley 1997, section 3.8).

    Raises `FairnessError` for draws below 1, for a crossed factor and for a sample that no
    interval could be made of.
    """
    if draws < 1:
        raise FairnessError(f"draws is {draws!r}: it must be at least 1")
    if len(clusterings) > 1:
        raise FairnessError("resamples draw whole sources and know no crossed factor: take the interval of metric(...)")
    first = values[:, 0]
    everyone = group("all", OutcomeVector("", first, first, first, None), np.arange(len(first)), clusterings)
    if reason := invalid_reason([everyone]):
        raise FairnessError(f"nothing to resample: {reason}")
    # Clusters of equal sums are drawn together: grades of few values leave few kinds of clusters.
    graded = ~np.isnan(first)
    sums, _ = cluster_sums(values[graded], clusterings[0][graded])
    kinds, sizes = np.unique(sums, axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    at_a_time = max(1, MOST_COUNTS // int(sizes.sum()))
    chunks = [min(at_a_time, draws - start) for start in range(0, draws, at_a_time)]
    return functional.at(np.concatenate([_drawn(generator, sizes, chunk) @ kinds for chunk in chunks]))


def _drawn(generator: np.random.Generator, sizes: Codes, draws: int) -> Codes:
    """Return how often each kind of cluster is drawn, shape (draws, kinds), when there are ``sizes`` of each."""
    clusters = int(sizes.sum())
    if len(sizes) * FEW_KINDS <= clusters:
        return generator.multinomial(clusters, sizes / clusters, draws)
    kind = np.repeat(np.arange(len(sizes)), sizes)
    places = kind[generator.integers(clusters, size=(draws, clusters))]
    places += len(sizes) * np.arange(draws)[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=draws * len(sizes)).reshape(draws, len(sizes))
