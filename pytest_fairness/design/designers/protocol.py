"""The interface of a designer: one method that proposes parameters, given all evaluations so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pytest_fairness.design.objectives import Floats, Objective
from pytest_fairness.design.records import Iteration
from pytest_fairness.design.search_space import Point, Space


@dataclass(frozen=True)
class Task:
    """The task of a designer: the space, the objective and the budget."""

    space: Space
    objective: Objective
    threshold: float
    iterations: int
    """The largest number of evaluations of the student."""


@dataclass(frozen=True)
class Proposal:
    """Parameters and their reason; None where there are none, with the cause in ``notes``."""

    parameters: Point | None
    reasoning: str = ""
    notes: Sequence[str] = ()


class Designer(Protocol):
    """A designer, which proposes parameters; its ``name`` identifies it in a record."""

    name: str

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        """Return the next parameters. ``draws`` is seeded by the design and the iteration: nothing else is random."""
        ...


def evaluated(history: Sequence[Iteration]) -> tuple[list[Point], Floats]:
    """Return the points that were evaluated, and their losses: shape (points, ends)."""
    finished = [iteration for iteration in history if iteration.parameters is not None and iteration.losses]
    points = [iteration.parameters for iteration in finished if iteration.parameters is not None]
    return points, np.array([iteration.losses for iteration in finished], dtype=float)
