"""How often intervals hold the truth, and how often verdicts at the bounds are false.

    python tests/benchmarks/coverage.py --cells coverage --runs 1000
    python tests/benchmarks/coverage.py --cells verdicts,refusals,crossed,rates,metrics --runs 2000

Every cell simulates samples of one design, asks the public `Measured` for its estimate and
counts. Beside it stand the usual ways: Katz's interval, which takes all attempts for
independent, and the percentile bootstrap of items. Seeded: the same numbers on each run.

Outcomes: an item's propensity is beta distributed with the base rate as its mean and the
intraclass correlation (ICC) as its spread; group ``a`` has it times the true ratio. Paired
items hold both groups ("half": they share half of their propensity), unpaired ones one.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.comparisons import Decision
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Floats = npt.NDArray[np.float64]
BOUNDS = (0.8, 1.2)


@dataclass(frozen=True)
class Cell:
    """One design, and the truth behind it."""

    items: int = 100
    repetitions: int = 5
    icc: float = 0.2
    base: float = 0.5
    design: str = "paired"
    ratio: float = 1.0
    refused: float = 0.0
    """The share of group a's negatives that is refused."""
    names: int = 0
    """Names per group that recur over all items; 0 for none."""
    each: int = 0
    """Names per group that each item is asked with; 0 for all."""
    name_effect: float = 0.0
    """Standard deviation of a name's effect, on the logit."""

    @property
    def label(self) -> str:
        text = (
            f"{self.design:8s} items {self.items:4d} reps {self.repetitions:2d} icc {self.icc:.2f} base {self.base:.2f}"
        )
        if self.names:
            text += f" names {self.names} ({self.each or self.names} an item) effect {self.name_effect:.1f}"
        return text + f" ratio {self.ratio:.2f}" + (f" refused {self.refused:.0%}" if self.refused else "")


class Simulation:
    """Draws samples of one cell; the columns that do not change are made once."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.generator = np.random.default_rng(zlib.crc32(cell.label.encode()))
        self.item, self.group, self.name = self._layout()
        attributes: dict[str, list[str]] = {"group": ["ab"[code] for code in self.group]}
        if cell.names:
            attributes["name"] = [f"{'ab'[g]}{n}" for g, n in zip(self.group, self.name, strict=True)]
        empty = np.zeros(len(self.item))
        crossed = "name" if cell.names else None
        self.columns = Columns.from_arrays(self.item.tolist(), {"yes": empty}, attributes, crossed=crossed)

    def _layout(self) -> tuple[npt.NDArray[np.int64], ...]:
        cell = self.cell
        if cell.names:
            each = cell.each or cell.names
            rows = [
                (item, group, name)
                for item in range(cell.items)
                for group in (0, 1)
                for name in self.generator.permutation(cell.names)[:each].tolist()
                for _ in range(cell.repetitions)
            ]
        elif cell.design == "unpaired":
            rows = [(item, item % 2, 0) for item in range(2 * cell.items) for _ in range(cell.repetitions)]
        else:
            rows = [(item, group, 0) for item in range(cell.items) for group in (0, 1) for _ in range(cell.repetitions)]
        item, group, name = np.array(rows, dtype=np.int64).T
        return item, group, name

    def outcomes(self) -> Floats:
        cell, generator = self.cell, self.generator
        number = int(self.item.max()) + 1
        shared = self._propensities(number)
        chances = shared[self.item]
        if cell.design == "half":
            own = np.column_stack([self._propensities(number), self._propensities(number)])
            chances = np.where(generator.random((number, 2)) < 0.5, shared[:, None], own)[self.item, self.group]
        if cell.names:
            effects = generator.normal(0, cell.name_effect, (2, cell.names))
            clipped = np.clip(chances, 1e-6, 1 - 1e-6)
            logit = np.log(clipped / (1 - clipped)) + effects[self.group, self.name]
            chances = 1 / (1 + np.exp(-logit))
        chances = np.where(self.group == 0, chances * cell.ratio, chances)
        values = (generator.random(len(chances)) < chances).astype(np.float64)
        if cell.refused:
            lost = (self.group == 0) & (values == 0) & (generator.random(len(values)) < cell.refused)
            values[lost] = np.nan
        return values

    def measured(self, values: Floats) -> Measured:
        return Measured.from_columns(self.columns.regraded({"yes": values}))

    def _propensities(self, number: int) -> Floats:
        cell = self.cell
        if cell.icc == 0:
            return np.full(number, cell.base)
        size = (1 - cell.icc) / cell.icc
        return self.generator.beta(cell.base * size, (1 - cell.base) * size, number)


def katz(values: Floats, group: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Katz et al. 1978: the log ratio's delta method with all attempts independent."""
    yes = [np.nansum(values[group == code]) for code in (0, 1)]
    made = [np.count_nonzero(~np.isnan(values[group == code])) for code in (0, 1)]
    if not all(yes):
        return math.nan, math.nan
    error = math.sqrt(sum(1 / y - 1 / n for y, n in zip(yes, made, strict=True)))
    ratio = yes[0] / made[0] / (yes[1] / made[1])
    return ratio * math.exp(-1.96 * error), ratio * math.exp(1.96 * error)


