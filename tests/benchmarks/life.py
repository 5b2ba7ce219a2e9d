"""Rates at which a threshold whose truth lies on its bound is ever called fair or unfair, over all of its runs.

    python tests/benchmarks/life.py --samples 1000

Paired items of 5 repetitions at a base rate of 0.5, intraclass correlation 0.2, a true ratio of 0.8 and a bound of 0.8.
A threshold is judged 1, 2, 5 and 10 times: on fresh answers, on a sample that grows by half of the first each time, or
on random halves of one sample. *uncounted* gives each run the whole error, *counted* that of `run_tail`. Then several
metrics, each on its bound, are asserted in one threshold: *uncounted* is any interval outside, *counted* the verdict of
`judge`. Seeded: the same numbers on each run.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator

import numpy as np

from pytest_fairness.core.comparisons import Comparison, compare
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.columns import Columns, Floats
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.sequential import run_tail

BOUND = 0.8
TAIL = 0.025
ITEMS = 100
REPETITIONS = 5
RUNS = (1, 2, 5, 10)
ASSERTS = (1, 3, 9)
SIZE = (1 - 0.2) / 0.2
"""Sum of the beta distribution's parameters: an intraclass correlation of 0.2."""


def sample(generator: np.random.Generator, items: int, groups: int = 1) -> Floats:
    """Draw answers of shape (items, groups + 1, repetitions): each group but the last has 0.8 of its rate."""
    rates = np.array([BOUND] * groups + [1.0])
    chances = generator.beta(SIZE / 2, SIZE / 2, (items, 1, 1)) * rates[:, np.newaxis]
    answers: Floats = (generator.random((items, groups + 1, REPETITIONS)) < chances).astype(np.float64)
    return answers


def measured(answers: Floats) -> Measured:
    items, groups, repetitions = answers.shape
    names = [*(f"g{number}" for number in range(groups - 1)), "reference"]
    columns = Columns.from_arrays(
        np.repeat(np.arange(items), groups * repetitions).tolist(),
        {"yes": answers.ravel()},
        {"group": np.tile(np.repeat(names, repetitions), items).tolist()},
    )
    return Measured.from_columns(columns)


def samples(generator: np.random.Generator, design: str) -> Iterator[Floats]:
    """Yield the samples that the runs of one threshold judge, in turn."""
    most = max(RUNS)
    if design == "fresh":
        for _ in range(most):
            yield sample(generator, ITEMS)
    elif design == "extended":
        whole = sample(generator, ITEMS + (most - 1) * ITEMS // 2)
        for run in range(most):
            yield whole[: ITEMS + run * ITEMS // 2]
    else:
        whole = sample(generator, 2 * ITEMS)
        for _ in range(most):
            yield whole[generator.choice(len(whole), ITEMS, replace=False)]


def decisions(generator: np.random.Generator, design: str, *, counted: bool) -> list[Decision]:
    outcomes = []
    for number, answers in enumerate(samples(generator, design), start=1):
        tail = run_tail(number, TAIL) if counted else TAIL
        view = Measured.from_selection(measured(answers).selection.whole(confidence=1 - 2 * tail))
        ratio = view.ratio("yes", by="group", of="g0", to="reference")
        outcomes.append(compare(ratio, ">=", BOUND).decision)
    return outcomes


def life(count: int) -> None:
    print(
        f"{'design':10} {'runs':>4}  {'fair: uncounted':>15} {'counted':>8}  {'unfair: uncounted':>17} {'counted':>8}"
    )
    for design in ("fresh", "extended", "halves"):
        seed = zlib.crc32(design.encode())
        shares = {}
        for counted in (False, True):
            sequences = [
                decisions(np.random.default_rng((seed, number)), design, counted=counted) for number in range(count)
            ]
            for runs in RUNS:
                for decision in (Decision.TRUE, Decision.FALSE):
                    shares[counted, runs, decision] = np.mean([decision in sequence[:runs] for sequence in sequences])
        for runs in RUNS:
            before, after = ([shares[c, runs, d] for d in (Decision.TRUE, Decision.FALSE)] for c in (False, True))
            print(f"{design:10} {runs:4}  {before[0]:15.1%} {after[0]:8.1%}  {before[1]:17.1%} {after[1]:8.1%}")


def asserts(count: int) -> None:
    print(f"\n{'asserts':>7}  {'fair':>6}  {'unfair: uncounted':>17} {'counted':>8}")
    for number in ASSERTS:
        uncounted, verdicts = [], []
        for run in range(count):
            of = measured(sample(np.random.default_rng((number, run)), ITEMS, number))

            def threshold(of: Measured = of, number: int = number) -> None:
                for group in range(number):
                    assert of.ratio("yes", by="group", of=f"g{group}", to="reference") >= BOUND

            judgment = judge(threshold)
            verdicts.append(judgment.verdict)
            whole = {Decision.FALSE} & {comparison.estimate.decision(">=", BOUND) for comparison in _plain(of, number)}
            uncounted.append(bool(whole))
        fair, unfair = (
            np.mean([verdict is wanted for verdict in verdicts]) for wanted in (Verdict.FAIR, Verdict.UNFAIR)
        )
        print(f"{number:7}  {fair:6.1%}  {np.mean(uncounted):17.1%} {unfair:8.1%}")


def _plain(of: Measured, number: int) -> list[Comparison]:
    ratios = [of.ratio("yes", by="group", of=f"g{group}", to="reference") for group in range(number)]
    return [compare(ratio, ">=", BOUND) for ratio in ratios]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000, help="simulated thresholds for each line")
    count = parser.parse_args().samples
    print(f"{count:,} samples, simulation error at 2.5%: {np.sqrt(0.025 * 0.975 / count):.1%}")
    life(count)
    asserts(count)


if __name__ == "__main__":
    main()
