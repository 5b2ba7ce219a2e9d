"""Attributes whose attempts are more alike than the clusters of an interval account for.

An interval takes its clusters (items, or their sources) for independent. Where they are not, since
all items of a template rise and fall together, it is too narrow, and nothing in it shows that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_fairness.stats.columns import ABSENT, Clustering, Codes, Columns
from pytest_fairness.stats.measured import Measured

FEWEST_LEVELS = 5
"""Levels of an attribute: with fewer its values are not what an interval could count."""
SURE = 0.001
"""The probability at which attempts of independent clusters are called alike, over all attributes."""
SMALLEST = 1.5
"""Times the variance that an interval assumes; less is not worth a word."""


@dataclass(frozen=True, slots=True)
class Alike:
    """An attribute whose values attempts share that vary together."""

    attribute: str
    variance: float
    """Variance of the estimate, over that which its interval assumes."""
    crossed: bool
    """Whether its values recur over items, as names do; if not, whole items share one."""

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
        error: Its standard error on another sample of the same attempts; nan where it has none.

    Returns:
        The attributes whose clusters' variance exceeds that of smaller ones by an F test, the largest first.
    """
    columns = measured.selection.columns
    names = sorted(columns.known_attributes - columns.group_attributes - {columns.crossed})
    codes = {name: columns.attribute(name).codes for name in names}
    few = [of_one for of_one in codes.values() if np.unique(of_one).size < FEWEST_LEVELS]
    attributes = [(name, levels) for name, of_one in codes.items() if (levels := _levels(columns, of_one, few))]
    if not attributes:
        return []
    own = error(_clustered(measured, columns.sources)) ** 2
    alike = list(_exceeding(measured, error, own, attributes))
    return sorted(
        (attribute for attribute in alike if attribute.variance >= SMALLEST), key=lambda attribute: -attribute.variance
    )


def _exceeding(
    measured: Measured,
    error: Callable[[Measured], float],
    own: float,
    attributes: Sequence[tuple[str, tuple[Clustering, bool]]],
) -> Iterator[Alike]:
    from scipy.special import fdtrc  # type: ignore[import-untyped]

    columns = measured.selection.columns
    alone = None
    for name, (levels, crossed) in attributes:
        base = own
        if crossed:
            if columns.prompts is None:
                continue
            alone = error(_clustered(measured, columns.prompts)) ** 2 if alone is None else alone
            base = alone
        variance = error(_clustered(measured, levels)) ** 2
        if not (own > 0 and base > 0 and math.isfinite(variance)):
            continue
        smaller = columns.prompts.size if crossed and columns.prompts is not None else columns.sources.size
        if fdtrc(levels.size - 1, smaller - levels.size, variance / base) < SURE / len(attributes):
            yield Alike(name, (own + variance - base) / own, crossed)


def _clustered(measured: Measured, clustering: Clustering) -> Measured:
    return Measured.from_selection(measured.selection.clustered(clustering))


def _levels(columns: Columns, codes: Codes, few: Sequence[Codes]) -> tuple[Clustering, bool] | None:
    """Return the values of an attribute as clusters, and whether sources hold several; None where they cannot be.

    Args:
        columns: The sample.
        codes: The attribute.
        few: Attributes of few values, which may be what the values of this one differ by.
    """
    if np.any(codes == ABSENT):
        return None
    pairs = np.unique(columns.sources.codes * (int(codes.max()) + 1) + codes)
    crossed = len(pairs) > columns.sources.size
    if crossed:
        codes = _balanced(codes, few)
    size = len(np.unique(codes))
    within = columns.prompts.size if crossed and columns.prompts is not None else columns.sources.size
    if not FEWEST_LEVELS <= size <= within / 2:
        return None
    _, inverse = np.unique(codes, return_inverse=True)
    return Clustering(inverse.astype(np.int64), size), crossed


def _balanced(codes: Codes, few: Sequence[Codes]) -> Codes:
    """Return the values of a crossed attribute, joined so that each holds all that they differ by on purpose.

    Where each value has one polarity, or one order of the options, its attempts differ from those of others by design,
    and alike in every source, which cancels that out. One value of each design makes a cluster: the sum has the
    variance of its parts, without what differs by design.
    """
    values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    designs = [design for design in few if np.array_equal(design, design[first][inverse])]
    if not designs:
        return codes
    _, cells = np.unique(np.stack([design[first] for design in designs]), axis=1, return_inverse=True)
    ranks = np.zeros(values.size, dtype=np.int64)
    fewest = int(np.bincount(cells.ravel()).min())
    for cell in np.unique(cells):
        members = np.flatnonzero(cells.ravel() == cell)
        ranks[members] = np.arange(members.size) % fewest
    joined: Codes = ranks[inverse]
    return joined
