"""Error rates and savings of interim looks.

    python tests/benchmarks/sequential.py --cells errors,families --runs 2000
    python tests/benchmarks/sequential.py --cells calls --looks 5 --runs 2000

Samples as in coverage.py: paired items of 5 repetitions, base rate 0.5, a beta distributed
propensity with an intraclass correlation (ICC) of 0.2. Items are added in equal steps; at
each look the public `Measured` gives its estimate at that look's confidence, and the first
fair or unfair verdict ends the run. Beside it, for a ratio, on the same samples, stand looks
that each take the plain 95%. Seeded: the same numbers on each run.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.sequential import Spending, look_tails
from tests.benchmarks.samples import verdict_of

BOUNDS = (0.8, 1.2)
TAIL = 0.025
REPETITIONS = 5
SIZE = (1 - 0.2) / 0.2
"""Sum of the beta distribution's parameters: an ICC of 0.2."""
POWER = 0.9

Floats = npt.NDArray[np.float64]
Tails = Sequence[tuple[float, float]]
"""Tails of each look: of the interval that calls it fair, and of a claim of unfairness."""
Verdict = Callable[[Measured, float], str]
"""Function of a sample and the tail of a claim of unfairness."""
FIXED: Tails = [(TAIL, TAIL)]
"""One look."""
Measurer = Callable[[int, float], Measured]
"""Function of a number of items and a tail that gives the sample of the first so many."""


@dataclass(frozen=True)
class Cell:
    """One design; the rate of each group over the base rate is the truth."""

    items: int
    rates: tuple[float, ...]
    refused: float = 0.0
    """The share of negatives that is refused, of the group with the lowest rate."""
    paired: bool = True
    """Whether each item holds all groups; if not, each group has as many items of its own."""

    @property
    def label(self) -> str:
        rates = "/".join(f"{rate:.4g}" for rate in self.rates)
        design = "items" if self.paired else "unpaired items"
        return f"{design} {self.items:4d} groups at {rates}" + (f" refused {self.refused:.0%}" if self.refused else "")


