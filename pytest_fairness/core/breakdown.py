"""The parts of an estimate: its groups, the item that shows it best, and what each item adds to its error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol


class GroupValue(Protocol):
    """The rate or mean of one group, as an estimate has it."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def items(self) -> int: ...
    @property
    def attempts(self) -> int: ...
    @property
    def count(self) -> int | None: ...
    @property
    def ungraded(self) -> Mapping[str, int]: ...
    @property
    def slice(self) -> Mapping[str, str]: ...
    @property
    def invalid(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ExampleSide:
    """The outcome of one group in the item of an example."""

    group: str
    """Empty where the metric compares no groups."""
    mean: float
    """The mean of the outcome over the graded attempts of all of the group's prompts in the item; nan where the
    metric has no single outcome.
    """
    events: int | None
    """The number of attempts for which an outcome of true or false was true; None for a number."""
    graded: int
    attempts: int
    """Those made, ungraded ones included."""
    keys: tuple[str, ...]
    """The keys of the attempts at one prompt: the one to show."""


@dataclass(frozen=True, slots=True)
class ExampleItem:
    """The item that shows an estimate best."""

    item: str
    sides: tuple[ExampleSide, ...]
    """The two groups in the order in which they are compared; else the item whole."""


def _no_example(_: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The parts of an estimate. It is made on request, and not stored: ``estimate.breakdown()``."""

    reference: str | None = None
    """The group that the others are compared to; None where all are with all, or none is."""
    groups: Mapping[str, GroupValue] = field(default_factory=dict)
    """The rate or mean of each group, with its own interval; of a family all groups, whichever pair it is."""
    example_towards: Callable[[int], ExampleItem | None] = _no_example
    """The items that show the value best. From 1, the item that most speaks for a high value, from -1 for a low one;
    None where none does. Where groups are compared: the item whose two groups differ most and most repeatably.
    Else the item that moves the value furthest.
    """
    influences: Mapping[str, float] = field(default_factory=dict)
    """The influence of each item (or source, where those are resampled) on the value: the squares sum to its
    variance. Two runs of one design share their items, so the difference of their estimates has as its variance
    the sum over items of the squared difference of influences. With a crossed factor: its share is left out.
    Empty where there are none: a ratio with a rate of zero, the distance from a baseline.
    """
    log: bool = False
    """Whether ``influences`` are those of the logarithm of the value's size."""

    def turned(self) -> Breakdown:
        """Return the breakdown of the same value with the other sign."""
        return replace(
            self,
            example_towards=lambda towards: self.example_towards(-towards),
            influences=self.influences
            if self.log
            else {name: -influence for name, influence in self.influences.items()},
        )


LazyBreakdown = Callable[[], Breakdown]
"""It is made by nobody who does not show it: a simulation makes a hundred thousand estimates."""
