"""The design loop: propose and evaluate repeatedly, then evaluate the best parameters on fresh seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.design.designers.optimizer import Optimizer
from pytest_fairness.design.designers.protocol import Designer, Proposal, Task, evaluated
from pytest_fairness.design.objectives import Objective, Target, front_of
from pytest_fairness.design.records import BenchmarkFigure, DesignRecord, Figures, Iteration, seed_of
from pytest_fairness.design.search_space import Point, Space

Evaluate = Callable[[Point, Sequence[int]], Mapping[str, Any]]
"""A function from parameters and seeds to figures by name: a `BenchmarkFigure`, an `Estimate` or a number each.

One seed in an iteration, several when the winner is evaluated again. Other seeds must mean other items."""

CONVERGED = 0.1
"""A gap under a tenth counts as converged."""


@dataclass(frozen=True)
class Design:
    """The result of a design."""

    task: Task
    designer: str
    seed: int
    iterations: Sequence[Iteration]
    best: Iteration
    """The iteration with the least loss in the search, which is an optimistic value."""
    fresh: Figures
    """The figures of the best parameters on fresh seeds, which are unbiased."""
    fresh_seeds: Sequence[int]

    @property
    def fresh_losses(self) -> list[float]:
        """The objective's losses on the fresh seeds; the gap, of a target."""
        return _losses(self.task.objective, self.fresh)

    @property
    def converged(self) -> int | None:
        """The iteration whose gap was first under 10%; None where none was, or the objective has no gap."""
        if not self.task.objective.meets:
            return None
        return next((iteration.number for iteration in self.iterations if iteration.loss < CONVERGED), None)

    @property
    def front(self) -> list[Iteration]:
        """The iterations on the Pareto front, sorted by their first loss."""
        finished = [iteration for iteration in self.iterations if iteration.losses]
        indices = front_of(np.array([iteration.losses for iteration in finished], dtype=float).T)
        return sorted((finished[index] for index in indices), key=lambda iteration: iteration.loss)


def design(
    evaluate: Evaluate,
    space: Space,
    *,
    objective: Objective | None = None,
    designer: Designer | None = None,
    iterations: int = 10,
    threshold: float = 0.05,
    seed: int = 0,
    fresh: int = 5,
    fresh_evaluate: Evaluate | None = None,
    record: Path | None = None,
    resume: bool = False,
    about: Mapping[str, Any] | None = None,
    on_iteration: Callable[[Iteration], object] | None = None,
) -> Design:
    """Design a benchmark: the method of Dsouza et al., "Automating Benchmark Design", arXiv:2510.25039.

    The first parameters are the start of the space. The best ones are evaluated again on fresh seeds, since the least
    loss of many evaluations is too optimistic.

    Args:
        evaluate: The function from parameters and seeds to figures.
        space: The parameters and their ranges.
        objective: The objective; by default `Target`, a ratio of 1.
        designer: The designer; by default `Optimizer`.
        iterations: The most evaluations in the search.
        threshold: The gap under which a search for a target stops.
        seed: The seed of all draws.
        fresh: The number of fresh seeds.
        fresh_evaluate: The function for the fresh evaluation, such as one with held-out items; by default ``evaluate``.
        record: A file to which each iteration is appended.
        resume: Whether to continue a stopped design from its record, with the same result.
        about: Settings to store in the record, such as the student; they must be the same on ``resume``.
        on_iteration: A function that is called with each iteration.

    Returns:
        The result.

    >>> from pytest_fairness.design.designers.baselines import BestOfTarget
    >>> from pytest_fairness.design.search_space import NumericParameter
    >>> space = Space({"x": NumericParameter(0, 2, "the ratio itself")}, start={"x": 2.0})
    >>> def evaluate(point, seeds):
    ...     return {"accuracy_ratio": point["x"]}
    >>> found = design(evaluate, space, designer=BestOfTarget(), iterations=50)
    >>> found.best.loss < 0.05 and found.converged <= len(found.iterations) <= 50
    True

    Raises:
        FairnessError: An argument is out of range, the record is of another design, a figure of the objective is
            missing, or no proposal could be evaluated.
    """
    for name, count in (("iterations", iterations), ("fresh", fresh)):
        if count < 1:
            raise FairnessError(f"{name} is {count}: it must be at least 1")
    if not threshold > 0:
        raise FairnessError(f"threshold is {threshold!r}: it must be above 0")
    chosen_objective: Objective = Target() if objective is None else objective
    task = Task(space, chosen_objective, threshold, iterations)
    designer = designer or Optimizer()
    saved = None if record is None else DesignRecord(record, _head(task, designer, seed, about or {}), resume=resume)
    history = [] if saved is None else list(saved.iterations[:iterations])
    while not _is_over(task, history):
        iteration = _iterate(task, designer, evaluate, history, seed)
        history.append(iteration)
        if saved is not None:
            saved.add(iteration)
        if on_iteration is not None:
            on_iteration(iteration)
    return _evaluate_best(task, designer.name, seed, history, fresh, fresh_evaluate or evaluate)


