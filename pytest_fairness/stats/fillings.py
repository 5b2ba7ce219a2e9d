"""A group with its ungraded attempts left out, and filled in at either extreme.

What could not be graded must never help: an interval is the hull of those that the
extreme fillings give (Manski's 2003 worst-case bounds, with sampling error).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from pytest_fairness.stats.columns import Clustering, Rows
from pytest_fairness.stats.intervals import Ends
from pytest_fairness.stats.outcomes import Reading
from pytest_fairness.stats.sums import Part


@dataclass(frozen=True, slots=True)
class Group:
    """The attempts of one group, or of all."""

    name: str
    graded: Part
    lowest: Part
    """All attempts, the ungraded ones at the lowest outcome they could have had."""
    highest: Part
    missing: Part
    """All attempts; the outcome is whether it is ungraded."""

    @property
    def attempts(self) -> int:
        return self.missing.count

    @property
    def ungraded(self) -> int:
        return self.missing.count - self.graded.count


def group(
    name: str, reading: Reading, rows: Rows, clusterings: Sequence[Clustering], prompts: Clustering | None = None
) -> Group:
    """The attempts in ``rows`` (indices into the reading) as a group."""
    values = reading.values[rows]
    empty = np.isnan(values)
    everything = [clustering[rows] for clustering in clusterings]
    if not empty.any():
        graded = Part(values, everything, reading.span, None if prompts is None else prompts[rows])
        return Group(name, graded, graded, graded, Part(empty.astype(np.float64), everything, (0.0, 1.0)))
    kept = [clustering[~empty] for clustering in everything]
    return Group(
        name,
        Part(values[~empty], kept, reading.span, None if prompts is None else prompts[rows[~empty]]),
        Part(reading.lowest[rows], everything, reading.span),
        Part(reading.highest[rows], everything, reading.span),
        Part(empty.astype(np.float64), everything, (0.0, 1.0)),
    )


def fillings(groups: Sequence[Group]) -> Iterator[tuple[Part, ...]]:
    """Every combination of the groups' parts: as graded, at one extreme, at the other."""
    ways = [(group.graded, group.lowest, group.highest) if group.ungraded else (group.graded,) for group in groups]
    yield from product(*ways)


def hull(interval: Callable[..., Ends], groups: Sequence[Group], tail: float) -> Ends:
    """The smallest interval that holds the intervals of all fillings."""
    ends = [interval(*parts, tail) for parts in fillings(groups)]
    return min(low for low, _ in ends), max(high for _, high in ends)
