"""Error rates of metrics of one's own that are smooth, curved, or have a kink: a maximum, a minimum, an absolute value.

    python tests/benchmarks/kinks.py --runs 1000

Two groups answer each item, in one of two languages, with yes or no. A metric is a function of the eight numbers of
answers. Shown are the share of samples that have no value, as where a logarithm is of zero; the share that is invalid,
since a kink lies within the error; and how often the interval of the others lies above the truth, and below it, over
all samples. Each should be at most 2.5%.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.custom_metrics import Functional, UndefinedError, has_kink, linearize

NAMES = ("yes_a", "no_a", "yes_b", "no_b", "yes_c", "no_c", "yes_d", "no_d")
"""Answers of two groups in one language, then of the same in the other."""
RATES = ((0.5, 0.5, 0.5, 0.5), (0.7, 0.5, 0.5, 0.5), (0.25, 0.7, 0.85, 0.75))
"""Rates of yes: no gap, a gap in one language, and gaps in both."""


def log_odds_ratio(s: Any) -> Any:
    """Return the logarithm of the odds ratio in the first language."""
    return np.log(s.yes_a * s.no_b / s.no_a / s.yes_b)


def contrast(s: Any) -> Any:
    """Return the difference of the logarithms of two odds ratios."""
    return log_odds_ratio(s) - np.log(s.yes_c * s.no_d / s.no_c / s.yes_d)


def rates(s: Any) -> tuple[Any, Any]:
    """Return the rates of both groups in the first language."""
    return s.yes_a / (s.yes_a + s.no_a), s.yes_b / (s.yes_b + s.no_b)


METRICS: Mapping[str, Callable[[Any], Any]] = {
    "contrast of log odds ratios": contrast,
    "log odds ratio": log_odds_ratio,
    "ratio": lambda s: rates(s)[0] / rates(s)[1],
    "maximum": lambda s: np.maximum(*rates(s)),
    "minimum": lambda s: np.minimum(*rates(s)),
    "abs difference": lambda s: np.abs(np.subtract(*rates(s))),
    "abs log odds ratio": lambda s: np.abs(log_odds_ratio(s)),
    "abs contrast": lambda s: np.abs(contrast(s)),
}


def draw(generator: np.random.Generator, items: int, chances: Sequence[float]) -> Floats:
    """Return the summands of all answers, two of each item, shape (2 items, 8)."""
    cells = 2 * (np.repeat(np.arange(items), 2) % 2) + np.tile([0, 1], items)
    is_no = generator.random(2 * items) >= np.take(chances, cells)
    values: Floats = np.eye(8)[2 * cells + is_no]
    return values


def error_rates(metric: Callable[[Any], Any], chances: Sequence[float], items: int, runs: int, seed: int) -> Floats:
    """Return the shares of samples without a value, invalid, above the truth, and below it."""
    generator, functional = np.random.default_rng(seed), Functional(metric, NAMES)
    shares = [part for chance in chances for part in (chance, 1 - chance)]
    truth = float(metric(SimpleNamespace(**dict(zip(NAMES, shares, strict=True)))))
    clusters, counts = Clustering(np.repeat(np.arange(items), 2), items), np.zeros(4)
    for _ in range(runs):
        values = draw(generator, items, chances)
        try:
            estimate = linearize(functional, values, [clusters], None)
        except UndefinedError:
            counts[0] += 1
            continue
        low, high = estimate.ends(0.025)
        is_kinked = has_kink(functional, values, clusters, estimate)
        counts[1:] += (1, 0, 0) if is_kinked else (0, low > truth, high < truth)
    return counts / runs


def main() -> None:
    """Print a line for each metric, truth and number of items."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'metric':29}{'rates of yes':26}{'items':>6}{'no value':>10}{'invalid':>9}{'above':>8}{'below':>8}")
    for name, metric in METRICS.items():
        for chances in RATES:
            for items in (30, 60, 120, 240):
                shares = error_rates(metric, chances, items, arguments.runs, arguments.seed)
                shown = "".join(f"{share:{width}.1%}" for share, width in zip(shares, (10, 9, 8, 8), strict=True))
                print(f"{name:29}{', '.join(map(str, chances)):26}{items:6}{shown}", flush=True)


if __name__ == "__main__":
    main()
