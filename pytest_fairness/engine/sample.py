"""A probe's items on one model: asked, answered and graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import digest
from pytest_fairness.core.protocols import Grader, Model
from pytest_fairness.engine.asks import Ask, asks_of
from pytest_fairness.engine.engine import Engine


class Sample:
    """What a probe asks one model, item by item. Items are addressed by their place."""

    def __init__(
        self,
        items: Sequence[ProbeItem],
        model: Model,
        repetitions: int,
        engine: Engine,
        first: int = 0,
    ) -> None:
        self.items = items
        self.model = model
        self._repetitions = repetitions
        self._first = first
        self._engine = engine
        self._asks: dict[int, list[Ask]] = {}
        self._graded: dict[int, list[GradedAttempt]] = {}
        self._graders: Mapping[str, Grader] = {}
        self._fingerprints: dict[str, str | None] = {}

    def grade_with(self, graders: Mapping[str, Grader]) -> None:
        """Name the graders, before anything is measured. Asking needs none."""
        self._graders = graders
        self._fingerprints = {name: getattr(grader, "fingerprint", None) for name, grader in graders.items()}

    def asks(self, places: Sequence[int]) -> Iterator[Ask]:
        """What measuring these items asks, made when it is needed."""
        for place in places:
            yield from self._asks_at(place)

    def _asks_at(self, place: int) -> list[Ask]:
        asks = self._asks.get(place)
        if asks is None:
            asks = self._asks[place] = asks_of(self.items[place].prompts, self.model, self._repetitions, self._first)
        return asks

    def measure(self, place: int) -> list[GradedAttempt]:
        """One item's attempts with their grades: its prompts in order, each with its repetitions."""
        graded = self._graded.get(place)
        if graded is None:
            asks = self._asks_at(place)
            graded = self._graded[place] = self._grade(self.items[place], asks, self._engine.attempts(asks))
        return graded

    def measure_all(self) -> list[GradedAttempt]:
        """Every item's, in order. All that is missing is asked for at once."""
        places = range(len(self.items))
        missing = [place for place in places if place not in self._graded]
        if missing:
            self._engine.attempts(list(self.asks(missing)))
        return [attempt for place in places for attempt in self.measure(place)]

    def _grade(self, item: ProbeItem, asks: Sequence[Ask], attempts: Sequence[Attempt]) -> list[GradedAttempt]:
        new: list[tuple[str, str, Grade]] = []
        graded = []
        fingerprints: dict[str, str | None] = {}
        of: Prompt | None = None
        for ask, attempt in zip(asks, attempts, strict=True):
            if ask.prompt is not of:
                of = ask.prompt
                fingerprints = self._fingerprints_for(of)
            grades = self._grades(ask, attempt, fingerprints, new)
            graded.append(GradedAttempt(item, ask.prompt, attempt, grades))
        if new:
            self._engine.keep(new)
        return graded

    def _fingerprints_for(self, prompt: Prompt) -> dict[str, str | None]:
        """Graders' fingerprints on one prompt: what its metadata says can change a grade."""
        return {
            name: None if fingerprint is None else digest(f"{fingerprint}\n{prompt.metadata!r}")
            for name, fingerprint in self._fingerprints.items()
        }

    def _grades(
        self, ask: Ask, attempt: Attempt, fingerprints: Mapping[str, str | None], new: list[tuple[str, str, Grade]]
    ) -> dict[str, Grade]:
        if attempt.answer is None:
            return dict.fromkeys(self._graders, Grade.none("error", attempt.error or ""))
        grades: dict[str, Grade] = {}
        for name, grader in self._graders.items():
            fingerprint = fingerprints[name]
            known = self._engine.grades.get((attempt.key, fingerprint)) if fingerprint else None
            if known is None:
                known = grader.grade(ask.prompt, attempt.answer)
                if fingerprint:
                    new.append((attempt.key, fingerprint, known))
            grades[name] = known
        return grades
