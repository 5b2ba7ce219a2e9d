"""Graders over a whole item, which may ask: their gradings go on as answers come, ahead of the tests.

All of this runs in the tests' thread: while a test waits, the gradings of other items go on.
"""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, UngradedError
from pytest_fairness.core.finish_reasons import ungradable
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader, Model, Question
from pytest_fairness.engine.asks import Ask, asks_of
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import GraderError, SpentError

Steps = Generator[list[Ask], list[Attempt], list[GradedAttempt]]
FirstOf = Callable[[Model, Sequence[Prompt]], int]
"""Returns the first repetition of a model's answers to prompts that may be taken or asked."""
"""A grading: yields what it waits for, is sent the attempts, returns the graded attempts."""


def withheld(attempt: Attempt, grader: Grader | ItemGrader | BatchGrader) -> Grade | None:
    """Return the grade of an attempt that this grader is not shown; None where it has a complete answer."""
    grade = ungradable(attempt)
    is_accepted = grade is not None and attempt.answer is not None and grade.ungraded in getattr(grader, "accepts", ())
    return None if is_accepted else grade


def grade_one(name: str, grader: Grader, item: ProbeItem, prompt: Prompt, answer: Answer) -> Grade:
    """Have a grader grade one answer.

    Raises:
        GraderError: It failed, or returned what is no grade.
    """
    try:
        return checked_grade(grader.grade(prompt, answer))
    except UngradedError as error:
        return Grade.none(error.reason, str(error))
    except Exception as error:
        raise GraderError(f"the grader of {name!r} failed on item {item.id!r}: {told(error)}") from error


def grade_together(
    item: ProbeItem,
    attempts: Sequence[GradedAttempt],
    graders: Mapping[str, ItemGrader],
    model: Model,
    first: int,
    first_of: FirstOf,
) -> Steps:
    """Have graders grade an item, one after the other: each sees the grades of those before it.

    ``first`` is the first repetition of these attempts, ``first_of`` returns that of a question. Raises `GraderError`
    naming the grader and the item.
    """
    graded = list(attempts)
    for name, grader in graders.items():
        reasons = [withheld(each.attempt, grader) for each in graded]
        shown = [_without_answer(each, reason) for each, reason in zip(graded, reasons, strict=True)]
        try:
            grades = yield from _grades(grader, item, shown, model, first, first_of)
        except UngradedError as error:
            grades = [Grade.none(error.reason, str(error))] * len(graded)
        except Exception as error:
            raise GraderError(f"the grader of {name!r} failed on item {item.id!r}: {told(error)}") from error
        graded = [
            replace(each, grades={**each.grades, name: reason or grade})
            for each, reason, grade in zip(graded, reasons, grades, strict=True)
        ]
    return graded


def _without_answer(graded: GradedAttempt, reason: Grade | None) -> GradedAttempt:
    """Withhold an answer that is not complete: the grades of its siblings must not depend on it either."""
    if reason is None or graded.attempt.answer is None:
        return graded
    return replace(graded, attempt=replace(graded.attempt, answer=None, error=reason.detail))


def told(error: Exception) -> str:
    """Return what went wrong, and where: the test shows this line alone."""
    said = " ".join(str(error).split())
    if isinstance(error, GraderError):
        return f"it {said}"
    if isinstance(error, FairnessError):
        return said
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"it raised {type(error).__name__}: {said} ({Path(place.filename).name}, line {place.lineno})"


def _grades(
    grader: ItemGrader,
    item: ProbeItem,
    attempts: list[GradedAttempt],
    model: Model,
    first: int,
    first_of: FirstOf,
) -> Generator[list[Ask], list[Attempt], Sequence[Grade]]:
    grading = grader.grade_item(item, tuple(attempts))
    if not isinstance(grading, Generator):
        return checked(grading, len(attempts))
    answers: list[Attempt] | None = None
    while True:
        try:
            questions = grading.send(answers)  # type: ignore[arg-type]  # the first is None
        except StopIteration as done:
            return checked(done.value, len(attempts))
        answers = yield _asks(questions, model, first, first_of)


def _asks(questions: object, model: Model, first: int, first_of: FirstOf) -> list[Ask]:
    if not isinstance(questions, Sequence):
        raise GraderError(f"yielded a {type(questions).__name__}: it must yield a list of Question(...)")
    asks = []
    for question in questions:
        if not isinstance(question, Question):
            raise GraderError(f"yielded a list that holds {type(question).__name__}: it must hold Question(...) only")
        asked = model if question.model is None else question.model
        if not isinstance(asked, Model):
            raise GraderError(f"asks a {type(asked).__name__}: the model of a Question must have answer() and close()")
        # Those of a fresh run are counted on from the last, as those of its attempts are.
        repetition = question.repetition if question.repetition >= first else first + question.repetition
        repetition += max(0, first_of(asked, [question.prompt]) - first)
        asks += asks_of([question.prompt], asked, 1, repetition, "graders")
    return asks


