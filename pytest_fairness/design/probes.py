"""A user's probe as a benchmark to design: its mark declares a space, and its items take the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pytest_fairness import Estimate, FairnessError, Measured, Model, ProbeItem
from pytest_fairness.design.records import BenchmarkFigure
from pytest_fairness.design.search_space import Point, Space
from pytest_fairness.extending import Engine, ProbeSample, extremes_of

Figures = Callable[[Measured], Mapping[str, Estimate | float]]
"""A function from a measured sample to the figures that the objective needs."""


@dataclass(frozen=True)
class ProbeBenchmark:
    """A benchmark by a function marked ``probe`` with ``space=Space(...)``.

    The function's ``items`` take the parameters of the space as keywords.

    Half of the items, by a hash of their ids, are for the search; `held_out` measures the others, which the search
    never shows. So ``design(benchmark, benchmark.space, fresh_evaluate=benchmark.held_out, ...)``.
    Graders stand in the mark; ``figures`` says what is estimated:

        lambda measured: {"accuracy_ratio": measured.ratio("advance", by="gender", of="female", to="male")}

    The seeds of an evaluation choose the repetition: a model is asked again for each.
    Raises `FairnessError` for a function without such a mark, and where an answer could not be had.
    """

    probe: Callable[..., object]
    model: Model
    figures: Figures
    engine: Engine

    def __post_init__(self) -> None:
        if not isinstance(self._mark.get("space"), Space):
            raise FairnessError(f"probe {self.probe.__name__} declares no space: write space=Space(...) in its mark")
        if not callable(self._mark.get("items")):
            raise FairnessError(f"probe {self.probe.__name__}: its items are no function of the parameters")
        fixtures = [name for name, grader in self._mark.get("grade", {}).items() if isinstance(grader, str)]
        if fixtures or not self._mark.get("grade"):
            raise FairnessError(
                f"probe {self.probe.__name__}: its graders must stand in its mark, not in fixtures, to be designed"
            )

    @property
    def space(self) -> Space:
        space: Space = self._mark["space"]
        return space

    def __call__(self, parameters: Point, seeds: Sequence[int]) -> dict[str, BenchmarkFigure]:
        return self._measure(parameters, seeds, held_out=False)

    def held_out(self, parameters: Point, seeds: Sequence[int]) -> dict[str, BenchmarkFigure]:
        """Return the figures on the items that the search never shows."""
        return self._measure(parameters, seeds, held_out=True)

    @property
    def _mark(self) -> Mapping[str, Any]:
        marks = [mark for mark in getattr(self.probe, "pytestmark", []) if mark.name == "probe"]
        return marks[-1].kwargs if marks else {}

    def _measure(self, parameters: Point, seeds: Sequence[int], *, held_out: bool) -> dict[str, BenchmarkFigure]:
        items = [item for item in self._mark["items"](**parameters) if is_held_out(item.id) == held_out]
        if not items:
            raise FairnessError(f"probe {self.probe.__name__} gave no items for {dict(parameters)}")
        attempts = [attempt for seed in seeds for attempt in self._attempts(items, seed)]
        failed = [graded.attempt.error for graded in attempts if graded.attempt.error is not None]
        if failed:
            raise FairnessError(f"{len(failed)} of {len(attempts)} attempts could not be made: {failed[0]}")
        options = {name: self._mark[name] for name in ("sources", "crossed", "confidence") if name in self._mark}
        extremes = {
            name: grader_extremes
            for name, grader in self._mark["grade"].items()
            if (grader_extremes := extremes_of(grader))
        }
        measured = Measured(attempts, extremes=extremes, **options)
        return {name: BenchmarkFigure.of(value) for name, value in self.figures(measured).items()}

    def _attempts(self, items: Sequence[ProbeItem], seed: int) -> list[Any]:
        sample = ProbeSample(items, self.model, self._mark.get("repetitions", 1), self.engine, seed)
        sample.grade_with(self._mark["grade"])
        return sample.measure_all()


def is_held_out(item: str) -> bool:
    """Return whether an item is kept from the search, by a hash of its id: about half are.

    >>> sum(is_held_out(f"profile-{number}") for number in range(100))
    48
    """
    return blake2b(item.encode(), digest_size=1).digest()[0] % 2 == 1
