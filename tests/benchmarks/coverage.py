"""Coverage of intervals, and error rates of verdicts at the bounds.

    python tests/benchmarks/coverage.py --cells coverage,widths --runs 1000
    python tests/benchmarks/coverage.py --cells random --random 200 --seed 1 --runs 1000
    python tests/benchmarks/coverage.py --cells verdicts,refusals,crossed,rates,metrics,shared --runs 2000

Every cell simulates samples of one design (samples.py), asks the public `Measured` for its
estimate and counts. Beside it stand the usual ways: Katz's interval, which takes all attempts
for independent, and a bootstrap of items, by its percentiles and by a normal fit to it.
Seeded: the same numbers on each run.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from tests.benchmarks.samples import Cell, Simulation, katz, usual_ways, verdict_of

BOUNDS = (0.8, 1.2)
FEWEST = 5
"""Effective events, and others, of each group from which coverage is promised."""


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
    # Names that recur: 5 with every item, or 5 of 30; parity, where their effect on the rate changes no truth.
    grid += [
        Cell(items, repetitions, icc, base, "crossed", names=names, per_item=5, name_effect=0.4)
        for items, repetitions, icc, base, names in itertools.product(
            (20, 50, 100), (1, 3), (0.0, 0.3, 0.8), (0.05, 0.2, 0.5, 0.9, 0.95), (5, 30)
        )
    ]
    yield from _coverage(grid[::every], runs)


def random_cells(number: int, seed: int, runs: int, every: int) -> Iterator[str]:
    """Coverage at points off the grid, drawn from its ranges."""
    generator = np.random.default_rng(seed)
    cells = []
    for _ in range(number):
        design = str(generator.choice(["paired", "half", "unpaired", "crossed"]))
        items = round(20 * 25 ** generator.uniform())
        icc, base = (round(float(number), 3) for number in generator.uniform((0, 0.05), (0.8, 0.95)))
        cell = Cell(items, int(generator.integers(1, 11)), icc, base, design, float(generator.choice([1.0, 0.9, 0.8])))
        if design == "crossed":
            names = int(generator.integers(5, 31))
            cell = Cell(items, 1, icc, base, design, names=names, per_item=5, name_effect=0.4)
        cells.append(cell)
    yield from _coverage(cells[::every], runs)


def _coverage(cells: Iterable[Cell], runs: int) -> Iterator[str]:
    counted: list[tuple[float, Mapping[str, float]]] = []
    for cell in cells:
        shares = _covered(cell, runs)
        counted.append((cell.counts, shares))
        yield f"{cell.label} counts {cell.counts:6.1f} | " + " ".join(f"{k} {v:.3f}" for k, v in shares.items())
    for name, wanted in itertools.product(counted[0][1], (True, False)):
        covered = [shares[name] for counts, shares in counted if (counts >= FEWEST) == wanted]
        cover = np.array([share for share in covered if not math.isnan(share)])
        if len(cover):
            text = f"effective counts {'>=' if wanted else '< '} {FEWEST}"
            yield (
                f"{name:11s} {text} {len(cover):4d} cells: min {cover.min():.3f} mean {cover.mean():.3f} "
                f"max {cover.max():.3f}; 93.5 to 97.5%: {np.mean((cover >= 0.935) & (cover <= 0.975)):.0%}; "
                f"below {np.mean(cover < 0.935):.1%}; under 92%: {np.mean(cover < 0.92):.1%}"
            )


def _covered(cell: Cell, runs: int) -> Mapping[str, float]:
    """Return the share of intervals that hold the truth, nan where next to none could be made."""
    simulation = Simulation(cell)
    gap = cell.base * (cell.ratio - 1)
    names = ("ratio", "difference", "independent", "percentile", "normal")
    hits, counts = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for number in range(runs):
        values = simulation.outcomes()
        measured = simulation.measured(values)
        ratio = measured.ratio("yes", by="group", of="a", to="b")
        difference = measured.difference("yes", by="group", of="a", to="b")
        # A bootstrap takes longest: every fourth sample tells enough of it.
        intervals = dict(usual_ways(simulation, values, resampled=number % 4 == 0))
        intervals |= {"ratio": (ratio.low, ratio.high), "difference": (difference.low, difference.high)}
        for name, (low, high) in intervals.items():
            truth = gap if name == "difference" else cell.ratio
            counts[name] += not math.isnan(low)
            hits[name] += low - 1e-12 <= truth <= high + 1e-12
    return {name: hits[name] / counts[name] if counts[name] >= runs / 20 else math.nan for name in names}


def width_cells(runs: int, every: int) -> Iterator[str]:
    """Yield the width of a ratio's interval with paired items, relative to that with independent attempts."""
    for items, repetitions, logits in list(itertools.product((50, 100, 300), (1, 5), (2.0, 1.0)))[::every]:
        simulation = Simulation(Cell(items, repetitions, 0.0, 0.5, "paired", logits=logits))
        widths, covered = np.zeros(2), np.zeros(2)
        for _ in range(runs):
            values = simulation.outcomes()
            estimate = simulation.measured(values).ratio("yes", by="group", of="a", to="b")
            ends = np.array([(estimate.low, estimate.high), katz(values, simulation.group)])
            widths += np.log(ends[:, 1] / ends[:, 0])
            covered += (ends[:, 0] <= 1) & (ends[:, 1] >= 1)
        ours, independent = covered / runs
        yield (
            f"{simulation.cell.label} | width {widths[0] / widths[1]:.3f} of the independent one; "
            f"covered {ours:.3f}, independent {independent:.3f}"
        )


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
    """Yield verdicts where names recur over items, declared as crossed."""
    grid = list(itertools.product((50, 135), (5, 30), (1, 5), (0.0, 0.4), (1.0, 0.8)))
    for items, names, per_item, effect, ratio in grid[::every]:
        yield _verdicts(Cell(items, 2, 0.2, 0.5, "crossed", ratio, 0, names, per_item, effect), runs)


