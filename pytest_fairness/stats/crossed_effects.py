"""Item effects, taken out of attempts where they cancel: for errors by a crossed factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_fairness.stats.columns import ABSENT, Clustering, Codes, Floats, Rows


@dataclass(frozen=True, slots=True)
class ItemEffect:
    """Per attempt what its item adds, and how well that is known.

    A comparison of groups that each item holds is free of what makes an item easy. A sum over
    the attempts of one name is not, and its noise would pass for a difference of names.
    ``values`` are the mean, over the attempts of the item's other groups, of what they are above
    their group: other groups, so that the names which are compared with this one within its
    group are all measured from the same point. Zero where the item has one group alone, as
    in an unpaired sample or in one group's mean: there nothing cancels, and errors by item hold it.
    """

    values: Floats
    share: Floats
    """k / (k + 1) where the mean is over k names: of a centered attempt's variance, what is its own."""

    def __getitem__(self, rows: Any) -> ItemEffect:
        return ItemEffect(self.values[rows], self.share[rows])


@dataclass(frozen=True, slots=True)
class ItemEffects:
    """The effects of an item on an outcome, and on whether it is ungraded."""

    graded: ItemEffect
    missing: ItemEffect


def centers(values: Floats, rows: Rows, groups: Codes, clusterings: Sequence[Clustering]) -> ItemEffects:
    """Return the effects of items on outcomes and on missing grades; arguments as for `center`."""
    empty = np.isnan(values)
    graded = center(values, rows, groups, clusterings)
    return ItemEffects(graded, center(empty.astype(np.float64), rows, groups, clusterings) if empty.any() else graded)


def is_nested(factor: Clustering, groups: Codes, rows: Rows) -> bool:
    """Return whether most levels of a crossed factor stand in one group alone, as names do.

    Levels that all groups share (the formats of an answer, the CVs that stand under every name in turn) pair the
    groups: what a level adds cancels in their comparison, so nothing has to be taken out.
    """
    here = rows[groups[rows] != ABSENT]
    pairs = np.unique(np.column_stack([factor.codes[here], groups[here]]), axis=0)
    held = np.bincount(pairs[:, 0]) if len(pairs) else np.zeros(1)
    return bool(np.count_nonzero(held > 1) * 2 <= np.count_nonzero(held))


def center(values: Floats, rows: Rows, groups: Codes, clusterings: Sequence[Clustering]) -> ItemEffect:
    """Return what its item adds to each of the attempts in ``rows``.

    ``values`` (nan where ungraded) and ``groups`` are of the whole sample.

    >>> outcomes, sides = np.array([5.0, 4.0, 3.0, 2.0]), np.array([0, 1, 0, 1])
    >>> items, names, cells = ([0, 0, 1, 1], 2), ([0, 1, 2, 3], 4), ([0, 1, 2, 3], 4)
    >>> given = [Clustering(np.array(codes), size) for codes, size in (items, names, cells)]
    >>> found = center(outcomes, np.arange(4), sides, given)
    >>> found.values.tolist(), found.share.tolist()
    ([1.0, 1.0, -1.0, -1.0], [0.5, 0.5, 0.5, 0.5])
    """
    sources, _, cells = clusterings
    within = groups[rows] != ABSENT
    kept = rows[within & ~np.isnan(values[rows])]
    number = int(groups.max(initial=0)) + 1
    above = values[kept] - _means(values[kept], groups[kept], number)[groups[kept]]
    cell_of_group = sources.codes * number + groups
    # A name counts once for each group that it stands for in the item.
    named = kept[np.unique(np.column_stack([cells.codes[kept], groups[kept]]), axis=0, return_index=True)[1]]

    def others(of: Rows, weights: Floats) -> Floats:
        whole = np.bincount(sources.codes[of], weights, sources.size)[sources.codes]
        own = np.bincount(cell_of_group[of], weights, sources.size * number)[
            np.where(groups == ABSENT, 0, cell_of_group)
        ]
        rest: Floats = np.where(groups == ABSENT, 0.0, whole - own)
        return rest

    count, names = others(kept, np.ones(len(kept))), others(named, np.ones(len(named)))
    is_paired = count > 0.5
    effects = np.where(is_paired, others(kept, above) / np.maximum(count, 1), 0.0)
    return ItemEffect(effects, np.where(is_paired, names / (names + 1), 0.0))


def _means(values: Floats, codes: Codes, size: int) -> Floats:
    counts = np.bincount(codes, minlength=size)
    means: Floats = np.bincount(codes, values, size).astype(np.float64) / np.maximum(counts, 1)
    return means
