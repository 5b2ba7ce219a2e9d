"""Grading by item graders, which may send questions to models: it continues with each answer, ahead of the tests.

All of this runs in the tests' thread: while a test waits, the grading of other items continues.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import UngradedError
from pytest_fairness.core.finish_reasons import withheld_grade
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.placebos import is_placebo, without_placebos
from pytest_fairness.core.protocols import ItemGrader, Model, ModelQuery, is_model
from pytest_fairness.engine.answer_grading import check_grades, grader_error
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import BudgetExceededError, GraderError
from pytest_fairness.engine.requests import Request, build_requests

Steps = Generator[list[Request], list[Attempt], list[GradedAttempt]]
"""A generator that yields the requests for which it waits, receives their attempts, and returns graded attempts."""
FirstOf = Callable[[Model, Sequence[Prompt]], int]
"""A function from a model and prompts to the first repetition whose answers this run may use."""


def grade_together(
    item: ProbeItem,
    attempts: Sequence[GradedAttempt],
    graders: Mapping[str, ItemGrader],
    model: Model,
    first: int,
    first_of: FirstOf,
) -> Steps:
    """Grade an item by several graders, one after the other: each receives the grades of those before it.

    Args:
        item: The item.
        attempts: Its attempts.
        graders: The graders, by grade.
        model: The model for questions without one.
        first: The first repetition of the attempts.
        first_of: A function to the first repetition of a question.

    Raises:
        GraderError: A grader failed; its text names the grader and the item.
    """
    graded = list(attempts)
    for name, grader in graders.items():
        # test_item_graders_do_not_see_other_wordings
        is_own = [getattr(grader, "reads_wordings", False) or not is_placebo(entry.prompt) for entry in graded]
        own = list(compress(graded, is_own))
        reasons = [withheld_grade(entry.attempt, grader) for entry in own]
        visible = [
            entry if reason is None else _without_answer(entry, reason)
            for entry, reason in zip(own, reasons, strict=True)
        ]
        try:
            shown = item if len(own) == len(graded) else without_placebos(item)
            grades = yield from _grades(grader, shown, visible, model, first, first_of)
        except UngradedError as error:
            grades = [Grade.none(error.reason, str(error))] * len(own)
        except Exception as error:
            raise grader_error(name, f"item {item.id!r}", error) from error
        given = (reason or grade for reason, grade in zip(reasons, grades, strict=True))
        graded = [
            replace(entry, grades={**entry.grades, name: next(given)}) if is_graded else entry
            for entry, is_graded in zip(graded, is_own, strict=True)
        ]
    return graded


def _without_answer(graded: GradedAttempt, reason: Grade) -> GradedAttempt:
    """Return an attempt without its incomplete answer, on which the grades of other attempts must not depend either."""
    if graded.attempt.answer is None:
        return graded
    return replace(graded, attempt=replace(graded.attempt, answer=None, error=reason.detail))


def _grades(
    grader: ItemGrader, item: ProbeItem, attempts: list[GradedAttempt], model: Model, first: int, first_of: FirstOf
) -> Generator[list[Request], list[Attempt], Sequence[Grade]]:
    grading = grader.grade_item(item, tuple(attempts))
    if not isinstance(grading, Generator):
        return check_grades(grading, len(attempts))
    answers: list[Attempt] | None = None
    while True:
        try:
            questions = grading.send(answers)  # type: ignore[arg-type]  # the first is None
        except StopIteration as end:
            return check_grades(end.value, len(attempts))
        answers = yield _requests(questions, model, first, first_of)


def _requests(questions: object, model: Model, first: int, first_of: FirstOf) -> list[Request]:
    if not isinstance(questions, Sequence):
        raise GraderError(f"yielded a {type(questions).__name__}: it must yield a list of ModelQuery(...)")
    requests = []
    for question in questions:
        if not isinstance(question, ModelQuery):
            raise GraderError(f"yielded a list that holds {type(question).__name__}: it must hold ModelQuery(...) only")
        answerer = model if question.model is None else question.model
        if answerer is not model and not is_model(answerer):
            raise GraderError(f"asks a {type(answerer).__name__}: its model must have answer() and close()")
        # Repetitions of a fresh run continue those of earlier runs, as those of its attempts do.
        repetition = question.repetition if question.repetition >= first else first + question.repetition
        repetition += max(0, first_of(answerer, [question.prompt]) - first)
        requests += build_requests([question.prompt], answerer, 1, repetition, "graders")
    return requests


@dataclass(slots=True)
class _GradingTask:
    """The grading of one item, with the requests for which it waits: first those of the item itself."""

    steps: Steps
    requests: list[Request]
    missing: list[Request]
    is_begun: bool = False
    questions: list[Attempt] = field(default_factory=list)
    graded: list[GradedAttempt] = field(default_factory=list)
    error: BaseException | None = None


class ItemGradingQueue:
    """The grading of all items of one sample, by the item's index.

    Args:
        engine: The engine.
        indices: The items in the order of their requests; another thread appends to it.
        steps: A function that begins the grading of an item, which first yields the item's own requests.
    """

    def __init__(self, engine: Engine, indices: Sequence[int], steps: Callable[[int], Steps]) -> None:
        self._engine, self._indices, self._steps = engine, indices, steps
        self._next = 0
        self._started: set[int] = set()
        self._waiting: dict[int, _GradingTask] = {}
        self._ended: dict[int, _GradingTask] = {}
        engine.answers.meanwhile.append(self._continue_all)

    def take(self, index: int) -> tuple[list[GradedAttempt], list[Attempt]]:
        """Wait for an item, and return its graded attempts and those of its graders' questions; once for each item.

        Raises:
            RunStoppedError: As for `Engine.attempts`.
            BaseException: Any exception of the grading.
        """
        self._start(index)
        self._engine.answers.until(lambda: self._has_ended(index))
        task = self._ended.pop(index)
        if task.error is not None:
            self._started.remove(index)  # a rerun of the test grades the item again
            raise task.error
        return task.graded, task.questions

    def _has_ended(self, index: int) -> bool:
        if index in self._waiting:
            self._continue([index], is_awaited=True)
        return index in self._ended

    def _continue_all(self) -> None:
        """Continue all gradings whose answers are there, within the look-ahead of the tests."""
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

    def _continue(self, indices: Sequence[int], *, is_awaited: bool = False) -> None:
        """Continue gradings whose answers are there: near ones, and those for which a test waits.

        A worker's first item may be far ahead in the work list, and get its position only after its test has begun.
        """
        questions: list[Request] = []
        for index in indices:
            task = self._waiting[index]
            try:
                are_answered = self._engine.answers.have(task.missing)
            except BudgetExceededError as error:  # for the test of its item, as in `_has_finished`
                task.error = error
                self._ended[index] = self._waiting.pop(index)
                continue
            if are_answered and (is_awaited or self._engine.is_near(task.requests[-1])):
                if self._has_finished(task):
                    self._ended[index] = self._waiting.pop(index)
                else:
                    questions += task.missing
        if questions:
            self._engine.question(questions)

    def _has_finished(self, task: _GradingTask) -> bool:
        """Continue a grading until it waits for answers or ends, and return whether it has ended.

        An error is stored for the test of its item, since another test may be waiting now.
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
