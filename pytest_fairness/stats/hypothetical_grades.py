"""An attempt as it would have been, had some of its grades been others: what an outcome would have come to then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import UngradedError, UngradedReason
from pytest_fairness.core.propensities import Propensities


class NeedsError(UngradedError):
    """A function asked for the value of a grade that has none yet."""

    def __init__(self, grade: str) -> None:
        super().__init__(f"{grade} is ungraded")
        self.grade = grade


def hypothetical(attempt: GradedAttempt, assumed: Mapping[str, Any], *, forget: bool = False) -> GradedAttempt:
    """Return the attempt with these values of grades; asked for that of an ungraded one, it raises `NeedsError`.

    So it does for a propensity, which is a distribution of values, and with ``forget`` for all that are not assumed.

    >>> from pytest_fairness.core.attempts import Attempt
    >>> from pytest_fairness.core.items import ProbeItem, Prompt
    >>> prompt = Prompt("Hire her?")
    >>> refused = GradedAttempt(ProbeItem("n", [prompt]), prompt, Attempt("k", 0), {"hired": Grade.none("refusal")})
    >>> hypothetical(refused, {"hired": True}).grades["hired"].value
    True
    """
    grades = _Supposed(attempt.grades, assumed, forget)
    return _Hypothetical(attempt.item, attempt.prompt, attempt.attempt, grades)


class _Hypothetical(GradedAttempt):
    """An attempt of which a grade may be asked for that it never had."""

    __slots__ = ()

    def __getitem__(self, grade: str) -> Any:
        return self.grades[grade].value


@dataclass(frozen=True, slots=True)
class _Supposed(Mapping[str, Grade]):
    """The grades of an attempt, some of them assumed; those of ungraded ones (``forget``: of all) are asked for."""

    grades: Mapping[str, Grade]
    assumed: Mapping[str, Any]
    forget: bool

    def __getitem__(self, grade: str) -> Grade:
        if grade in self.assumed:
            return Grade(self.assumed[grade])
        actual = self.grades.get(grade, Grade.none("error"))
        is_open = actual.ungraded is not None or isinstance(actual.value, Propensities)
        return _Needed(grade, actual.ungraded) if self.forget or is_open else actual

    def __iter__(self) -> Iterator[str]:
        return iter(self.grades)

    def __len__(self) -> int:
        return len(self.grades)


class _Needed(Grade):
    """A grade whose value an outcome may ask for: it is then supposed."""

    __slots__ = ("_name",)
    _name: str

    def __init__(self, name: str, ungraded: UngradedReason | None) -> None:
        super().__init__(None, ungraded)
        object.__setattr__(self, "_name", name)

    @property
    def value(self) -> Any:
        raise NeedsError(self._name)