class Simulation:
    """Simulation of samples of one cell, look by look."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.generator = np.random.default_rng(zlib.crc32(cell.label.encode()))
        self.groups = len(cell.rates)
        self.lowest = int(np.argmin(cell.rates))
        self._columns: dict[int, Columns] = {}

    def drawn(self) -> Measurer:
        """Draw the next sample."""
        cell = self.cell
        own = (cell.items, 1 if cell.paired else self.groups, 1)
        chances = self.generator.beta(SIZE / 2, SIZE / 2, own) * np.array(cell.rates)[:, np.newaxis]
        shape = (cell.items, self.groups, REPETITIONS)
        values = (self.generator.random(shape) < chances).astype(np.float64)
        lowest = values[:, self.lowest]
        lowest[(lowest == 0) & (self.generator.random(lowest.shape) < cell.refused)] = np.nan

        def measured(items: int, tail: float) -> Measured:
            columns = self._first(items).regraded({"yes": values[:items].ravel()})
            return Measured.from_columns(columns, confidence=1 - 2 * tail)

        return measured

    def _first(self, items: int) -> Columns:
        if items not in self._columns:
            item = np.repeat(np.arange(items), self.groups * REPETITIONS)
            group = np.tile(np.repeat(np.arange(self.groups), REPETITIONS), items)
            if not self.cell.paired:
                item = item * self.groups + group
            self._columns[items] = Columns.from_arrays(
                item.tolist(), {"yes": np.zeros(len(item))}, {"group": [f"g{number}" for number in group.tolist()]}
            )
        return self._columns[items]


def spent(looks: int) -> Tails:
    """Return the tails of so many equal looks."""
    fair, unfair = (look_tails(range(1, looks + 1), TAIL, spending) for spending in (Spending.LATE, Spending.EVEN))
    return list(zip(fair, unfair, strict=True))


def looked(measured: Measurer, items: int, tails: Tails, verdict: Verdict) -> tuple[str, int]:
    """Return the first verdict that is fair or unfair, or the last one; and the items it took."""
    call = "undecided"
    for look, (tail, strict) in enumerate(tails, start=1):
        taken = math.ceil(items * look / len(tails))
        call = verdict(measured(taken, tail), strict)
        if call in ("fair", "unfair"):
            return call, taken
    return call, items


def of_ratio(measured: Measured, strict: float) -> str:
    """Judge ``0.8 <= ratio <= 1.2``."""
    return verdict_of(measured.ratio("yes", by="group", of="g0", to="g1").at_look(strict), BOUNDS)


def of_family(measured: Measured, strict: float) -> str:
    """Judge ``ratios >= 0.8``: all pairs, smaller over larger."""
    members = measured.ratios("yes", by="group").items()
    return verdict_of(EstimateFamily({name: member.at_look(strict) for name, member in members}), BOUNDS[:1])


def error_cells(runs: int, looks: int) -> Iterator[str]:
    """Yield error rates of a ratio on either bound, where fair is false, and of one just inside."""
    for items in (50, 120, 300):
        for ratio in BOUNDS:
            # A rate of 1.2 times a propensity could exceed 1: the other group has less instead.
            rates = (ratio, 1.0) if ratio < 1 else (1.0, 1 / ratio)
            for refused in (0.0, 0.1):
                yield _errors(
                    Cell(items, rates, refused),
                    of_ratio,
                    {"spent": spent(looks), "plain": [(TAIL, TAIL)] * looks},
                    runs,
                )


def family_cells(runs: int, looks: int) -> Iterator[str]:
    """Yield error rates of families on their bound: of one pair, where fair is easiest; of all, where unfair is."""
    for number in (5, 10):
        spread = tuple(float(rate) for rate in np.linspace(0.8, 1.0, number))
        for rates in (spread, (0.8, *(1.0,) * (number - 1))):
            for refused in (0.0, 0.1):
                yield _errors(Cell(120, rates, refused), of_family, {"spent": spent(looks)}, runs)


def _errors(cell: Cell, verdict: Verdict, looks: Mapping[str, Tails], runs: int) -> str:
    simulation = Simulation(cell)
    counts = {name: {"fair": 0, "unfair": 0} for name in looks}
    ungraded = 0.0
    for _ in range(runs):
        measured = simulation.drawn()
        for name, tails in looks.items():
            call, _ = looked(measured, cell.items, tails, verdict)
            if call in counts[name]:
                counts[name][call] += 1
        if cell.refused:
            rate = measured(cell.items, TAIL).where(group=f"g{simulation.lowest}").rate("yes")
            ungraded += rate.ungraded["all"] / rate.attempts / runs
    shares = " | ".join(
        f"{name}: false fair {count['fair'] / runs:.4f} false unfair {count['unfair'] / runs:.4f}"
        for name, count in counts.items()
    )
    lost = f" ({ungraded:.1%} of the attempts)" if cell.refused else ""
    return f"{cell.label}{lost} | {shares}"


def call_cells(runs: int, looks: int) -> Iterator[str]:
    """Yield the calls to a verdict against a fixed sample of equal power."""
    for paired in (True, False):
        yield "paired items" if paired else "unpaired items, so many a group"
        yield from _saved(paired, runs, spent(looks))


def _saved(paired: bool, runs: int, spent: Tails) -> Iterator[str]:
    parity, gap = (Cell(0, rates, paired=paired) for rates in ((1.0, 1.0), (0.6, 1.0)))
    sizes = {}
    for cell, wanted, guess in ((parity, "fair", 120), (gap, "unfair", 60)):
        for name, tails in (("fixed", FIXED), ("looks", spent)):
            items = sizes[cell, name] = _items_for_power(cell, tails, wanted, guess, runs)
            yield f"{POWER:.0%} {wanted} at {cell.rates[0]}, {name}: {items} items, {_calls(items)} calls"
    for cell, wanted, planned, text in (
        (parity, "fair", parity, "both planned for 1.0"),
        (gap, "unfair", parity, "both planned for 1.0"),
        (gap, "unfair", gap, "both planned for 0.6"),
    ):
        fixed, most = sizes[planned, "fixed"], sizes[planned, "looks"]
        power, mean = _played(replace(cell, items=most), spent, wanted, runs)
        alone, _ = _played(replace(cell, items=fixed), FIXED, wanted, runs)
        error = mean[1] / fixed
        yield (
            f"at {cell.rates[0]}, {text}: {_calls(mean[0]):.0f} calls on average, at most {_calls(most)}, against "
            f"{_calls(fixed)}: {mean[0] / fixed:.3f} (+- {1.96 * error:.3f}); "
            f"{wanted} {power:.3f} against {alone:.3f}"
        )


def _calls(items: float) -> float:
    return items * 2 * REPETITIONS


def _played(cell: Cell, tails: Tails, wanted: str, runs: int) -> tuple[float, tuple[float, float]]:
    """Return the rate of the wanted verdict, and the mean of the items it takes with its standard error."""
    simulation = Simulation(cell)
    played = [looked(simulation.drawn(), cell.items, tails, of_ratio) for _ in range(runs)]
    taken = np.array([items for _, items in played], dtype=np.float64)
    power = sum(call == wanted for call, _ in played) / runs
    return power, (float(taken.mean()), float(taken.std() / math.sqrt(runs)))


def _items_for_power(cell: Cell, tails: Tails, wanted: str, guess: int, runs: int) -> int:
    """Fit a line through probits over the root of the items, around a first guess that is moved once."""
    for spread, share in ((0.35, 0.25), (0.15, 1.0)):
        items = np.unique(np.round(guess * np.linspace(1 - spread, 1 + spread, 6)).astype(int))
        simulations = max(200, round(runs * share))
        powers = [_played(replace(cell, items=int(size)), tails, wanted, simulations)[0] for size in items]
        probits = [NormalDist().inv_cdf(min(max(power, 1 / simulations), 1 - 1 / simulations)) for power in powers]
        slope, offset = np.polyfit(np.sqrt(items), probits, 1)
        guess = math.ceil(((NormalDist().inv_cdf(POWER) - offset) / slope) ** 2)
    return guess


CELLS = {"errors": error_cells, "families": family_cells, "calls": call_cells}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default=",".join(CELLS), help=f"of {', '.join(CELLS)} (default: all)")
    parser.add_argument("--runs", type=int, default=2000, help="samples a cell (default: 2000)")
    parser.add_argument("--looks", type=int, default=8, help="at a sample, in equal steps (default: 8)")
    arguments = parser.parse_args()
    tails = ", ".join(f"{fair:.4f}/{unfair:.4f}" for fair, unfair in spent(arguments.looks))
    print(f"{arguments.looks} looks, tails of fair/unfair {tails}; plain: {TAIL} each")
    for name in arguments.cells.split(","):
        start = time.perf_counter()
        print(f"== {name}, {arguments.runs} runs a cell")
        for line in CELLS[name](arguments.runs, arguments.looks):
            print(line, flush=True)
        print(f"== {name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
