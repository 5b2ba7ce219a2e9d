"""Grading one text, in a line."""

from __future__ import annotations

from typing import Any

from pytest_fairness.core.attempts import Answer, value_or_none
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.options import Options
from pytest_fairness.core.protocols import Grader


def graded(grader: Grader, text: str, options: Options | None = None, finish_reason: str = "stop") -> Any:
    """The value of an answer, or the word for why there is none."""
    prompt = Prompt("A question", metadata={"options": options} if options else {})
    grade = grader.grade(prompt, Answer(text, finish_reason))
    assert grade.ungraded is None or value_or_none(grade) is None, "a value and a reason at once"
    return grade.value if grade.ungraded is None else grade.ungraded
