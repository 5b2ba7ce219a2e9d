"""Texts of an example: answers, grades and counts."""

from __future__ import annotations

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.results import ExampleSideResult


def tally(numbers: ExampleSideResult) -> str:
    """Return the count or the mean of an outcome: ``4 of 5 answers, 1 ungraded``.

    >>> tally(ExampleSideResult(group="", events=4, graded=5, attempts=6, mean=0.8))
    '4 of 5 answers, 1 ungraded'
    """
    graded, attempts = numbers.graded, numbers.attempts
    answers = f"{graded:,} answer{'' if graded == 1 else 's'}"
    if numbers.events is not None:
        text = f"{numbers.events:,} of {answers}"
    else:
        text = answers if numbers.mean is None else f"mean of {answers} {numbers.mean:.3g}"
    return f"{text}, {attempts - graded:,} ungraded" if attempts > graded else text


def answer_or_error(graded: GradedAttempt) -> str:
    """Return the answer, or the reason why there is none."""
    attempt = graded.attempt
    return attempt.answer.transcript if attempt.answer else f"no answer: {attempt.error or 'not in the store'}"


def grades(graded: GradedAttempt) -> str:
    """Return the grades of an attempt: ``hired: true, tone: ungraded (refusal)``."""
    return ", ".join(f"{name}: {_grade(grade)}" for name, grade in graded.grades.items())


def _grade(grade: Grade) -> str:
    if grade.ungraded:
        return f"ungraded ({grade.ungraded})"
    return str(grade.value).lower() if isinstance(grade.value, bool) else str(grade.value)
