"""Graders over a batch: what has no grade in the store is graded at once, by one process at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.keys import grade_key
from pytest_fairness.core.protocols import BatchGrader
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import GraderError
from pytest_fairness.engine.grading import checked, told


def grade_batches(
    attempts: list[GradedAttempt], graders: Mapping[str, BatchGrader], engine: Engine
) -> list[GradedAttempt]:
    """The attempts with the grades of these graders; each is called once at most, and not for what is stored.

    Raises `GraderError` naming the grader, and `StoreError`.
    """
    grades: dict[str, Sequence[Grade]] = {}
    for name, grader in graders.items():
        if hasattr(grader, "close"):
            engine.at_end.append(grader.close)
        grades[name] = _grades(name, grader, attempts, engine)
    return [
        replace(each, grades={**each.grades, **{name: given[place] for name, given in grades.items()}})
        for place, each in enumerate(attempts)
    ]


def _grades(name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt], engine: Engine) -> Sequence[Grade]:
    answered = [each for each in attempts if each.attempt.answer is not None]
    fingerprint = getattr(grader, "fingerprint", None)
    if fingerprint is None:
        given = iter(_asked(name, grader, answered))
    else:
        given = iter(_kept(name, grader, fingerprint, answered, engine))
    return [
        Grade.none("error", each.attempt.error or "") if each.attempt.answer is None else next(given)
        for each in attempts
    ]


def _kept(
    name: str, grader: BatchGrader, fingerprint: str, attempts: Sequence[GradedAttempt], engine: Engine
) -> Sequence[Grade]:
    """The grades of attempts that have answers, from the store as far as it has them."""
    keys = [(each.attempt.key, grade_key(fingerprint, each.prompt)) for each in attempts]
    if any(key not in engine.answers.grades for key in keys):
        with engine.grading([attempt for attempt, _ in keys]):
            missing = {key: each for key, each in zip(keys, attempts, strict=True) if key not in engine.answers.grades}
            grades = _asked(name, grader, list(missing.values()))
            engine.keep_now([(*key, grade) for key, grade in zip(missing, grades, strict=True)])
    return [engine.answers.grades[key] for key in keys]


def _asked(name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
    if not attempts:
        return []
    try:
        grades = checked(grader.grade_batch(attempts), len(attempts))
        _check_values(grades)
    except GraderError as error:
        raise GraderError(f"the grader of {name!r} failed on its batch: it {error}") from None
    except FairnessError as error:
        raise GraderError(f"the grader of {name!r} failed: {error}") from error
    except Exception as error:
        raise GraderError(f"the grader of {name!r} failed on its batch: it {told(error)}") from error
    return grades


def _check_values(grades: Sequence[Grade]) -> None:
    for grade in grades:
        try:
            json.dumps(grade.value)
        except (TypeError, ValueError):
            kind = type(grade.value).__name__
            raise GraderError(
                f"gave a value of the type {kind}, which the store cannot keep: give a bool, a number or a text"
            ) from None
