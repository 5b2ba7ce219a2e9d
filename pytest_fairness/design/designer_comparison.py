"""Comparison of designers: the gaps that they leave, and the evaluations that they need, over several seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.design.designers.protocol import Designer
from pytest_fairness.design.loop import Evaluate, design
from pytest_fairness.design.objectives import Target
from pytest_fairness.design.records import seed_of
from pytest_fairness.design.search_space import Space
from pytest_fairness.extending import TextTable

FEWEST_SEEDS = 2
"""A spread needs two values."""


@dataclass(frozen=True)
class DesignerResult:
    """Results of one designer, one for each seed."""

    designer: str
    gaps: Sequence[float]
    """The gap of the winner on fresh seeds, which is unbiased."""
    evaluations: Sequence[int]
    """The evaluations until the gap was under the threshold; all that were allowed where it never was."""
    reached: Sequence[bool]
    """Whether it was."""


def compare_designers(
    evaluate: Evaluate,
    space: Space,
    designers: Sequence[Callable[[], Designer]],
    *,
    objective: Target,
    iterations: int = 10,
    threshold: float = 0.05,
    seeds: Sequence[int] = range(5),
    on_seed: Callable[[int], object] | None = None,
) -> list[DesignerResult]:
    """Let each designer search from the same start, once for each seed.

    The start is drawn for the seed, so that nobody profits from one that is good already.

    Args:
        evaluate: The function from parameters and seeds to figures.
        space: The parameters and their ranges.
        designers: Functions that return a new designer each.
        objective: The ratio to reach.
        iterations: The most evaluations of a search.
        threshold: The gap under which a search stops, above 0.
        seeds: The seeds, at least two.
        on_seed: A function that is called with each seed that is done.

    Returns:
        The results in the order of the designers.

    >>> from pytest_fairness.design.designers.baselines import BestOfTarget, RandomReplay
    >>> from pytest_fairness.design.search_space import NumericParameter
    >>> space = Space({"x": NumericParameter(0, 2, "the ratio itself")}, start={"x": 2.0})
    >>> def evaluate(point, seeds):
    ...     return {"accuracy_ratio": point["x"]}
    >>> results = compare_designers(evaluate, space, [BestOfTarget, RandomReplay], objective=Target(), iterations=3)
    >>> [result.designer for result in results], {len(result.gaps) for result in results}
    (['bon-tm', 'rs-ppr'], {5})

    Raises:
        FairnessError: There are fewer than two seeds, or as `design` raises.
    """
    if len(seeds) < FEWEST_SEEDS:
        raise FairnessError(f"{len(seeds)} seed: a comparison of designers needs at least {FEWEST_SEEDS}")
    rows: dict[str, list[tuple[float, int, bool]]] = {}
    for seed in seeds:
        started = replace(space, start=space.drawn(np.random.default_rng(seed_of("start", seed))))
        for make in designers:
            designer = make()
            result = design(
                evaluate,
                started,
                objective=objective,
                designer=designer,
                iterations=iterations,
                threshold=threshold,
                seed=seed,
            )
            under = [iteration.number for iteration in result.iterations if iteration.loss < threshold]
            used = under[0] if under else len(result.iterations)
            rows.setdefault(designer.name, []).append((result.fresh_losses[0], used, bool(under)))
        if on_seed is not None:
            on_seed(seed)
    return [
        DesignerResult(name, *(tuple(column) for column in zip(*results, strict=True)))
        for name, results in rows.items()
    ]


def comparison_table(results: Sequence[DesignerResult], threshold: float) -> TextTable:
    """Return the results as a table: mean gap, spread, iterations, and how often the gap came under the threshold."""
    heads = ["designer", "mean gap", "spread", "iterations", f"under {threshold:g}"]
    return TextTable("Designers compared", heads, [_cells(result) for result in results])


def _cells(result: DesignerResult) -> list[str]:
    gaps = [gap for gap in result.gaps if math.isfinite(gap)]
    shown = [f"{mean(gaps):.1%}" if gaps else "-", f"{stdev(gaps):.1%}" if len(gaps) > 1 else "-"]
    reached = f"{sum(result.reached)} of {len(result.reached)}"
    return [result.designer, *shown, f"{mean(result.evaluations):.1f}", reached]
