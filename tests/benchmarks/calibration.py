"""Corrected rates under a simulated judge of known error: how often intervals hold the truth, and verdicts err.

    python tests/benchmarks/calibration.py --runs 1000

Each cell draws runs in which every answer is harmful or not, a judge that errs, and labels: of the
run's own answers, or of other texts. Men's true rate is the base rate, women's 0.8 of it, so a
comparison `ratio >= 0.8` that holds is a false "fair". Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

GROUPS = ("female", "male")
RATIO = 0.8


@dataclass(frozen=True, slots=True)
class Cell:
    """One design: a run, its judge and its labels."""

    base: float = 0.3
    """Men's true rate."""
    sensitivity: float = 0.85
    specificity: float = 0.92
    items: int = 250
    repetitions: int = 2
    """Answers to each group's prompt of an item; those of an item are alike."""
    labels: int = 200
    """Labels of each group."""
    other_texts: bool = False
    gap: float = 0.0
    """Difference by which the judge's specificity is lower for women."""
    by_item: float = 0.0
    """Degree to which its errors lump together in items: 0 is not at all."""

    def __str__(self) -> str:
        kind = "elsewhere" if self.other_texts else "sampled"
        return (
            f"{kind:9} | {self.base:4} | {self.sensitivity:4} / {self.specificity:4} | "
            f"{self.items:3} x {self.repetitions:2} | {self.labels:3} | {self.gap:4} | {self.by_item:3}"
        )


@dataclass(frozen=True, slots=True)
class LabeledSample:
    """A run: truth and the judge's word by (item, group, repetition), its attempts and the labels."""

    truth: Any
    columns: Columns
    labels: Sequence[Mapping[str, Any]]

    def measured(self, *, corrected: bool = True) -> Measured:
        return Measured.from_columns(self.columns, calibration=self.labels if corrected else ())


class Design:
    """Items are made once, since runs differ in their answers only."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        prompts = [[Prompt(f"{n} {group}", {"gender": group}) for group in GROUPS] for n in range(cell.items)]
        items = [ProbeItem(f"item {n}", own) for n, own in enumerate(prompts)]
        keys = [Attempt(f"row {n}", n % cell.repetitions) for n in range(cell.items * 2 * cell.repetitions)]
        sent = [(item, prompt) for item in items for prompt in item.prompts for _ in range(cell.repetitions)]
        graded = {"harmful": Grade(True)}, {"harmful": Grade(False)}
        # Every attempt twice, as the judge may grade it; its columns once, as far as grades do not matter.
        self._graded = [
            [GradedAttempt(*of, key, grades) for of, key in zip(sent, keys, strict=True)] for grades in graded
        ]
        self._columns = Columns(self._graded[0])
        self._columns.attribute("gender")

    def draw(self, generator: np.random.Generator) -> LabeledSample:
        cell = self.cell
        shape = cell.items, len(GROUPS), cell.repetitions
        ease = generator.beta(3, 3, cell.items)[:, None, None] / 0.5
        rates = np.array([cell.base * RATIO, cell.base])[None, :, None]
        truth = generator.random(shape) < rates * ease
        judge = self._judged(generator, truth, self._lumps(generator, cell.items)[:, None, None])
        columns = copy(self._columns)
        columns.attempts = [
            (yes if harmful else no) for yes, no, harmful in zip(*self._graded, judge.flat, strict=True)
        ]
        labels = self._label_other_texts(generator) if cell.other_texts else list(self._sampled(generator, truth))
        return LabeledSample(truth, columns, labels)

    def _lumps(self, generator: np.random.Generator, number: int) -> Any:
        """Return by which factor the judge's errors are likelier in each item; 1 on average."""
        lump = self.cell.by_item
        return generator.gamma(1 / lump, lump, number) if lump else np.ones(number)

    def _judged(self, generator: np.random.Generator, truth: Any, lumps: Any) -> Any:
        gaps = np.array([self.cell.gap, 0.0])[None, :, None]
        errors = np.where(truth, 1 - self.cell.sensitivity, 1 - self.cell.specificity + gaps)
        return truth ^ (generator.random(truth.shape) < np.minimum(errors * lumps, 1.0))

    def _sampled(self, generator: np.random.Generator, truth: Any) -> Iterator[Mapping[str, Any]]:
        flat = truth.reshape(-1)
        places = np.arange(len(flat)).reshape(truth.shape)
        for number, group in enumerate(GROUPS):
            for index in generator.choice(places[:, number].reshape(-1), self.cell.labels, replace=False).tolist():
                yield {
                    "grade": "harmful",
                    "key": f"row {index}",
                    "value": bool(flat[index]),
                    "group": {"gender": group},
                }

    def _label_other_texts(self, generator: np.random.Generator) -> list[Mapping[str, Any]]:
        """Return labels of other texts, of which half are harmful."""
        truth = np.zeros((self.cell.labels, len(GROUPS), 1), dtype=bool)
        truth[::2] = True
        judge = self._judged(generator, truth, np.ones((self.cell.labels, 1, 1)))
        return [
            {
                "grade": "harmful",
                "judge": bool(judge[n, g, 0]),
                "label": bool(truth[n, g, 0]),
                "group": {"gender": group},
            }
            for g, group in enumerate(GROUPS)
            for n in range(self.cell.labels)
        ]


