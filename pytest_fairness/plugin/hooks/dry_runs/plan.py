"""``--fairness-plan``: predictions of verdicts and costs before a run, without requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from pytest_fairness.core.dry_run_results import PlannedThreshold, PlanResult
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.planning import predictions
from pytest_fairness.planning.predictions import predict
from pytest_fairness.planning.time_budget import TimeBudget
from pytest_fairness.plugin.hooks.dry_runs import plan_tables
from pytest_fairness.plugin.hooks.dry_runs.dry_run import DryRun
from pytest_fairness.plugin.hooks.dry_runs.pilot import PilotData
from pytest_fairness.plugin.judgment import threshold_rows as rows
from pytest_fairness.plugin.judgment.evaluation import ThresholdTest
from pytest_fairness.plugin.output.terminal_text import group_by_model
from pytest_fairness.plugin.probes.marked_tests import is_threshold
from pytest_fairness.plugin.samples.baseline import uses_baseline
from pytest_fairness.plugin.samples.measurement import lazy_measured

AGAINST_BASELINE = "it is compared with a baseline, and a plan has none"


class Plan:
    """Hooks that predict the thresholds of a run, instead of measuring."""

    def __init__(self, dry_run: DryRun[PlannedThreshold]) -> None:
        self._dry_run = dry_run
        self._fairness = dry_run.state.fairness
        self._key = "", ""
        self._pilot_data: PilotData | None = None
        """The simulated runs of the latest probe: thresholds of one stand together, and a large one takes memory."""
        self._budget: TimeBudget | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Predict one threshold; it fails if it cannot pass with any data."""
        if uses_baseline(pyfuncitem):
            pytest.skip(f"not planned: {AGAINST_BASELINE}")
        try:
            row = self._row(pyfuncitem)
        except FairnessError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        self._dry_run.attach(pyfuncitem, row)
        if row.cannot_pass:
            pytest.fail(f"cannot pass with any data: {row.cannot_pass}", pytrace=False)
        return True

    def _row(self, item: pytest.Function) -> PlannedThreshold:
        measured = lazy_measured(item.funcargs["measured"])
        key = measured.probe.id, measured.subject.key
        if self._pilot_data is None or key != self._key:
            self._key, self._pilot_data = key, PilotData(self._fairness, measured)
        pilot_data = self._pilot_data
        row = PlannedThreshold(
            id=item.nodeid,
            suite=measured.probe.suite,
            probe=measured.probe.id,
            threshold=rows.threshold_title(item),
            model=measured.subject.name,
            items=len(measured.probe.items),
            sources=pilot_data.sources,
            repetitions=pilot_data.repetitions,
            looks=pilot_data.look.plan,
            basis="pilot" if pilot_data.has_pilot else "assumptions",
            cost=pilot_data.cost(),
        )
        if self._budget is None:
            self._budget = TimeBudget(predictions.SECONDS, sum(map(is_threshold, item.session.items)))
        with self._budget.share() as seconds:
            return predict(ThresholdTest(item), row, pilot_data, seconds)

    def conclude(self) -> None:
        """Write the predictions, and the totals of each model."""
        self._dry_run.conclude(self._content)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        plan = self._dry_run.results.plan if self._dry_run.results else None
        self._dry_run.write_tables(terminalreporter, "plan", plan.thresholds if plan else (), self._lines)

    def _content(self, rows: Sequence[PlannedThreshold]) -> PlanResult:
        settings = self._fairness.settings
        totals = [
            plan_tables.compute_total(model, model_rows, settings) for model, model_rows in group_by_model(rows).items()
        ]
        return PlanResult(thresholds=rows, models=totals)

    def _lines(self, model: str, rows: Sequence[PlannedThreshold], width: int) -> Iterator[str]:
        settings = self._fairness.settings
        total = plan_tables.compute_total(model, rows, settings)
        yield from plan_tables.format_propensities(rows, total, width)
        yield from plan_tables.format_table(rows, width)
        yield from plan_tables.format_notes(rows, total, settings, width)
