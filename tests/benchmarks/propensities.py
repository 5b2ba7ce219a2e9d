"""Calls to a verdict: propensities against drawn answers, on the same simulated models.

    python -m tests.benchmarks.propensities --runs 400

Paired items of two groups, base rate 0.5, items that differ by about 1 logit (ICC 0.2). Each item has a gap of its own,
Paired items of two groups, base rate 0.5, items that differ by about 1 logit (ICC 0.2). Each has a gap of its own,
For each kind of grade the fewest items, and calls, with 80% power: fair at a ratio of 1, unfair at 0.6; and how often a
model on the bound is called fair with as many items.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.stats import binomtest  # type: ignore[import-untyped]

from pytest_fairness.stats.columns import Columns, Floats
from pytest_fairness.stats.measured import Measured

CONFIDENCE = 0.955
"""Of the first judged run of a threshold."""
SPREAD = 1.0
POWER = 0.8


def propensities(generator: np.random.Generator, items: int, ratio: float, tau: float) -> tuple[Floats, Floats]:
    """Draw the probabilities of items for two groups whose means over all items have this ratio."""
    base = generator.normal(0, SPREAD, items)
    gap = shift(ratio, tau) + generator.normal(0, tau, items)
    return expit(base + gap), expit(base)


def expit(logits: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-logits))
    return found


def shift(ratio: float, tau: float) -> float:
    """Return the mean gap in logits that gives the ratio, by bisection over quantiles."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    low, high = -6.0, 6.0
    for _ in range(60):
        middle = (low + high) / 2
        rate = float(weights @ expit(middle + nodes * math.hypot(SPREAD, tau)))
        low, high = (middle, high) if rate < ratio * 0.5 else (low, middle)
    return (low + high) / 2


def share_of(verdict: str, runs: int, items: int, ratio: float, tau: float, repetitions: int) -> float:
    """Return how often this is the verdict; 0 repetitions stand for propensities."""
    generator = np.random.default_rng([items, repetitions, round(100 * ratio), round(100 * tau)])
    each = max(repetitions, 1)
    names = np.tile(np.repeat(np.arange(items), each), 2)
    sexes = ["f"] * items * each + ["m"] * items * each
    prompts = np.repeat(np.arange(2 * items), each)
    columns = Columns.from_arrays(names, {"yes": np.zeros(len(names))}, {"sex": sexes}, prompts=prompts)
    count = 0
    for _ in range(runs):
        shares = np.repeat(np.concatenate(propensities(generator, items, ratio, tau)), each)
        values = (generator.random(len(shares)) < shares).astype(np.float64) if repetitions else shares
        sample = Measured.from_columns(columns.regraded({"yes": values}), confidence=CONFIDENCE)
        estimate = sample.ratio("yes", by="sex", of="f", to="m")
        verdicts = {estimate.decide(">=", 0.8).value, estimate.decide("<=", 1.2).value}
        count += verdicts == {"fair"} if verdict == "fair" else "unfair" in verdicts
    return count / runs


def fewest(verdict: str, runs: int, ratio: float, tau: float, repetitions: int) -> int:
    """Return the fewest items with the power, by bisection."""
    low, high = 4, 8
    while share_of(verdict, runs, high, ratio, tau, repetitions) < POWER:
        low, high = high, 2 * high
    while high - low > max(1, high // 25):
        middle = (low + high) // 2
        has_power = share_of(verdict, runs, middle, ratio, tau, repetitions) >= POWER
        low, high = (low, middle) if has_power else (middle, high)
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--bound-runs", type=int, default=2000)
    parser.add_argument("--tau", type=float, nargs="*", default=[0.0, 0.2, 0.5])
    given = parser.parse_args()
    for tau in given.tau:
        for verdict, ratio in (("fair", 1.0), ("unfair", 0.6)):
            calls = {}
            for kind, repetitions in (("drawn, 5 repetitions", 5), ("propensities", 0)):
                items = fewest(verdict, given.runs, ratio, tau, repetitions)
                calls[kind] = 2 * items * max(repetitions, 1)
                line = f"tau {tau:g}, ratio {ratio:g}, {verdict}, {kind}: {items} items, {calls[kind]:,} calls"
                if verdict == "fair":
                    false = share_of("fair", given.bound_runs, items, 0.8, tau, repetitions)
                    low, high = binomtest(round(false * given.bound_runs), given.bound_runs).proportion_ci(0.95)
                    line += f"; on the bound called fair in {false:.2%} ({low:.2%} to {high:.2%})"
                print(line, flush=True)
            print(f"  1/{calls['drawn, 5 repetitions'] / calls['propensities']:.1f} of the calls", flush=True)


if __name__ == "__main__":
    main()
