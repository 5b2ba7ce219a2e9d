"""Hypothetical attempts, in which some grades have assumed values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import UngradedError, UngradedReason
from pytest_fairness.core.propensities import Propensities


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
