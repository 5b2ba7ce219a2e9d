"""Number of questions in an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fairness import Answer, Grade, Prompt
from pytest_fairness.graders import answer_text, nothing_read, refuses

MOST = 15
_QUESTION = re.compile(r"\w[^\n?]{0,2000}\?")


@dataclass(frozen=True)
class Questions:
    """The number of questions in an answer, by their question marks: 1 to 15, more count as 15.

    An answer without one is ungraded: it was asked for questions.

    >>> Questions().grade(Prompt("Ask her."), Answer("1. Why this job?\\n2. When could you start?")).value
    2
    """

    @property
    def fingerprint(self) -> str:
        """Class and version of the reading rules."""
        return "hiring.Questions() v3"

    def extremes_for(self, prompt: Prompt) -> tuple[int, int]:  # noqa: ARG002 - the same for every prompt
        """Return what an ungraded answer could have asked."""
        return (0, MOST)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol's signature
        text = answer_text(answer)
        if not text:
            return nothing_read(answer, "no answer")
        number = len(_QUESTION.findall(text))
        if not number or (number == 1 and refuses(text)):
            return nothing_read(answer, "it asks nothing")
        return Grade(min(number, MOST))