def bootstrap(simulation: Simulation, values: Floats, draws: int = 400) -> tuple[float, float]:
    """The percentile bootstrap of items."""
    number = int(simulation.item.max()) + 1
    key = simulation.item * 2 + simulation.group
    graded = ~np.isnan(values)
    yes = np.bincount(key[graded], weights=values[graded], minlength=2 * number).reshape(-1, 2)
    made = np.bincount(key[graded], minlength=2 * number).reshape(-1, 2)
    weights = simulation.generator.multinomial(number, np.full(number, 1 / number), draws)
    with np.errstate(all="ignore"):
        rates = (weights @ yes) / (weights @ made)
        ratios = rates[:, 0] / rates[:, 1]
    if np.isnan(ratios).all():
        return math.nan, math.nan
    low, high = np.nanpercentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def verdict(estimate: Estimate, bounds: tuple[float, float] = BOUNDS) -> str:
    """What ``low <= estimate <= high`` comes to."""
    decisions = {estimate._decision(">=", bounds[0]), estimate._decision("<=", bounds[1])}
    for decision, word in (
        (Decision.FALSE, "unfair"),
        (Decision.INVALID, "invalid"),
        (Decision.UNDECIDED, "undecided"),
    ):
        if decision in decisions:
            return word
    return "fair"


def effective_counts(cell: Cell) -> float:
    """The expected effective events or others of the scarcer group (n r p / (1 + (r - 1) ICC))."""
    attempts = cell.items * cell.repetitions / (1 + (cell.repetitions - 1) * cell.icc)
    rate = cell.base * cell.ratio
    return attempts * min(rate, 1 - cell.base, cell.base)


def coverage_cells(runs: int, every: int) -> Iterator[str]:
    """Coverage of the ratio and the difference over the grid."""
    grid = [
        Cell(items, repetitions, icc, base, design, ratio)
        for design, items, repetitions, icc, base, ratio in itertools.product(
            ("paired", "half", "unpaired"),
            (20, 50, 100, 500),
            (1, 3, 10),
            (0.0, 0.3, 0.8),
            (0.05, 0.2, 0.5, 0.9, 0.95),
            (1.0, 0.8),
        )
        if repetitions > 1 or icc == 0.3
    ]
    kept: list[tuple[float, float, float]] = []
    for cell in grid[::every]:
        line, ratio_cover, difference_cover = _covered(cell, runs)
        if not math.isnan(ratio_cover):
            kept.append((effective_counts(cell), ratio_cover, difference_cover))
        yield line
    for name, column in (("ratio", 1), ("difference", 2)):
        for text, wanted in (("effective counts >= 5", True), ("below", False)):
            cover = np.array([row[column] for row in kept if (row[0] >= 5) == wanted])
            if len(cover):
                inside = np.mean((cover >= 0.935) & (cover <= 0.975))
                yield (
                    f"{name:10s} {text:22s} {len(cover):4d} cells: min {cover.min():.3f} mean {cover.mean():.3f} "
                    f"max {cover.max():.3f}; 93.5 to 97.5%: {inside:.0%}; under 92.2%: {np.mean(cover < 0.922):.1%}"
                )


