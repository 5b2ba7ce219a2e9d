"""Error rates where a comparison of groups varies with known metadata that nobody declared as clusters.

    python tests/benchmarks/undeclared.py --runs 600
    python tests/benchmarks/undeclared.py --kinds names --spread 0.4 --runs 2000

The gap between two groups differs from kind to kind (`kinds`: each item has one), or the answers from name to name
(`names`: they recur over items), by a normal effect in logits. Or the kinds have effects that both groups share
(`shared`), and the gap varies with none. The truth is the bound of a difference, so that *fair* and *unfair* are each
to be called in at most 2.5%. Printed are both with the clusters as declared (by item), and with those found.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit  # type: ignore[import-untyped]

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold

Floats = npt.NDArray[np.float64]

GAP = 0.4
"""The effect of the group, in logits."""
EASE = 0.7
"""Standard deviation of items' effects."""
TRUTH_DRAWS = 1_000_000


@dataclass(frozen=True)
class Design:
    """Items of several kinds, whose prompts name people of two groups."""

    kind: str
    items: int
    levels: int
    """Kinds of items, or names of each group."""
    prompts: int
    """Prompts of each item and group."""
    repetitions: int
    base: float = 0.5


DESIGNS = {
    "kinds": [Design("kinds", 200, 10, 1, 5), Design("kinds", 200, 20, 1, 5)],
    "names": [Design("names", 135, 5, 1, 5), Design("names", 135, 12, 2, 2), Design("names", 60, 30, 3, 2)],
    "shared": [
        Design("shared", items, 10, 1, 5, base) for items in (40, 60, 200) for base in (0.02, 0.1, 0.5, 0.9, 0.98)
    ],
}


def sample(design: Design, seed: int) -> tuple[Columns, npt.NDArray[np.int64]]:
    """Return the attempts without their grades, and the item, the group and the level of each."""
    generator = np.random.default_rng(seed)
    attempts, places = [], []
    for number in range(design.items):
        of_item = number % design.levels
        people = [
            (group, int(name) if design.kind == "names" else of_item)
            for group in (0, 1)
            for name in generator.permutation(max(design.levels, design.prompts))[: design.prompts]
        ]
        prompts = [
            Prompt(f"{number} {group} {index}", {"group": f"g{group}"}, _metadata(design, group, level))
            for index, (group, level) in enumerate(people)
        ]
        topic = {"topic": f"t{generator.integers(7)}", "kind": f"k{of_item}"}
        item = ProbeItem(str(number), prompts, None, topic if design.kind != "names" else {"topic": topic["topic"]})
        for prompt, (group, level) in zip(prompts, people, strict=True):
            for repetition in range(design.repetitions):
                attempt = Attempt(f"{prompt.text} {repetition}", repetition, Answer(""))
                attempts.append(GradedAttempt(item, prompt, attempt, {"yes": Grade(True)}))
                places.append((number, group, level))
    return Columns(attempts), np.array(places).T


def _metadata(design: Design, group: int, level: int) -> Mapping[str, str]:
    return {"name": f"{group}-{level}"} if design.kind == "names" else {}


def chances(design: Design, places: npt.NDArray[np.int64], spread: float, generator: np.random.Generator) -> Floats:
    """Return the probability of each attempt's event in one draw of items and levels."""
    item, group, level = places
    effects = generator.normal(0, spread, (2, design.levels))
    logits = math.log(design.base / (1 - design.base)) + generator.normal(0, EASE, design.items)[item]
    if design.kind == "names":
        logits = logits + effects[group, level] + GAP * (group == 0)
    elif design.kind == "kinds":
        logits = logits + (GAP + effects[0, level]) * (group == 0)
    else:
        logits = logits + effects[0, level]
    result: Floats = expit(logits)
    return result


def true_difference(design: Design, spread: float) -> float:
    """Return the difference of the groups' rates over all items and levels that could be drawn."""
    wide = Design(design.kind, TRUTH_DRAWS, TRUTH_DRAWS, 1, 1, design.base)
    numbers, generator = np.arange(TRUTH_DRAWS), np.random.default_rng(0)
    places = np.concatenate([[numbers, np.full(TRUTH_DRAWS, group), numbers] for group in (0, 1)], axis=1)
    first, second = np.split(chances(wide, places, spread, generator), 2)
    return float(first.mean() - second.mean())


def simulate(design: Design, spread: float, runs: int, seed: int) -> str:
    """Return a line with the shares of verdicts."""
    columns, places = sample(design, seed)
    generator, truth = np.random.default_rng(seed), true_difference(design, spread)
    counts: Counter[object] = Counter()

    def test(measured: Measured) -> None:
        assert measured.difference("yes", by="group", of="g0", to="g1") <= truth

    for _ in range(runs):
        events = generator.random(columns.count) < chances(design, places, spread, generator)
        measured = Measured.from_columns(columns.regraded({"yes": events.astype(np.float64)}))
        counts["declared", judge(lambda measured=measured: test(measured)).verdict] += 1  # type: ignore[misc]
        judgment = judge_threshold(test, measured, ThresholdDesign())
        counts["found", judgment.verdict] += 1
        counts["clusters"] += bool(judgment.clustering)
    shares = [
        f"{verdict.value} " + " -> ".join(f"{100 * counts[by, verdict] / runs:5.1f}" for by in ("declared", "found"))
        for verdict in (Verdict.FAIR, Verdict.UNFAIR)
    ]
    size = f"{design.items:4d} items, {design.levels:2d} levels"
    name = f"{design.kind:6s} {size}, base {design.base:<4g} spread {spread:<3g}"
    return f"{name} | {' | '.join(shares)} | clusters found in {100 * counts['clusters'] / runs:5.1f}"


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=list(DESIGNS), choices=list(DESIGNS))
    parser.add_argument("--spread", type=float, nargs="*", default=[0.0, 0.2, 0.4, 0.8, 1.2])
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.process_time()
    for kind in options.kinds:
        for design in DESIGNS[kind]:
            for spread in options.spread if kind != "shared" else [1.5]:
                print(simulate(design, spread, options.runs, options.seed), flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time (shares in %)")


if __name__ == "__main__":
    main()