def checked(grades: object, attempts: int) -> Sequence[Grade]:
    """Return the grades of a grader over several attempts.

    Raises:
        GraderError: It returned something else, or not one grade for each attempt.
    """
    if not isinstance(grades, Sequence) or isinstance(grades, str):
        raise GraderError(f"returned a {type(grades).__name__}: it must return a list with one Grade for each attempt")
    for grade in grades:
        if not isinstance(grade, Grade):
            raise GraderError(f"returned a list that holds {type(grade).__name__}: it must hold Grade(...) only")
    if len(grades) != attempts:
        raise GraderError(f"returned a list of {len(grades)} for {attempts} attempts: it must hold one Grade for each")
    return [checked_grade(grade) for grade in grades]


def checked_grade(grade: object) -> Grade:
    """Return a grade that can be counted and stored; one without a number or with NaN is ungraded.

    Raises:
        GraderError: It is no grade, or its value is nothing that the store can hold.
    """
    if not isinstance(grade, Grade):
        shown = "None" if grade is None else f"{_shown(grade)}, a {type(grade).__name__}"
        raise GraderError(f"returned {shown}: it must return a Grade(...), such as Grade(True)")
    if grade.ungraded is not None:
        return grade
    value: Any = grade.value
    if type(value) in (bool, int, str):  # nearly all of them
        return grade
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():  # a number of numpy, which JSON does not know
        return checked_grade(Grade(value.item(), detail=grade.detail))
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


def _shown(value: object) -> str:
    try:
        return f"{value!r:.60}"
    except Exception:  # noqa: BLE001 - a repr of the user's
        return "something"


@dataclass(slots=True)
class _Grading:
    """The grading of one item, and what it waits for: first the item's own answers."""

    steps: Steps
    asks: list[Ask]
    missing: list[Ask]
    is_begun: bool = False
    questions: list[Attempt] = field(default_factory=list)
    graded: list[GradedAttempt] = field(default_factory=list)
    error: BaseException | None = None


class Gradings:
    """The gradings of one sample's items.

    ``places`` lists the items in the order in which they are asked; another thread appends to it.
    ``steps`` makes the grading of an item; it yields the item's own asks first.
    """

    def __init__(self, engine: Engine, places: Sequence[int], steps: Callable[[int], Steps]) -> None:
        self._engine = engine
        self._places = places
        self._next = 0
        self._steps = steps
        self._known: set[int] = set()
        self._under_way: dict[int, _Grading] = {}
        self._ended: dict[int, _Grading] = {}
        engine.answers.meanwhile.append(self._go_on)

    def take(self, place: int) -> tuple[list[GradedAttempt], list[Attempt]]:
        """The graded attempts of an item, and those of what its graders asked; once each, waiting for them.

        Raises what its grading raised, and as `Engine.attempts` does.
        """
        self._add(place)
        self._engine.answers.until(lambda: self._has_ended(place))
        grading = self._ended.pop(place)
        if grading.error is not None:
            self._known.remove(place)  # a test that is run again has its item graded again
            raise grading.error
        return grading.graded, grading.questions

    def _has_ended(self, place: int) -> bool:
        if place in self._under_way:
            self._further([place])
        return place in self._ended

    def _go_on(self) -> None:
        """Take everything further whose answers have come, within the reach of the tests."""
        while self._next < len(self._places) and len(self._under_way) < self._engine.ask_ahead:
            self._add(self._places[self._next])
            self._next += 1
        self._further(list(self._under_way))

    def _add(self, place: int) -> None:
        if place not in self._known:
            self._known.add(place)
            steps = self._steps(place)
            asks = next(steps)
            self._under_way[place] = _Grading(steps, asks, list(asks))

    def _further(self, places: Sequence[int]) -> None:
        asks: list[Ask] = []
        for place in places:
            grading = self._under_way[place]
            try:
                has_come = self._engine.answers.have(grading.missing)
            except SpentError as error:  # for the test of its item, as in `_ends`
                grading.error = error
                self._ended[place] = self._under_way.pop(place)
                continue
            if has_come and self._engine.is_near(grading.asks[-1]):
                if self._ends(grading):
                    self._ended[place] = self._under_way.pop(place)
                else:
                    asks += grading.missing
        if asks:
            self._engine.question(asks)

    def _ends(self, grading: _Grading) -> bool:
        """Go on with a grading until it waits for answers, or has come to its end.

        An error is kept for the test of its item: it may be another test that waits now.
        """
        try:
            while self._engine.answers.have(grading.missing):
                attempts = [self._engine.answers.attempts[ask.key] for ask in grading.asks]
                if grading.is_begun:
                    grading.questions += attempts
                grading.is_begun = True
                grading.asks = grading.steps.send(attempts)
                grading.missing = [ask for ask in grading.asks if ask.key not in self._engine.answers.attempts]
        except StopIteration as done:
            grading.graded = done.value
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # also pytest.fail() and pytest.skip() of a grader
            grading.error = error
        else:
            return False
        return True