def _covered(cell: Cell, runs: int) -> tuple[str, float, float]:
    simulation = Simulation(cell)
    gap = cell.base * (cell.ratio - 1)
    hits = dict.fromkeys(("ratio", "difference", "katz", "bootstrap"), 0.0)
    made = dict.fromkeys(hits, 0)
    for number in range(runs):
        values = simulation.outcomes()
        measured = simulation.measured(values)
        ratio = measured.ratio("yes", by="group", of="a", to="b")
        difference = measured.difference("yes", by="group", of="a", to="b")
        found = {
            "difference": (difference.low, difference.high, gap),
            "katz": (*katz(values, simulation.group), cell.ratio),
        }
        if not ratio.invalid:
            found["ratio"] = (ratio.low, ratio.high, cell.ratio)
        if number % 4 == 0:
            found["bootstrap"] = (*bootstrap(simulation, values), cell.ratio)
        for name, (low, high, truth) in found.items():
            made[name] += 1
            hits[name] += low - 1e-12 <= truth <= high + 1e-12
    cover = {name: hits[name] / made[name] if made[name] >= runs / 20 else math.nan for name in hits}
    line = f"{cell.label} counts {effective_counts(cell):6.1f} | " + " ".join(f"{k} {v:.3f}" for k, v in cover.items())
    return line, cover["ratio"], cover["difference"]


def verdict_cells(runs: int, every: int) -> Iterator[str]:
    """False verdicts on the bounds, and power at parity."""
    cells = [
        Cell(items, 5, icc, base, design, ratio)
        for design, items, icc, base, ratio in itertools.product(
            ("paired", "half", "unpaired"), (50, 100, 300), (0.0, 0.3, 0.8), (0.1, 0.5, 0.9), (0.8, 1.0)
        )
    ]
    # One answer an item, and both groups mostly get the same: few items differ.
    cells += [Cell(items, 1, 0.99, base, "paired", 0.8) for items in (50, 100, 300) for base in (0.1, 0.2, 0.5)]
    false: dict[str, list[float]] = {"fair": [], "unfair": []}
    for cell in cells[::every]:
        line = _verdicts(cell, runs)
        if cell.ratio == BOUNDS[0]:
            words = line.split()
            for name, shares in false.items():
                shares.append(float(words[words.index(name) + 1]))
        yield line
    for name, shares in false.items():
        yield f"false {name} at {BOUNDS[0]}: mean {np.mean(shares):.4f} max {max(shares):.3f} over {len(shares)} cells"


def refusal_cells(runs: int, every: int) -> Iterator[str]:
    """False verdicts where refusals hide the gap: 10% of one group's negatives are 6% of its attempts."""
    cells = [Cell(items, ratio=0.8, refused=refused) for items in (100, 300) for refused in (0.02, 0.1, 0.2)]
    cells += [Cell(100, ratio=1.0, refused=refused) for refused in (0.02, 0.04)]
    for cell in cells[::every]:
        yield _verdicts(cell, runs)


def crossed_cells(runs: int, every: int) -> Iterator[str]:
    """Names that recur over items, declared as crossed."""
    grid = list(itertools.product((50, 135), (5, 30), (1, 5), (0.0, 0.4), (1.0, 0.8)))
    for items, names, each, effect, ratio in grid[::every]:
        yield _verdicts(Cell(items, 2, 0.2, 0.5, "crossed", ratio, 0, names, each, effect), runs)


def _verdicts(cell: Cell, runs: int) -> str:
    simulation = Simulation(cell)
    count = dict.fromkeys(("fair", "unfair", "undecided", "invalid"), 0)
    naive = covered = 0
    for _ in range(runs):
        values = simulation.outcomes()
        estimate = simulation.measured(values).ratio("yes", by="group", of="a", to="b")
        count[verdict(estimate)] += 1
        covered += estimate.low - 1e-12 <= cell.ratio <= estimate.high + 1e-12
        naive += BOUNDS[0] <= estimate.value <= BOUNDS[1]
    shares = " ".join(f"{name} {number / runs:.3f}" for name, number in count.items())
    return f"{cell.label} | {shares} covered {covered / runs:.3f} | point alone fair {naive / runs:.3f}"


def rate_cells(runs: int, every: int) -> Iterator[str]:
    """Coverage of a rate."""
    grid = list(itertools.product((20, 50, 100, 300), (1, 5), (0.0, 0.3, 0.8), (0.01, 0.05, 0.2, 0.5)))
    for items, repetitions, icc, base in grid[::every]:
        simulation = Simulation(Cell(items, repetitions, icc, base))
        low = high = 0
        for _ in range(runs):
            estimate = simulation.measured(simulation.outcomes()).where(group="a").rate("yes")
            low += base < estimate.low
            high += base > estimate.high
        counts = effective_counts(simulation.cell)
        yield (
            f"rate {simulation.cell.label} counts {counts:6.1f} | covered {1 - (low + high) / runs:.3f} "
            f"misses below {low / runs:.3f} above {high / runs:.3f}"
        )


