"""Coverage of the interval of a difference between two runs, and its width with and without pairing.

    python tests/benchmarks/differences.py --runs 2000

Two samples of the same 100 items: their propensities are beta distributed (ICC 0.3), and both
runs have the same. Each group's rate is the propensity times its ratio; 3 repetitions a prompt.
The paired interval is made of what each item adds to either estimate, the independent one of the
two estimates' own intervals. Seeded.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.run_differences import Difference, ReportedEstimate, difference

ITEMS, REPETITIONS, ICC = 100, 3, 0.3
CELLS = [
    (design, base, old, new)
    for design, base, (old, new) in itertools.product(
        ("paired", "half", "unpaired"), (0.3, 0.5, 0.8), ((1.0, 1.0), (0.8, 0.8), (0.9, 0.7))
    )
    if design == "half" or base == 0.5
]
"""Kinds of items, their base rate, and the ratio of group a in the old and the new run.

"paired": an item is as hard for both groups; "half": half of the items are, the others are hard
for each group by themselves; "unpaired": an item holds one group.
"""

Floats = npt.NDArray[np.float64]


class Simulation:
    """Simulation of pairs of samples of one cell."""

    def __init__(self, design: str, base: float, seed: int) -> None:
        self.design = design
        self.generator = np.random.default_rng([seed, round(100 * base), len(design)])
        size = (1 - ICC) / ICC
        self.shares = base * size, (1 - base) * size
        self.item = np.repeat(np.arange(ITEMS), 2 * REPETITIONS)
        paired = np.tile(np.repeat([True, False], REPETITIONS), ITEMS)
        self.first = self.item % 2 == 0 if design == "unpaired" else paired
        groups = {"group": np.where(self.first, "a", "b").tolist()}
        self.columns = Columns.from_arrays(self.item.tolist(), {"yes": np.zeros(len(self.item))}, groups)

    def pair(self, *ratios: float) -> list[Measured]:
        """Draw one sample a ratio, of items that they share."""
        drawn = self.generator.beta(*self.shares, (ITEMS, 2))
        alike = self.generator.random(ITEMS) < (0.5 if self.design == "half" else 1.0)
        drawn[alike, 1] = drawn[alike, 0]
        chances = drawn[self.item, self.first.astype(int)]
        return [Measured.from_columns(self.columns.regraded({"yes": self._yes(chances, ratio)})) for ratio in ratios]

    def _yes(self, chances: Floats, ratio: float) -> Floats:
        chances = np.where(self.first, chances * ratio, chances)
        return (self.generator.random(len(chances)) < chances).astype(np.float64)


def reported(estimate: Estimate, *, paired: bool) -> ReportedEstimate:
    """Return an estimate as a store keeps it."""
    assert estimate.breakdown is not None
    made_of = estimate.breakdown()
    log = made_of.log
    value, low, high = (math.log(end) if log else end for end in (estimate.value, estimate.low, estimate.high))
    influences = made_of.influences if paired else {}
    error = estimate.error / estimate.value if log else estimate.error
    return ReportedEstimate(value, low, high, log=log, influences=influences, error=error)


def lines(runs: int, seed: int) -> Iterator[str]:
    """Yield one line a cell."""
    for design, base, old, new in CELLS:
        simulation = Simulation(design, base, seed)
        truths = {"ratio": new / old, "difference": base * (new - old)}
        covered, widths = np.zeros((2, 2)), np.zeros((2, 2))
        for _ in range(runs):
            for number, name in enumerate(truths):
                before, after = (
                    getattr(measured, name)("yes", by="group", of="a", to="b") for measured in simulation.pair(old, new)
                )
                for way, paired in enumerate((True, False)):
                    change = difference(reported(after, paired=paired), reported(before, paired=paired))
                    assert isinstance(change, Difference)
                    assert change.paired is paired
                    covered[number, way] += change.low <= truths[name] <= change.high
                    widths[number, way] += change.high - change.low
        rates = " | ".join(
            f"{name}: paired {covered[n, 0] / runs:.3f}, independent {covered[n, 1] / runs:.3f}, "
            f"width {widths[n, 0] / widths[n, 1]:.2f}"
            for n, name in enumerate(truths)
        )
        yield f"{design:8s} base {base} ratio {old} then {new} | {rates}"


def main(description: str | None, lines: Callable[[int, int], Iterator[str]]) -> None:
    """Print one line a cell, given a function from the number of runs and a seed to the lines."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="pairs of samples a cell (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    arguments = parser.parse_args()
    for line in lines(arguments.runs, arguments.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main(__doc__, lines)
