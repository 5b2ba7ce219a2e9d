"""Undeclared clusters: attributes whose attempts are more alike than the clusters of an interval account for.

An interval assumes that its clusters (items, or their sources) are independent. Where they are not, since
all items of a template vary together, it is too narrow, and nothing in it shows that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_fairness.stats.columns import ABSENT, Clustering, Codes, Columns
from pytest_fairness.stats.measured import Measured

FEWEST_LEVELS = 5
"""Smallest number of levels of an attribute that could be clusters of an interval."""
SIGNIFICANCE = 0.001
"""Probability of reporting an attribute though all clusters are independent, over all attributes."""
SMALLEST_RATIO = 1.5
"""Smallest ratio to the assumed variance that is reported."""


@dataclass(frozen=True, slots=True)
class Alike:
    """An attribute: attempts with the same value of it vary together."""

    attribute: str
    variance: float
    """Ratio of the estimate's variance to that which its interval assumes."""
    crossed: bool
    """Whether its values recur over items, as names do; else each item has one value."""

    @property
    def text(self) -> str:
        """The finding in words, and how to declare the clusters."""
        declared = f"crossed={self.attribute!r}" if self.crossed else "their values as `source` of the items"
        return (
            f"attempts with the same `{self.attribute}` vary together: the squared error is {self.variance:.1f} times "
            f"what the interval assumes; declare {declared}"
        )


def find_alike(measured: Measured, error: Callable[[Measured], float]) -> list[Alike]:
    """Return the attributes by which an estimate varies more than by its own clusters.

    Args:
        measured: The sample of the estimate.
        error: A function to its standard error on the same attempts with other clusters; nan where it has none.

    Returns:
        The attributes whose clusters' variance exceeds that of smaller ones by an F test, the largest first.
    """
    columns = measured.selection.columns
    names = sorted(columns.known_attributes - columns.group_attributes - {columns.crossed})
    codes = {name: columns.attribute(name).codes for name in names}
    few = [own_codes for own_codes in codes.values() if np.unique(own_codes).size < FEWEST_LEVELS]
    attributes = [(name, levels) for name, own_codes in codes.items() if (levels := _levels(columns, own_codes, few))]
    if not attributes:
        return []
    source_variance = error(_clustered_by(measured, columns.sources)) ** 2
    alike = _significant(measured, error, source_variance, attributes)
    return sorted(
        (attribute for attribute in alike if attribute.variance >= SMALLEST_RATIO),
        key=lambda attribute: -attribute.variance,
    )


def _significant(
    measured: Measured,
    error: Callable[[Measured], float],
    source_variance: float,
    attributes: Sequence[tuple[str, tuple[Clustering, bool]]],
) -> Iterator[Alike]:
    """Yield the attributes with a significant F test against sources; against prompts if they are crossed."""
    from scipy.special import fdtrc  # type: ignore[import-untyped]

    columns = measured.selection.columns
    prompt_variance: float | None = None
    for name, (levels, crossed) in attributes:
        base, base_size = source_variance, columns.sources.size
        if crossed:
            if columns.prompts is None:
                continue
            if prompt_variance is None:
                prompt_variance = error(_clustered_by(measured, columns.prompts)) ** 2
            base, base_size = prompt_variance, columns.prompts.size
        variance = error(_clustered_by(measured, levels)) ** 2
        if not (source_variance > 0 and base > 0 and math.isfinite(variance)):
            continue
        if fdtrc(levels.size - 1, base_size - levels.size, variance / base) < SIGNIFICANCE / len(attributes):
            yield Alike(name, (source_variance + variance - base) / source_variance, crossed)


def _clustered_by(measured: Measured, clustering: Clustering) -> Measured:
    return Measured.from_selection(measured.selection.clustered(clustering))


def _levels(columns: Columns, codes: Codes, few: Sequence[Codes]) -> tuple[Clustering, bool] | None:
    """Return the values of an attribute as clusters, and whether sources hold several; None where they cannot be.

    Args:
        columns: The sample.
        codes: The value of the attribute of each attempt.
        few: The same of attributes with few values, by which the values of this one may differ.
    """
    if np.any(codes == ABSENT):
        return None
    pairs = np.unique(columns.sources.codes * (int(codes.max()) + 1) + codes)
    crossed = len(pairs) > columns.sources.size
    if crossed:
        codes = _join_designs(codes, few)
    values, inverse = np.unique(codes, return_inverse=True)
    size = len(values)
    smaller = columns.prompts.size if crossed and columns.prompts is not None else columns.sources.size
    if not FEWEST_LEVELS <= size <= smaller / 2:
        return None
    return Clustering(inverse.astype(np.int64), size), crossed


def _join_designs(codes: Codes, few: Sequence[Codes]) -> Codes:
    """Return the values of a crossed attribute, joined to clusters with one value of each design.

    Where each value has one polarity, or one order of the options, its attempts differ from those of others by design.
    They do so equally in every source, where it cancels. A cluster with one value of each design has the variance of
    its values, without that of the design.
    """
    values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    designs = [design for design in few if np.array_equal(design, design[first][inverse])]
    if not designs:
        return codes
    _, cells = np.unique(np.stack([design[first] for design in designs]), axis=1, return_inverse=True)
    clusters = np.zeros(values.size, dtype=np.int64)
    fewest = int(np.bincount(cells.ravel()).min())
    for cell in np.unique(cells):
        members = np.flatnonzero(cells.ravel() == cell)
        clusters[members] = np.arange(members.size) % fewest
    joined: Codes = clusters[inverse]
    return joined
