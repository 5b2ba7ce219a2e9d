"""Designers measured: the gap that they leave on trained students, and how they find a truth known in closed form.

    python tests/benchmarks/designers.py table --seeds 20              # the published table, on trained students
    python tests/benchmarks/designers.py truth --seeds 50              # target and worst case, closed form
    python tests/benchmarks/designers.py choice --seeds 20             # optimizers of other libraries

``table`` trains one student a seed, once, on samples of its own, and never on a benchmark. Each designer has as many
evaluations and starts at the same point, drawn at random for the seed (``--first``: the method's first parameters).
The gap is that of the winner on fresh seeds, since the best of many looks better than it is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness.design.closed_form import LinearReader
from pytest_fairness.design.designers.baselines import BestOfLearned, BestOfTarget, RandomReplay
from pytest_fairness.design.designers.optimizer import Optimizer
from pytest_fairness.design.designers.protocol import Designer, Proposal, Task, evaluated
from pytest_fairness.design.emotion import values
from pytest_fairness.design.environment import EmotionParameters
from pytest_fairness.design.loop import Design, design
from pytest_fairness.design.objectives import Objective, Target, Worst
from pytest_fairness.design.records import Iteration, seed_of
from pytest_fairness.design.search_space import EMOTION, NumericParameter, Point, Space
from pytest_fairness.design.students import Student, evaluate
from pytest_fairness.design.training import train

DESIGNERS: dict[str, Callable[[], Designer]] = {
    designer.name: designer for designer in (Optimizer, RandomReplay, BestOfTarget, BestOfLearned)
}
HARD_TO_STOP = 1e-9
"""A threshold that no gap is under: every designer then has the same number of evaluations."""


def table(options: argparse.Namespace) -> dict[str, Any]:
    """Return gaps by verification, target and designer, one a seed."""
    gaps: dict[str, list[float]] = {}
    steps: dict[str, list[float]] = {}
    cases = list(itertools.product(("on", "off"), options.target))
    for seed in range(options.seeds):
        student = train(seed=seed_of("training", seed), seq_len=options.seq_len, dim=options.dim)
        space = without_switch(seed, first=options.first)
        for (verification, target), (name, designer) in itertools.product(cases, DESIGNERS.items()):
            measure = measured_on(student, options, verification=verification == "on")
            result = run(measure, space, Target(target), designer(), options.iterations, seed)
            key = f"verification {verification}, target {target:g}, {name}"
            gaps.setdefault(key, []).append(result.fresh_losses[0])
            steps.setdefault(key, []).append(result.converged or math.inf)
        print(f"seed {seed + 1} of {options.seeds}", flush=True)
    for verification, target in cases:
        tell(f"verification {verification}, target {target:g}", gaps, steps)
    return {
        "gaps": gaps,
        "steps": {key: [s if math.isfinite(s) else None for s in numbers] for key, numbers in steps.items()},
    }


def measured_on(
    student: Student, options: argparse.Namespace, *, verification: bool
) -> Callable[[Point, Sequence[int]], dict[str, float]]:
    """Return a function of a student's figures, without intervals."""
    sizes = {"n": options.samples, "seq_len": options.seq_len, "dim": options.dim}

    def measure(point: Point, seeds: Sequence[int]) -> dict[str, float]:
        parameters = EmotionParameters(**point, verification=verification)  # type: ignore[arg-type]
        return values([evaluate(student, parameters, seed=seed, **sizes) for seed in seeds])

    return measure


def run(
    measure: Callable[..., Mapping[str, float]],
    space: Space,
    wanted: Objective,
    designer: Designer,
    most: int,
    seed: int,
) -> Design:
    return design(
        measure, space, objective=wanted, designer=designer, iterations=most, threshold=HARD_TO_STOP, seed=seed
    )


def without_switch(seed: int, *, first: bool) -> Space:
    """Return the emotion space with verification fixed, and a start for this seed."""
    numbers = {name: parameter for name, parameter in EMOTION.parameters.items() if name != "verification"}
    start = {name: EMOTION.start[name] for name in numbers}
    space = Space(numbers, start, EMOTION.ratios)
    return space if first else replace(space, start=space.drawn(np.random.default_rng(seed_of("start", seed))))


def tell(title: str, gaps: Mapping[str, list[float]], steps: Mapping[str, list[float]]) -> None:
    print(f"\n{title}\n  {'designer':10} mean gap (95% CI)        spread   first under 10%   times ours (95% CI)")
    ours = np.array(gaps[f"{title}, optimizer"])
    for name in DESIGNERS:
        own = np.array(gaps[f"{title}, {name}"])
        draws = np.random.default_rng(0).integers(len(own), size=(10_000, len(own)))
        low, high = np.quantile(own[draws].mean(axis=1), [0.025, 0.975])
        times = np.quantile(own[draws].mean(axis=1) / ours[draws].mean(axis=1), [0.025, 0.975])
        first = np.array(steps[f"{title}, {name}"])
        reached = f"{np.median(first):.1f} ({np.isfinite(first).sum()} of {len(first)})"
        mean = f"{own.mean():.2%} ({low:.2%} to {high:.2%})"
        quotient = f"{own.mean() / ours.mean():.1f} ({times[0]:.1f} to {times[1]:.1f})"
        print(f"  {name:10} {mean:24} {own.std(ddof=1):.2%}   {reached:16}  {quotient}")


