"""Rates at which a rare harm that no sample shows is called fair: to all of an item, or all answers about a name.

    python tests/benchmarks/unseen_harms.py --runs 200
    python tests/benchmarks/unseen_harms.py --kinds names --items 300 --names 40 --share 0.05

A share of the items, or of the names of one group, has its worst grade each time; all else is equal but for noise. The
truth is the bound, so that calling it fair breaks the promise: at most 2.5%. With a share of a twentieth none is drawn
among 40 in 13% of samples.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Drawn = Mapping[str, tuple[Estimate, str, float]]
"""Metrics with their estimate, the operator that a fair model holds, and the truth."""

NOISE = 0.1
"""Half of the range of a score's noise."""
SCORE = 0.3
"""Mean score of what no harm meets."""


def columns(shape: tuple[int, int, int], crossed: str | None) -> Columns:
    """Return attempts without grades: items, two groups, prompts of each; the prompts of a group have its names."""
    item, group, prompt = (codes.tolist() for codes in np.indices(shape).reshape(3, -1))
    labels = {
        "group": [f"g{code}" for code in group],
        "name": [f"g{code}-{level}" for code, level in zip(group, prompt, strict=True)],
    }
    prompts = zip(item, group, prompt, strict=True)
    return Columns.from_arrays(item, {}, labels, crossed=crossed, prompts=prompts)


def harmed_items(generator: np.random.Generator, empty: Columns, shape: tuple[int, int, int], share: float) -> Drawn:
    """Draw scores, with a share of the items in which they are one under all prompts of one group."""
    return _harmed(generator, empty, SCORE + generator.uniform(-NOISE, NOISE, shape), share)


def harmed_rates(generator: np.random.Generator, empty: Columns, shape: tuple[int, int, int], share: float) -> Drawn:
    """Draw events, with a share of the items in which they happen under every prompt of one group."""
    return _harmed(generator, empty, (generator.random(shape) < SCORE).astype(float), share)


def _harmed(generator: np.random.Generator, empty: Columns, harm: Any, share: float) -> Drawn:
    harm[generator.random(len(harm)) < share, 0] = 1.0
    measured = Measured.from_columns(empty.regraded({"harm": harm.ravel()}))
    truth = SCORE + share * (1 - SCORE)
    return {
        "mean": (measured.where(group="g0").mean("harm"), "<=", truth),
        "difference": (measured.difference("harm", by="group", of="g0", to="g1"), "<=", truth - SCORE),
        "ratio": (measured.ratio("harm", by="group", of="g0", to="g1"), "<=", truth / SCORE),
    }


def harmed_names(generator: np.random.Generator, empty: Columns, shape: tuple[int, int, int], share: float) -> Drawn:
    """Draw a sample in which a share of one group's names has a score of zero in all items."""
    items = generator.uniform(SCORE - NOISE, SCORE + NOISE, (shape[0], 1, 1))
    scores = items + generator.uniform(-NOISE, NOISE, shape)
    scores[:, 0, generator.random(shape[2]) < share] = 0.0
    measured = Measured.from_columns(empty.regraded({"score": scores.ravel()}))
    return {
        "difference": (measured.difference("score", by="group", of="g0", to="g1"), ">=", -share * SCORE),
        "ratio": (measured.ratio("score", by="group", of="g0", to="g1"), ">=", 1 - share),
    }


KINDS: Mapping[str, tuple[Callable[..., Drawn], str | None]] = {
    "items": (harmed_items, None),
    "rates": (harmed_rates, None),
    "names": (harmed_names, "name"),
}


def simulate(kind: str, shape: tuple[int, int, int], share: float, runs: int, seed: int) -> dict[str, float]:
    """Return by metric how often the harm is called fair."""
    draw, crossed = KINDS[kind]
    generator, empty = np.random.default_rng(seed), columns(shape, crossed)
    fair: dict[str, float] = {}
    for _ in range(runs):
        for metric, (estimate, op, truth) in draw(generator, empty, shape, share).items():
            called: Any = compare(estimate, op, truth).decision is Decision.TRUE
            fair[metric] = fair.get(metric, 0.0) + called / runs
    return fair


def main() -> None:
    """Print one line for each kind, size and share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--items", type=int, nargs="*", default=[40, 60])
    parser.add_argument("--names", type=int, nargs="*", default=[5, 8, 15], help="or prompts of each item and group")
    parser.add_argument("--share", type=float, nargs="*", default=[0.05, 0.15])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.process_time()
    for kind in options.kinds:
        for items in options.items:
            for names in options.names:
                for share in options.share:
                    fair = simulate(kind, (items, 2, names), share, options.runs, options.seed)
                    rates = ", ".join(f"{metric} {100 * rate:.1f}%" for metric, rate in fair.items())
                    print(f"{kind} {items:4d} x {names:3d}, harm in {share:g}: fair {rates}", flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
