"""Grading one text, in a line; and many answers, each once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pytest_fairness.core.attempts import Answer, Grade, value_or_none
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.extraction.questions import find_question


def graded(grader: Grader, text: str, options: AnswerOptions | None = None, finish_reason: str = "stop") -> Any:
    """Return the value of an answer, or the reason why there is none."""
    prompt = Prompt("A question", metadata={"options": options} if options else {})
    grade = grader.grade(prompt, Answer(text, finish_reason))
    assert grade.ungraded is None or value_or_none(grade) is None, "a value and a reason at once"
    return grade.value if grade.ungraded is None else grade.ungraded


Read = dict[tuple[object, ...], Grade]


@lru_cache(maxsize=1)
def grades_read(probe: Callable[..., Any]) -> Read:
    """Return the grades of a probe's answers that were read before."""
    return {}


def read_once(read: Read, grader: Any, prompt: Prompt, answer: Answer) -> Grade:
    """Return the grade of an answer, which is read once: a simulated model has few wordings.

    Graders of shipped suites read its text, its actions, and of its prompt, which others share, the question, the
    options, the label, the scale and the facts.
    """
    if answer.actions:
        return grader.grade(prompt, answer)  # type: ignore[no-any-return]
    question = find_question(prompt.text)
    shared = (
        prompt.metadata.get("options"),
        prompt.metadata.get("label"),
        str(prompt.metadata.get("scale")),
        prompt.metadata.get("facts"),
        question,
    )
    key = grader.fingerprint, *shared, answer.text, answer.finish_reason
    if key not in read:
        read[key] = grader.grade(prompt, answer)
    return read[key]
