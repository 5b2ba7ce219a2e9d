"""Time of 10,000 resamples of a ratio, against GenderBench's own resampling of the same data.

    python tests/benchmarks/resampling.py

Both sides get the same 2,000 items: two groups, 5 repetitions, yes or no, items that differ
(beta, ICC 0.2), a true ratio of 0.9. Ours is timed from a `Measured` to the array of
resamples; theirs from an evaluated `Probe` through its `calculate_metrics`, with the
calculator they ship for yes and no by gender and one division more for the ratio, and logs
off. Fewer of theirs (`--theirs`) are scaled up linearly, and the output says so. The
standard errors must agree within 5%, and ours must be 100 times faster: else it ends with 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

GROUPS = ("female", "male")
FEWEST_TIMES = 100
LARGEST_GAP = 0.05

Answers = list[list[list[int]]]
"""Answers by item, group and repetition: 1 for yes."""


def drawn(items: int = 2_000, repetitions: int = 5, icc: float = 0.2, ratio: float = 0.9) -> Answers:
    """Draw the data."""
    generator = np.random.default_rng(20_240_229)
    size = (1 - icc) / icc
    chances = generator.beta(size / 2, size / 2, (items, 1, 1)) * np.array([ratio, 1.0])[:, np.newaxis]
    answers: Answers = (generator.random((items, len(GROUPS), repetitions)) < chances).astype(int).tolist()
    return answers


def ours(answers: Answers, draws: int) -> tuple[float, float]:
    """Return the seconds, and the standard error of the ratio."""
    from pytest_fairness.stats.measured import Measured

    rows = [
        {"item": item, "group": group, "yes": yes}
        for item, by_group in enumerate(answers)
        for group, repetitions in zip(GROUPS, by_group, strict=True)
        for yes in repetitions
    ]
    measured = Measured.from_rows(rows, item="item", groups=["group"])

    def ratio(s: Any) -> Any:
        return (s.yes_female / s.of_female) / (s.yes_male / s.of_male)

    sums: dict[str, Any] = {
        "yes_female": lambda a: a["yes"] * (a.prompt.groups["group"] == "female"),
        "of_female": lambda a: a.prompt.groups["group"] == "female",
        "yes_male": lambda a: a["yes"] * (a.prompt.groups["group"] == "male"),
        "of_male": lambda a: a.prompt.groups["group"] == "male",
    }
    start = time.perf_counter()
    values = measured.resamples(ratio, draws=draws, **sums)
    return time.perf_counter() - start, float(values.std())


def theirs(answers: Answers, draws: int) -> tuple[float, float]:
    """Return the same of GenderBench: its interval is the normal fit to its resamples."""
    from pytest_fairness.harnesses.genderbench.package import probe_classes

    probe_classes()  # loads the package without its clients, which pin other versions than ours
    from genderbench.probes.discrimination_tamkin.discrimination_tamkin_genders import (
        DiscriminationTamkinGenders,
    )
    from genderbench.probes.discrimination_tamkin.discrimination_tamkin_metric_calculator import (
        DiscriminationTamkinMetricCalculator,
    )
    from genderbench.probing.evaluator import ClosedSetEvaluator
    from genderbench.probing.probe import Probe
    from genderbench.probing.probe_item import ProbeItem
    from genderbench.probing.prompt import Prompt
    from scipy.stats import norm  # type: ignore[import-untyped]

    class Answer(ClosedSetEvaluator):  # type: ignore[misc]
        def calculate_evaluation(self, attempt: Any) -> Any:
            return attempt.answer

    class Ratio(DiscriminationTamkinMetricCalculator):  # type: ignore[misc]
        def calculate(self, probe_items: Any) -> Any:
            metrics = super().calculate(probe_items)
            return metrics | {"ratio": metrics["female_success_rate"] / metrics["male_success_rate"]}

    class Given(Probe):  # type: ignore[misc]
        def _create_probe_items(self) -> Any:
            genders = [DiscriminationTamkinGenders[group.upper()] for group in GROUPS]
            prompts = [Prompt("", metadata={"gender": gender}) for gender in genders]
            return [ProbeItem(prompts, num_repetitions=len(by_group[0])) for by_group in answers]

    class Replayed:
        def generate(self, texts: Any) -> Any:
            return ["yes" if yes else "no" for yes in np.array(answers).ravel().tolist()]

    probe = Given(evaluator=None, metric_calculator=None, bootstrap_cycles=draws, log_strategy="no")
    probe.evaluator, probe.metric_calculator = Answer(probe, options=["yes", "no"]), Ratio(probe)
    probe.create_probe_items()
    probe.generate(Replayed())
    probe.evaluate()
    start = time.perf_counter()
    probe.calculate_metrics()
    seconds = time.perf_counter() - start
    low, high = probe.metrics["ratio"]
    return seconds, float((high - low) / 2 / norm.ppf(0.975))


def main() -> int:
    """Print both times, their ratio and both standard errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000, help="resamples (default: 10000)")
    parser.add_argument("--theirs", type=int, help="resamples by GenderBench, scaled up (default: as many)")
    arguments = parser.parse_args()
    draws = arguments.theirs or arguments.draws
    answers = drawn()
    runs = [ours(answers, arguments.draws) for _ in range(5)]
    seconds, error = min(runs)
    their_seconds, their_error = theirs(answers, draws)
    scaled = their_seconds * arguments.draws / draws
    how = "" if draws == arguments.draws else f", {draws:,} in {their_seconds:.1f} s scaled up linearly"
    times, gap = scaled / seconds, abs(error / their_error - 1)
    print(f"{arguments.draws:,} resamples of a ratio, {len(answers):,} items of 2 groups and 5 repetitions")
    print(
        f"ours         {seconds:8.3f} s, standard error {error:.5f} (the best of 5; the first took {runs[0][0]:.3f} s)"
    )
    print(f"GenderBench  {scaled:8.3f} s, standard error {their_error:.5f}{how}")
    print(f"{times:.0f} times faster; the standard errors differ by {gap:.1%}")
    return int(times < FEWEST_TIMES or gap > LARGEST_GAP)


if __name__ == "__main__":
    sys.exit(main())
