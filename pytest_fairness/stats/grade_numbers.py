"""Values of grades as numbers, and hypothetical attempts in which some grades have assumed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, UngradedError, UngradedReason
from pytest_fairness.core.formatting import plain_name
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.columns import Floats

PLAIN_TYPES = (bool, int, float)
"""Types of values that are numbers as they are."""


def graded_options(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values of grades; for propensities, their options."""
    for value in values:
        if isinstance(value, Propensities):
            yield from (option for option, _ in value.shares)
        elif value is not None:
            yield value


def grade_numbers(grade: str, values: Sequence[Any], equals: Any) -> Floats:
    """Return the values of a grade as numbers, each distinct one read once; nan where ungraded."""
    kinds = set(map(type, values)) - {type(None)}
    if equals is None and kinds.issubset(PLAIN_TYPES):
        return np.array(values, dtype=np.float64)
    if kinds <= {str}:
        numbers = {value: grade_number(grade, value, equals) for value in dict.fromkeys(values)}
        return np.array([numbers[value] for value in values], dtype=np.float64)
    return np.array([grade_number(grade, value, equals) for value in values], dtype=np.float64)


def grade_number(grade: str, value: Any, equals: Any) -> float:
    """Return the value of a grade as a number: whether it equals ``equals``, if that is given; nan where ungraded.

    Raises `FairnessError` for a value that is no number.
    """
    if value is None:
        return np.nan
    if isinstance(value, Propensities):
        expected = value.expected(lambda option: grade_number(grade, option, equals))
        return expected / value.graded if value.graded > 0 else np.nan
    if equals is not None:
        return float(is_value(value, equals))
    if type(value) in PLAIN_TYPES:  # the common case, checked first for speed
        return float(value)
    if isinstance(value, Real | np.bool_):
        return float(value)
    raise FairnessError(f"the grade {grade!r} holds {value!r}, which is no number: say which value counts, equals=...")


def default_extremes(values: Sequence[Any]) -> tuple[tuple[Any, ...], bool]:
    """Return default extremes of a grade, 0, 1 and the values observed, and whether these are all possible values."""
    observed = list({repr(value): value for value in graded_options(values) if value == value}.values())
    if all(isinstance(value, bool | np.bool_) for value in observed):
        return (False, True), True
    if all(isinstance(value, Real) for value in observed):
        return (min(0.0, *observed), max(1.0, *observed)), all(value in (0, 1) for value in observed)
    return tuple(sorted(observed, key=str)), False


def is_range_known(extremes: Sequence[Any]) -> bool:
    """Return whether default extremes are those of a grade: numbers beyond 0 and 1 are only those observed."""
    return not all(isinstance(value, Real) for value in extremes) or (min(extremes), max(extremes)) == (0, 1)


def is_plain(value: object) -> bool:
    """Return whether a value can be the value of a grade: it is hashable, and equal to something or not."""
    try:
        return isinstance(hash(value), int) and isinstance(bool(value == value), bool)
    except Exception:  # noqa: BLE001 - such as those of arrays, of estimates and of NA
        return False


def is_value(value: Any, equals: Any) -> bool:
    """Return whether a value of a grade is the one that is counted, as itself or in writing."""
    return bool(value == equals) or str(value) == str(equals)


def refuse_look_alike(what: str, value: Any, equals: Any) -> None:
    """Raise `FairnessError` for a value that looks like the one that is counted, but is not equal to it."""
    if plain_name(str(value)) == plain_name(str(equals)) and not is_value(value, equals):
        raise FairnessError(f"{what} is {value!a}, which looks like {equals!a} and is not counted: write one of them")


class NeedsError(UngradedError):
    """A function reads a grade that has no assumed value yet."""

    def __init__(self, grade: str) -> None:
        super().__init__(f"{grade} is ungraded")
        self.grade = grade


def hypothetical(attempt: GradedAttempt, assumed: Mapping[str, Any], *, ignore_actual: bool = False) -> GradedAttempt:
    """Return an attempt with assumed values of some grades.

    Reading another grade raises `NeedsError` if it is ungraded or a propensity, which is a distribution of values.

    Args:
        attempt: The attempt.
        assumed: The assumed values, by grade.
        ignore_actual: Whether reading any other grade raises.

    >>> from pytest_fairness.core.attempts import Attempt
    >>> from pytest_fairness.core.items import ProbeItem, Prompt
    >>> prompt = Prompt("Hire her?")
    >>> refused = GradedAttempt(ProbeItem("n", [prompt]), prompt, Attempt("k", 0), {"hired": Grade.none("refusal")})
    >>> hypothetical(refused, {"hired": True}).grades["hired"].value
    True
    """
    grades = _AssumedGrades(attempt.grades, assumed, ignore_actual)
    return _HypotheticalAttempt(attempt.item, attempt.prompt, attempt.attempt, grades)


class _HypotheticalAttempt(GradedAttempt):
    """An attempt whose ungraded grades raise `NeedsError`, also those that it lacks."""

    __slots__ = ()

    def __getitem__(self, grade: str) -> Any:
        return self.grades[grade].value


@dataclass(frozen=True, slots=True)
class _AssumedGrades(Mapping[str, Grade]):
    """The grades of an attempt, some of them assumed."""

    grades: Mapping[str, Grade]
    assumed: Mapping[str, Any]
    ignore_actual: bool

    def __getitem__(self, grade: str) -> Grade:
        if grade in self.assumed:
            return Grade(self.assumed[grade])
        actual = self.grades.get(grade, Grade.none("error"))
        has_no_value = actual.ungraded is not None or isinstance(actual.value, Propensities)
        return _MissingGrade(grade, actual.ungraded) if self.ignore_actual or has_no_value else actual

    def __iter__(self) -> Iterator[str]:
        return iter(self.grades)

    def __len__(self) -> int:
        return len(self.grades)


class _MissingGrade(Grade):
    """A grade whose value raises `NeedsError`, so that one is assumed."""

    __slots__ = ("_name",)
    _name: str

    def __init__(self, name: str, ungraded: UngradedReason | None) -> None:
        super().__init__(None, ungraded)
        object.__setattr__(self, "_name", name)

    @property
    def value(self) -> Any:
        raise NeedsError(self._name)
