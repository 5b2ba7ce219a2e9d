"""The emotion benchmark: a student's figures on features that are generated from parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.design.environment import EmotionParameters
from pytest_fairness.design.evaluation import evaluate
from pytest_fairness.design.metrics import figures
from pytest_fairness.design.records import Figures
from pytest_fairness.design.search_space import Point
from pytest_fairness.design.students import Student


@dataclass(frozen=True)
class EmotionBenchmark:
    """A student's figures on generated emotions: ``samples`` of each neurotype for each seed.

    >>> from pytest_fairness.design.closed_form import LinearReader
    >>> from pytest_fairness.design.search_space import EMOTION
    >>> found = EmotionBenchmark(LinearReader(), samples=400)(EMOTION.start, [1])
    >>> 1.0 < found["accuracy_ratio"].low < found["accuracy_ratio"].high < 1.4
    True

    Raises `FairnessError` as the environment and the student do.
    """

    student: Student
    samples: int = 1000
    seq_len: int = 5
    dim: int = 48
    target: float = 1.0

    def __call__(self, parameters: Point, seeds: Sequence[int]) -> Figures:
        chosen = EmotionParameters(**parameters)  # type: ignore[arg-type]  # the space has checked the values
        outcomes = [
            evaluate(self.student, chosen, n=self.samples, seed=seed, seq_len=self.seq_len, dim=self.dim)
            for seed in seeds
        ]
        return figures(outcomes, self.target)
