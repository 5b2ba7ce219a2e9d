"""Attempts: answers of models, and their grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core.errors import UngradedError, UngradedReason
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.tools import ToolCall


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a model to one prompt.

    ``finish_reason`` is "stop", "length" (cut off at the token limit), "content_filter"
    or the provider's own word. ``reasoning`` is what a reasoning model thought before it
    answered, where the provider names it. ``usage`` counts tokens: "input", "output" and,
    where known, "reasoning". ``latency`` is in seconds.
    """

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    latency: float = 0.0
    served_by: str | None = None
    """The model name that the provider says has answered; it can differ from the one asked for."""
    actions: Sequence[ToolCall] = ()
    """Its calls of tools, in order."""
    provider_state: str | None = field(default=None, repr=False)
    """State that the provider wants back beside the results of the calls, in the form of its own class: encrypted
    reasoning, signatures. It goes into `calls_message`, and is nothing to grade."""

    @property
    def transcript(self) -> str:
        """The text and the calls of tools, each in a line of its own.

        >>> print(Answer("I will look.", actions=[ToolCall("look_up", {"id": 7})]).transcript)
        I will look.
        -> look_up(id=7)
        """
        if not self.actions:
            return self.text
        return "\n".join([*filter(None, [self.text]), *(f"-> {call}" for call in self.actions)])


@dataclass(frozen=True, slots=True)
class Attempt:
    """One repetition of one prompt on one model: an answer, or why there is none."""

    key: str
    repetition: int
    answer: Answer | None = None
    error: str | None = None
    from_store: bool = False
    at: float | None = None
    """When it was answered, in seconds since 1970 on the store's clock; None where this run asked it."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Grade:
    """A value, or *ungraded* with the reason. Never both, never a default value.

    >>> Grade("biased").value
    'biased'
    >>> Grade.none("refusal", "I can't help with that").ungraded
    'refusal'
    """

    _value: Any
    ungraded: UngradedReason | None
    detail: str

    def __init__(self, value: Any = None, ungraded: UngradedReason | None = None, detail: str = "") -> None:
        object.__setattr__(self, "_value", value if ungraded is None else None)
        object.__setattr__(self, "ungraded", ungraded)
        object.__setattr__(self, "detail", detail)

    @property
    def value(self) -> Any:
        """The value.

        Raises:
            UngradedError: Where it is ungraded: a comparison such as ``grade.value is True`` would otherwise count it
                as a negative. ``grade.ungraded`` says whether it is, and why.
        """
        if self.ungraded is not None:
            raise UngradedError(f"the grade has no value: it is ungraded ({self.ungraded})", self.ungraded)
        return self._value

    @classmethod
    def none(cls, reason: UngradedReason, detail: str = "") -> Grade:
        """Return a grade without a value, for this reason; ``detail`` shows the evidence."""
        return cls(None, reason, detail)

    def __repr__(self) -> str:
        if self.ungraded is not None:
            return f"Grade.none({self.ungraded!r}, {self.detail!r})"
        return f"Grade({self._value!r}, detail={self.detail!r})" if self.detail else f"Grade({self._value!r})"


def stored_value(grade: Grade) -> Any:
    """Return the value of a grade as JSON knows it, None where it is ungraded."""
    value = value_or_none(grade)
    return value.to_json() if hasattr(value, "to_json") else value


def value_or_none(grade: Grade) -> Any:
    """Return the value of a grade, None where it is ungraded: for tables and files, where both stand in one column."""
    return grade._value  # which is None where it is ungraded; many times as fast as to ask for both


@dataclass(frozen=True, slots=True)
class GradedAttempt:
    """One attempt with its grades: one row of what a metric is computed from.

    ``attempt["advance"]`` is the value of the grade of that name.
    """

    item: ProbeItem
    prompt: Prompt
    attempt: Attempt
    grades: Mapping[str, Grade] = field(default_factory=dict)

    def __getitem__(self, grade: str) -> Any:
        """Return the value of a grade.

        Raises `UngradedError` where it is ungraded and `KeyError` where there is none of that name.
        """
        value_grade = self.grades[grade]
        if value_grade.ungraded is not None:
            raise UngradedError(f"{grade} is ungraded ({value_grade.ungraded})", value_grade.ungraded)
        return value_grade.value


JUDGED_BY = " by "
"""Part of the name of a grade that holds the fields of one of several judges."""


def judged_values(graded: GradedAttempt, grade: str) -> list[Any]:
    """Return what each of several judges said of one grade of an attempt; empty where it has no several."""
    fields = (value_or_none(of) for name, of in graded.grades.items() if JUDGED_BY in name)
    return [field[grade] for field in fields if isinstance(field, Mapping) and field.get(grade) is not None]
