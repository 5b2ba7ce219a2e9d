"""Labels drawn by the doubt of three judges, against labels drawn with equal probabilities, as many of each.

    python tests/benchmarks/doubtful_labels.py --runs 1000

The designs are those of calibration.py; each answer is graded by the majority of three judges with the cell's errors.
``clear`` is the part of the answers on which the judges hardly err (a tenth as often). Doubt is `judges`, `noise` (that
of other answers) or `opposite` (most where the judges agree). `labels, ratio` is how many labels by doubt, with every
judge's grade as a predictor, take from a corrected rate as much of its error as one that is drawn with equal chances
and corrects by the majority alone: the ratio of the parts of its variance that labels make. Intervals of women's rate,
of men's and of the ratio. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.attempts import Grade
from pytest_fairness.report.exports.labels import priority_draw, sizes_by_doubt
from tests.benchmarks.calibration import GROUPS, RATIO, Cell, Design, LabeledSample, estimates, holds

JUDGES = 3
DOUBTS = ("judges", "noise", "opposite")


class Panel(Design):
    """A design with three judges."""

    def __init__(self, cell: Cell, clear: float, doubt: str = "judges") -> None:
        super().__init__(cell)
        self._clear, self._doubt = clear, doubt
        graded = [
            {"harmful": Grade(votes * 2 > JUDGES)}
            | {f"assessment by {judge}": Grade({"harmful": judge < votes}) for judge in range(JUDGES)}
            for votes in range(JUDGES + 1)
        ]
        # Every attempt as often as there are numbers of votes for it.
        self._voted = [[replace(attempt, grades=of) for of in graded] for attempt in self._graded[0]]

    def both(self, generator: np.random.Generator) -> tuple[LabeledSample, LabeledSample]:
        """Return a run with labels drawn with equal probabilities, and the same run with labels drawn by doubt."""
        cell = self.cell
        shape = cell.items, len(GROUPS), cell.repetitions
        rates = np.array([cell.base * RATIO, cell.base])[None, :, None]
        truth = generator.random(shape) < rates * generator.beta(3, 3, cell.items)[:, None, None] / 0.5
        errs = np.where(truth, 1 - cell.sensitivity, 1 - cell.specificity)
        clear = generator.random(shape) < self._clear
        errs = np.where(clear, errs / 10, np.minimum(errs * (1 - 0.1 * self._clear) / (1 - self._clear), 0.5))
        votes: Any = sum((truth ^ (generator.random(shape) < errs)).astype(int) for _ in range(JUDGES))
        share = votes / JUDGES
        doubts = share * (1 - share)
        if self._doubt == "noise":
            doubts = generator.permutation(doubts.ravel()).reshape(shape)
        elif self._doubt == "opposite":
            doubts = doubts.max() - doubts
        alone, panel = copy(self._columns), copy(self._columns)
        alone.attempts = [self._graded[int(vote * 2 <= JUDGES)][number] for number, vote in enumerate(votes.flat)]
        panel.attempts = [attempt[vote] for attempt, vote in zip(self._voted, votes.flat, strict=True)]
        seed = int(generator.integers(2**32))
        labels = [list(self._labels(truth, doubts, seed, by_doubt=by_doubt)) for by_doubt in (False, True)]
        return LabeledSample(truth, alone, labels[0]), LabeledSample(truth, panel, labels[1])

    def _labels(self, truth: Any, doubts: Any, seed: int, *, by_doubt: bool) -> Iterator[Mapping[str, Any]]:
        flat, places = truth.reshape(-1), np.arange(truth.size).reshape(truth.shape)
        for number, group in enumerate(GROUPS):
            own = places[:, number].reshape(-1)
            sizes = sizes_by_doubt(doubts.reshape(-1)[own].tolist()) if by_doubt else [1.0] * len(own)
            for index, probability in priority_draw(sizes, self.cell.labels, random.Random(seed + number)):
                row_number = int(own[index])
                label = {"grade": "harmful", "key": f"row {row_number}", "value": bool(flat[row_number])}
                yield label | {"group": {"gender": group}} | ({"probability": probability} if by_doubt else {})


def row(cell: Cell, clear: float, doubt: str, runs: int, seed: int) -> str:
    """Return one line of the table."""
    generator, design = np.random.default_rng([seed, *str(cell).encode()]), Panel(cell, clear, doubt)
    truths = [cell.base * RATIO, cell.base, RATIO]
    added: list[list[float]] = [[], []]
    spreads: list[list[float]] = [[], []]
    fair, invalid, covers = np.zeros(2), np.zeros(2), np.zeros((2, 3))
    for _ in range(runs):
        for kind, drawn in enumerate(design.both(generator)):
            measured = drawn.measured()
            women, _, ratio = estimates(measured)
            triple = women, measured.where(gender="male").rate("harmful"), ratio
            fair[kind] += holds(ratio, RATIO)
            invalid[kind] += any(bool(one.invalid) for one in triple)
            covers[kind] += [
                bool(one.invalid) or one.low <= t <= one.high for one, t in zip(triple, truths, strict=True)
            ]
            if not any(one.invalid for one in triple):
                added[kind].append(women.error**2 * (women.label_share or 0.0))
                spreads[kind].append(ratio.high - ratio.low)
    labels, width = (np.mean(of[1]) / np.mean(of[0]) if min(map(len, of)) else np.nan for of in (added, spreads))
    cells = [f"{fair[kind] / runs:.1%} | {' / '.join(f'{one:.1%}' for one in covers[kind] / runs)}" for kind in (0, 1)]
    return (
        f"| {cell.base} | {cell.sensitivity} / {cell.specificity} | {clear} | {doubt} | {cell.labels} | "
        f"{labels:.2f} | {width:.2f} | {cells[0]} | {cells[1]} | {invalid[0] / runs:.1%} / {invalid[1] / runs:.1%} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--doubts", nargs="+", default=DOUBTS[:1], choices=DOUBTS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        "| base | judge | clear | doubt | labels | labels, ratio | width, ratio | false fair | covers | "
        "by doubt: false fair | covers | invalid |"
    )
    print("|---" * 12 + "|")
    middle = Cell(items=400, labels=200)
    for cell, clear in (
        (middle, 0.0),
        (middle, 0.8),
        (replace(middle, sensitivity=0.7, specificity=0.85), 0.0),
        (replace(middle, sensitivity=0.7, specificity=0.85), 0.6),
        (replace(middle, base=0.5, sensitivity=0.7, specificity=0.85), 0.6),
        (replace(middle, labels=130), 0.0),
    ):
        for doubt in options.doubts:
            print(row(cell, clear, doubt, options.runs, options.seed), flush=True)


if __name__ == "__main__":
    main()
