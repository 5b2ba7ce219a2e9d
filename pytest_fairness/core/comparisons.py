"""Conditions of a threshold test, and the record that answers them.

Inside a threshold test every comparison is a `Condition`, decided by its interval and recorded;
the listening `ComparisonRecorder` answers it. Outside, a comparison is that of the point estimate, as with
any number.
"""

from __future__ import annotations

import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, ClassVar, Never

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.marks import MarkScale
    from pytest_fairness.core.overrides import BoundsOverride

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

_PACKAGE = str(Path(__file__).parents[1])
_EVALUATION = str(Path(__file__).with_name("dependence.py"))
"""Below the user's test: a declared suite has no line of Python."""
_USERS = str(Path(_PACKAGE) / "suites")
"""Inside the package, but written as a user's tests are."""


class Comparable(ABC):
    """The four operators of a number, and a refusal of what would be a silent mistake."""

    __slots__ = ()

    _noun: ClassVar[str]
    _other: ClassVar[str]
    """The noun of the values that it is compared with, for messages."""

    @abstractmethod
    def _decide(self, op: str, bound: object) -> bool:
        """Return the answer to a comparison. Raises `TypeError` for what it cannot be compared with."""

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
    """The decision of an interval on a comparison; a conjunction is decided by the first of these."""

    FALSE = "false"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    TRUE = "true"


_DECISIONS = tuple(Decision)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One estimate against one number."""

    estimate: Estimate
    op: str
    bound: float
    decision: Decision
    instead_of: float | None = None
    """The number that the test has, where the project holds the estimate against one of its own."""

    def reversed(self) -> Comparison:
        """Return the comparison that holds where this one does not, decided again."""
        return replace(self.estimate._compare(OPPOSITES[self.op], self.bound), instead_of=self.instead_of)

    def corrected(self, asserted: int) -> Comparison:
        """Return the comparison with the error of a claim of unfairness divided by the number of metrics asserted."""
        if asserted == 1:
            return self
        return replace(self.estimate.corrected(asserted)._compare(self.op, self.bound), instead_of=self.instead_of)


@dataclass(frozen=True, slots=True)
class Condition:
    """One check of a threshold test by ``<``, ``<=``, ``>`` or ``>=``.

    One comparison of an estimate, of the member that decides a family, or both ends of the
    ranges of a mark.
    """

    text: str
    """The text of an error: ``ratio of advance, female to male >= 0.8``."""
    comparisons: tuple[Comparison, ...]
    opposite: bool = False
    """Whether it is the opposite of the condition that its key stands for, as ``rate < 0.8`` is of ``rate >= 0.8``."""
    family: str = ""
    """The text of a family's condition where it must hold: ``family >= 0.8``; empty for one estimate."""
    line: int | None = None
    """The line of the user's file."""
    asserted: tuple[Estimate, ...] = ()
    """All estimates that it is about; of a family every member. Empty: those of its comparisons."""

    @property
    def decision(self) -> Decision:
        return min((comparison.decision for comparison in self.comparisons), key=_DECISIONS.index)

    def as_needed(self, needed: bool, asserted: int = 1) -> Condition:  # noqa: FBT001 - the answer to its key
        """Return the condition as it must hold for the test to pass: reversed where the test negates it."""
        comparisons = [comparison.corrected(asserted) for comparison in self.comparisons]
        if needed == self.opposite:
            # Of the two ends of a mark, one must not hold: the end that is farthest from holding. Where nobody knows
            # the mark, nobody knows that it is none.
            turned = [comparison.reversed() for comparison in comparisons]
            farthest = max(turned, key=lambda comparison: _DECISIONS.index(comparison.decision))
            is_open = len(turned) > 1 and self.decision in (Decision.INVALID, Decision.UNDECIDED)
            comparisons = [replace(farthest, decision=self.decision) if is_open else farthest]
        return replace(self, comparisons=tuple(comparisons))


