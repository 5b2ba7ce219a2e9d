"""Samples: a probe's items on one model, requested, answered and graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import MISATTRIBUTED, stray_error, withheld_grade
from pytest_fairness.core.garbage_collection import lasting_objects, paused_collection
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of, grade_key, prompt_form
from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader, Model
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.requests import Request, build_requests
from pytest_fairness.engine.store_sync import GradeRow

if TYPE_CHECKING:
    from pytest_fairness.engine.item_grading import FirstOf, ItemGradingQueue, Steps


class ProbeSample:
    """The items of a probe on one model, by their index.

    Args:
        items: The items.
        model: The model.
        repetitions: The number of attempts of each prompt.
        engine: The engine.
        first: The number of the first repetition.
        first_of: A function to the first repetition of a grader's question.
    """

    def __init__(
        self,
        items: Sequence[ProbeItem],
        model: Model,
        repetitions: int,
        engine: Engine,
        first: int = 0,
        first_of: FirstOf | None = None,
    ) -> None:
        self.items = items
        self.model = model
        self._repetitions = repetitions
        self._first = first
        self._first_of = first_of or (lambda *_: first)
        self._engine = engine
        self._requests: dict[int, list[Request]] = {}
        self._lock = Lock()
        self._indices: list[int] = []
        self._graded: dict[int, list[GradedAttempt]] = {}
        self._questions: dict[int, list[Attempt]] = {}
        self._declared_graders: Mapping[str, Grader | ItemGrader | BatchGrader] = {}
        self._graders: Mapping[str, Grader] = {}
        self._item_graders: Mapping[str, ItemGrader] = {}
        self._batch_graders: Mapping[str, BatchGrader] = {}
        self._gradings: ItemGradingQueue | None = None
        self._all_graded: list[GradedAttempt] | None = None
        self.fingerprints: dict[str, str | None] = {}
        """The fingerprint of each grade but those of batch graders; None for a grader without one."""

    def grade_with(self, graders: Mapping[str, Grader | ItemGrader | BatchGrader]) -> None:
        """Set the graders, before the first item is measured; requests need none.

        Item graders run after plain ones, whose grades they receive; batch graders run last, after all items are
        measured.

        Raises:
            FairnessError: Two graders that are not equal have one fingerprint.
        """
        # Each test sets them again, mostly the same; `isinstance` of a protocol takes as long as grading.
        if graders is self._declared_graders or (
            graders.keys() == self._declared_graders.keys()
            and all(grader is self._declared_graders[name] for name, grader in graders.items())
        ):
            return
        fingerprints = _fingerprints(graders)
        self._declared_graders = graders
        self._item_graders = {name: grader for name, grader in graders.items() if isinstance(grader, ItemGrader)}
        self._batch_graders = {name: grader for name, grader in graders.items() if isinstance(grader, BatchGrader)}
        self._graders = {
            name: grader for name, grader in graders.items() if not isinstance(grader, ItemGrader | BatchGrader)
        }
        if self._item_graders and self._gradings is None:
            from pytest_fairness.engine.item_grading import ItemGradingQueue

            self._gradings = ItemGradingQueue(self._engine, self._indices, self._steps)
        self.fingerprints = {
            name: fingerprint for name, fingerprint in fingerprints.items() if name not in self._batch_graders
        }

    def requests(self, indices: Sequence[int]) -> Iterator[Request]:
        """Yield the requests of these items, which are built on demand."""
        for index in indices:
            yield from self._requests_at(index)

    def _requests_at(self, index: int) -> list[Request]:
        if index not in self._requests:
            with self._lock:  # the engine's thread reads the work list while the tests' thread measures
                if index not in self._requests:
                    prompts = self.items[index].prompts
                    self._requests[index] = build_requests(prompts, self.model, self._repetitions, self._first)
                    self._indices.append(index)
        return self._requests[index]

    def measure(self, index: int) -> list[GradedAttempt]:
        """Return an item's attempts with their grades: its prompts in order, each with its repetitions."""
        graded = self._graded.get(index)
        if graded is None:
            requests = self._requests_at(index)
            attempts = self._engine.attempts(requests)
            if self._gradings is None:
                graded = self._grade(self.items[index], requests, attempts)
            else:
                graded, self._questions[index] = self._gradings.take(index)
            self._graded[index] = graded
        return graded

    def first_requests(self, chosen: Sequence[tuple[int, int]]) -> list[Request]:
        """Return the request of the first repetition of these prompts, given by item and number."""
        return [self._requests_at(index)[number * self._repetitions] for index, number in chosen]

    def preview(self, chosen: Sequence[tuple[int, int]]) -> list[GradedAttempt]:
        """Return the first attempts of these prompts, with the grades of graders of single answers."""
        requests = self.first_requests(chosen)
        attempts = self._engine.attempts(requests)
        graded: list[GradedAttempt] = []
        for (index, _), request, attempt in zip(chosen, requests, attempts, strict=True):
            graded += self._grade(self.items[index], [request], [attempt])
        return graded

    def leave(self) -> None:
        """Send no more requests of the work list for these items: only those that a test still demands."""
        self._engine.leave({request.key for index in list(self._indices) for request in self._requests[index]})

    def questions(self, index: int) -> Sequence[Attempt]:
        """Return the attempts of the questions of an item's graders; empty before it is measured."""
        return self._questions.get(index, ())

    def asked_by_graders(self) -> list[str]:
        """Return the keys of all questions of graders about the measured items."""
        return sorted({attempt.key for attempts in self._questions.values() for attempt in attempts})

    def measure_all(self) -> list[GradedAttempt]:
        """Return the attempts of all items, in order, with the grades of all graders.

        Missing answers are requested all at once.
        """
        if self._all_graded is None:
            self._all_items()
            graded = self.measured()
            if self._batch_graders:
                from pytest_fairness.engine.batch_grading import grade_batches

                graded = grade_batches(graded, self._batch_graders, self._engine)
            self._all_graded = graded
        return self._all_graded

    def _all_items(self) -> None:
        indices = range(len(self.items))
        missing = [index for index in indices if index not in self._graded]
        attempts = self._repetitions * sum(len(self.items[index].prompts) for index in missing)
        if missing:
            with lasting_objects(attempts):
                with paused_collection():
                    requests = list(self.requests(missing))
                self._engine.attempts(requests)
        with lasting_objects(attempts):
            for index in indices:
                self.measure(index)

    def measured(self) -> list[GradedAttempt]:
        """Return the attempts of the items that were measured so far, in order.

        A reply that does not belong to its request is no answer: its attempt has failed, and the grades by such a reply
        are none.
        """
        items = sorted(self._graded)
        own = [graded.attempt for index in items for graded in self._graded[index]]
        questions = [question for index in items for question in self.questions(index)]
        keys = {attempt.key for attempt in (*own, *questions) if _shows_origin(attempt.answer)}
        strays = self._engine.store.disown_strays(sorted(keys)) if keys else {}
        if not strays:
            return [attempt for index in items for attempt in self._graded[index]]
        attempts: list[GradedAttempt] = []
        for index in items:
            of_judge = next((strays[question.key] for question in self.questions(index) if question.key in strays), "")
            spoiled = {
                name: Grade.none(MISATTRIBUTED, f"its judge: {of_judge}") for name in self._item_graders if of_judge
            }
            attempts += [
                _without_stray(graded, strays.get(graded.attempt.key), spoiled) for graded in self._graded[index]
            ]
        return attempts

    def answered_items(self) -> int:
        """Return how many items have all their answers."""
        answered = self._engine.answers.attempts
        return sum(
            all(request.key in answered for request in self._requests_at(index)) for index in range(len(self.items))
        )

    def _steps(self, index: int) -> Steps:
        """Return the grading of an item by all graders, from its attempts on."""
        from pytest_fairness.engine.item_grading import grade_together

        requests = self._requests_at(index)
        attempts = yield requests
        graded = self._grade(self.items[index], requests, attempts)
        first = self._first, self._first_of
        return (yield from grade_together(self.items[index], graded, self._item_graders, self.model, *first))

    def _grade(self, item: ProbeItem, requests: Sequence[Request], attempts: Sequence[Attempt]) -> list[GradedAttempt]:
        new: list[GradeRow] = []
        graded = []
        keys: dict[str, str | None] = {}
        prompt: Prompt | None = None
        for request, attempt in zip(requests, attempts, strict=True):
            if request.prompt is not prompt:  # all that a grader can read of a prompt is part of a grade's key
                prompt = request.prompt
                form = prompt_form(prompt) if self._graders else None
                keys = {name: grade_key(self.fingerprints[name], form) for name in self._graders}
            grades: dict[str, Grade] = {}
            for name, grader in self._graders.items():
                key, reason = keys[name], withheld_grade(attempt, grader)
                if reason is not None or attempt.answer is None:
                    grades[name] = reason or Grade.none("error")
                elif key is not None and (stored := self._engine.answers.grades.get((attempt.key, key))):
                    grades[name] = stored
                else:
                    from pytest_fairness.engine.answer_grading import grade_one

                    grades[name] = grade_one(name, grader, item, prompt, attempt.answer)
                    new += [(attempt.key, key, grades[name])] if key is not None else []
            graded.append(GradedAttempt(item, prompt, attempt, grades))
        if new:
            self._engine.sync.save_grades(new)
        return graded


