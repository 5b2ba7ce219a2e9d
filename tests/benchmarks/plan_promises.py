"""Promises of plans: the shares of verdicts that a plan predicts, beside those of runs that are simulated without it.

    python tests/benchmarks/plan_promises.py --runs 200

Each design is planned by ``pytest --fairness-plan`` in a project of its own. Its runs are drawn here, by beta-binomial
and Dirichlet answers of their own, and judged as a first run is. A share of 200 runs is known to within 7 points (95%).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.sequential import FIRST_RUN
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold

ICC = 0.2
CONFIDENCE = 1 - FIRST_RUN * 0.05
PROBE = """\
import pytest
from pytest_fairness import ProbeItem, Prompt, Rating, YesNo


@pytest.fixture(scope="session")
def model():
    return lambda prompt: "Yes"


def items():
    for number in range({items}):
        prompts = [Prompt(f"{{group}} {{number}}?", groups={{"g": group}}) for group in ("a", "b")]
        yield ProbeItem(str(number), prompts)


@pytest.mark.probe(items=items, grade={{"y": {grade}}}, repetitions={repetitions})
def test_probe(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_probe)
def test_threshold(measured):
    assert {claim}
"""


@dataclass(frozen=True, slots=True)
class Design:
    """A design of a probe with two groups, and the claim of its threshold."""

    claim: str
    items: int
    repetitions: int
    levels: int = 2

    @property
    def source(self) -> str:
        """The source of its project's test file."""
        grade = "YesNo()" if self.levels == 2 else f"Rating(1, {self.levels})"
        return PROBE.format(items=self.items, repetitions=self.repetitions, grade=grade, claim=self.claim)


RATIO = 'measured.ratio("y", by="g", of="a", to="b")'
ODDS = 'measured.odds_ratio("y", by="g", of="a", to="b")'
DIFFERENCE = 'abs(measured.difference("y", by="g", of="a", to="b"))'
DESIGNS = (
    Design('measured.rate("y") <= 0.7', 40, 1),
    Design('measured.rate("y") <= 0.6', 200, 1),
    Design(f"0.8 <= {RATIO} <= 1.25", 100, 3),
    Design(f"{RATIO} >= 0.8", 250, 1),
    Design(f"2 / 3 <= {ODDS} <= 3 / 2", 120, 3),
    Design(f"{DIFFERENCE} <= 0.15", 60, 3),
    Design(f"{DIFFERENCE} <= 0.1", 200, 2),
    Design('measured.mean("y") <= 3.5', 40, 2, levels=5),
    Design(f"{DIFFERENCE} <= 0.4", 200, 1, levels=5),
    Design(f"{DIFFERENCE} <= 0.5", 150, 2, levels=7),
)


def plan(design: Design, number: int) -> tuple[float, int, float]:
    """Return the share of *fair* that a plan predicts, its number of samples, and the items for 80% power."""
    with tempfile.TemporaryDirectory() as folder:
        path, results = Path(folder, f"test_design_{number}.py"), Path(folder, "plan.json")
        path.write_text(design.source, encoding="utf-8")
        options = [
            "-q",
            "--import-mode=importlib",
            f"--rootdir={folder}",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
        ]
        files = [f"--fairness-json={results}", f"--fairness-store={folder}/store.sqlite", "--fairness-report=none"]
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main([str(path), "--fairness-plan", *options, *files])
        (row,) = json.loads(results.read_text(encoding="utf-8"))["plan"]["thresholds"]
    return row["scenarios"][0]["fair"], row["scenarios"][0]["draws"], (row["needed"] or {}).get("items", 0)


def rows(design: Design, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield the answers of a run in which both groups of an item have the same chances."""
    shares = np.full(design.levels, 1 / design.levels) * (1 - ICC) / ICC
    for item in range(design.items):
        chances = generator.dirichlet(shares)
        for group in ("a", "b"):
            for answer in generator.choice(design.levels, size=design.repetitions, p=chances).tolist():
                yield {"item": item, "g": group, "y": bool(answer) if design.levels == 2 else float(answer + 1)}


def realize(design: Design, runs: int, seed: int) -> Counter[Verdict]:
    """Return the verdicts of simulated runs."""
    test: Callable[[Measured], object] = eval(f"lambda measured: _holds({design.claim})", {"_holds": _holds})  # noqa: S307
    extremes = None if design.levels == 2 else {"y": (1.0, float(design.levels))}
    verdicts: Counter[Verdict] = Counter()
    for run in range(runs):
        sample = rows(design, np.random.default_rng((seed, run)))
        measured = Measured.from_rows(sample, item="item", groups=["g"], confidence=CONFIDENCE, extremes=extremes)
        verdicts[judge_threshold(test, measured, ThresholdDesign(clusters=False), reports=False).verdict] += 1
    return verdicts


def _holds(claim: object) -> None:
    assert claim


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    print(f"{'claim':66} {'items':>5} {'reps':>4} {'plan':>5} {'draws':>5} {'80% at':>6} {'real':>5}")
    for number, design in enumerate(DESIGNS):
        fair, draws, needed = plan(design, number)
        real = realize(design, options.runs, options.seed)[Verdict.FAIR] / options.runs
        size = f"{design.items:5} {design.repetitions:4}"
        print(f"{design.claim:66} {size} {fair:5.0%} {draws:5} {needed:6} {real:5.0%}", flush=True)


if __name__ == "__main__":
    main()