@dataclass(slots=True)
class ComparisonRecorder:
    """The conditions, estimates and reads of one evaluation of a threshold test."""

    answers: Mapping[str, bool] = field(default_factory=dict)
    """Answers to conditions by their keys."""
    default: bool | None = None
    """The answer to every other condition. None: what its interval says, and true where that is open."""
    scale: MarkScale | None = None
    """The scale of the marks of every estimate that is made; None: each has its own."""
    bounds: BoundsOverride | None = None
    """The bounds that the project sets in place of the test's numbers."""
    negated: Collection[tuple[str, str, float]] = ()
    """Metric, operator and bound of the comparisons that must not hold."""
    strict_tail: float | None = None
    """The probability to err on either side of a claim of unfairness; None: that of the intervals."""
    conditions: dict[str, Condition] = field(default_factory=dict)
    given: dict[str, bool] = field(default_factory=dict)
    """The answer to each key, that of the condition which was checked last at the end."""
    estimates: dict[str, Estimate] = field(default_factory=dict)
    """Those that the report shows, by metric and slice: compared, or recorded by `record_estimates`."""
    read: dict[str, Estimate] = field(default_factory=dict)
    """Estimates whose numbers the test looked at, by metric and slice."""
    _homonyms: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)

    @property
    def comparisons(self) -> list[Comparison]:
        return [comparison for condition in self.conditions.values() for comparison in condition.comparisons]

    def answer(self, name: str, condition: Condition) -> bool:
        """Record a condition and return the answer that this evaluation gives to it."""
        key = self._key(name, condition)
        if key not in self.conditions:
            self.conditions[key] = condition
            self.record(condition.asserted or [comparison.estimate for comparison in condition.comparisons])
        holds = self.answers.get(key, self.given.pop(key, None))
        if holds is None:
            natural = condition.decision is not Decision.FALSE if self.default is None else self.default
            holds = natural != condition.opposite
        self.given[key] = holds
        return holds != condition.opposite

    def record(self, estimates: Iterable[Estimate]) -> None:
        """Keep estimates for the report."""
        self.estimates |= {key_of(estimate): estimate for estimate in estimates}

    def _key(self, name: str, condition: Condition) -> str:
        # Two estimates of one name (of two lambdas, say) are two conditions.
        numbers = tuple(repr(comparison.estimate.value) for comparison in condition.comparisons)
        same = self._homonyms.setdefault(name, [])
        if numbers not in same:
            same.append(numbers)
        return f"{name} #{same.index(numbers)}"


_listening: ContextVar[ComparisonRecorder | None] = ContextVar("fairness_record", default=None)


@contextmanager
def recording(record: ComparisonRecorder | None = None) -> Iterator[ComparisonRecorder]:
    """Note all that is compared and estimated within the block."""
    record = ComparisonRecorder() if record is None else record
    token = _listening.set(record)
    try:
        yield record
    finally:
        _listening.reset(token)


def is_recording() -> bool:
    """Return whether comparisons are noted, and decided by their intervals."""
    return _listening.get() is not None


def has_compared() -> bool:
    """Return whether anything was compared since the listening began."""
    record = _listening.get()
    return record is not None and bool(record.conditions)


def override_bound(names: Sequence[str], op: str, bound: float) -> float | None:
    """Return the project's own bound for a metric; None where it sets none.

    ``names`` are those by which the project may call it: the metric, then its family.

    Raises `FairnessError` where it leaves open a side that the test bounds.
    """
    record = _listening.get()
    if record is None or record.bounds is None:
        return None
    return record.bounds.instead_of(names, OPPOSITES[op] if (names[0], op, bound) in record.negated else op)


def answer_condition(name: str, condition: Condition) -> bool:
    """Return the answer that a condition gives to the code that checks it.

    Args:
        name: What tells it from the other conditions of a test: metric, slice, operator and bound.
        condition: The comparisons, which must all hold.
    """
    record = _listening.get()
    if record is None:
        return all(
            OPERATORS[comparison.op](comparison.estimate.value, comparison.bound)
            for comparison in condition.comparisons
        )
    return record.answer(name, replace(condition, line=_users_line()))


def for_threshold(estimate: Estimate) -> Estimate:
    """Return an estimate as the threshold test that is evaluated judges it; unchanged outside of one.

    It has the test's scale and the error that its look may spend, and notes who reads its numbers. It is not
    recorded: that is left to comparisons and to `record_estimates`.
    """
    record = _listening.get()
    if record is None:
        return estimate
    if record.scale is not None:
        estimate = replace(estimate, scale=record.scale)
    if record.strict_tail is not None:
        estimate = estimate.at_look(record.strict_tail)
    return estimate.watched()


def record_estimates(estimates: Iterable[Estimate]) -> None:
    """Record estimates for the report of the threshold test that is evaluated, if any."""
    record = _listening.get()
    if record is not None:
        record.record(estimates)


def record_read(estimate: Estimate) -> None:
    """Record that the code of a threshold test looks at the numbers of an estimate."""
    record = _listening.get()
    # The frame that reads the attribute: `CostEstimate.__getattribute__` and this function lie between.
    if record is not None and is_users(sys._getframe(2).f_code.co_filename):
        record.read.setdefault(key_of(estimate), estimate)


def key_of(estimate: Estimate, metric: str | None = None) -> str:
    """Return a metric, or what a family of them has in common, with the slice that it is taken of."""
    where = sorted((str(name), str(value)) for name, value in estimate.slice.items())
    return f"{metric or estimate.metric} {where}"


def is_users(filename: str) -> bool:
    """Return whether a code file is neither this package's own nor one that Python makes up."""
    if filename.startswith("<") or filename == replace.__code__.co_filename:
        return False
    return not filename.startswith(_PACKAGE) or filename.startswith(_USERS)


def _users_line() -> int | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != _EVALUATION:
        if is_users(frame.f_code.co_filename):
            return frame.f_lineno
        frame = frame.f_back
    return None
