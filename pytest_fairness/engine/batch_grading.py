"""Grading by batch graders: all attempts without a stored grade together, by one process at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.finish_reasons import withheld_grade
from pytest_fairness.core.keys import fingerprint_of, grade_key, prompt_form
from pytest_fairness.core.protocols import BatchGrader
from pytest_fairness.engine.answer_grading import check_grades, grader_error
from pytest_fairness.engine.engine import Engine


def grade_batches(
    attempts: list[GradedAttempt], graders: Mapping[str, BatchGrader], engine: Engine
) -> list[GradedAttempt]:
    """Return the attempts with the grades of these graders; each is called at most once, for grades not stored yet.

    Raises:
        GraderError: A grader failed; its text names the grader.
        StoreError: The store failed.
    """
    grades: dict[str, Sequence[Grade]] = {}
    for name, grader in graders.items():
        if hasattr(grader, "close"):
            engine.at_end.append(grader.close)
        grades[name] = _grades(name, grader, attempts, engine)
    return [
        replace(graded, grades={**graded.grades, **{name: grades[name][index] for name in graders}})
        for index, graded in enumerate(attempts)
    ]


def _grades(name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt], engine: Engine) -> Sequence[Grade]:
    reasons = [withheld_grade(graded.attempt, grader) for graded in attempts]
    answered = [graded for graded, reason in zip(attempts, reasons, strict=True) if reason is None]
    grades = iter(_stored_grades(name, grader, answered, engine))
    return [reason or next(grades) for reason in reasons]


def _stored_grades(
    name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt], engine: Engine
) -> Sequence[Grade]:
    """Return the grades of attempts with answers, from the store where it has them."""
    fingerprint = fingerprint_of(grader)
    keys: list[tuple[str, str]] = []
    for graded in attempts if fingerprint is not None else ():
        key = grade_key(fingerprint, prompt_form(graded.prompt, graded.item.metadata))
        if key is not None:
            keys.append((graded.attempt.key, key))
    if len(keys) < len(attempts):  # a prompt has no stable form: no grade of this batch is stored
        return _new_grades(name, grader, attempts)
    stored = engine.answers.grades
    if any(key not in stored for key in keys):
        with engine.sync.grading([attempt for attempt, _ in keys]) as rows:
            missing = {key: graded for key, graded in zip(keys, attempts, strict=True) if key not in stored}
            grades = _new_grades(name, grader, list(missing.values()))
            rows += [(*key, grade) for key, grade in zip(missing, grades, strict=True)]
    return [stored[key] for key in keys]


def _new_grades(name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
    if not attempts:
        return []
    try:
        return check_grades(grader.grade_batch(attempts), len(attempts))
    except Exception as error:
        raise grader_error(name, "its batch", error) from error
