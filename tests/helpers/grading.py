"""Grading one text, in a line."""

from __future__ import annotations

from typing import Any

from pytest_fairness.core.attempts import Answer, value_or_none
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader


def graded(grader: Grader, text: str, options: AnswerOptions | None = None, finish_reason: str = "stop") -> Any:
    """Return the value of an answer, or the reason why there is none."""
    prompt = Prompt("A question", metadata={"options": options} if options else {})
    grade = grader.grade(prompt, Answer(text, finish_reason))
    assert grade.ungraded is None or value_or_none(grade) is None, "a value and a reason at once"
    return grade.value if grade.ungraded is None else grade.ungraded
