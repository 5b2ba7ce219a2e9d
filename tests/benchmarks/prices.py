"""The price of a small gap: how many calls of `correspondence` and `files` show it in 80% of runs.

    python tests/benchmarks/prices.py

Simulated are a model's invitations, at the base rates and the correlation that `suites.correspondence.sizes` expects,
and rankings in any order. A gap is shown where the 95% interval of its runs lies on one side of parity. The numbers of
items are those of the gate, multiplied. A gap is that of two rates about one half, and of rankings the same odds.
Shares of facts and of words have the spread and the correlation that `suites.files.sizes` expects, without simulation.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[2]))

from suites.correspondence.items import NAMES, advertisements
from suites.correspondence.sizes import INVITED
from suites.files.sizes import SUMMARIZED, WRITTEN

GAPS = (0.01, 0.03, 0.05, 0.1)
POWER = 0.8
RUNS = 400
QUANTILE = 1.96
POWER_QUANTILE = 0.8416
_RATES: list[float] = [INVITED["invited"]["fit"][fit] for fit in ("one", "two", "three")]
_SIDE = 2 * NAMES
"""Names of either group of an item."""
Floats = npt.NDArray[np.float64]


def odds_of(gap: float) -> float:
    """Return the logarithm of the odds ratio of two rates about one half.

    >>> round(math.exp(odds_of(0.1)), 3)
    1.494
    """
    return 2 * math.log((0.5 + gap / 2) / (0.5 - gap / 2))


def invitations_error(gap: float, generator: np.random.Generator) -> tuple[float, float, int]:
    """Return the mean and the spread over runs of the logarithm of the odds ratio, and the calls of a run."""
    ads, within = len(advertisements("en")), 1 / INVITED["icc"] - 1
    values = []
    for _ in range(RUNS):
        more = fewer = 0.0
        for rate in _RATES:
            own = generator.beta(rate * within, (1 - rate) * within, ads).clip(1e-9, 1 - 1e-9)
            logits = np.log(own / (1 - own))
            yes = [
                generator.binomial(_SIDE, 1 / (1 + np.exp(-(logits + sign * odds_of(gap) / 2)))).sum()
                for sign in (1, -1)
            ]
            count = ads * _SIDE
            more += yes[0] * (count - yes[1]) / (2 * count)
            fewer += yes[1] * (count - yes[0]) / (2 * count)
        values.append(math.log(more / fewer))
    return float(np.mean(values)), float(np.std(values)), len(_RATES) * ads * 2 * _SIDE


def rankings_error(gap: float, generator: np.random.Generator) -> tuple[float, float, int]:
    """Return the mean and the spread over runs of the lead of four people over four, and the calls of a run."""
    items, orders = 152, 4
    heights = generator.gumbel(size=(RUNS * items * orders, 8))
    heights[:, :4] += odds_of(gap)  # the odds that of a pair the first is ahead
    ahead = (heights[:, :4, None] > heights[:, None, 4:]).mean(axis=(1, 2)) - 0.5
    runs = ahead.reshape(RUNS, -1).mean(axis=1)
    return float(runs.mean()), float(runs.std()), items * orders


def price(error: Callable[[float, np.random.Generator], tuple[float, float, int]], gap: float) -> int:
    """Return the calls that show a gap in 80% of runs: the error falls as the root of the number of items."""
    mean, spread, calls = error(gap, np.random.default_rng(0))
    needed = abs(mean) / (QUANTILE + POWER_QUANTILE)
    return math.ceil(calls * (spread / needed) ** 2)


def share_calls(gap: float, levels: Mapping[str, Mapping[float, float]], icc: float) -> int:
    """Return the calls that show a gap between two groups of half of the answers each, compared within items.

    >>> share_calls(0.05, {"any": {0.0: 0.5, 1.0: 0.5}}, 0.5)
    1570

    Args:
        gap: The difference of the two means.
        levels: Values with their shares, at each level of the control.
        icc: The correlation of answers to one item.
    """
    variances = []
    for shares in levels.values():
        mean = sum(value * share for value, share in shares.items())
        variances.append(sum(share * (value - mean) ** 2 for value, share in shares.items()))
    variance = (1 - icc) * sum(variances) / len(variances)
    return math.ceil(4 * variance * ((QUANTILE + POWER_QUANTILE) / gap) ** 2)


def main() -> None:
    print("| gap in points | odds ratio | invitations | rankings |\n|--:|--:|--:|--:|")
    for gap in GAPS:
        calls = [f"{round(price(error, gap), -1):,}" for error in (invitations_error, rankings_error)]
        print(f"| {100 * gap:.0f} | {math.exp(odds_of(gap)):.2f} | {' | '.join(calls)} |")
    print("\n| gap in points | facts of summaries | agentic words of letters |\n|--:|--:|--:|")
    for gap in GAPS:
        facts = share_calls(gap, SUMMARIZED["bad"]["case"], SUMMARIZED["icc"])
        words = share_calls(gap, WRITTEN["agentic"]["deed"], WRITTEN["icc"])
        print(f"| {100 * gap:.0f} | {round(facts, -1):,} | {round(words, -1):,} |")


if __name__ == "__main__":
    main()
