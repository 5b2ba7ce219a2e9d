"""Judges that grade some answers twice: how often one by chance is found out, and an honest one taken for it.

    python tests/benchmarks/judge_consistency.py --runs 1000

Each run draws the true grades of some answers and two gradings of each. An honest judge errs independently in both, and
then gives a grade at random. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from pytest_fairness.plugin.samples.judges import find_consistency


@dataclass(frozen=True, slots=True)
class Cell:
    """One judge, and the answers that it grades."""

    name: str
    rates: tuple[float, ...]
    """The share of each true grade."""
    errors: float
    """The share of grades that are drawn evenly, whatever the answer is; 1 for a judge by chance."""
    by_order: bool = False
    """Whether the first grade of the list is given instead."""

    def is_found_out(self, random: np.random.Generator, answers: int) -> tuple[bool, float]:
        """Return whether the judge of one run is taken for one by chance, and its agreement."""
        grades = np.arange(len(self.rates))
        truth = random.choice(grades, size=answers, p=self.rates)
        pairs = np.stack([truth, truth])
        drawn = random.choice(grades, size=pairs.shape)
        pairs = np.where(random.random(pairs.shape) < self.errors, drawn, pairs)
        if self.by_order:
            pairs[0], pairs[1] = grades[0], grades[-1]
        values: dict[Hashable, list[tuple[int, int]]] = {
            number: [(first, second)] for number, (first, second) in enumerate(pairs.T.tolist())
        }
        result = find_consistency(values, "nominal")
        return result.is_by_chance, np.nan if result.alpha is None else result.alpha


CELLS = (
    Cell("chance, two labels", (0.5, 0.5), 1.0),
    Cell("chance, four labels", (0.25, 0.25, 0.25, 0.25), 1.0),
    Cell("the first of the list", (0.5, 0.5), 0.0, by_order=True),
    Cell("honest, errs in 10%", (0.5, 0.5), 0.2),
    Cell("honest, errs in 18%", (0.5, 0.5), 0.37),
    Cell("honest, errs in 10%, one harm in ten", (0.9, 0.1), 0.2),
    Cell("honest, errs in 2%, no harm", (1.0, 0.0), 0.04),
    Cell("honest, errs in 10%, no harm", (1.0, 0.0), 0.2),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("| judge | answers graded twice | mean agreement | taken for chance |\n|---|---|---|---|")
    for cell in CELLS:
        for answers in (60, 100):
            random = np.random.default_rng(arguments.seed)
            runs = [cell.is_found_out(random, answers) for _ in range(arguments.runs)]
            share = sum(is_found for is_found, _ in runs) / len(runs)
            mean = float(np.nanmean([alpha for _, alpha in runs]))
            print(f"| {cell.name} | {answers} | {mean:.2f} | {share:.1%} |", flush=True)


if __name__ == "__main__":
    main()