@dataclass(slots=True)
class Tally:
    """Counts over the runs of one cell."""

    runs: int = 0
    invalid: int = 0
    covers: Any = None
    raw_covers: Any = None
    fair: int = 0
    raw_fair: int = 0
    errors: Any = None
    alone: Any = None


def estimates(measured: Measured) -> list[Estimate]:
    women = measured.where(gender="female").rate("harmful")
    pair = {"by": "gender", "of": "female", "to": "male"}
    return [women, measured.difference("harmful", **pair), measured.ratio("harmful", **pair)]


def holds(estimate: Estimate, bound: float) -> bool:
    return compare(estimate, ">=", bound).decision is Decision.TRUE


def simulate(cell: Cell, runs: int, seed: int = 0) -> Tally:
    """Simulate runs of one cell."""
    generator = np.random.default_rng([seed, *str(cell).encode()])
    design = Design(cell)
    women = cell.base * RATIO
    truths = [women, women - cell.base, RATIO]
    tally = Tally(covers=np.zeros(3), raw_covers=np.zeros(3), errors=[], alone=[])
    for _ in range(runs):
        drawn = design.draw(generator)
        corrected, raw = estimates(drawn.measured()), estimates(drawn.measured(corrected=False))
        tally.runs += 1
        tally.raw_covers += [one.low <= truth <= one.high for one, truth in zip(raw, truths, strict=True)]
        tally.raw_fair += holds(raw[2], RATIO)
        tally.fair += holds(corrected[2], RATIO)
        # An estimate that is no number claims nothing: it counts as one that holds the truth, and as invalid.
        tally.covers += [
            bool(one.invalid) or one.low <= t <= one.high for one, t in zip(corrected, truths, strict=True)
        ]
        tally.invalid += any(one.invalid for one in corrected[1:])
        if not corrected[0].invalid:
            tally.errors.append(corrected[0].value - women)
        if not cell.other_texts:
            tally.alone.append(np.mean([label["value"] for label in drawn.labels[: cell.labels]]) - women)
    return tally


def cells() -> list[Cell]:
    """Return the grid of the table."""
    grid = []
    for other_texts in (False, True):
        middle = Cell(other_texts=other_texts)
        for base in (0.05, 0.15, 0.5):
            for sensitivity, specificity in ((0.95, 0.97), (0.7, 0.85)):
                grid.append(replace(middle, base=base, sensitivity=sensitivity, specificity=specificity))
        grid += [
            middle,
            replace(middle, items=50, repetitions=10),
            replace(middle, labels=100),
            replace(middle, gap=0.05),
            replace(middle, gap=0.25),
        ]
    return [*grid, Cell(by_item=1.0), Cell(by_item=1.0, items=50, repetitions=10)]


def line(cell: Cell, tally: Tally) -> str:
    def shares(counts: Any) -> str:
        return " / ".join(f"{count / tally.runs:6.1%}" for count in counts)

    errors = f"{np.std(tally.errors):.4f}" if tally.errors else "-"
    alone = f"{np.std(tally.alone):.4f}" if tally.alone else "-"
    return (
        f"| {cell} | {shares(tally.covers)} | {shares(tally.raw_covers)} | {tally.fair / tally.runs:5.1%} | "
        f"{tally.raw_fair / tally.runs:5.1%} | {tally.invalid / tally.runs:6.1%} | {errors} | {alone} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", metavar="FROM:TO", default=":", help="some of the cells, counted from 0")
    options = parser.parse_args()
    first, _, last = options.cells.partition(":")
    print(
        "| labels | base | sens / spec | items x rep | labels | gap | lumps | covers: rate / difference / ratio | "
        "uncorrected covers | false fair | uncorrected | invalid | error of the rate | of labels alone |"
    )
    print("|" + "---|" * 14)
    for cell in cells()[int(first or 0) : int(last) if last else None]:
        print(line(cell, simulate(cell, options.runs, options.seed)), flush=True)


if __name__ == "__main__":
    main()
