"""Competent models that harm nobody, over all shipped suites: how often is a gate fair, and what takes it away?

    python tests/benchmarks/harmless_models.py --seeds 100
    python tests/benchmarks/harmless_models.py --probes hiring/identity --seeds 100 --taken
    python tests/benchmarks/harmless_models.py --seeds 2 --texts

A model is drawn for each seed: the share of favorable answers to an ordinary case (0.1 to 0.95), how much strong and
weak cases move it, its accuracy (0.75 to 0.99), a habit of taking what stands first (up to 20% of answers), and
ungraded answers (up to 5%), alike for all groups. A threshold that is fair by its pooled interval alone, and not by all
that its mark and its probe declare, has lost it by the response or by slices: at most 5% may. ``--taken`` has the
attributes of `tests.helpers.shipped_gates.SLICED` as slices where a threshold declares none.

Models are simulated by the grades of their answers, where these follow from what they mean; ``--texts`` has graders
read the texts as well, and counts the grades that differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness import Measured
from pytest_fairness.core.attempts import value_or_none
from pytest_fairness.core.verdicts import Judgment
from tests.helpers.known_models import Competent, KnownModel
from tests.helpers.responders import LEVELS
from tests.helpers.shipped_gates import Gate, gates, judgment, measured_by_grades, measured_by_texts, slices_of

VERDICTS = ("fair", "undecided", "invalid", "unfair")
Key = tuple[str, str]


def harmless(seed: int) -> Competent:
    """Return a competent model that treats all groups alike."""
    chance = random.Random(f"harmless {seed}")
    return Competent(
        seed=seed,
        base=chance.choice((0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)),
        accuracy=chance.uniform(0.75, 0.99),
        follows=chance.uniform(1.5, 3.5),
        habit=chance.choice((0.0, chance.uniform(0, 0.2))),
        unreadable=chance.choice((0.0, chance.uniform(0, 0.05))),
    )


@dataclass
class Counts:
    """Verdicts over seeds."""

    verdicts: dict[Key, Counter[str]] = field(default_factory=dict)
    """The verdicts by probe and threshold."""
    pooled: dict[Key, Counter[str]] = field(default_factory=dict)
    """The same by the pooled interval alone."""
    lost: dict[Key, Counter[str]] = field(default_factory=dict)
    """The verdicts of those that are fair by the pooled interval alone."""
    fair: Counter[str] = field(default_factory=Counter)
    """Releases that are fair, by suite."""
    kept: Counter[str] = field(default_factory=Counter)
    """Releases that lose nothing by response or slices, by suite."""
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, key: Key, judged: Judgment, pooled: Judgment) -> bool:
        """Count one threshold, and return whether it lost its verdict."""
        self.verdicts.setdefault(key, Counter())[str(judged.verdict)] += 1
        self.pooled.setdefault(key, Counter())[str(pooled.verdict)] += 1
        is_lost = str(pooled.verdict) == "fair" != str(judged.verdict)
        if is_lost:
            self.lost.setdefault(key, Counter())[str(judged.verdict)] += 1
            self.reasons[f"{key[1]}: {judged.verdict}: {judged.sensitivity or 'a slice lies outside'}"[:140]] += 1
        return is_lost


def attributes_taken(gate: Gate, threshold: object, pooled: Judgment) -> tuple[str, ...]:
    """Return the attributes that stand for the slices of a threshold which declares none."""
    estimate = pooled.deciding.estimate if pooled.deciding else None
    by = estimate.attribute if estimate is not None else None
    return tuple(dict.fromkeys(name for name, _ in slices_of(gate, threshold, by)))  # type: ignore[arg-type]


def run_seed(counts: Counts, all_gates: Sequence[Gate], seed: int, *, taken: bool) -> None:
    """Judge all thresholds on the model of one seed."""
    model = harmless(seed)
    fair = {gate.suite: True for gate in all_gates}
    kept = dict(fair)
    for gate in all_gates:
        measured = measured_as(gate, model)
        for threshold in gate.study.thresholds:
            pooled = judgment(gate, threshold, measured, slices=(), controls=())
            design = {"slices": attributes_taken(gate, threshold, pooled)} if taken else {}
            judged = judgment(gate, threshold, measured, **design)
            is_lost = counts.add((gate.name, threshold.__name__), judged, pooled)
            fair[gate.suite] &= str(judged.verdict) == "fair"
            kept[gate.suite] &= not is_lost
    counts.fair.update(suite for suite, is_fair in fair.items() if is_fair)
    counts.kept.update(suite for suite, is_kept in kept.items() if is_kept)


def measured_as(gate: Gate, model: Competent) -> Measured:
    """Return a model's sample, by its grades where they follow from what it means."""
    return measured_by_grades(gate, model) if gate.is_direct else measured_by_texts(gate, KnownModel(model))


def report(counts: Counts, seeds: int) -> None:
    """Print the tables."""
    print("\nprobe | threshold | pooled: " + ", ".join(VERDICTS) + " | as declared: " + ", ".join(VERDICTS) + " | lost")
    for key, verdicts in counts.verdicts.items():
        name = key[1].removeprefix("test_") + (" (level)" if key[1] in LEVELS else "")
        rows = [" ".join(f"{of[verdict]:4d}" for verdict in VERDICTS) for of in (counts.pooled[key], verdicts)]
        print(f"{key[0]} | {name} | {rows[0]} | {rows[1]} | {counts.lost.get(key, Counter()).total() or ''}")
    fair = sum(of["fair"] for of in counts.pooled.values())
    lost = sum(of.total() for of in counts.lost.values())
    print(f"\n{lost} of {fair} verdicts that are fair by the pooled interval are lost ({lost / max(fair, 1):.1%})")
    for reason, number in counts.reasons.most_common(12):
        print(f"  {number:4d}  {reason}")
    for suite in dict.fromkeys(key[0].partition("/")[0] for key in counts.verdicts):
        print(f"{suite}: {counts.fair[suite]} of {seeds} releases are fair; {counts.kept[suite]} lose nothing")


def differing(all_gates: Sequence[Gate], seed: int) -> tuple[int, int]:
    """Return how many grades differ between texts that are read and what a model means, and how many there are."""
    model, different, total = harmless(seed), 0, 0
    for gate in all_gates:
        if gate.is_direct:
            by_grades, by_texts = measured_by_grades(gate, model), measured_by_texts(gate, KnownModel(model))
            pairs = zip(by_grades.selection.columns.attempts, by_texts.selection.columns.attempts, strict=True)
            for meant, read in pairs:
                for name in gate.graders:
                    total += 1
                    different += value_or_none(meant.grades[name]) != value_or_none(read.grades[name])
    return different, total


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", default="", help="only probes whose name contains this")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--taken", action="store_true", help="have slices where none are declared")
    parser.add_argument("--texts", action="store_true", help="compare the grades of texts")
    options = parser.parse_args()
    begun, all_gates = time.process_time(), list(gates(options.probes))
    seeds = range(options.first, options.first + options.seeds)
    if options.texts:
        for seed in seeds:
            different, total = differing(all_gates, seed)
            print(f"seed {seed}: {different} of {total} grades differ between texts and what is meant", flush=True)
        return
    counts = Counts()
    for seed in seeds:
        run_seed(counts, all_gates, seed, taken=options.taken)
        if (seed - options.first + 1) % 10 == 0:
            print(f"{seed - options.first + 1} seeds, {time.process_time() - begun:.0f} s", file=sys.stderr, flush=True)
    report(counts, options.seeds)
    print(f"{time.process_time() - begun:.0f} s of CPU")


if __name__ == "__main__":
    main()
