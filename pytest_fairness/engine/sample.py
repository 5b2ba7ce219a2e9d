"""A probe's items on one model: asked, answered and graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of, grade_key, prompt_form
from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader, Model
from pytest_fairness.engine.asks import Ask, asks_of
from pytest_fairness.engine.batches import grade_batches
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.grading import FirstOf, Gradings, Steps, grade_one, grade_together, withheld


class Sample:
    """What a probe asks one model, item by item. Items are addressed by their place."""

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
        self._asks: dict[int, list[Ask]] = {}
        self._making = Lock()
        self._places: list[int] = []
        self._graded: dict[int, list[GradedAttempt]] = {}
        self._questions: dict[int, list[Attempt]] = {}
        self._named: Mapping[str, Grader | ItemGrader | BatchGrader] = {}
        self._graders: Mapping[str, Grader] = {}
        self._item_graders: Mapping[str, ItemGrader] = {}
        self._batch_graders: Mapping[str, BatchGrader] = {}
        self._gradings: Gradings | None = None
        self._whole: list[GradedAttempt] | None = None
        self.fingerprints: dict[str, str | None] = {}
        """By grade that every measured item has, so not of graders over a batch; None for a grader that has none."""

    def grade_with(self, graders: Mapping[str, Grader | ItemGrader | BatchGrader]) -> None:
        """Name the graders, before anything is measured. Asking needs none.

        Those over a whole item come after the others, which they see the grades of; those over a batch
        come last, and only when all items are measured.

        Raises:
            FairnessError: Two graders that are not equal have one fingerprint.
        """
        # Each test names them anew, mostly the same; to tell their kinds takes as long as to grade.
        if graders.keys() == self._named.keys() and all(
            grader is self._named[name] for name, grader in graders.items()
        ):
            return
        fingerprints = _fingerprints(graders)
        self._named = dict(graders)
        self._item_graders = {name: grader for name, grader in graders.items() if isinstance(grader, ItemGrader)}
        self._batch_graders = {name: grader for name, grader in graders.items() if isinstance(grader, BatchGrader)}
        self._graders = {
            name: grader for name, grader in graders.items() if not isinstance(grader, ItemGrader | BatchGrader)
        }
        if self._item_graders and self._gradings is None:
            self._gradings = Gradings(self._engine, self._places, self._steps)
        self.fingerprints = {
            name: fingerprint for name, fingerprint in fingerprints.items() if name not in self._batch_graders
        }

    def asks(self, places: Sequence[int]) -> Iterator[Ask]:
        """What measuring these items asks, made when it is needed."""
        for place in places:
            yield from self._asks_at(place)

    def _asks_at(self, place: int) -> list[Ask]:
        if place not in self._asks:
            with self._making:  # the engine's thread reads the work list while the tests' thread measures
                if place not in self._asks:
                    prompts = self.items[place].prompts
                    self._asks[place] = asks_of(prompts, self.model, self._repetitions, self._first)
                    self._places.append(place)
        return self._asks[place]

    def measure(self, place: int) -> list[GradedAttempt]:
        """One item's attempts with their grades: its prompts in order, each with its repetitions."""
        graded = self._graded.get(place)
        if graded is None:
            asks = self._asks_at(place)
            attempts = self._engine.attempts(asks)
            if self._gradings is None:
                graded = self._grade(self.items[place], asks, attempts)
            else:
                graded, self._questions[place] = self._gradings.take(place)
            self._graded[place] = graded
        return graded

    def questions(self, place: int) -> Sequence[Attempt]:
        """What the graders of an item asked, once it was measured."""
        return self._questions.get(place, ())

    def asked_by_graders(self) -> list[str]:
        """Keys of what the graders of the measured items asked for."""
        return sorted({attempt.key for asked in self._questions.values() for attempt in asked})

    def measure_all(self) -> list[GradedAttempt]:
        """Every item's, in order, with the grades of all graders. All that is missing is asked for at once."""
        if self._whole is None:
            self._whole = grade_batches(self._all_items(), self._batch_graders, self._engine)
        return self._whole

    def _all_items(self) -> list[GradedAttempt]:
        places = range(len(self.items))
        missing = [place for place in places if place not in self._graded]
        if missing:
            self._engine.attempts(list(self.asks(missing)))
        return [attempt for place in places for attempt in self.measure(place)]

    def measured(self) -> list[GradedAttempt]:
        """The attempts of the items that were measured so far, in order."""
        return [attempt for place in sorted(self._graded) for attempt in self._graded[place]]

    def answered_items(self) -> int:
        """How many items have all their answers."""
        answered = self._engine.answers.attempts
        return sum(all(ask.key in answered for ask in self._asks_at(place)) for place in range(len(self.items)))

    def _steps(self, place: int) -> Steps:
        """The grading of an item by all graders, from its attempts on."""
        asks = self._asks_at(place)
        attempts = yield asks
        graded = self._grade(self.items[place], asks, attempts)
        first = self._first, self._first_of
        return (yield from grade_together(self.items[place], graded, self._item_graders, self.model, *first))

    def _grade(self, item: ProbeItem, asks: Sequence[Ask], attempts: Sequence[Attempt]) -> list[GradedAttempt]:
        new: list[tuple[str, str, Grade]] = []
        graded = []
        fingerprints: dict[str, str | None] = {}
        of: Prompt | None = None
        for ask, attempt in zip(asks, attempts, strict=True):
            if ask.prompt is not of:
                of = ask.prompt
                fingerprints = self._fingerprints_for(of)
            grades = self._grades(item, ask, attempt, fingerprints, new)
            graded.append(GradedAttempt(item, ask.prompt, attempt, grades))
        if new:
            self._engine.keep(new)
        return graded

    def _fingerprints_for(self, prompt: Prompt) -> dict[str, str | None]:
        """Return the graders' keys on one prompt: whatever they can see of it can change a grade."""
        form = prompt_form(prompt)
        return {name: grade_key(fingerprint, form) for name, fingerprint in self.fingerprints.items()}

    def _grades(
        self,
        item: ProbeItem,
        ask: Ask,
        attempt: Attempt,
        fingerprints: Mapping[str, str | None],
        new: list[tuple[str, str, Grade]],
    ) -> dict[str, Grade]:
        grades: dict[str, Grade] = {}
        for name, grader in self._graders.items():
            reason = withheld(attempt, grader)
            if reason is not None or attempt.answer is None:
                grades[name] = reason or Grade.none("error")
                continue
            fingerprint = fingerprints[name]
            known = self._engine.answers.grades.get((attempt.key, fingerprint)) if fingerprint else None
            if known is None:
                known = grade_one(name, grader, item, ask.prompt, attempt.answer)
                if fingerprint:
                    new.append((attempt.key, fingerprint, known))
            grades[name] = known
        return grades


def _fingerprints(graders: Mapping[str, Grader | ItemGrader | BatchGrader]) -> dict[str, str | None]:
    found = {name: fingerprint_of(grader) for name, grader in graders.items()}
    first: dict[str, str] = {}
    for name, fingerprint in found.items():
        other = first.setdefault(fingerprint, name) if fingerprint is not None else name
        if graders[other] is not graders[name] and graders[other] != graders[name]:
            raise FairnessError(
                f"the graders of {other!r} and {name!r} are not equal and have one fingerprint, {fingerprint!r}: "
                "their stored grades would be mixed up, so give each its own"
            )
    return found
