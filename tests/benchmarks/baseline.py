"""Rates of false and of right claims of "no worse than what we ship".

    python tests/benchmarks/baseline.py --runs 2000

Two samples of the same items, whose propensities are beta distributed (base rate 0.5, ICC
0.2, 5 repetitions); each group's rate is the propensity times its ratio. The margin is 1.1,
times further from parity. Beside the rule stands the plain one: the size of the new log
ratio less the old one's, by the signs that were seen. Seeded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from tests.benchmarks.differences import main

MARGIN = 1.1
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """One truth: the ratio of the baseline and that of the new run."""

    items: int
    old: float
    new: float
    repetitions: int = 5
    base: float = 0.5
    icc: float = 0.2
    refused: float = 0.0
    """The share of group a's negatives that the new run refuses."""

    @property
    def truth(self) -> float:
        return math.exp(abs(math.log(self.new)) - abs(math.log(self.old)))

    @property
    def label(self) -> str:
        text = f"items {self.items:4d} old {self.old:.3f} new {self.new:.3f} refused {self.refused:.0%}"
        return f"{text} truth {self.truth:.3f}"


class Simulation:
    """Simulation of pairs of samples of one cell."""

    def __init__(self, cell: Cell, seed: int) -> None:
        self.cell = cell
        self.generator = np.random.default_rng([seed, cell.items, round(1000 * cell.old), round(1000 * cell.new)])
        per_item = 2 * cell.repetitions
        self.item = np.repeat(np.arange(cell.items), per_item)
        self.first = np.tile(np.repeat([True, False], cell.repetitions), cell.items)
        groups = {"group": np.where(self.first, "a", "b").tolist()}
        self.columns = Columns.from_arrays(self.item.tolist(), {"yes": np.zeros(len(self.item))}, groups)

    def further(self) -> tuple[Estimate, bool]:
        """Return the estimate, and whether the plain rule passes."""
        size = (1 - self.cell.icc) / self.cell.icc
        shares = (self.cell.base * size, (1 - self.cell.base) * size)
        chances = self.generator.beta(*shares, self.cell.items)[self.item]
        new, old = (self._sample(chances, ratio) for ratio in (self.cell.new, self.cell.old))
        if self.cell.refused:
            lost = self.first & (new == 0) & (self.generator.random(len(new)) < self.cell.refused)
            new = np.where(lost, np.nan, new)
        measured, baseline = (Measured.from_columns(self.columns.regraded({"yes": values})) for values in (new, old))
        estimate = measured.against(baseline).ratio("yes", by="group", of="a", to="b")
        return estimate, self._plain(new, old)

    def _sample(self, chances: Floats, ratio: float) -> Floats:
        # A ratio above 1 takes from the other group: no chance may pass 1.
        chances = np.where(self.first, chances * min(ratio, 1.0), chances * min(1 / ratio, 1.0))
        return (self.generator.random(len(chances)) < chances).astype(np.float64)

    def _plain(self, new: Floats, old: Floats) -> bool:
        logs, influences = [], []
        for values in (new, old):
            parts = [np.where(np.isnan(values) | (self.first != of), np.nan, values) for of in (True, False)]
            means = [float(part[~np.isnan(part)].mean()) for part in parts]
            logs.append(math.log(means[0] / means[1]))
            own = [
                np.bincount(self.item, np.nan_to_num(part - mean), minlength=self.cell.items)
                / (mean * np.count_nonzero(~np.isnan(part)))
                for part, mean in zip(parts, means, strict=True)
            ]
            influences.append(own[0] - own[1])
        signs = [math.copysign(1.0, value) for value in logs]
        error = math.sqrt(float(np.square(signs[0] * influences[0] - signs[1] * influences[1]).sum()))
        return abs(logs[0]) - abs(logs[1]) + 1.96 * error < math.log(MARGIN)


def lines(runs: int, seed: int) -> Iterator[str]:
    """Yield one line a cell."""
    false: dict[str, list[float]] = {"passes": [], "fails": []}
    for cell in cells():
        simulation = Simulation(cell, seed)
        count = dict.fromkeys(Decision, 0)
        plain = covered = 0
        for _ in range(runs):
            estimate, passed = simulation.further()
            count[estimate.decision("<=", MARGIN)] += 1
            covered += estimate.low <= cell.truth <= estimate.high
            plain += passed
        passes, fails = count[Decision.TRUE] / runs, count[Decision.FALSE] / runs
        if math.isclose(cell.truth, MARGIN) and not cell.refused:
            false["passes"].append(passes)
            false["fails"].append(fails)
        rates = f"passes {passes:.3f} fails {fails:.3f} covered {covered / runs:.3f}"
        yield f"{cell.label} | {rates} | plain {plain / runs:.3f}"
    for what, shares in false.items():
        yield f"falsely {what} on the margin: mean {np.mean(shares):.4f} max {max(shares):.3f} of {len(shares)} cells"


def cells() -> Iterator[Cell]:
    """Yield cells on the margin from both sides; then no change, half the way, and refusals that hide a change."""
    for items in (100, 400, 2000):
        for old in (1.0, 0.97, 0.9, 0.7):
            for new in (old / MARGIN, MARGIN / old):
                yield Cell(items, old, new)
    for items in (400, 2000):
        for old in (1.0, 0.9, 0.7):
            yield Cell(items, old, old)
        yield Cell(items, 0.8, 0.64)
    for refused in (0.05, 0.1):
        yield Cell(400, 0.9, 0.9 / MARGIN, refused=refused)


if __name__ == "__main__":
    main(__doc__, lines)
