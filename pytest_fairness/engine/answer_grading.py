"""Grading of single answers, and checks of grades: metrics must be able to count each, and stores to hold it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.errors import FairnessError, UngradedError, describe_error, text_of
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.core.protocols import Grader
from pytest_fairness.engine.errors import GraderError


def grade_one(name: str, grader: Grader, item: ProbeItem, prompt: Prompt, answer: Answer) -> Grade:
    """Return the grade that a grader gives one answer.

    Raises:
        GraderError: The grader failed, or returned an invalid value.
    """
    try:
        return check_grade(grader.grade(prompt, answer))
    except UngradedError as error:
        return Grade.none(error.reason, str(error))
    except Exception as error:
        raise grader_error(name, f"item {item.id!r}", error) from error


def check_grades(grades: object, attempts: int) -> Sequence[Grade]:
    """Return the grades of a grader over a number of attempts.

    Raises:
        GraderError: The value is no sequence of grades, or has not one grade for each attempt.
    """
    if not isinstance(grades, Sequence) or isinstance(grades, str):
        raise GraderError(f"returned a {type(grades).__name__}: it must return a list with one Grade for each attempt")
    for grade in grades:
        if not isinstance(grade, Grade):
            raise GraderError(f"returned a list that holds {type(grade).__name__}: it must hold Grade(...) only")
    if len(grades) != attempts:
        raise GraderError(
            f"returned a list of {len(grades)} for {counted(attempts, 'attempt')}: it must hold one Grade for each"
        )
    return [check_grade(grade) for grade in grades]


def check_grade(grade: object) -> Grade:
    """Return a grade that can be counted and stored; one without a number or with NaN is ungraded.

    Raises:
        GraderError: It is no grade, or the store cannot hold its value.
    """
    if not isinstance(grade, Grade):
        shown = "None" if grade is None else f"{_shown(grade)}, a {type(grade).__name__}"
        raise GraderError(f"returned {shown}: it must return a Grade(...), such as Grade(True)")
    if grade.ungraded is not None:
        if not isinstance(grade.ungraded, str) or not grade.ungraded.strip():
            raise GraderError(
                f"gave {grade.ungraded!r:.60} as the reason why an answer is ungraded: it must be a text, as 'unparsed'"
            )
        return grade
    value: Any = grade.value
    if type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):  # nearly all of them
        return grade
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():  # a numpy scalar, which JSON cannot hold
        return check_grade(Grade(value.item(), detail=grade.detail))
    if isinstance(value, Propensities):
        return grade
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return Grade.none("unparsed", f"the grader gave {value} as the value. {grade.detail}".strip())
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        raise GraderError(
            f"gave a value of the type {type(value).__name__}, which the store cannot keep: "
            "give a bool, a number or a text"
        ) from None
    return grade


def grader_error(name: str, graded: str, error: Exception) -> GraderError:
    """Return the error of a grader that failed on an item or a batch, in one line: tests print only that."""
    problem = " ".join(text_of(error).split())
    if isinstance(error, GraderError):
        problem = f"it {problem}"
    elif not isinstance(error, FairnessError):
        problem = f"it raised {describe_error(error)}"
    return GraderError(f"the grader of {name!r} failed on {graded}: {problem}")


def _shown(value: object) -> str:
    try:
        return f"{value!r:.60}"
    except Exception:  # noqa: BLE001 - a user's repr may raise anything
        return "something"
