"""Graders over a whole item, which may ask questions: they continue as answers come, ahead of the tests.

All of this runs in the tests' thread: while a test waits, the gradings of other items continue.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import UngradedError
from pytest_fairness.core.finish_reasons import ungradable
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader, Model, ModelQuery
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import BudgetExceededError, GraderError
from pytest_fairness.engine.grade_checks import checked_grade, checked_grades, describe_error
from pytest_fairness.engine.requests import Request, build_requests

Steps = Generator[list[Request], list[Attempt], list[GradedAttempt]]
"""A grading: yields the requests that it waits for, is sent their attempts, returns the graded attempts."""
FirstOf = Callable[[Model, Sequence[Prompt]], int]
"""Returns the first repetition of a model's answers to prompts that may be taken or asked."""


def withheld(attempt: Attempt, grader: Grader | ItemGrader | BatchGrader) -> Grade | None:
    """Return the grade of an attempt without a complete answer, which a grader does not receive; None for any other."""
    grade = ungradable(attempt)
    is_accepted = grade is not None and attempt.answer is not None and grade.ungraded in getattr(grader, "accepts", ())
    return None if is_accepted else grade


def grade_one(name: str, grader: Grader, item: ProbeItem, prompt: Prompt, answer: Answer) -> Grade:
    """Return the grade that a grader gives one answer.

    Raises:
        GraderError: The grader failed, or returned a value that is no grade.
    """
    try:
        return checked_grade(grader.grade(prompt, answer))
    except UngradedError as error:
        return Grade.none(error.reason, str(error))
    except Exception as error:
        raise GraderError(f"the grader of {name!r} failed on item {item.id!r}: {describe_error(error)}") from error


def grade_together(
    item: ProbeItem,
    attempts: Sequence[GradedAttempt],
    graders: Mapping[str, ItemGrader],
    model: Model,
    first: int,
    first_of: FirstOf,
) -> Steps:
    """Grade an item by graders, one after the other: each receives the grades of those before it.

    Args:
        item: The item.
        attempts: Its attempts.
        graders: By grade.
        model: The model for questions that name none.
        first: The first repetition of the attempts.
        first_of: Returns the first repetition of a question.

    Raises:
        GraderError: A grader failed; its text names the grader and the item.
    """
    graded = list(attempts)
    for name, grader in graders.items():
        reasons = [withheld(entry.attempt, grader) for entry in graded]
        visible = [_without_answer(entry, reason) for entry, reason in zip(graded, reasons, strict=True)]
        try:
            grades = yield from _grades(grader, item, visible, model, first, first_of)
        except UngradedError as error:
            grades = [Grade.none(error.reason, str(error))] * len(graded)
        except Exception as error:
            raise GraderError(f"the grader of {name!r} failed on item {item.id!r}: {describe_error(error)}") from error
        graded = [
            replace(entry, grades={**entry.grades, name: reason or grade})
            for entry, reason, grade in zip(graded, reasons, grades, strict=True)
        ]
    return graded


def _without_answer(graded: GradedAttempt, reason: Grade | None) -> GradedAttempt:
    """Withhold an answer that is not complete: the grades of its siblings must not depend on it either."""
    if reason is None or graded.attempt.answer is None:
        return graded
    return replace(graded, attempt=replace(graded.attempt, answer=None, error=reason.detail))


def _grades(
    grader: ItemGrader, item: ProbeItem, attempts: list[GradedAttempt], model: Model, first: int, first_of: FirstOf
) -> Generator[list[Request], list[Attempt], Sequence[Grade]]:
    grading = grader.grade_item(item, tuple(attempts))
    if not isinstance(grading, Generator):
        return checked_grades(grading, len(attempts))
    answers: list[Attempt] | None = None
    while True:
        try:
            questions = grading.send(answers)  # type: ignore[arg-type]  # the first is None
        except StopIteration as end:
            return checked_grades(end.value, len(attempts))
        answers = yield _requests(questions, model, first, first_of)


