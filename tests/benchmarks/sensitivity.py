"""Error rates of slices with a veto and of responses to a control, by simulation.

    python tests/benchmarks/sensitivity.py --runs 2000
    python tests/benchmarks/sensitivity.py --only slices --runs 4000

``slices``: a threshold on the odds ratio of two groups, 2/3 to 3/2, with slices. *on the bound*: the odds ratio is 2/3
in every slice, so *unfair* is a false alarm: at most 2.5%. *one slice*: groups are alike but in one slice, in which one
group has half of the other's favorable outcomes: the share that is unfair, by that slice's name. *alike*: the share of
fair verdicts, with and without slices.

``responses``: groups are alike, and answers follow the case by an odds ratio. *none*: 1, *half*: the square root of 2,
half of the smallest that counts on the logarithm, *bound*: 2, which may be called no response in 2.5%, and a response
in 2.5%; *competent*: 16. The shares of no response, of an open one and of fair verdicts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.controls import read_controls
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold

CONTROL = read_controls({"yes": {"case": ("strong", "weak")}})
GROUPS = ("f", "m")
SPREAD = 0.6
"""Standard deviation of an item's logit."""


def shifted(rate: float, log_odds: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return a base rate moved by a number of log odds."""
    return np.asarray(1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + np.asarray(log_odds)))))


def columns(items: int, repetitions: int, slices: int) -> Columns:
    """Return attempts without grades: items of two cases and some slices, each about two groups."""
    item, group, _ = np.indices((items, 2, repetitions)).reshape(3, -1)
    labels = {
        "group": [GROUPS[code] for code in group.tolist()],
        "case": [("strong", "weak")[code % 2] for code in item.tolist()],
        "part": [f"p{code // 2 % slices}" for code in item.tolist()],
    }
    prompts = list(zip(item.tolist(), group.tolist(), strict=True))
    return Columns.from_arrays(item.tolist(), {}, labels, prompts=prompts)


def draw(
    generator: np.random.Generator,
    empty: Columns,
    shape: tuple[int, int],
    rate: float,
    log_odds: Mapping[str, float],
    harmed: tuple[int, int] | None = None,
) -> Measured:
    """Return a sample of answers.

    Args:
        generator: The generator.
        empty: The attempts.
        shape: Items and repetitions.
        rate: The base rate.
        log_odds: Log odds of the first group, and of the strong case over the weak one.
        harmed: The harmed slice, of a number of slices: its first group has half of the favorable outcomes.
    """
    items, repetitions = shape
    item, group, _ = np.indices((items, 2, repetitions)).reshape(3, -1)
    own = generator.normal(0, SPREAD, items)[item]
    case = np.where(item % 2 == 0, 0.5, -0.5) * log_odds.get("case", 0.0)
    chance = shifted(rate, own + case + log_odds.get("group", 0.0) * (group == 0))
    if harmed is not None:
        chance = np.where((group == 0) & (item // 2 % harmed[1] == harmed[0]), chance / 2, chance)
    return Measured.from_columns(empty.regraded({"yes": (generator.random(len(chance)) < chance).astype(float)}))


def alike(measured: Measured) -> None:
    """Assert that groups have like odds."""
    assert 2 / 3 <= measured.odds_ratio("yes", by="group", of="f", to="m") <= 3 / 2


def percent(number: int, runs: int) -> str:
    """Return a share in percent with its standard error."""
    share = number / runs
    return f"{share:5.1%} ({np.sqrt(share * (1 - share) / runs):.1%})"


def slices(runs: int, seed: int) -> None:
    """Print the verdicts with slices."""
    print("items reps slices base | on the bound: unfair | one slice halved: unfair, by name | alike: fair, without")
    for items, repetitions, number in ((60, 4, 3), (120, 4, 5), (200, 3, 10)):
        empty = columns(items, repetitions, number)
        for rate in (0.1, 0.5, 0.9):
            generator, counts = np.random.default_rng(seed), Counter[str]()
            design, shape = ThresholdDesign(slices=("part",)), (items, repetitions)
            for run in range(runs):
                on_bound = draw(generator, empty, shape, rate, {"group": float(np.log(2 / 3))})
                # A part of the effect is lost to the spread of items: the marginal odds ratio is nearer to 1.
                counts["bound"] += judge_threshold(alike, on_bound, design).verdict is Verdict.UNFAIR
                harmed = draw(generator, empty, shape, rate, {}, (run % number, number))
                judgment = judge_threshold(alike, harmed, design)
                counts["harmed"] += judgment.verdict is Verdict.UNFAIR
                unfair = [part.value for part in judgment.slices if part.state == "unfair"]
                counts["named"] += f"p{run % number}" in unfair
                sample = draw(generator, empty, shape, rate, {})
                counts["fair"] += judge_threshold(alike, sample, design).verdict is Verdict.FAIR
                counts["without"] += judge_threshold(alike, sample, ThresholdDesign()).verdict is Verdict.FAIR
            cells = (percent(counts[name], runs) for name in ("bound", "harmed", "named", "fair", "without"))
            print(f"{items:5} {repetitions:4} {number:6} {rate:4} | " + " | ".join(cells), flush=True)


def responses(runs: int, seed: int) -> None:
    """Print the decisions on responses."""
    truths = {"none": 1.0, "half": 2**0.5, "bound": 2.0, "competent": 16.0}
    print("items reps base | truth: no response, open, response; fair")
    for items, repetitions in ((24, 4), (60, 4), (132, 5)):
        empty = columns(items, repetitions, 1)
        for rate in (0.1, 0.5, 0.9, 0.95):
            for name, odds in truths.items():
                generator, counts = np.random.default_rng(seed), Counter[object]()
                for _ in range(runs):
                    sample = draw(generator, empty, (items, repetitions), rate, {"case": float(np.log(odds))})
                    judgment = judge_threshold(alike, sample, ThresholdDesign(controls=CONTROL))
                    counts[judgment.responses[0].decision] += 1
                    counts["fair"] += judgment.verdict is Verdict.FAIR
                order = (Decision.FALSE, Decision.UNDECIDED, Decision.TRUE, "fair")
                cells = ", ".join(percent(counts[key], runs) for key in order)
                print(f"{items:5} {repetitions:4} {rate:4} | {name}: {cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("slices", "responses"))
    options = parser.parse_args()
    begun = time.process_time()
    for study in (slices, responses):
        if options.only in (None, study.__name__):
            study(options.runs, options.seed)
    print(f"{time.process_time() - begun:.0f} s of CPU")


if __name__ == "__main__":
    main()
