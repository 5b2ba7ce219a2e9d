"""Item effects on outcomes: errors by a crossed factor are computed without them, where they cancel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_fairness.stats.columns import ABSENT, Clustering, Codes, Floats, Rows


@dataclass(frozen=True, slots=True)
class ItemEffect:
    """The effect of its item, or of its source where the item has one group alone, on the outcome of each attempt.

    A comparison of groups that each item holds is free of what makes an item easy. A sum over
    the attempts of one name is not: without centering, the noise of the items would pass for a difference
    between names.
    """

    values: Floats
    """The mean, over the attempts of the item's other groups, of their distance from their group's mean.

    Only other groups count, so that names that are compared within a group are all centered alike. The items of a
    source may differ by much, as strong and weak cases of one position do: their noise is no effect of names either.
    Zero where the source has one group alone, as in an unpaired sample or in one group's mean: there nothing
    cancels, and errors by source contain the effect.
    """
    share: Floats
    """k / (k + 1) where the mean is over k names: the share of a centered attempt's variance that is its own."""

    def __getitem__(self, rows: Any) -> ItemEffect:
        return ItemEffect(self.values[rows], self.share[rows])


@dataclass(frozen=True, slots=True)
class ItemEffects:
    """The effects of items on an outcome, and on whether it is ungraded."""

    graded: ItemEffect
    missing: ItemEffect


def estimate_item_effects(
    values: Floats, rows: Rows, groups: Codes, clusterings: Sequence[Clustering], items: Clustering
) -> ItemEffects:
    """Return the effects of items on outcomes and on missing grades; arguments as for `estimate_item_effect`."""
    is_missing = np.isnan(values)
    graded = estimate_item_effect(values, rows, groups, clusterings, items)
    if not is_missing.any():
        return ItemEffects(graded, graded)
    return ItemEffects(graded, estimate_item_effect(is_missing.astype(np.float64), rows, groups, clusterings, items))


def is_nested(factor: Clustering, groups: Codes, rows: Rows) -> bool:
    """Return whether most levels of a crossed factor occur in one group alone, as names do.

    Levels that all groups share (the formats of an answer, the CVs that occur under every name in turn) pair the
    groups: the effect of a level cancels in their comparison, so nothing is centered.
    """
    grouped = rows[groups[rows] != ABSENT]
    pairs = np.unique(np.column_stack([factor.codes[grouped], groups[grouped]]), axis=0)
    groups_per_level = np.bincount(pairs[:, 0]) if len(pairs) else np.zeros(1)
    return bool(np.count_nonzero(groups_per_level > 1) * 2 <= np.count_nonzero(groups_per_level))


def estimate_item_effect(
    values: Floats, rows: Rows, groups: Codes, clusterings: Sequence[Clustering], items: Clustering
) -> ItemEffect:
    """Return the effect of its item on each attempt of the sample, estimated from the attempts in ``rows``.

    Args:
        values: The outcome of each attempt of the sample; nan where ungraded.
        rows: The selected attempts.
        groups: The group of each attempt of the sample.
        clusterings: The clusters by source, by level of the crossed factor, and by cell of the two.
        items: The item of each attempt.

    >>> outcomes, groups = np.array([5.0, 4.0, 3.0, 2.0]), np.array([0, 1, 0, 1])
    >>> items, names, cells = ([0, 0, 1, 1], 2), ([0, 1, 2, 3], 4), ([0, 1, 2, 3], 4)
    >>> clusterings = [Clustering(np.array(codes), size) for codes, size in (items, names, cells)]
    >>> effect = estimate_item_effect(outcomes, np.arange(4), groups, clusterings, clusterings[0])
    >>> effect.values.tolist(), effect.share.tolist()
    ([1.0, 1.0, -1.0, -1.0], [0.5, 0.5, 0.5, 0.5])
    """
    sources, _, cells = clusterings
    graded = rows[(groups[rows] != ABSENT) & ~np.isnan(values[rows])]
    size = int(groups.max(initial=0)) + 1
    distances = values[graded] - _means(values[graded], groups[graded], size)[groups[graded]]
    blocks = _blocks(graded, groups, sources, items)
    block_groups = blocks.codes * size + groups
    # A name counts once for each group in which it occurs in the item.
    names = graded[np.unique(np.column_stack([cells.codes[graded], groups[graded]]), axis=0, return_index=True)[1]]

    def sum_of_others(rows: Rows, weights: Floats) -> Floats:
        """Return the weighted number of ``rows`` in the other groups of each attempt's item or source."""
        whole = np.bincount(blocks.codes[rows], weights, blocks.size)[blocks.codes]
        own = np.bincount(block_groups[rows], weights, blocks.size * size)[np.where(groups == ABSENT, 0, block_groups)]
        others: Floats = np.where(groups == ABSENT, 0.0, whole - own)
        return others

    attempts = sum_of_others(graded, np.ones(len(graded)))
    levels = sum_of_others(names, np.ones(len(names)))
    is_paired = attempts > 0.5
    effects = np.where(is_paired, sum_of_others(graded, distances) / np.maximum(attempts, 1), 0.0)
    return ItemEffect(effects, np.where(is_paired, levels / (levels + 1), 0.0))


def _blocks(graded: Rows, groups: Codes, sources: Clustering, items: Clustering) -> Clustering:
    """Return the item of each attempt where that holds several groups, else its source."""
    pairs = np.unique(np.column_stack([items.codes[graded], groups[graded]]), axis=0)
    has_several = np.bincount(pairs[:, 0], minlength=items.size) > 1
    codes = np.where(has_several[items.codes], items.codes, items.size + sources.codes)
    return Clustering(codes, items.size + sources.size)


def _means(values: Floats, codes: Codes, size: int) -> Floats:
    """Return the mean of each of ``size`` groups; 0 without values."""
    counts = np.bincount(codes, minlength=size)
    means: Floats = np.bincount(codes, values, size).astype(np.float64) / np.maximum(counts, 1)
    return means
