"""Whole gates: how often a fair model passes all thresholds of a suite, and how often a planted bias is found.

    python tests/benchmarks/gates.py hiring --runs 100 --json hiring.json

Runs are simulated as ``--fairness-plan`` simulates them, from the assumptions of the plan and those that the suite
declares; all thresholds of a probe judge the same runs.

    python tests/benchmarks/gates.py hiring --planted --runs 20 --profile audit --json hiring.json

plants bias of known sizes in such runs, in the profile's size (`planted.py`); with ``--on-bound`` only bias that is as
large as the bound, where nothing may be called fair. Asymmetry has to be given a judge:
``--more=--fairness-judge=simulated:judge``.

    python tests/benchmarks/gates.py hiring --certify --json hiring.json

certifies every threshold on the first of these runs, as ``pytest --fairness-certify`` does on a stored one. All add to
what the file has. `tests/benchmarks/cards.py` writes the figures into the suites' cards.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.dry_run_results import CertifiedThreshold, PlannedThreshold
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.planning.error_rates import ErrorRateSample, estimate_error_rates
from pytest_fairness.planning.forecasts import Forecast
from pytest_fairness.planning.predictions import explain_never_fair
from pytest_fairness.plugin.dry_runs import plan
from pytest_fairness.plugin.dry_runs.pilot import PilotData
from pytest_fairness.plugin.evaluation import ThresholdTest, evaluate_on
from pytest_fairness.plugin.measurement import lazy_measured
from pytest_fairness.plugin.profiles import AUDIT, GATE
from pytest_fairness.plugin.stored_samples import restore_measured
from pytest_fairness.store.samples import StoredSample
from tests.benchmarks.cards import calls, whole_gate, write_figures
from tests.benchmarks.planted import ON_BOUND, TIMES, PlantedBias

ROOT = Path(__file__).parents[2]
BROKEN = 0.001
"""The p-value under which errors are too many for the promise, over the thresholds of all suites (Bonferroni)."""
SECONDS = 5.0
"""CPU seconds for the certificate of a threshold."""
RECORDERS = ("record", "_record")
"""The beginnings of the names of functions that record estimates beside a threshold, which decide nothing."""


class Rehearsal:
    """Judge of every threshold on the same simulated runs, in place of the plan's own prediction."""

    def __init__(
        self, runs: int, out: Path | None, *, certify: bool, plant: str = "", times: Sequence[float] = TIMES
    ) -> None:
        self.runs, self.out, self.certify, self.plant, self.times = runs, out, certify, plant, times
        self.rows: dict[str, dict[str, Any]] = {}
        if out and out.exists():
            self.rows = {row["test"]: row for row in json.loads(out.read_text(encoding="utf-8"))}

    def predict(
        self, threshold: ThresholdTest, row: PlannedThreshold, pilot_data: PilotData, _seconds: float
    ) -> PlannedThreshold:
        """Judge or certify one threshold, and keep its figures."""
        item = threshold.item
        for name in dir(item.module):
            if name.startswith(RECORDERS):
                setattr(item.module, name, lambda *_args, **_options: None)
        test = item.nodeid.split("[")[0].removeprefix("suites/")
        if self.plant:
            sizes = self.rows.setdefault(test, {"test": test}).setdefault("sizes", {})
            kept = [size for size in sizes.get(self.plant, ()) if (size[0] == ON_BOUND) != (ON_BOUND in self.times)]
            tried = [list(astuple(size)) for size in PlantedBias(item, pilot_data, self.runs).sizes(self.times)]
            sizes[self.plant] = sorted(kept + tried)
        elif self.certify:
            self.rows.setdefault(test, {"test": test})["certified"] = _certified(item, pilot_data)
        else:
            self.rows[test] = {**self.rows.get(test, {}), "test": test, **self._judged(item, row, pilot_data)}
        if self.out:
            write_figures(self.out, list(self.rows.values()))
        print(_line(self.rows[test], self.plant), flush=True)
        return replace(row, cannot_pass="", scenarios=[])

    def _judged(self, item: pytest.Function, row: PlannedThreshold, pilot_data: PilotData) -> dict[str, Any]:
        dependence, judgments = None, []
        for number in range(self.runs):
            judgments.append(evaluate_on(item, pilot_data.draw(number), dependence))
            dependence = judgments[-1].dependence or dependence
        forecast = Forecast.from_judgments(judgments, None)
        detectable = None if forecast is None else forecast.detectable()
        fair = [judgment.verdict is Verdict.FAIR for judgment in judgments]
        low, high = judgments[-1].bounds
        return {
            "title": row.threshold,
            "probe": row.probe,
            "low": low,
            "high": high,
            "items": row.items,
            "sources": row.sources,
            "repetitions": row.repetitions,
            "calls": row.cost.calls,
            "audit": dict(pilot_data.probe.arguments.get("profiles", {}).get("audit", {})),
            "fair": fair,
            "invalid": sum(judgment.verdict is Verdict.INVALID for judgment in judgments),
            "unfair": sum(judgment.verdict is Verdict.UNFAIR for judgment in judgments),
            "below": None if detectable is None else detectable.below,
            "above": None if detectable is None else detectable.above,
            "cannot_pass": "" if any(fair) else explain_never_fair(ThresholdTest(item), pilot_data),
        }


