"""Coverage of exact intervals where ours cover too often: the cost of a promise for grades of any kind.

    python tests/benchmarks/estimators.py --estimators rate,mean,difference --runs 300 --json ours.json
    python tests/benchmarks/attainable.py ours.json

For each cell that allows claims, the coverage of Gaffke's interval on means of the same clusters beside ours. Its bound
is a quantile of the mean under weights from a flat Dirichlet distribution, with one more cluster at the extreme (Gaffke
2005; Phan, Thomas and Learned-Miller 2021, ICML). It is one of the shortest that are believed to err in at most their
tail for any independent values between two extremes, and of events it is Clopper and Pearson's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.estimators import (
    CLAIMED,
    COVERED,
    EFFECT,
    ESTIMATORS,
    PROMISED,
    Cell,
    LogNormal,
    Result,
    Sampler,
)

Floats = npt.NDArray[np.float64]

WEIGHTS = 2000
"""Draws from the Dirichlet distribution."""


def cluster_means(sampler: Sampler) -> Floats:
    """Draw one sample: what each cluster adds to the rate, the mean or the difference."""
    shape, estimator = sampler.shape, sampler.cell.estimator
    if estimator == "difference":
        grades = sampler.grades([shape.event.scaled(EFFECT), shape.event]).mean(axis=2)
        difference: Floats = grades[:, 0] - grades[:, 1]
        return difference
    means: Floats = sampler.grades([shape.event if estimator == "rate" else shape.number]).mean(axis=(1, 2))
    return means


def gaffke_coverage(cell: Cell, runs: int, seed: int) -> float:
    """Return the share of samples whose interval by Gaffke holds the truth."""
    sampler = Sampler(cell, seed)
    truth = ESTIMATORS[cell.estimator].truth(sampler.shape)
    weights = np.random.default_rng(seed).dirichlet(np.ones(cell.clusters + 1), WEIGHTS)
    extremes = (-1.0, 1.0) if cell.estimator == "difference" else (0.0, 1.0)
    covered = 0
    for _ in range(runs):
        weighted = weights[:, :-1] @ cluster_means(sampler)
        below, above = (weighted + weights[:, -1] * extreme for extreme in extremes)
        covered += bool(np.mean(below < truth) > PROMISED and np.mean(above > truth) > PROMISED)
    return covered / runs


def is_inside(covered: float) -> bool:
    """Return whether a coverage is in the band that is wanted."""
    return COVERED[0] <= covered <= COVERED[1]


def main() -> None:
    """Print both coverages of each cell, and how many of each kind are inside the band."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=Path, help="a file that estimators.py --json has written")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for label, numbers in json.loads(options.ours.read_text(encoding="utf-8")).items():
        cell, ours = Cell.from_label(label), Result.from_json(numbers)
        if cell.estimator not in ("rate", "mean", "difference") or ours.claimable < CLAIMED:
            continue
        if cell.estimator == "mean" and isinstance(Sampler(cell, 0).shape.number, LogNormal):
            continue  # no extreme is known
        exact = gaffke_coverage(cell, options.runs, options.seed)
        print(f"{label} | ours {100 * ours.covered:5.1f} | exact {100 * exact:5.1f}")
        where = "inside" if is_inside(ours.covered) else "over" if ours.covered > COVERED[1] else "under"
        counts[cell.estimator, where] += 1
        counts[cell.estimator, f"{where}, the exact one inside"] += is_inside(exact)
    for (estimator, where), number in sorted(counts.items()):
        print(f"{estimator:12s} {where:30s} {number}")


if __name__ == "__main__":
    main()
