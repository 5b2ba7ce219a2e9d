"""What was compared with what, and who listens.

Inside a threshold test every comparison is decided by its interval and noted; a comparison
that the interval leaves open is answered as the listening `Record` assumes. Outside, a
comparison is that of the point estimate, as with any number.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Never

if TYPE_CHECKING:
    from pytest_fairness.core.bounds import OwnBounds
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.marks import Scale

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Comparable(ABC):
    """The four operators of a number, and a refusal of what would be a silent mistake."""

    __slots__ = ()

    _noun: ClassVar[str]
    _other: ClassVar[str]
    """What it is compared with."""

    @abstractmethod
    def _decide(self, op: str, bound: object) -> bool:
        """The answer to a comparison. Raises `TypeError` for what it cannot be compared with."""

    def __lt__(self, bound: object) -> bool:
        return self._decide("<", bound)

    def __le__(self, bound: object) -> bool:
        return self._decide("<=", bound)

    def __gt__(self, bound: object) -> bool:
        return self._decide(">", bound)

    def __ge__(self, bound: object) -> bool:
        return self._decide(">=", bound)

    def __eq__(self, other: object) -> Never:
        raise TypeError(f"{self._noun} has an interval and equals nothing; compare it with <, <=, > or >=")

    def __ne__(self, other: object) -> Never:
        raise TypeError(f"{self._noun} has an interval and equals nothing; compare it with <, <=, > or >=")

    __hash__ = object.__hash__

    def __bool__(self) -> Never:
        raise TypeError(f"{self._noun} is neither true nor false; compare it with {self._other}")


class Decision(Enum):
    """What an interval says about a comparison."""

    TRUE = "true"
    FALSE = "false"
    UNDECIDED = "undecided"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One estimate against one number."""

    estimate: Estimate
    op: str
    bound: float
    decision: Decision
    instead_of: float | None = None
    """The number that the test has, where the project holds the estimate against one of its own."""


@dataclass(slots=True)
class Record:
    """What one pass over a threshold test compared and estimated."""

    assume: bool
    """What a comparison answers that its interval leaves open."""
    scale: Scale | None = None
    """Of the marks of every estimate that is made; None: each has its own."""
    bounds: OwnBounds | None = None
    """What the project holds estimates against in place of the test's numbers."""
    comparisons: list[Comparison] = field(default_factory=list)
    estimates: list[Estimate] = field(default_factory=list)


_listening: ContextVar[Record | None] = ContextVar("fairness_record", default=None)


@contextmanager
def recording(*, assume: bool, scale: Scale | None = None, bounds: OwnBounds | None = None) -> Iterator[Record]:
    """Note all that is compared and estimated within the block."""
    record = Record(assume, scale, bounds)
    token = _listening.set(record)
    try:
        yield record
    finally:
        _listening.reset(token)


def listening() -> bool:
    """Whether comparisons are noted, and decided by their intervals."""
    return _listening.get() is not None


def own_bound(metric: str, op: str) -> float | None:
    """What the project holds a metric against in place of the number that a test compares it with; None: that number.

    Raises `FairnessError` where it leaves open a side that the test bounds.
    """
    record = _listening.get()
    return None if record is None or record.bounds is None else record.bounds.instead_of(metric, op)


def conclude(comparison: Comparison) -> bool:
    """The answer that a comparison gives to the code that made it."""
    record = _listening.get()
    if record is None:
        return OPERATORS[comparison.op](comparison.estimate.value, comparison.bound)
    record.comparisons.append(comparison)
    if comparison.decision in (Decision.TRUE, Decision.FALSE):
        return comparison.decision is Decision.TRUE
    return record.assume


def note(estimate: Estimate) -> Estimate:
    """Tell the listener, if any, that an estimate was made; return it, with the listener's scale."""
    record = _listening.get()
    if record is None:
        return estimate
    if record.scale is not None:
        estimate = replace(estimate, scale=record.scale)
    record.estimates.append(estimate)
    return estimate