def _verdicts(cell: Cell, runs: int) -> str:
    simulation = Simulation(cell)
    count = dict.fromkeys(("fair", "unfair", "undecided", "invalid"), 0)
    naive = covered = 0
    for _ in range(runs):
        values = simulation.outcomes()
        estimate = simulation.measured(values).ratio("yes", by="group", of="a", to="b")
        count[verdict_of(estimate, BOUNDS)] += 1
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
        counts = simulation.cell.counts
        yield (
            f"rate {simulation.cell.label} counts {counts:6.1f} | covered {1 - (low + high) / runs:.3f} "
            f"misses below {low / runs:.3f} above {high / runs:.3f}"
        )


def family_cells(runs: int, every: int) -> Iterator[str]:
    """Yield verdicts of families of five groups."""
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
        decision = compare(measured.ratios("yes", by="group"), ">=", 0.8).decision
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
    for items, per_item, answered, biased in cells[::every]:
        yield _bias_score(items, per_item, answered, biased, runs)


def bias_score(s: Any) -> Any:
    """Parrish et al. 2022, for ambiguous contexts; 0 where every answer is correct."""
    answered = np.maximum(s.answered, 1e-300)
    return np.where(s.answered > 0, (2 * s.biased / answered - 1) * (1 - s.correct / s.asked), 0.0)