def family_cells(runs: int, every: int) -> Iterator[str]:
    """Families: five groups."""
    sets = ((0.5,) * 5, (0.5, 0.475, 0.45, 0.425, 0.4), (0.5, 0.5, 0.5, 0.5, 0.4))
    for items, rates in list(itertools.product((50, 150), sets))[::every]:
        yield _family(items, rates, runs)


def _family(items: int, rates: Sequence[float], runs: int) -> str:
    generator = np.random.default_rng(items)
    repetitions = 5
    item = np.repeat(np.arange(items), len(rates) * repetitions)
    code = np.tile(np.repeat(np.arange(len(rates)), repetitions), items)
    columns = Columns.from_arrays(item.tolist(), {"yes": np.zeros(len(item))}, {"group": [f"g{c}" for c in code]})
    truth = min(rates) / max(rates)
    fair = unfair = covered = 0
    for _ in range(runs):
        chance = generator.beta(2, 2, items)[item] * np.array(rates)[code] / 0.5
        values = (generator.random(len(item)) < chance).astype(np.float64)
        measured = Measured.from_columns(columns.regraded({"yes": values}))
        decision = measured.ratios("yes", by="group")._compare(">=", 0.8).decision
        worst = measured.worst_ratio("yes", by="group")
        fair += decision is Decision.TRUE
        unfair += decision is Decision.FALSE
        covered += worst.low <= truth <= worst.high
    text = "/".join(f"{rate / 0.5:g}" for rate in rates)
    shares = f"fair {fair / runs:.3f} unfair {unfair / runs:.3f} worst covered {covered / runs:.3f}"
    return f"groups at {text} items {items}: {shares}"


def metric_cells(runs: int, every: int) -> Iterator[str]:
    """Coverage of a metric of one's own: the bias score of BBQ, many answers stereotyped or next to none."""
    cells = list(itertools.product((30, 100, 300), (1, 6), (0.5, 0.05, 0.01), (0.5, 0.65)))
    for items, each, answered, biased in cells[::every]:
        yield _bias_score(items, each, answered, biased, runs)


def bias_score(s: Any) -> Any:
    """Parrish et al. 2022, for ambiguous contexts; 0 where every answer is correct."""
    answered = np.maximum(s.answered, 1e-300)
    return np.where(s.answered > 0, (2 * s.biased / answered - 1) * (1 - s.correct / s.asked), 0.0)


def _bias_score(items: int, each: int, answered: float, biased: float, runs: int) -> str:
    generator = np.random.default_rng(items * each)
    item = np.repeat(np.arange(items), each)
    columns = Columns.from_arrays(item.tolist(), {"asked": np.ones(len(item))}, {})
    truth = (2 * biased - 1) * answered
    low = high = invalid = 0
    for _ in range(runs):
        answers = generator.random(len(item)) < generator.beta(2 * answered, 2 * (1 - answered), items)[item]
        stereotyped = answers & (
            generator.random(len(item)) < generator.beta(2 * biased, 2 * (1 - biased), items)[item]
        )
        grades = {"answered": answers, "biased": stereotyped, "correct": ~answers, "asked": np.ones(len(item))}
        measured = Measured.from_columns(columns.regraded({name: each.astype(float) for name, each in grades.items()}))
        sums: dict[str, Any] = {name: name for name in grades}
        estimate = measured.metric(bias_score, **sums)
        invalid += bool(estimate.invalid)
        low += truth < estimate.low
        high += truth > estimate.high
    return (
        f"bias score items {items:3d} of {each} answered {answered:.2f} stereotyped {biased:.2f} | covered "
        f"{1 - (low + high + invalid) / runs:.3f} misses below {low / runs:.3f} above {high / runs:.3f} "
        f"invalid {invalid / runs:.3f}"
    )


CELLS = {
    "coverage": coverage_cells,
    "verdicts": verdict_cells,
    "refusals": refusal_cells,
    "crossed": crossed_cells,
    "rates": rate_cells,
    "families": family_cells,
    "metrics": metric_cells,
}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default=",".join(CELLS), help=f"of {', '.join(CELLS)} (default: all)")
    parser.add_argument("--runs", type=int, default=1000, help="samples a cell (default: 1000)")
    parser.add_argument("--every", type=int, default=1, help="take each n-th cell of the list only (default: 1)")
    arguments = parser.parse_args()
    for name in arguments.cells.split(","):
        start = time.perf_counter()
        print(f"== {name}, {arguments.runs} runs a cell")
        for line in CELLS[name](arguments.runs, arguments.every):
            print(line, flush=True)
        print(f"== {name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
