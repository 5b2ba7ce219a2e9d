"""Answers besides the emotion: how sure a student is, and whether its check held."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pytest_fairness import Answer, Choice, Grade, GradedAttempt, Prompt
from pytest_fairness.design import choice_in, reading_of


def correct(attempt: GradedAttempt) -> bool:
    """Return whether the emotion that was read is the right one."""
    return bool(attempt["emotion"] == attempt.prompt.metadata["label"])


@dataclass(frozen=True)
class Emotion(Choice):
    """The emotion that is chosen, read in the line that has the form asked for; else as any choice.

    A paragraph may stand before that line.
    """

    @property
    def fingerprint(self) -> str:
        return f"emotion.Emotion() v1, {super().fingerprint}"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        return super().grade(prompt, answer if self.propensity else choice_in(answer))


@dataclass(frozen=True)
class Confidence:
    """The last percentage in an answer, from 0 to 1; ungraded where there is none, or no emotion."""

    extremes = (0.0, 1.0)

    @property
    def fingerprint(self) -> str:
        return "emotion.Confidence() v3"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        value = float(reading_of([prompt], [answer], Choice().grade, verification=False).confidence[0])
        return Grade(value) if value == value else Grade.none("unparsed", "no percentage")


@dataclass(frozen=True)
class JsonField:
    """One field of a student's answer, which is JSON: emotion, confidence or verified.

    A field that is missing or null is ungraded: there was no reading.

    >>> JsonField("confidence").grade(Prompt("{}"), Answer('{"emotion": "sad", "confidence": 0.5}')).value
    0.5
    """

    field: str

    @property
    def fingerprint(self) -> str:
        return f"emotion.JsonField({self.field}) v1"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol's signature
        value: Any = json.loads(answer.text).get(self.field)
        return Grade.none("unparsed", f"no {self.field}") if value is None else Grade(value)
