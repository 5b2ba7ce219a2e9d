"""Calls to a verdict: propensities against drawn answers, on the same simulated models.

    python -m tests.benchmarks.propensities --runs 400
    python -m tests.benchmarks.propensities --tails --bound-runs 1000

Paired items of two groups, base rate 0.5, items that differ by about 1 logit (ICC 0.2). Each item has a gap of its own,
with a standard deviation of tau logits. For each kind of grade the fewest items, and calls, with 80% power: fair at a
ratio of 1, unfair at 0.6; and how often a model on the bound is called fair with as many items.

``--tails`` prints the latter for propensities whose gaps have heavy tails (Student's t), or are extreme in few items:
in one group, or in both in opposite directions.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.stats import binomtest  # type: ignore[import-untyped]

from pytest_fairness.stats.columns import Columns, Floats
from pytest_fairness.stats.measured import Measured

CONFIDENCE = 0.955
"""The confidence of the first judged run of a threshold."""
SPREAD = 1.0
POWER = 0.8


def propensities(generator: np.random.Generator, items: int, ratio: float, tau: float) -> tuple[Floats, Floats]:
    """Draw the probabilities of items for two groups whose means over all items have this ratio."""
    base = generator.normal(0, SPREAD, items)
    gap = shift(ratio, tau) + generator.normal(0, tau, items)
    return expit(base + gap), expit(base)


def tailed(generator: np.random.Generator, items: int, kind: str, tau: float, location: float) -> tuple[Floats, Floats]:
    """Draw the probabilities of items whose gaps have heavy tails.

    Args:
        generator: Draws them.
        items: Their number.
        kind: ``t2``: gaps of Student's t with 2 degrees of freedom; ``one``: few items have an extreme probability in
            one group; ``both``: in both, in opposite directions.
        tau: The scale of the gaps.
        location: The mean gap in logits, or the share of the extreme items.
    """
    base = generator.normal(0, SPREAD, items)
    if kind == "t2":
        return expit(base + location + tau * generator.standard_t(2, items)), expit(base)
    first, second = expit(base + generator.normal(0, tau, items)), expit(base)
    extreme = generator.random(items) < location
    return np.where(extreme, 0.01, first), np.where(extreme & (kind == "both"), 0.99, second)


def location_of(kind: str, tau: float, ratio: float) -> float:
    """Return the location of `tailed` that gives the ratio, by bisection over a large sample."""
    low, high = (-4.0, 2.0) if kind == "t2" else (0.6, 0.0)
    for _ in range(24):
        middle = (low + high) / 2
        first, second = tailed(np.random.default_rng(7), 400_000, kind, tau, middle)
        low, high = (middle, high) if first.mean() < ratio * second.mean() else (low, middle)
    return (low + high) / 2


def print_tails(runs: int) -> None:
    """Print how often models on the bound are called fair, whose gaps have heavy tails."""
    for kind, tau in (("t2", 0.2), ("t2", 0.5), ("one", 0.0), ("one", 0.2), ("both", 0.0), ("both", 0.2)):
        location = location_of(kind, tau, 0.8)
        for items in (20, 24, 34, 44):
            generator = np.random.default_rng([items, round(100 * tau)])
            count = 0
            names = np.tile(np.arange(items), 2)
            columns = Columns.from_arrays(
                names,
                {"yes": np.zeros(2 * items)},
                {"sex": ["f"] * items + ["m"] * items},
                prompts=np.arange(2 * items),
            )
            for _ in range(runs):
                shares = np.concatenate(tailed(generator, items, kind, tau, location))
                count += verdicts(columns, shares) == {"fair"}
            low, high = binomtest(count, runs).proportion_ci(0.95)
            print(
                f"{kind}, tau {tau:g}, {items} items: fair in {count / runs:.2%} ({low:.2%} to {high:.2%})", flush=True
            )


def verdicts(columns: Columns, values: Floats) -> set[str]:
    """Return the verdicts on both bounds."""
    sample = Measured.from_columns(columns.regraded({"yes": values}), confidence=CONFIDENCE)
    estimate = sample.ratio("yes", by="sex", of="f", to="m")
    return {estimate.decide(">=", 0.8).value, estimate.decide("<=", 1.2).value}


def expit(logits: Floats) -> Floats:
    shares: Floats = 1 / (1 + np.exp(-np.clip(logits, -700, 700)))
    return shares


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
    per_item = max(repetitions, 1)
    names = np.tile(np.repeat(np.arange(items), per_item), 2)
    sexes = ["f"] * items * per_item + ["m"] * items * per_item
    prompts = np.repeat(np.arange(2 * items), per_item)
    columns = Columns.from_arrays(names, {"yes": np.zeros(len(names))}, {"sex": sexes}, prompts=prompts)
    count = 0
    for _ in range(runs):
        shares = np.repeat(np.concatenate(propensities(generator, items, ratio, tau)), per_item)
        values = (generator.random(len(shares)) < shares).astype(np.float64) if repetitions else shares
        reached = verdicts(columns, values)
        count += reached == {"fair"} if verdict == "fair" else "unfair" in reached
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
    parser.add_argument("--tails", action="store_true")
    options = parser.parse_args()
    if options.tails:
        print_tails(options.bound_runs)
        return
    for tau in options.tau:
        for verdict, ratio in (("fair", 1.0), ("unfair", 0.6)):
            calls = {}
            for kind, repetitions in (("drawn, 5 repetitions", 5), ("propensities", 0)):
                items = fewest(verdict, options.runs, ratio, tau, repetitions)
                calls[kind] = 2 * items * max(repetitions, 1)
                line = f"tau {tau:g}, ratio {ratio:g}, {verdict}, {kind}: {items} items, {calls[kind]:,} calls"
                if verdict == "fair":
                    false = share_of("fair", options.bound_runs, items, 0.8, tau, repetitions)
                    low, high = binomtest(round(false * options.bound_runs), options.bound_runs).proportion_ci(0.95)
                    line += f"; on the bound called fair in {false:.2%} ({low:.2%} to {high:.2%})"
                print(line, flush=True)
            print(f"  1/{calls['drawn, 5 repetitions'] / calls['propensities']:.1f} of the calls", flush=True)


if __name__ == "__main__":
    main()
