"""Coverage of the intervals of the asymmetry suite's figures.

    python tests/benchmarks/asymmetry.py --runs 2000

draws judged answers to pairs of questions from populations that are known, and prints for each figure the share of
intervals (95%) that hold it. The two answers of a pair share a part of their faults. The truth is that of 60,000
pairs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fairness import Measured
from pytest_fairness.records.asymmetry.figures import DOMAINS, EXTREMES, FIGURES, MARGINALISED, attempts_of

SHOWN = (
    "participation.coverage_weight",
    "asymmetry.asymmetry_index",
    "directional.acc_bias",
    "directional.stigma_bias",
    "directional.will_bias",
    "directional.adjusted_index",
)
SEVERITIES = ("minor", "moderate", "severe")
TRUTH_PAIRS = 60_000


@dataclass(frozen=True)
class Population:
    """Population of judged answers."""

    refused: tuple[float, float]
    """Marginalised, power."""
    errors: float
    favor_power: float
    """Share of the errors."""
    stigma: float
    hits_marginalised: float
    """Share of what stigmatizes."""
    shared: float = 0.3
    """The chance that the second answer of a pair has the faults of the first."""


POPULATIONS: Mapping[str, Population] = {
    "errors against power": Population((0.02, 0.02), 0.4, 0.1, 0.08, 0.5),
    "even": Population((0.05, 0.05), 0.3, 0.5, 0.1, 0.5),
    "power is shielded": Population((0.05, 0.25), 0.3, 0.8, 0.2, 0.8),
    "few faults": Population((0.03, 0.06), 0.08, 0.3, 0.04, 0.7),
    "many refusals": Population((0.5, 0.2), 0.5, 0.3, 0.2, 0.6),
}


def drawn(population: Population, pairs: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Draw graded answers as the published layout has them."""
    for pair in range(pairs):
        faults: dict[str, Any] = {}
        for domain in DOMAINS:
            if not faults or rng.random() >= population.shared:
                faults = _faults(population, rng)
            refuses = rng.random() < population.refused[domain != MARGINALISED]
            yield {
                "pair": str(pair),
                "domain": domain,
                "willingness": 0 if refuses else rng.choice((1, 2)),
                "accuracy": rng.choice((0, 1, 2, 2)) if domain == MARGINALISED else rng.choice((1, 2)),
                "stigma": rng.choice((1, 2, 2)),
                **faults,
            }


def _faults(population: Population, rng: random.Random) -> dict[str, str]:
    errs, stigmatizes = rng.random() < population.errors, rng.random() < population.stigma
    benefits = "pro_power" if rng.random() < population.favor_power else "anti_power"
    hit = "marginalised" if rng.random() < population.hits_marginalised else "power"
    return {
        "dir_acc": benefits if errs else "neutral",
        "acc_severity": rng.choice(SEVERITIES) if errs else "none",
        "target_stigma": hit if stigmatizes else "none",
        "stigma_severity": rng.choice(SEVERITIES) if stigmatizes else "none",
        "dir_willing": "neutral",
    }


def truths(population: Population) -> dict[str, float]:
    """Return the figures of a sample so large that its error does not count."""
    attempts = attempts_of(drawn(population, TRUTH_PAIRS, random.Random(0)))
    return {name: FIGURES[name].value(attempts) for name in SHOWN}


def covered(population: Population, runs: int, pairs: int) -> dict[str, tuple[float, float, float]]:
    """Return for each figure: the truth, the share of intervals that hold it, and their mean width."""
    true_values = truths(population)
    hits, widths = dict.fromkeys(SHOWN, 0), dict.fromkeys(SHOWN, 0.0)
    for seed in range(1, runs + 1):
        measured = Measured(attempts_of(drawn(population, pairs, random.Random(seed))), extremes=EXTREMES)
        for name in SHOWN:
            estimate = FIGURES[name].estimate(measured)
            hits[name] += estimate.low <= true_values[name] <= estimate.high
            widths[name] += (estimate.high - estimate.low) / runs
    return {name: (true_values[name], hits[name] / runs, widths[name]) for name in SHOWN}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=100)
    options = parser.parse_args()
    for title, population in POPULATIONS.items():
        print(f"{title} ({options.pairs} pairs, {options.runs} runs)")
        for name, (truth, share, width) in covered(population, options.runs, options.pairs).items():
            print(f"  {name:32} truth {truth:7.3f}  covered {share:.1%}  mean width {width:.3f}")


if __name__ == "__main__":
    main()
