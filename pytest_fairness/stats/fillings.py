"""A group with its ungraded attempts left out, and filled in at either extreme.

What could not be graded must never help: an interval is the hull of those that the
extreme fillings give (Manski's 2003 worst-case bounds, with sampling error).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_fairness.stats.centring import Centres
from pytest_fairness.stats.columns import Clustering, Rows
from pytest_fairness.stats.outcomes import Reading
from pytest_fairness.stats.sums import Part

if TYPE_CHECKING:
    from pytest_fairness.stats.calibration_parts import Judged


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
    judged: Judged | None = None
    """What labels say of the judge that graded it, where it is corrected by them."""
    invalid: str = ""
    """Why nothing can be said of it, apart from its numbers: a filter of the run left all of its prompts out, say."""
    suspect: str = ""
    """Why nothing good can be said of it: too many attempts of a group within it are ungraded."""

    @property
    def attempts(self) -> int:
        return self.missing.count

    @property
    def ungraded(self) -> int:
        return self.missing.count - self.graded.count


def group(
    name: str,
    reading: Reading,
    rows: Rows,
    clusterings: Sequence[Clustering],
    prompts: Clustering | None = None,
    centres: Centres | None = None,
) -> Group:
    """The attempts in ``rows`` (indices into the reading) as a group; ``centres`` are of the whole sample."""
    empty = np.isnan(reading.values[rows])
    found = _group(name, reading, rows, empty, clusterings, prompts, centres)
    return replace(found, invalid=reading.unbounded) if reading.unbounded and empty.any() else found


def _group(
    name: str,
    reading: Reading,
    rows: Rows,
    empty: npt.NDArray[np.bool_],
    clusterings: Sequence[Clustering],
    prompts: Clustering | None,
    centres: Centres | None,
) -> Group:
    if reading.labelled is not None:
        return reading.labelled.group(name, reading, rows, clusterings, centres)
    everything = [clustering[rows] for clustering in clusterings]
    kept = rows[~empty]
    of_kept = [clustering[kept] for clustering in clusterings]
    own, missing = (None, None) if centres is None else (centres.graded, centres.missing)
    graded = Part(
        reading.values[kept],
        of_kept,
        reading.span,
        None if prompts is None else prompts[kept],
        None if own is None else own[kept],
    )
    ungraded = Part(empty.astype(np.float64), everything, (0.0, 1.0), None, None if missing is None else missing[rows])
    if not empty.any():
        return Group(name, graded, graded, graded, ungraded)
    lowest, highest = (
        Part(values[rows], everything, reading.span, None, None if own is None else own[rows])
        for values in (reading.lowest, reading.highest)
    )
    return Group(name, graded, lowest, highest, ungraded)


def fillings(groups: Sequence[Group]) -> Iterator[tuple[Part, ...]]:
    """Every combination of the groups' parts: as graded, at one extreme, at the other."""
    ways = [(group.graded, group.lowest, group.highest) if group.ungraded else (group.graded,) for group in groups]
    yield from product(*ways)
