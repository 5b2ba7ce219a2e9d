"""The parts of an estimate: its groups, an example item, and the influence of each item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pytest_fairness.core.serialization import JsonRecord


class GroupValue(Protocol):
    """The rate or mean of one group: the attributes of an estimate that breakdowns read."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleSideResult(JsonRecord):
    """The outcome of one group in the item of an example."""

    group: str
    """Empty where the metric compares no groups."""
    mean: float | None
    """The mean of the outcome over the graded attempts of all of the group's prompts in the item; None where the
    metric has no single outcome.
    """
    events: int | None
    """The number of attempts for which an outcome of true or false was true; None for a number."""
    graded: int
    attempts: int
    """The number of attempts, graded or not."""
    keys: Sequence[str] = ()
    """The keys of the attempts at the prompt that reports show; at all prompts, for a grade of a whole item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult(JsonRecord):
    """The item with the largest share in an estimate."""

    item: str
    test: str | None = None
    """The test of that item."""
    sides: Sequence[ExampleSideResult] = ()
    """The two groups in the order of the comparison; else one side for the whole item."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The parts of an estimate, which the first ``estimate.breakdown()`` computes."""

    reference: str | None = None
    """The group to which the others are compared; None where all pairs, or no groups, are compared."""
    groups: Mapping[str, GroupValue] = field(default_factory=dict)
    """The rate or mean of each group, with its own interval; of a member of a family, those of all groups."""
    example_towards: Callable[[int], ExampleResult | None] = lambda _: None
    """A function from a direction to the example item: 1 for a high value of the estimate, -1 for a low one; None
    where there is no such item. Where groups are compared it is the item whose two groups differ most reliably,
    else the item that changes the value most.
    """
    influences: Mapping[str, float] = field(default_factory=dict)
    """The influence of each item (or source, where items share one) on the value: the squares sum to its
    variance. Two runs of one design share their items, so the variance of the difference of their estimates is
    the sum over items of the squared difference of influences. The part of a crossed factor is left out.
    Empty where there are none: for a ratio with a rate of zero, or the distance from a baseline.
    """
    prompt_influences: Sequence[float] | None = None
    """The influence of each prompt of the sample, to first order and up to a factor: nan for one that adds nothing.
    None where it is not known, and where no groups are compared.
    """
    log: bool = False
    """Whether ``influences`` are those of the logarithm of the absolute value."""

    def negated(self) -> Breakdown:
        """Return the breakdown of the same value with the opposite sign."""
        return replace(
            self,
            example_towards=lambda towards: self.example_towards(-towards),
            influences=self.influences
            if self.log
            else {name: -influence for name, influence in self.influences.items()},
        )


LazyBreakdown = Callable[[], Breakdown]
"""A function to a breakdown, made once: a message, a result and its example show the same numbers.

Only reports call it: a simulation makes a hundred thousand estimates without.
"""
