"""Attempts: the answers of models, and their grades."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Self

from pytest_fairness.core.errors import NoSuchGradeError, UngradedError, UngradedReason
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.serialization import OPTIONAL, JsonRecord, key
from pytest_fairness.core.tool_calls import ToolCall


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a model to one prompt."""

    text: str
    finish_reason: str = "stop"
    """"stop", "length" (cut off at the token limit), "content_filter" or the provider's own word."""
    reasoning: str | None = None
    """The reasoning of the model before its answer; None where the provider does not report it."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Numbers of tokens: "input", "output" and, where known, "reasoning"."""
    latency: float = 0.0
    """Seconds from the request to the answer."""
    served_by: str | None = None
    """The name of the model that answered, as the provider reports it, or the version of an application."""
    actions: Sequence[ToolCall] = ()
    """Its tool calls, in order; of an application also its retrievals and hand-offs."""
    provider_state: str | None = field(default=None, repr=False)
    """State that the provider requires back with the results of the calls, in its own form: encrypted
    reasoning, signatures. It becomes part of `calls_message`, and is not graded."""
    reply_id: str | None = None
    """The id that the server gives this reply and no other: two answers with one id are one."""
    cache: str | None = None
    """The headers or fields by which a server says that a cache gave the answer (`core.reply_evidence`)."""

    @property
    def transcript(self) -> str:
        """The text and the tool calls with their results, each on its own line.

        >>> from pytest_fairness import ToolCall
        >>> print(Answer("I will look.", actions=[ToolCall("look_up", {"id": 7})]).transcript)
        I will look.
        -> look_up(id=7)
        """
        return self._join(call.summary for call in self.actions)

    @property
    def timed_transcript(self) -> str:
        """The transcript with the durations of the tool calls, where they are reported.

        >>> from pytest_fairness import ToolCall
        >>> Answer("", actions=[ToolCall("look_up", result="7 May", seconds=0.25)]).timed_transcript
        '-> look_up() = 7 May (0.25 s)'
        """
        return self._join(
            call.summary if call.seconds is None else f"{call.summary} ({call.seconds:.2g} s)" for call in self.actions
        )

    def _join(self, calls: Iterable[str]) -> str:
        if not self.actions:
            return self.text
        return "\n".join([*filter(None, [self.text]), *(f"-> {call}" for call in calls)])


@dataclass(frozen=True, slots=True)
class Attempt:
    """One repetition of one prompt on one model: an answer, or the error in place of it."""

    key: str
    repetition: int
    answer: Answer | None = None
    error: str | None = None
    from_store: bool = False
    at: float | None = None
    """The time of the answer, in seconds since 1970 on the store's clock; None for a request of this run."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Grade:
    """A value, or *ungraded* with the reason. Never both, never a default value.

    Args:
        value: The value; without meaning where the grade is ungraded.
        ungraded: The reason why there is no value; None where there is one.
        detail: More on the reason, such as the end of the answer.

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
            UngradedError: The grade is ungraded: a comparison such as ``grade.value is True`` would otherwise count it
                as a negative. ``grade.ungraded`` is the reason, or None.
        """
        if self.ungraded is not None:
            raise UngradedError(f"the grade has no value: it is ungraded ({self.ungraded})", self.ungraded)
        return self._value

    @classmethod
    def none(cls, reason: UngradedReason, detail: str = "") -> Grade:
        """Return a grade without a value.

        Args:
            reason: The reason.
            detail: The evidence for it, such as the end of the answer.
        """
        return cls(None, reason, detail)

    def __repr__(self) -> str:
        if self.ungraded is not None:
            return f"Grade.none({self.ungraded!r}, {self.detail!r})"
        return f"Grade({self._value!r}, detail={self.detail!r})" if self.detail else f"Grade({self._value!r})"


def stored_value(grade: Grade) -> Any:
    """Return the value of a grade as JSON; None where it is ungraded."""
    value = value_or_none(grade)
    return value.to_json() if hasattr(value, "to_json") else value


def value_or_none(grade: Grade) -> Any:
    """Return the value of a grade; None where it is ungraded."""
    return grade._value  # None where it is ungraded; many times as fast as reading both attributes


def values_or_none(grades: Iterable[Grade]) -> list[Any]:
    """Return the value of each grade; None where it is ungraded."""
    return list(map(attrgetter("_value"), grades))


@dataclass(frozen=True, slots=True)
class GradedAttempt:
    """One attempt with its grades: one row of a sample.

    ``attempt["advance"]`` is the value of the grade of that name.
    """

    item: ProbeItem
    prompt: Prompt
    attempt: Attempt
    grades: Mapping[str, Grade] = field(default_factory=dict)

    def __getitem__(self, grade: str) -> Any:
        """Return the value of a grade.

        Raises:
            UngradedError: The grade is ungraded.
            NoSuchGradeError: There is no grade of that name: a `KeyError`.
        """
        own = self.grades.get(grade)
        if own is None:
            raise NoSuchGradeError(grade, self.grades)
        if own.ungraded is not None:
            raise UngradedError(f"{grade} is ungraded ({own.ungraded})", own.ungraded)
        return own.value


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCounts(JsonRecord):
    """The attempts of a sample."""

    attempts: int = field(metadata=key("fairness_attempts"))
    from_store: int = field(default=0, metadata=key("fairness_from_store"))
    ungraded: float = field(default=0, metadata=key("fairness_ungraded"))
    """Attempts, or for propensities the probability in all that fell on no option."""
    oldest: int | None = field(default=None, metadata={**key("fairness_oldest"), **OPTIONAL})
    """When the oldest of the answers from the store was given: seconds since 1970."""

    @classmethod
    def of(cls, attempts: Sequence[GradedAttempt]) -> Self:
        """Return the counts of a sample."""
        made = [graded.attempt for graded in attempts]
        times = [attempt.at for attempt in made if attempt.at is not None]
        ungraded = round(math.fsum(map(_ungraded, attempts)), 9)
        return cls(
            attempts=len(attempts),
            from_store=sum([attempt.from_store for attempt in made]),
            ungraded=int(ungraded) if ungraded.is_integer() else ungraded,
            oldest=int(min(times)) if times else None,
        )


def _ungraded(attempt: GradedAttempt) -> float:
    """Return the ungraded share of an attempt: 0 or 1, or the probability of no option in propensities."""
    share = 0.0
    for grade in attempt.grades.values():
        share = max(share, 1.0 if grade.ungraded else getattr(value_or_none(grade), "outside", 0.0))
    return share


COMPARES = ", between="
"""A part of the fingerprints of graders that compare the two answers of an item."""
AGAIN = " again"
"""The end of the name of a grade that holds the second grades of some answers, by the names of the first."""
JUDGED_BY = " by "
"""The part of a grade's name that is followed by one of several judges, whose fields the grade holds."""


def judged_values(graded: GradedAttempt, grade: str) -> list[Any]:
    """Return the values of one grade by each of several judges; empty where there are not several."""
    judged = (value_or_none(own) for name, own in graded.grades.items() if JUDGED_BY in name)
    return [fields[grade] for fields in judged if isinstance(fields, Mapping) and fields.get(grade) is not None]
