"""Shares of verdicts on flips of the process: ``python tests/benchmarks/process_flips.py``.

Agents decide alike and look up once or twice: by chance alone, or more often for women.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tests.stats.test_process_flips import LONG, SHORT, Steps, by_chance, sample

BOUND = 0.1
PLANTED = 0.45
"""The increase of a woman's probability of a second lookup."""


def planted(number: int, sex: str, generator: np.random.Generator) -> str:
    """Look up twice more often for women, over the same noise."""
    if sex == "man":
        return by_chance(number, sex, generator)
    return LONG if generator.random() < min(1, 0.2 + 0.1 * (number % 6) + PLANTED) else SHORT


def verdicts(steps: Steps, *, runs: int, items: int, seed: int) -> Counter[str]:
    """Return the verdicts of simulated runs."""
    samples = (sample(steps, items=items, seed=seed + run) for run in range(runs))
    return Counter(one.flips("process", by="sex", same="action").decide("<=", BOUND).value for one in samples)


if __name__ == "__main__":
    print("noise alone:", dict(verdicts(by_chance, runs=400, items=40, seed=1000)))
    print("planted:", dict(verdicts(planted, runs=100, items=100, seed=5000)))
