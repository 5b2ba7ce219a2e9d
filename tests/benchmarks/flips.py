"""Error rates and power of claims about flips, in models whose answers change with the wording.

    python tests/benchmarks/flips.py --runs 500
    python tests/benchmarks/flips.py --power --runs 150

Each text of an item has a propensity of its own: the item's, and a normal effect of the wording in logits (`brittle`).
Groups are no more than wordings, so flips between them are those of the placebo, far above the bound: *unfair* is to be
called in at most 2.5%. Printed is also how often the rate of flips alone, without a placebo, would call it unfair.
With `--power` the group decides in a share of the items, whatever the wording.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit  # type: ignore[import-untyped]

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.placebos import is_placebo, with_placebos
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BOUND = 0.02
"""The bound on flips: lower than those of every model here, so that the placebo alone decides."""
EASE = 1.0
"""Standard deviation of items' effects, in logits."""


@dataclass(frozen=True)
class Design:
    """Items with one prompt for each group, of which one is reworded."""

    items: int
    groups: int = 2
    wordings: int = 2
    repetitions: int = 3
    base: float = 0.0
    """The mean of the items' effects, in logits."""
    unequal: bool = False
    """Whether every third item has four prompts of each group, and is more brittle."""
    lost: float = 0.0
    """The share of ungraded answers to other wordings."""


NULLS = [
    *(Design(items) for items in (10, 20, 60, 200)),
    *(Design(60, repetitions=repetitions) for repetitions in (1, 10)),
    *(Design(60, wordings=wordings) for wordings in (1, 5)),
    *(Design(60, groups=groups) for groups in (3, 6)),
    *(Design(items, base=base) for items in (60, 200) for base in (2.0, 4.0)),
    *(Design(items, unequal=True) for items in (60, 200)),
    Design(100, lost=0.05),
]
GAPS = [Design(items, base=base) for items in (50, 100, 200) for base in (0.0, 2.0)]


def sample(design: Design) -> tuple[Columns, Codes, Codes, Codes]:
    """Return the attempts without their grades, and the item, the text and the group of each."""
    items = []
    for number in range(design.items):
        prompts = [
            Prompt(f"{number} {group} {copy}", {"group": f"g{group}"})
            for copy in range(4 if design.unequal and number % 3 == 0 else 1)
            for group in range(design.groups)
        ]
        items.append(ProbeItem(str(number), prompts))
    placed = with_placebos(items, lambda prompt: [f"{prompt.text} {wording}" for wording in range(design.wordings)])
    attempts: list[GradedAttempt] = []
    codes: list[tuple[int, int, int]] = []
    texts = 0
    for number, item in enumerate(placed):
        for prompt in item.prompts:
            for repetition in range(design.repetitions):
                attempt = Attempt(f"{prompt.text} {repetition}", repetition, Answer(""))
                attempts.append(GradedAttempt(item, prompt, attempt, {"yes": Grade(True)}))
                codes.append((number, texts, int(prompt.groups["group"][1:])))
            texts += 1
    of_item, of_text, of_group = np.array(codes).T
    return Columns(attempts), of_item, of_text, of_group


def draws(design: Design, brittle: float, share: float, runs: int, seed: int) -> Iterator[Estimate]:
    """Yield the flips of simulated runs.

    Args:
        design: The items and their texts.
        brittle: Standard deviation of the effects of texts, in logits.
        share: The share of items in which the group decides.
        runs: Their number.
        seed: The seed.
    """
    columns, item, text, group = sample(design)
    generator = np.random.default_rng(seed)
    is_other = np.array([is_placebo(attempt.prompt) for attempt in columns.attempts])
    for _ in range(runs):
        spread = np.where(item % 3 == 0, 2 * brittle, brittle) if design.unequal else brittle
        logits = generator.normal(design.base, EASE, design.items)[item]
        logits = logits + spread * generator.normal(0, 1, int(text.max()) + 1)[text]
        decided = generator.random(design.items) < share
        events = generator.random(columns.count) < expit(logits)
        events = np.where(decided[item], group % 2 == 0, events).astype(np.float64)
        events[is_other & (generator.random(columns.count) < design.lost)] = np.nan
        yield Measured.from_columns(columns.regraded({"yes": events})).flips("yes", by="group")


def simulate(design: Design, brittle: float, share: float, runs: int, seed: int) -> str:
    """Return a line with the shares of verdicts."""
    counts: Counter[object] = Counter()
    flips = placebo = 0.0
    for estimate in draws(design, brittle, share, runs, seed):
        counts[estimate.decide("<=", BOUND)] += 1
        counts["alone"] += estimate.low > BOUND
        between, own = estimate.groups.values()
        flips, placebo = flips + between / runs, placebo + own / runs
    size = f"{design.items:4d} items, {design.groups} groups, {design.wordings} wordings, {design.repetitions:2d} times"
    more = f"base {design.base:g}" + ", unequal" * design.unequal + f", lost {design.lost:g}" * (design.lost > 0)
    shares = " ".join(f"{verdict.value} {100 * counts[verdict] / runs:5.1f}" for verdict in Verdict)
    return (
        f"{size}, {more:15s} brittle {brittle:<3g} gap {share:<4g} | flips {flips:.3f} placebo {placebo:.3f} "
        f"| {shares} | without a placebo {100 * counts['alone'] / runs:5.1f}"
    )


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--brittle", type=float, nargs="*", default=[0.5, 2.0])
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.process_time()
    for design in GAPS if options.power else NULLS:
        for brittle in options.brittle:
            for share in (0.1, 0.2, 0.3) if options.power else (0.0,):
                print(simulate(design, brittle, share, options.runs, options.seed), flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time (shares in %)")


if __name__ == "__main__":
    main()