def _requests(questions: object, model: Model, first: int, first_of: FirstOf) -> list[Request]:
    if not isinstance(questions, Sequence):
        raise GraderError(f"yielded a {type(questions).__name__}: it must yield a list of ModelQuery(...)")
    requests = []
    for question in questions:
        if not isinstance(question, ModelQuery):
            raise GraderError(f"yielded a list that holds {type(question).__name__}: it must hold ModelQuery(...) only")
        answerer = model if question.model is None else question.model
        if not isinstance(answerer, Model):
            raise GraderError(f"asks a {type(answerer).__name__}: its model must have answer() and close()")
        # Those of a fresh run are counted on from the last, as those of its attempts are.
        repetition = question.repetition if question.repetition >= first else first + question.repetition
        repetition += max(0, first_of(answerer, [question.prompt]) - first)
        requests += build_requests([question.prompt], answerer, 1, repetition, "graders")
    return requests


@dataclass(slots=True)
class _GradingTask:
    """The grading of one item, and what it waits for: first the item's own answers."""

    steps: Steps
    requests: list[Request]
    missing: list[Request]
    is_begun: bool = False
    questions: list[Attempt] = field(default_factory=list)
    graded: list[GradedAttempt] = field(default_factory=list)
    error: BaseException | None = None


class ItemGradingQueue:
    """The gradings of one sample's items, by the item's index.

    Args:
        engine: The engine.
        indices: The items in the order in which they are asked; another thread appends to it.
        steps: Begins the grading of an item, which yields the item's own requests first.
    """

    def __init__(self, engine: Engine, indices: Sequence[int], steps: Callable[[int], Steps]) -> None:
        self._engine, self._indices, self._steps = engine, indices, steps
        self._next = 0
        self._started: set[int] = set()
        self._waiting: dict[int, _GradingTask] = {}
        self._ended: dict[int, _GradingTask] = {}
        engine.answers.meanwhile.append(self._continue_all)

    def take(self, index: int) -> tuple[list[GradedAttempt], list[Attempt]]:
        """Return an item's graded attempts, and those of its graders' questions; once each, waiting for them.

        Raises:
            RunStoppedError: As `Engine.attempts` raises it.
            BaseException: Whatever the grading raised.
        """
        self._start(index)
        self._engine.answers.until(lambda: self._has_ended(index))
        task = self._ended.pop(index)
        if task.error is not None:
            self._started.remove(index)  # a test that is run again has its item graded again
            raise task.error
        return task.graded, task.questions

    def _has_ended(self, index: int) -> bool:
        if index in self._waiting:
            self._continue([index])
        return index in self._ended

    def _continue_all(self) -> None:
        """Continue every grading whose answers have come, within the reach of the tests."""
        while self._next < len(self._indices) and len(self._waiting) < self._engine.lookahead:
            self._start(self._indices[self._next])
            self._next += 1
        self._continue(list(self._waiting))

    def _start(self, index: int) -> None:
        if index not in self._started:
            self._started.add(index)
            steps = self._steps(index)
            requests = next(steps)
            self._waiting[index] = _GradingTask(steps, requests, list(requests))

    def _continue(self, indices: Sequence[int]) -> None:
        questions: list[Request] = []
        for index in indices:
            task = self._waiting[index]
            try:
                has_come = self._engine.answers.have(task.missing)
            except BudgetExceededError as error:  # for the test of its item, as in `_has_finished`
                task.error = error
                self._ended[index] = self._waiting.pop(index)
                continue
            if has_come and self._engine.is_near(task.requests[-1]):
                if self._has_finished(task):
                    self._ended[index] = self._waiting.pop(index)
                else:
                    questions += task.missing
        if questions:
            self._engine.question(questions)

    def _has_finished(self, task: _GradingTask) -> bool:
        """Continue a grading until it waits for answers or ends; return whether it has ended.

        An error is kept for the test of its item: it may be another test that waits now.
        """
        attempts = self._engine.answers.attempts
        try:
            while self._engine.answers.have(task.missing):
                answers = [attempts[request.key] for request in task.requests]
                if task.is_begun:
                    task.questions += answers
                task.is_begun = True
                task.requests = task.steps.send(answers)
                task.missing = [request for request in task.requests if request.key not in attempts]
        except StopIteration as end:
            task.graded = end.value
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # also pytest.fail() and pytest.skip() of a grader
            task.error = error
        else:
            return False
        return True
