"""Simulated samples with a known truth, and the usual ways to make an interval of their ratio.

An item's propensity is beta distributed with the base rate as its mean and the intraclass
correlation (ICC) as its spread; group ``a`` has it times the true ratio. Paired items hold
both groups ("half": they share half of their propensity), unpaired ones one.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]
NONE = (math.nan, math.nan)
DRAWS = 400
"""Resamples of a bootstrap."""


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
    per_item: int = 0
    """Names per group that each item is asked with; 0 for all."""
    name_effect: float = 0.0
    """Standard deviation of a name's effect, on the logit."""
    logits: float = 0.0
    """Standard deviation of items on the logit, in place of the beta distribution; the base rate is then 0.5."""
    uneven: float = 0.0
    """The n-th name is asked with n to the minus this as often: 0 for all alike, 1 as Zipf has it."""

    @property
    def label(self) -> str:
        text = (
            f"{self.design:8s} items {self.items:4d} reps {self.repetitions:2d} icc {self.icc:.2f} base {self.base:.2f}"
        )
        if self.names:
            text += f" names {self.names} ({self.per_item or self.names} an item) effect {self.name_effect:.1f}"
        if self.uneven:
            text += f" uneven {self.uneven:g}"
        if self.logits:
            text += f" items differ by {self.logits:g} logits"
        return text + f" ratio {self.ratio:.2f}" + (f" refused {self.refused:.0%}" if self.refused else "")

    @property
    def counts(self) -> float:
        """The expected effective events or others of the scarcer group: n r p / (1 + (r - 1) ICC); names cost some."""
        rate = min(self.base * self.ratio, 1 - self.base)
        attempts = self.items * self.repetitions * (self.per_item or self.names or 1)
        shared = attempts / self.items - 1
        variance = (1 + shared * self.icc) / attempts
        if self.names:
            variance += self.base * (1 - self.base) * self.name_effect**2 / self.names
        return rate / variance


class Simulation:
    """Simulation of samples of one cell; the columns that do not change are made once."""

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
            per_item = cell.per_item or cell.names
            often = np.arange(1, cell.names + 1) ** -cell.uneven
            rows = [
                (item, group, name)
                for item in range(cell.items)
                for group in (0, 1)
                for name in self.generator.choice(cell.names, per_item, replace=False, p=often / often.sum()).tolist()
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
        if cell.logits:
            return 1 / (1 + np.exp(-self.generator.normal(0, cell.logits, number)))
        if cell.icc == 0:
            return np.full(number, cell.base)
        size = (1 - cell.icc) / cell.icc
        return self.generator.beta(cell.base * size, (1 - cell.base) * size, number)


def usual_ways(simulation: Simulation, values: Floats, *, resampled: bool) -> Mapping[str, Interval]:
    """Return the usual 95% intervals of the ratio, nan where one cannot be made; bootstraps only on request."""
    intervals = {"independent": katz(values, simulation.group)}
    if resampled:
        ratios = resamples(simulation, values)
        finite = ratios[np.isfinite(ratios)]
        enough = len(finite) >= DRAWS / 2
        intervals["percentile"] = tuple(np.percentile(finite, [2.5, 97.5])) if enough else NONE
        reach = 1.96 * float(finite.std()) if enough else math.nan
        intervals["normal"] = (float(finite.mean()) - reach, float(finite.mean()) + reach) if enough else NONE
    return intervals


def katz(values: Floats, group: npt.NDArray[np.int64]) -> Interval:
    """Return the interval of Katz et al. 1978: the log ratio's delta method with all attempts independent."""
    yes = [np.nansum(values[group == code]) for code in (0, 1)]
    totals = [np.count_nonzero(~np.isnan(values[group == code])) for code in (0, 1)]
    if not all(yes):
        return NONE
    error = math.sqrt(sum(1 / y - 1 / n for y, n in zip(yes, totals, strict=True)))
    ratio = yes[0] / totals[0] / (yes[1] / totals[1])
    return ratio * math.exp(-1.96 * error), ratio * math.exp(1.96 * error)


def resamples(simulation: Simulation, values: Floats) -> Floats:
    """Return the ratios of a bootstrap of items.

    Its percentiles, or a normal fit to it (GenderBench), make an interval.
    """
    number = int(simulation.item.max()) + 1
    key = simulation.item * 2 + simulation.group
    graded = ~np.isnan(values)
    yes = np.bincount(key[graded], weights=values[graded], minlength=2 * number).reshape(-1, 2)
    totals = np.bincount(key[graded], minlength=2 * number).reshape(-1, 2)
    weights = simulation.generator.multinomial(number, np.full(number, 1 / number), DRAWS)
    with np.errstate(all="ignore"):
        rates = (weights @ yes) / (weights @ totals)
        ratios: Floats = rates[:, 0] / rates[:, 1]
    return ratios


def verdict_of(estimate: Estimate | EstimateFamily, bounds: Sequence[float]) -> str:
    """Return the verdict on ``low <= estimate <= high``, or ``low <= estimate`` where there is one bound."""
    decisions = {compare(estimate, op, bound).decision for op, bound in zip((">=", "<="), bounds, strict=False)}
    for decision, word in (
        (Decision.FALSE, "unfair"),
        (Decision.INVALID, "invalid"),
        (Decision.UNDECIDED, "undecided"),
    ):
        if decision in decisions:
            return word
    return "fair"
