"""Groups with their ungraded attempts left out, and imputed at either extreme.

An answer that could not be graded must never help: an interval is the hull of the intervals under
all extreme imputations (Manski's 2003 worst-case bounds, with sampling error).
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
    vector: OutcomeVector,
    rows: Rows,
    clusterings: Sequence[Clustering],
    prompts: Clustering | None = None,
    item_effects: ItemEffects | None = None,
    items: Clustering | None = None,
) -> GroupOutcomes:
    """Return some attempts as a group.

    Args:
        name: The group's name.
        vector: The outcome of every attempt of the sample.
        rows: The group's attempts: indices into the vector.
        clusterings: As for `ClusterSums`, of the whole sample, as are the following.
        prompts: The prompt of each attempt; None where it is unknown.
        item_effects: The effects of items; None without a crossed factor that is nested in groups.
        items: The item of each attempt; None where it is unknown.
    """
    is_missing = np.isnan(vector.values[rows])
    if vector.correction is not None:
        corrected = vector.correction.group(name, vector, rows, clusterings, item_effects)
        return replace(corrected, invalid=vector.unbounded) if vector.unbounded and is_missing.any() else corrected

    def sums(values: Floats, rows: Rows, weights: Floats | None) -> ClusterSums:
        return ClusterSums(
            values[rows],
            [clustering[rows] for clustering in clusterings],
            vector.span,
            None if prompts is None else prompts[rows],
            None if item_effects is None else item_effects.graded[rows],
            None if weights is None else weights[rows],
            None if items is None else items[rows],
        )

    graded = sums(vector.values, rows[~is_missing], vector.weights)
    missing = ClusterSums(
        vector.missing[rows],
        [clustering[rows] for clustering in clusterings],
        (0.0, 1.0),
        None,
        None if item_effects is None else item_effects.missing[rows],
    )
    if not missing.totals[0].any():
        return GroupOutcomes(name, graded, graded, graded, missing)
    whole = None if vector.weights is None else np.ones(len(vector.values))
    lowest, highest = (sums(values, rows, whole) for values in (vector.lowest, vector.highest))
    return GroupOutcomes(name, graded, lowest, highest, missing, invalid=vector.unbounded)


def imputations(groups: Sequence[GroupOutcomes]) -> Iterator[tuple[ClusterSums, ...]]:
    """Yield every combination of the groups' sums: as graded, with the ungraded at one extreme, and at the other."""
    yield from product(
        *((group.graded, group.lowest, group.highest) if group.ungraded else (group.graded,) for group in groups)
    )