def _certified(item: pytest.Function, pilot_data: PilotData) -> dict[str, Any]:
    """Return the error rates of a threshold on the first simulated run of a fair model."""
    measured = lazy_measured(item.funcargs["measured"])
    sample = StoredSample(
        measured.probe.id,
        measured.subject.name,
        measured.subject.key,
        list(pilot_data.draw(0).selection.columns.attempts),
        arguments=measured.arguments,
        extremes=measured.extremes,
    )
    row = CertifiedThreshold(id=item.nodeid, suite="", threshold="", model=None)
    restored = restore_measured(sample)
    confidence = measured.first_look(1).confidence
    view = restored.from_selection(restored.selection.whole(confidence=confidence))
    stored = ErrorRateSample(sample, view, measured.tail)
    try:
        row = estimate_error_rates(ThresholdTest(item), row, stored, 0, SECONDS)
    except FairnessError as error:
        return {"reason": str(error)}
    checks = {check.error: {"share": check.share, "at_most": check.at_most} for check in row.checks}
    missed = row.truths.get("beyond")
    return {
        "reason": "",
        "draws": row.draws,
        "kept": all(check.share <= check.at_most and check.p_value >= BROKEN for check in row.checks),
        "checks": checks,
        "missed": None if missed is None else 1 - missed.unfair,
    }


def _line(row: Mapping[str, Any], plant: str) -> str:
    if plant:
        tried = ", ".join(f"{value:.3g}: {unfair}/{fair}/{of}" for _, value, unfair, fair, of in row["sizes"][plant])
        return f"{row['test'].split('::')[1]:60} {tried}"
    if "fair" not in row:
        return str(row["certified"])
    fair = f"{sum(row['fair'])}/{len(row['fair'])}"
    return f"{fair:>8}  {row['calls']:>6} calls  {row['title']} {row['cannot_pass'][:60]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", help="a folder of suites/")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--json", type=Path, help="write the figures to this file, threshold by threshold")
    parser.add_argument("--planted", action="store_true", help="plant bias of known sizes, in place of the runs")
    parser.add_argument("--on-bound", action="store_true", help="plant only bias that is as large as the bound")
    parser.add_argument("--profile", default=GATE, choices=(GATE, AUDIT))
    parser.add_argument("--certify", action="store_true", help="certify each threshold, in place of the runs")
    parser.add_argument("--more", action="append", default=[], help="an argument for pytest; repeatable")
    options = parser.parse_args()
    plant = options.profile if options.planted or options.on_bound else ""
    times = (ON_BOUND,) if options.on_bound else TIMES
    rehearsal = Rehearsal(options.runs, options.json, certify=options.certify, plant=plant, times=times)
    setattr(plan, "predict", rehearsal.predict)  # noqa: B010 - the plan has no other place for it
    command = [str(ROOT / "suites" / options.suite), "-q", "-s", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["--fairness-plan", "--fairness-model=simulated:fair", "--fairness-store=/nonexistent/store.sqlite"]
    status = pytest.main([*command, "--fairness-report=none", f"--fairness-profile={options.profile}", *options.more])
    rows = [row for row in rehearsal.rows.values() if "fair" in row]
    if rows:
        print(f"{options.suite}: all {len(rows)} fair in {whole_gate(rows):.0%} of runs; {calls(rows):,} calls")
    sys.exit(0 if status in (0, 1) and rehearsal.rows else 2)


if __name__ == "__main__":
    main()
