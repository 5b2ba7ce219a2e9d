"""Graders over a batch: what has no grade in the store is graded at once, by one process at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.keys import fingerprint_of, grade_key, prompt_form
from pytest_fairness.core.protocols import BatchGrader
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import GraderError
from pytest_fairness.engine.grading import checked, told, withheld


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
    reasons = [withheld(each.attempt, grader) for each in attempts]
    answered = [each for each, reason in zip(attempts, reasons, strict=True) if reason is None]
    given = iter(_kept(name, grader, answered, engine))
    return [reason or next(given) for reason in reasons]


def _kept(name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt], engine: Engine) -> Sequence[Grade]:
    """Return the grades of attempts that have answers, from the store as far as it has them."""
    fingerprint = fingerprint_of(grader)
    keys: list[tuple[str, str]] = []
    for each in attempts if fingerprint is not None else ():
        key = grade_key(fingerprint, prompt_form(each.prompt, each.item.metadata))
        if key is not None:
            keys.append((each.attempt.key, key))
    if len(keys) < len(attempts):  # something has no stable form: nothing of this batch is stored
        return _asked(name, grader, attempts)
    if any(key not in engine.answers.grades for key in keys):
        with engine.grading([attempt for attempt, _ in keys]) as graded:
            missing = {key: each for key, each in zip(keys, attempts, strict=True) if key not in engine.answers.grades}
            grades = _asked(name, grader, list(missing.values()))
            graded += [(*key, grade) for key, grade in zip(missing, grades, strict=True)]
    return [engine.answers.grades[key] for key in keys]


def _asked(name: str, grader: BatchGrader, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
    if not attempts:
        return []
    try:
        return checked(grader.grade_batch(attempts), len(attempts))
    except Exception as error:
        raise GraderError(f"the grader of {name!r} failed on its batch: {told(error)}") from error
