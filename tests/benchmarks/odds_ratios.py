"""Width and power of an odds ratio, beside a ratio and a logistic regression with cluster-robust errors.

    python tests/benchmarks/odds_ratios.py --runs 500
    python tests/benchmarks/odds_ratios.py --rates 0.9 --designs unpaired --sizes 40x20

The regression has the small-sample correction of statsmodels and Student's t with one degree less than items (two less
where each item has one group); `tests/stats/test_against_statsmodels.py` compares its error with that of statsmodels.
One line a cell: the share called fair at parity and on the bound 2/3 (at most 2.5%), unfair there and at 2/5, and the
median widths at parity, on the logarithm.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.sealed_estimates import SealedEstimate
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Floats = npt.NDArray[np.float64]

BOUND, FAR = 2 / 3, 0.4
SHARED = 0.3
"""The share of a normal variable's variance that the attempts of an item have in common."""
PAIR = {"by": "group", "of": "g0", "to": "g1"}


def empty(items: int, attempts: int, *, paired: bool) -> Columns:
    """Return the attempts of two groups without grades."""
    item, group, _ = np.indices((items, 2, attempts)).reshape(3, -1)
    clusters = item if paired else 2 * item + group
    return Columns.from_arrays(clusters.tolist(), {}, {"group": [f"g{code}" for code in group.tolist()]})


def events(generator: np.random.Generator, rates: Floats, items: int, attempts: int, *, paired: bool) -> Floats:
    """Draw events, shape (items, groups, attempts)."""
    shared = generator.standard_normal((items, 1 if paired else 2, 1))
    own = generator.standard_normal((items, 2, attempts))
    normal = math.sqrt(SHARED) * shared + math.sqrt(1 - SHARED) * own
    drawn: Floats = (normal > ndtri(1 - rates)[:, np.newaxis]).astype(np.float64)
    return drawn


def regression_ends(drawn: Floats, *, paired: bool) -> tuple[float, float]:
    """Return the ends of the log odds ratio by logistic regression; infinite where a group has one outcome only."""
    rates = drawn.mean(axis=(0, 2))
    if rates.min() <= 0 or rates.max() >= 1:
        return -math.inf, math.inf
    items, _, attempts = drawn.shape
    influences = (drawn - rates[:, np.newaxis]).sum(axis=2) / (items * attempts * rates * (1 - rates))
    clusters, number = (influences[:, 0] - influences[:, 1], items) if paired else (influences.ravel(), 2 * items)
    observations = 2 * items * attempts
    correction = number / (number - 1) * (observations - 1) / (observations - 2)
    error = math.sqrt(float(np.square(clusters).sum()) * correction)
    middle = float(np.log(rates / (1 - rates)) @ [1, -1])
    reach = -float(stdtrit(number - 1 if paired else number - 2, 0.025)) * error
    return middle - reach, middle + reach


def simulate(rate: float, items: int, attempts: int, runs: int, *, paired: bool) -> str:
    """Return a line with shares and widths."""
    columns, counts = empty(items, attempts, paired=paired), Counter[tuple[str, str, float]]()
    widths: dict[str, list[float]] = {"ours": [], "regression": []}
    generator = np.random.default_rng(0)
    for odds_ratio in (1.0, BOUND, FAR):
        odds = rate / (1 - rate) * odds_ratio
        rates = np.array([odds / (1 + odds), rate])
        for _ in range(runs):
            drawn = events(generator, rates, items, attempts, paired=paired)
            measured = Measured.from_columns(columns.regraded({"yes": drawn.ravel()}))
            estimate, ratio = measured.odds_ratio("yes", **PAIR), measured.ratio("yes", **PAIR)
            in_test, ratio_in_test = SealedEstimate(estimate), SealedEstimate(ratio)

            def of_odds(estimate: Estimate = in_test) -> None:
                assert BOUND <= estimate <= 1 / BOUND

            def of_ratio(ratio: Estimate = ratio_in_test) -> None:
                assert 0.8 <= ratio <= 1.25

            low, high = regression_ends(drawn, paired=paired)
            is_inside = math.log(BOUND) <= low and high <= -math.log(BOUND)
            is_outside = high < math.log(BOUND) or low > -math.log(BOUND)
            of_regression = Verdict.FAIR if is_inside else Verdict.UNFAIR if is_outside else Verdict.UNDECIDED
            verdicts = {"ours": judge(of_odds).verdict, "regression": of_regression, "ratio": judge(of_ratio).verdict}
            counts.update((name, verdict.value, odds_ratio) for name, verdict in verdicts.items())
            if odds_ratio == 1 and not estimate.invalid and estimate.low > 0 and math.isfinite(high + estimate.high):
                widths["ours"].append(math.log(estimate.high / estimate.low))
                widths["regression"].append(high - low)

    def shares(verdict: Verdict, truth: float) -> str:
        names = ("ours", "regression", "ratio") if truth != BOUND else ("ours", "regression")
        return ", ".join(f"{name} {100 * counts[name, verdict.value, truth] / runs:5.1f}" for name in names)

    medians = {name: float(np.median(own)) if own else math.nan for name, own in widths.items()}
    return (
        f"{rate:<4g} {'paired' if paired else 'unpaired':8s} {items:3d} x {attempts:2d} | fair at parity: "
        f"{shares(Verdict.FAIR, 1.0)} | fair on the bound: {shares(Verdict.FAIR, BOUND)} | unfair on the bound: "
        f"{shares(Verdict.UNFAIR, BOUND)} | unfair at {FAR}: {shares(Verdict.UNFAIR, FAR)} | widths "
        f"{medians['ours']:.3f}, {medians['regression']:.3f}"
    )


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=float, nargs="*", default=[0.5, 0.1, 0.9, 0.95])
    parser.add_argument("--designs", nargs="*", default=["paired"], choices=["paired", "unpaired"])
    parser.add_argument("--sizes", nargs="*", default=["12x20", "40x5", "100x5", "200x5", "200x20"])
    parser.add_argument("--runs", type=int, default=500)
    options = parser.parse_args()
    start = time.process_time()
    for rate in options.rates:
        for design in options.designs:
            for size in options.sizes:
                items, attempts = map(int, size.split("x"))
                print(simulate(rate, items, attempts, options.runs, paired=design == "paired"), flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time (shares in %)")


if __name__ == "__main__":
    main()
