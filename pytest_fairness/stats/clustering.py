"""Undeclared clusters: metadata by which a comparison of groups varies more than its interval assumes.

An interval assumes that its clusters (items, or their sources) are independent. Where all items of a template favor
the same group, or all prompts with a name do, it is too narrow, and nothing in it shows that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import ABSENT, Codes, Columns, Floats, Rows
from pytest_fairness.stats.linear_estimate import negligible
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.observational import is_observational
from pytest_fairness.stats.table_columns import EPOCH

FEWEST_LEVELS = 5
"""Smallest number of levels of an attribute that could be clusters of an interval."""
SIGNIFICANCE = 0.01
"""Probability of clusters by an attribute though nothing varies by it, over all attributes.

By simulation they are found in 0.5% of such samples (docs/simulations.md).
"""
SMALLEST_RATIO = 1.5
"""Smallest ratio of the variance to the assumed one at which an interval is computed with other clusters."""


@dataclass(frozen=True, slots=True)
class UndeclaredClusters:
    """An attribute by which a comparison of groups varies more than by the clusters of its interval."""

    attribute: str
    ratio: float
    """The variance of the comparison with these clusters, over that which its interval assumes."""
    codes: Codes
    """The cluster of each attempt, or `ABSENT`."""
    crossed: bool
    """Whether values recur over items, as names do; else each item has one value."""

    @property
    def text(self) -> str:
        """The finding in words, and how to declare the clusters."""
        declared = f"crossed={self.attribute!r}" if self.crossed else "its values as `source` of the items"
        return (
            f"what it compares varies with `{self.attribute}`, and its interval accounts for that "
            f"({self.ratio:.1f} times the squared error by what is declared); declare {declared}"
        )

    def apply(self, measured: Measured) -> Measured:
        """Return the same sample with these clusters."""
        return measured.from_selection(measured.selection.reclustered(self.attribute, self.codes, crossed=self.crossed))


def find_undeclared_clusters(measured: Measured, estimates: Iterable[Estimate]) -> UndeclaredClusters | None:
    """Return the attribute by which comparisons of groups vary most, beyond what their intervals assume; None if none.

    The attributes are known metadata of items and prompts, with at least `FEWEST_LEVELS` values.

    - Each item, or source, has one value: the variance by value is compared with that by source.
    - Values recur over sources: it is compared with that by cell of source and value. The variance of two-way clusters
      is that by source plus that by value less that by cell (Cameron, Gelbach and Miller 2011).
    - All of a value is in one source: it is no cluster that the interval lacks.

    Both are F tests. The influences of prompts make all variances, so an effect that groups share adds to none.

    Args:
        measured: The sample.
        estimates: Comparisons of its groups.
    """
    candidates = _Candidates.of(measured.selection.columns)
    if not candidates.attributes:
        return None
    influences = [np.asarray(own) for estimate in estimates if (own := _prompt_influences(estimate)) is not None]
    # test_effects_that_both_groups_share_are_no_clusters
    significance = SIGNIFICANCE / len(candidates.attributes) / max(len(influences), 1)
    significant = [clusters for own in influences for clusters in candidates.significant(own, significance)]
    return max(significant, key=lambda clusters: clusters.ratio, default=None)


def _prompt_influences(estimate: Estimate) -> Sequence[float] | None:
    if estimate.invalid or estimate.agreed or estimate.breakdown is None:
        return None
    return estimate.breakdown().prompt_influences


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The metadata of a sample that could be clusters, computed once for all of its thresholds."""

    attributes: Mapping[str, Codes]
    """The value of each attempt."""
    rows: Rows
    """The first attempt of each prompt."""
    sources: Codes
    """The source of each prompt."""

    @classmethod
    def of(cls, columns: Columns) -> _Candidates:
        """Return the candidates of a sample; none where its prompts are not known."""
        if columns not in _CANDIDATES:
            rows = np.arange(0)
            if columns.prompts is not None and columns.attempts:
                rows = np.unique(columns.prompts.codes, return_index=True)[1]
            attributes = dict(_possible_clusters(columns)) if rows.size else {}
            _CANDIDATES[columns] = cls(attributes, rows, columns.sources.codes[rows])
        return _CANDIDATES[columns]

    def significant(self, influences: Floats, significance: float) -> Iterator[UndeclaredClusters]:
        """Yield the clusters by which the influences of prompts vary."""
        from scipy.special import fdtrc  # type: ignore[import-untyped]

        present = np.flatnonzero(~np.isnan(influences))
        own, sources = influences[present], self.sources[present]
        by_source = _Variance.of(own, sources)
        if negligible(by_source.value, by_source.clusters):
            return
        for name, codes in self.attributes.items():
            levels = codes[self.rows[present]]
            if np.any(levels == ABSENT):
                continue
            by_level = _Variance.of(own, levels)
            by_cell = _Variance.of(own, sources * (int(levels.max()) + 1) + levels)
            crossed = by_cell.clusters > by_source.clusters
            base = by_cell if crossed else by_source
            # test_few_values_are_no_clusters
            if not FEWEST_LEVELS <= by_level.clusters <= base.clusters / 2:
                continue
            ratio = (by_source.value + by_level.value - base.value) / by_source.value
            chance = fdtrc(by_level.clusters - 1, base.clusters - by_level.clusters, by_level.value / base.value)
            if ratio >= SMALLEST_RATIO and chance < significance:
                yield UndeclaredClusters(name, ratio, codes, crossed)


