"""Decisions of comparisons, and the operators that request them.

Inside a threshold test the `Recorder` of its evaluation answers every comparison, by the interval.
Outside, a comparison is that of the point estimate, as with any number.
"""

from __future__ import annotations

import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from enum import Enum, StrEnum
from pathlib import Path
from typing import ClassVar, Never, Protocol

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

_PACKAGE = str(Path(__file__).parents[1])
_USERS = str(Path(_PACKAGE) / "suites")
"""Inside the package, but written as a user's tests are."""


class Decision(Enum):
    """The decision of an interval on a comparison; a conjunction is decided by the first of these."""

    FALSE = "false"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    TRUE = "true"


DECISIONS = tuple(Decision)


class Verdict(StrEnum):
    """The four states of a threshold."""

    FAIR = "fair"
    UNFAIR = "unfair"
    UNDECIDED = "undecided"
    INVALID = "invalid"


class Comparable(ABC):
    """The four operators of a number, and a refusal of what would be a silent mistake."""

    __slots__ = ()

    _noun: ClassVar[str]
    _other: ClassVar[str]
    """The noun of the values that it is compared with, for messages."""

    @abstractmethod
    def _answer(self, op: str, bound: object) -> bool:
        """Return the answer to a comparison.

        Raises:
            TypeError: The value cannot be compared with the bound.
        """

    def __lt__(self, bound: object) -> bool:
        return self._answer("<", bound)

    def __le__(self, bound: object) -> bool:
        return self._answer("<=", bound)

    def __gt__(self, bound: object) -> bool:
        return self._answer(">", bound)

    def __ge__(self, bound: object) -> bool:
        return self._answer(">=", bound)

    def __eq__(self, other: object) -> Never:
        raise TypeError(f"{self._noun} has an interval and equals nothing; compare it with <, <=, > or >=")

    def __ne__(self, other: object) -> Never:
        raise TypeError(f"{self._noun} has an interval and equals nothing; compare it with <, <=, > or >=")

    __hash__ = object.__hash__

    def __bool__(self) -> Never:
        raise TypeError(f"{self._noun} is neither true nor false; compare it with {self._other}")


class Recorder(Protocol):
    """The part of an evaluation that answers comparisons."""

    def answer(self, value: Comparable, op: str, bound: float | str) -> bool:
        """Record a comparison and return the answer that this evaluation gives to it."""

    def record_read(self, value: Comparable) -> float:
        """Record that a test looks at the numbers of a value; return what is added to them."""


_RECORDER: ContextVar[Recorder | None] = ContextVar("fairness_record", default=None)


def current_recorder() -> Recorder | None:
    """Return the recorder of the threshold test that is evaluated; None outside of one."""
    return _RECORDER.get()


@contextmanager
def use_recorder(recorder: Recorder) -> Iterator[None]:
    """Have a recorder answer the comparisons within the block."""
    token = _RECORDER.set(recorder)
    try:
        yield
    finally:
        _RECORDER.reset(token)


def record_read(value: Comparable) -> float:
    """Record that the code of a threshold test looks at the numbers of a value; return what is added to them."""
    recorder = _RECORDER.get()
    # The frame that reads the attribute: `__getattribute__` of the value and this function lie between.
    if recorder is not None and is_users(sys._getframe(2).f_code.co_filename):
        return recorder.record_read(value)
    return 0.0


def is_users(filename: str) -> bool:
    """Return whether a code file is neither this package's own nor one that Python makes up."""
    if filename.startswith("<") or filename == replace.__code__.co_filename:
        return False
    return not filename.startswith(_PACKAGE) or filename.startswith(_USERS)
