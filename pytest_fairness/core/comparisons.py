"""What was compared with what, and who listens.

Inside a threshold test every comparison is decided by its interval and noted; a comparison
that the interval leaves open is answered as the listening `Record` assumes. Outside, a
comparison is that of the point estimate, as with any number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


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


@dataclass(slots=True)
class Record:
    """What one pass over a threshold test compared and estimated."""

    assume: bool
    """What a comparison answers that its interval leaves open."""
    comparisons: list[Comparison] = field(default_factory=list)
    estimates: list[Estimate] = field(default_factory=list)


_listening: ContextVar[Record | None] = ContextVar("fairness_record", default=None)


@contextmanager
def recording(*, assume: bool) -> Iterator[Record]:
    """Note all that is compared and estimated within the block."""
    record = Record(assume)
    token = _listening.set(record)
    try:
        yield record
    finally:
        _listening.reset(token)


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
    """Tell the listener, if any, that an estimate was made; return it."""
    record = _listening.get()
    if record is not None:
        record.estimates.append(estimate)
    return estimate