def _shows_origin(answer: Answer | None) -> bool:
    return answer is not None and bool(answer.reply_id or answer.cache or answer.served_by)


def _without_stray(graded: GradedAttempt, stray: str | None, spoiled: Mapping[str, Grade]) -> GradedAttempt:
    """Return an attempt without its reply, if that is a stray, or without the grades that were made of one."""
    if stray is None:
        return replace(graded, grades={**graded.grades, **spoiled}) if spoiled else graded
    attempt = Attempt(graded.attempt.key, graded.attempt.repetition, error=stray_error(stray))
    return replace(graded, attempt=attempt, grades=dict.fromkeys(graded.grades, Grade.none(MISATTRIBUTED, stray)))


def _fingerprints(graders: Mapping[str, Grader | ItemGrader | BatchGrader]) -> dict[str, str | None]:
    fingerprints = {name: fingerprint_of(grader) for name, grader in graders.items()}
    first: dict[str, str] = {}
    for name, fingerprint in fingerprints.items():
        first_name = first.setdefault(fingerprint, name) if fingerprint is not None else name
        if graders[first_name] is not graders[name] and graders[first_name] != graders[name]:
            raise FairnessError(
                f"the graders of {first_name!r} and {name!r} are not equal and have one fingerprint, {fingerprint!r}: "
                "their stored grades would be mixed up, so give each its own"
            )
    return fingerprints