_CANDIDATES: WeakKeyDictionary[Columns, _Candidates] = WeakKeyDictionary()


def _possible_clusters(columns: Columns) -> Iterator[tuple[str, Codes]]:
    """Yield the metadata that could be clusters, with the value of each attempt."""
    # test_visits_of_users_are_no_clusters
    visits = {EPOCH} if is_observational(columns) else set()
    names = sorted(columns.known_attributes - columns.group_attributes - {columns.crossed} - visits)
    codes = {name: columns.attribute(name).codes for name in names}
    few = [own for own in codes.values() if np.unique(own).size < FEWEST_LEVELS]
    prompts = 0 if columns.prompts is None else columns.prompts.size
    for name, own in codes.items():
        # test_ids_of_rows_are_no_clusters
        if np.unique(own).size >= prompts:
            continue
        # test_fixed_sources_are_no_clusters
        if np.unique(own[own != ABSENT]).size >= FEWEST_LEVELS and not _is_fixed(columns, own):
            yield name, _join_designs(own, few)


def _is_fixed(columns: Columns, codes: Codes) -> bool:
    """Return whether an attribute is one of sources to which a verdict is declared to be limited."""
    fixed = columns.fixed_sources
    return fixed is not None and np.unique(fixed.codes * (int(codes.max()) + 2) + codes + 1).size == fixed.size


@dataclass(frozen=True, slots=True)
class _Variance:
    """The variance of an estimate whose clusters are independent."""

    value: float
    clusters: int

    @classmethod
    def of(cls, influences: Floats, codes: Codes) -> _Variance:
        """Return the variance of a sum of influences, which add up to zero, by clusters."""
        _, inverse = np.unique(codes, return_inverse=True)
        sums = np.bincount(inverse, weights=influences)
        clusters = len(sums)
        return cls(float(np.square(sums).sum()) * clusters / max(clusters - 1, 1), clusters)


def _join_designs(codes: Codes, few: Sequence[Codes]) -> Codes:
    """Return the values of an attribute, joined to clusters with one value of each design.

    Where each value has one polarity, or one order of the options, its attempts differ from those of others by design.
    They do so equally in every source, where it cancels. A cluster with one value of each design has the variance of
    its values, without that of the design.
    """
    values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    designs = [design for design in few if np.array_equal(design, design[first][inverse])]
    # test_design_of_kinds_is_no_cluster
    if not designs or ABSENT in values:
        return codes
    _, cells = np.unique(np.stack([design[first] for design in designs]), axis=1, return_inverse=True)
    clusters = np.zeros(values.size, dtype=np.int64)
    fewest = int(np.bincount(cells.ravel()).min())
    for cell in np.unique(cells):
        members = np.flatnonzero(cells.ravel() == cell)
        clusters[members] = np.arange(members.size) % fewest
    joined: Codes = clusters[inverse]
    return joined