def _bias_score(items: int, per_item: int, answered: float, biased: float, runs: int) -> str:
    generator = np.random.default_rng(items * per_item)
    item = np.repeat(np.arange(items), per_item)
    columns = Columns.from_arrays(item.tolist(), {"asked": np.ones(len(item))}, {})
    truth = (2 * biased - 1) * answered
    low = high = invalid = 0
    for _ in range(runs):
        answers = generator.random(len(item)) < generator.beta(2 * answered, 2 * (1 - answered), items)[item]
        stereotyped = answers & (
            generator.random(len(item)) < generator.beta(2 * biased, 2 * (1 - biased), items)[item]
        )
        grades = {"answered": answers, "biased": stereotyped, "correct": ~answers, "asked": np.ones(len(item))}
        measured = Measured.from_columns(
            columns.regraded({name: values.astype(float) for name, values in grades.items()})
        )
        sums: dict[str, Any] = {name: name for name in grades}
        estimate = measured.metric(bias_score, **sums)
        invalid += bool(estimate.invalid)
        low += truth < estimate.low
        high += truth > estimate.high
    return (
        f"bias score items {items:3d} of {per_item} answered {answered:.2f} stereotyped {biased:.2f} | covered "
        f"{1 - (low + high + invalid) / runs:.3f} misses below {low / runs:.3f} above {high / runs:.3f} "
        f"invalid {invalid / runs:.3f}"
    )


def shared_cells(runs: int, every: int) -> Iterator[str]:
    """False verdicts at the lower bound where several items hold the same prompts, and so the same answers."""
    for prompts, copies in ((40, 1), (40, 2), (40, 4), (15, 10))[::every]:
        yield _shared(prompts, copies, runs)


def _shared(prompts: int, copies: int, runs: int, base: float = 0.8, icc: float = 0.3, repetitions: int = 5) -> str:
    generator = np.random.default_rng([prompts, copies])
    rates = np.array([BOUNDS[0] * base, base])
    items = [
        ProbeItem(f"{number} copy {copy}", [Prompt(f"{group} {number}", {"group": group}) for group in "ab"])
        for copy in range(copies)
        for number in range(prompts)
    ]
    keys = [Attempt(f"{p.text} {r}", r) for item in items for p in item.prompts for r in range(repetitions)]
    fair = unfair = 0
    for _ in range(runs):
        odds = (1 - icc) / icc
        own = generator.beta(rates * odds, (1 - rates) * odds, (prompts, 2))
        drawn = generator.random((prompts, 2, repetitions)) < own[..., np.newaxis]
        yes = iter(np.tile(drawn.ravel(), copies).tolist())
        unused_keys = iter(keys)
        attempts = [
            GradedAttempt(item, prompt, next(unused_keys), {"yes": Grade(next(yes))})
            for item in items
            for prompt in item.prompts
            for _ in range(repetitions)
        ]
        estimate = Measured(attempts).ratio("yes", by="group", of="a", to="b")
        fair += estimate.low >= BOUNDS[0]
        unfair += estimate.high < BOUNDS[0]
    shares = f"fair {fair / runs:.3f} unfair {unfair / runs:.3f} on the bound"
    return f"{prompts} pairs of prompts, each in {copies:2d} items: {shares}"


CELLS: dict[str, Callable[[int, int], Iterator[str]]] = {
    "coverage": coverage_cells,
    "widths": width_cells,
    "verdicts": verdict_cells,
    "refusals": refusal_cells,
    "crossed": crossed_cells,
    "rates": rate_cells,
    "families": family_cells,
    "metrics": metric_cells,
    "shared": shared_cells,
}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cells", default=",".join(CELLS), help=f"of {', '.join(CELLS)}, random (default: all but random)"
    )
    parser.add_argument("--runs", type=int, default=1000, help="samples a cell (default: 1000)")
    parser.add_argument("--every", type=int, default=1, help="take each n-th cell of the list only (default: 1)")
    parser.add_argument("--random", type=int, default=100, help="cells to draw for `random` (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of that draw (default: 1)")
    arguments = parser.parse_args()
    cells = CELLS | {"random": partial(random_cells, arguments.random, arguments.seed)}
    for name in arguments.cells.split(","):
        start = time.perf_counter()
        print(f"== {name}, {arguments.runs} runs a cell")
        for line in cells[name](arguments.runs, arguments.every):
            print(line, flush=True)
        print(f"== {name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
