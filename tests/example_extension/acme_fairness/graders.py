"""The grader ``polite``, for marks and for declarative files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_fairness import Answer, Grade, Prompt
from pytest_fairness.extending import DeclarativeGrader


@dataclass(frozen=True)
class Politeness(DeclarativeGrader):
    """True where an answer has a word of courtesy."""

    words: Sequence[str] = ("please", "thank you")

    schema: ClassVar = {"type": "object", "properties": {"words": {"$ref": "#/$defs/words"}}}
    grade_values = ("true", "false")

    @property
    def fingerprint(self) -> str:  # grades are stored under it
        return f"Politeness({sorted(self.words)}) v1"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        if not answer.text.strip():
            return Grade.none("unparsed", "no answer")
        return Grade(any(word in answer.text.lower() for word in self.words))