def _is_over(task: Task, history: Sequence[Iteration]) -> bool:
    is_reached = task.objective.meets and any(iteration.loss < task.threshold for iteration in history)
    return is_reached or len(history) >= task.iterations


def _iterate(task: Task, designer: Designer, evaluate: Evaluate, history: Sequence[Iteration], seed: int) -> Iteration:
    number = len(history) + 1
    if history:
        proposal = designer.propose(task, history, np.random.default_rng(seed_of(seed, "proposal", number)))
    else:
        proposal = Proposal(task.space.start, "the first parameters")
    if proposal.parameters is None:
        return Iteration(number, None, proposal.reasoning, tuple(proposal.notes))
    if wrong := task.space.wrong(proposal.parameters):
        raise FairnessError(f"designer {designer.name} proposed what is not in the space: {'; '.join(wrong)}")
    seeds = (seed_of(seed, "search", number),)
    figures = _figures(task.objective, evaluate(proposal.parameters, seeds))
    losses = tuple(_losses(task.objective, figures))
    return Iteration(number, proposal.parameters, proposal.reasoning, tuple(proposal.notes), seeds, figures, losses)


def _evaluate_best(
    task: Task, designer: str, seed: int, history: Sequence[Iteration], fresh: int, evaluate: Evaluate
) -> Design:
    best = min(
        (iteration for iteration in history if iteration.losses), key=lambda iteration: iteration.loss, default=None
    )
    if best is None or best.parameters is None or not np.isfinite(best.loss):
        raise FairnessError(f"none of {len(history)} proposals could be evaluated: its record says why")
    used = {used_seed for iteration in history for used_seed in iteration.seeds}
    seeds = [candidate for number in range(2 * fresh) if (candidate := seed_of(seed, "fresh", number)) not in used][
        :fresh
    ]
    figures = _figures(task.objective, evaluate(best.parameters, seeds))
    return Design(task, designer, seed, tuple(history), best, figures, tuple(seeds))


def _figures(objective: Objective, estimates: Mapping[str, Any]) -> dict[str, BenchmarkFigure]:
    missing = [name for name in objective.figures if name not in estimates]
    if missing:
        available = sorted(estimates)
        raise FairnessError(f"the benchmark gives no {missing[0]!r}, which the objective needs; it has {available}")
    return {name: BenchmarkFigure.of(value) for name, value in estimates.items()}


def _losses(objective: Objective, figures: Figures) -> list[float]:
    values = {name: np.array(figures[name].value) for name in objective.figures}
    return [float(loss) if np.isfinite(loss) else float("inf") for loss in objective.losses(values)]


def _head(task: Task, designer: Designer, seed: int, about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "space": {name: f"{parameter.range}" for name, parameter in task.space.parameters.items()},
        "start": dict(task.space.start),
        "objective": repr(task.objective),
        "threshold": task.threshold,
        "designer": designer.name,
        "seed": seed,
        "about": dict(about),
    }


def explained(result: Design) -> list[str]:
    """Return lines on the result: the best parameters, their meaning, the convergence and the fresh figures.

    Args:
        result: The result of `design`.
    """
    task, best = result.task, result.best
    points, _ = evaluated(result.iterations)
    lines = [f"best parameters (iteration {best.number} of {len(result.iterations)}):"]
    for name, parameter in task.space.parameters.items():
        value = best.parameters[name] if best.parameters is not None else None
        lines.append(f"  {name} = {value} ({parameter.meaning[0].lower()}{parameter.meaning[1:]})")
        if isinstance(value, bool):
            chosen = sum(point[name] is True for point in points)
            lines[-1] += f"; chosen in {chosen} of {len(points)} iterations"
    for title, (first, second) in task.space.ratios.items():
        if best.parameters is not None and float(best.parameters[second]):
            quotient = float(best.parameters[first]) / float(best.parameters[second])
            lines.append(f"  {title} = {quotient:.3f} ({first} / {second})")
    if task.objective.meets:
        when = "never" if result.converged is None else f"in iteration {result.converged}"
        lines.append(f"gap under {CONVERGED:.0%}: {when}")
    skipped = sum(iteration.parameters is None for iteration in result.iterations)
    if skipped:
        lines.append(f"{skipped} of {len(result.iterations)} proposals were skipped: the record says why")
    lines.append(
        f"loss in the search {best.loss:.3f}, on {len(result.fresh_seeds)} fresh seeds {result.fresh_losses[0]:.3f}"
    )
    lines += [f"  {name} {figure}" for name, figure in result.fresh.items()]
    return lines
