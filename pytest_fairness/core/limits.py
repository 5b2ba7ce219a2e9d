"""The limit of an undecided threshold, with the number that would decide it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_fairness.core.serialization import JsonRecord


@dataclass(frozen=True, slots=True)
class SampleChange:
    """A change of a sample, at which the ends of an interval are projected: larger, if it repeats itself."""

    sources: float = 1.0
    """The factor of the number of sources, or of items without any."""
    levels: float = 1.0
    """The factor of the number of levels of a crossed factor, such as names."""
    error: float = 1.0
    """The factor of its error: under 1 where more repetitions remove a part of it."""
    ungraded: bool = True
    """Whether ungraded answers could have had any grade."""


UNCHANGED = SampleChange()


MOST_TIMES = 1000
"""The largest factor of a number that is advised."""


OUT_OF_REACH = "not reachable with this data set"
"""The beginning of the advice on a threshold that only a wider bound or a much larger data set decides."""


class LimitKind(StrEnum):
    """The kind of a limit, which sets the end of an interval that crosses a bound, or keeps a claim open."""

    SIZE = "size"
    """The number of items or sources: by their error, or by a share of them that may be unseen."""
    LEVELS = "levels"
    """The number of levels of a crossed factor, such as names or answer formats."""
    EVENTS = "events"
    """Too few events, or clusters that differ, for a claim."""
    RUNS = "runs"
    """The number of its run: the interval of a first run would have decided it."""
    UNGRADED = "ungraded"
    """The ungraded answers: they alone can move it across the bound."""
    PLACEBO = "placebo"
    """The flips between two wordings of one text, which are as many as those between groups."""
    BOUND = "bound"
    """The estimate lies on the bound, or so near it for its error that `MOST_TIMES` as many items do not decide it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(JsonRecord):
    """The limit of an undecided threshold, with the number that decides it in 80% of runs if the estimate holds."""

    kind: str
    """A `LimitKind`."""
    unit: str
    """The noun for what it counts: ``items``, ``sources``, ``values of name in each group``."""
    has: int
    needs: int | None = None
    """The number that it needs; None where no number helps."""
    items: int | None = None
    """The number of items or sources that it needs besides levels; None where those of the sample are enough."""
    worth: float | None = None
    """The sources of equal size that the unequal ones of the sample are worth, where their sizes decide."""
