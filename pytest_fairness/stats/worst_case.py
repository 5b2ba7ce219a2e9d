"""A group with its ungraded attempts left out, and filled in at either extreme.

What could not be graded must never help: an interval is the hull of those that the
extreme fillings give (Manski's 2003 worst-case bounds, with sampling error).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffects
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector


def group(
    name: str,
    reading: OutcomeVector,
    rows: Rows,
    clusterings: Sequence[Clustering],
    prompts: Clustering | None = None,
    centers: ItemEffects | None = None,
    items: Clustering | None = None,
) -> GroupOutcomes:
    """Return the attempts in ``rows`` (indices into the reading) as a group; ``centers`` are of the whole sample."""
    empty = np.isnan(reading.values[rows])
    if reading.labeled is not None:
        corrected = reading.labeled.group(name, reading, rows, clusterings, centers)
        return replace(corrected, invalid=reading.unbounded) if reading.unbounded and empty.any() else corrected

    def sums(values: Floats, of: Rows, weights: Floats | None) -> ClusterSums:
        asked_of, item_of = (None if clustering is None else clustering[of] for clustering in (prompts, items))
        center = None if centers is None else centers.graded[of]
        shares = None if weights is None else weights[of]
        clusters = [clustering[of] for clustering in clusterings]
        return ClusterSums(values[of], clusters, reading.span, asked_of, center, shares, item_of)

    kept = rows[~empty]
    graded = sums(reading.values, kept, reading.weights)
    missing = ClusterSums(
        reading.missing[rows],
        [clustering[rows] for clustering in clusterings],
        (0.0, 1.0),
        None,
        None if centers is None else centers.missing[rows],
    )
    if not missing.totals[0].any():
        return GroupOutcomes(name, graded, graded, graded, missing)
    whole = None if reading.weights is None else np.ones(len(reading.values))
    lowest, highest = (sums(values, rows, whole) for values in (reading.lowest, reading.highest))
    return GroupOutcomes(name, graded, lowest, highest, missing, invalid=reading.unbounded)


def fillings(groups: Sequence[GroupOutcomes]) -> Iterator[tuple[ClusterSums, ...]]:
    """Yield every combination of the groups' parts: as graded, at one extreme, at the other."""
    ways = [(group.graded, group.lowest, group.highest) if group.ungraded else (group.graded,) for group in groups]
    yield from product(*ways)