def truth(options: argparse.Namespace) -> dict[str, Any]:
    """Return the steps to within 0.02 of the target, and the worst case as a share of the optimum on a grid."""
    steps_to: dict[str, Any] = {}
    for words, target in itertools.product((0.5, 0.8), (1.0, 1.1)):
        steps = [first_under(0.02, Target(target), words, Optimizer(), 15, seed) for seed in range(options.seeds)]
        inside = sum(map(math.isfinite, steps))
        print(
            f"words {words}, target {target}: median {np.median(steps):g} evaluations, {inside} of {len(steps)} in 15",
            flush=True,
        )
        steps_to[f"target {target}, words {words}"] = [step if math.isfinite(step) else None for step in steps]
    for words, accuracy in itertools.product((0.5,), (0.8, 0.95)):
        best = on_grid(words, accuracy)
        shares = []
        for seed in range(options.worst_seeds):
            worst = run(exact(words), EMOTION, Worst(accuracy), Optimizer(), 40, seed)
            shares.append((1 - worst.best.loss) / best)
        print(
            f"words {words}, worst case at an accuracy of {accuracy}: {best:.4f} on the grid, "
            f"found {min(shares):.1%} to {max(shares):.1%} of it, median {np.median(shares):.1%}",
            flush=True,
        )
        steps_to[f"worst at {accuracy}, words {words}"] = shares
    return steps_to


def exact(words: float) -> Callable[[Point, Sequence[int]], dict[str, float]]:
    """Return a function of a linear reader's figures, in closed form."""
    reader = LinearReader(words)

    def figures(point: Point, seeds: Sequence[int]) -> dict[str, float]:
        parameters = EmotionParameters(**point)  # type: ignore[arg-type]
        ours, theirs = (reader.exact_accuracy(parameters, group) for group in ("alexithymic", "neurotypical"))
        return {"accuracy_ratio": ours / theirs, "accuracy": (ours + theirs) / 2}

    return figures


def first_under(bound: float, wanted: Objective, words: float, designer: Designer, most: int, seed: int) -> float:
    result = design(
        exact(words), EMOTION, objective=wanted, designer=designer, iterations=most, threshold=bound, seed=seed
    )
    return next((iteration.number for iteration in result.iterations if iteration.loss < bound), math.inf)


def on_grid(words: float, accuracy: float) -> float:
    """Return the most unfairness on a grid of 17 values a number; verification changes no accuracy of this reader."""
    shares = itertools.product(np.linspace(0, 1, 17).tolist(), repeat=4)
    best, figures = 1.0, exact(words)
    for levels in shares:
        point = EMOTION.at([*levels, 0.0])
        arrays = {name: np.array(value) for name, value in figures(point, ()).items()}
        best = min(best, float(Worst(accuracy).losses(arrays)[0]))
    return 1 - best


class Optuna:
    """A sampler of optuna on the loss, for comparison. Not for use: it replays the history for each proposal."""

    def __init__(self, sampler: str) -> None:
        self.name = f"optuna {sampler}"
        self._sampler = sampler

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        import optuna
        from optuna.distributions import CategoricalDistribution, FloatDistribution

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = {"TPE": optuna.samplers.TPESampler, "GP": optuna.samplers.GPSampler}[self._sampler]
        study = optuna.create_study(sampler=sampler(seed=int(draws.integers(2**31)), n_startup_trials=4))
        kinds: dict[str, Any] = {
            name: FloatDistribution(parameter.low, parameter.high)
            if isinstance(parameter, NumericParameter)
            else CategoricalDistribution([True, False])
            for name, parameter in task.space.parameters.items()
        }
        points, losses = evaluated(history)
        for point, loss in zip(points, losses, strict=True):
            study.add_trial(optuna.trial.create_trial(params=dict(point), distributions=kinds, value=float(loss[0])))
        return Proposal(study.ask(kinds).params)


def choice(options: argparse.Namespace) -> dict[str, Any]:
    """Return the evaluations to come within 0.02 of a target of 1.1, by optimizer; 99 where 15 were not enough."""
    designers: dict[str, Callable[[], Designer]] = {
        "GP of rho": Optimizer,
        "optuna TPE of the gap": lambda: Optuna("TPE"),
        "optuna GP of the gap": lambda: Optuna("GP"),
    }
    steps_of: dict[str, Any] = {}
    for name, designer in designers.items():
        steps = [
            min(first_under(0.02, Target(1.1), words, designer(), 15, seed), 99)
            for words in (0.5, 0.8)
            for seed in range(options.seeds)
        ]
        missed, mean = steps.count(99), np.minimum(steps, 16).mean()
        print(f"{name}: median {np.median(steps):g}, mean {mean:.1f}, {missed} of {len(steps)} not in 15", flush=True)
        steps_of[name] = steps
    return steps_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("table", "truth", "choice"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--worst-seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--target", type=float, nargs="+", default=[1.0])
    parser.add_argument("--seq-len", type=int, default=5)
    parser.add_argument("--dim", type=int, default=48)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    document = {"table": table, "truth": truth, "choice": choice}[options.what](options)
    if options.json is not None:
        options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
