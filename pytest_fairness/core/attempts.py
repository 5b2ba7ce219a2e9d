"""What was answered, and what the answer was worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_fairness.core.errors import UngradedError
from pytest_fairness.core.items import ProbeItem, Prompt

UngradedReason = Literal["refusal", "filter", "unparsed", "truncated", "error"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to one prompt.

    ``finish_reason`` is "stop", "length" (cut off at the token limit), "content_filter"
    or the provider's own word. ``reasoning`` is what a reasoning model thought before it
    answered, where the provider tells. ``usage`` counts tokens: "input", "output" and,
    where known, "reasoning". ``latency`` is in seconds.
    """

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    latency: float = 0.0
    served_by: str | None = None
    """The model name that the provider says has answered; it can differ from the one asked for."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One repetition of one prompt on one model: an answer, or why there is none."""

    key: str
    repetition: int
    answer: Answer | None = None
    error: str | None = None
    from_store: bool = False


@dataclass(frozen=True, slots=True)
class Grade:
    """A value, or *ungraded* with the reason. Never both, never a default value.

    >>> Grade("biased").value
    'biased'
    >>> Grade.none("refusal", "I can't help with that").ungraded
    'refusal'
    """

    value: Any = None
    ungraded: UngradedReason | None = None
    detail: str = ""

    @classmethod
    def none(cls, reason: UngradedReason, detail: str = "") -> Grade:
        """The attempt could not be graded, for this reason; ``detail`` shows the evidence."""
        return cls(None, reason, detail)


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
        """The value of a grade.

        Raises `UngradedError` where it is ungraded and `KeyError` where there is none of that name.
        """
        found = self.grades[grade]
        if found.ungraded is not None:
            raise UngradedError(f"{grade} is ungraded ({found.ungraded})", found.ungraded)
        return found.value
