"""``--fairness-plan``: what a run would come to, before it is made. No model is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session import plan_tables, rows, summary, thresholds
from pytest_fairness.session.measuring import LazyMeasured
from pytest_fairness.session.predictions import predict
from pytest_fairness.session.prospects import Prospect
from pytest_fairness.session.run import Run
from pytest_fairness.session.state import FairnessSession

PROPERTY = "fairness_plan"
"""Carries a threshold's prediction on its report."""
AGAINST_BASELINE = "it is held against a baseline, and the plan knows none"


class Plan(Run):
    """A run that predicts its thresholds instead of judging a model."""

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        super().__init__(config, fairness)
        self._prospects: dict[tuple[str, str], Prospect] = {}
        self._rows: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the thresholds: nothing is measured, and other tests might ask a model."""
        others = [item for item in items if not thresholds.is_threshold(item)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if thresholds.is_threshold(item)]

    def _select(self, item: pytest.Function, expected: dict[str, dict[str, Any]]) -> None:
        """Nothing is laid out: no attempt is going to be made."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Predict one threshold; it fails where it cannot pass with any data."""
        if "baseline" in pyfuncitem.fixturenames:
            pytest.skip(f"not planned: {AGAINST_BASELINE}")
        try:
            row = self._row(pyfuncitem)
        except FairnessError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        pyfuncitem.user_properties[:] = [(PROPERTY, json.dumps(row))]
        if row["cannot_pass"]:
            pytest.fail(f"cannot pass with any data: {row['cannot_pass']}", pytrace=False)
        return True

    def _row(self, item: pytest.Function) -> dict[str, Any]:
        measured = item.funcargs["measured"]
        assert isinstance(measured, LazyMeasured)  # noqa: S101 - the fixture's, or the test would have errored
        key = measured.probe.id, measured.subject.key
        if key not in self._prospects:
            self._prospects[key] = Prospect(self._fairness, measured)
        prospect = self._prospects[key]
        return {
            "id": item.nodeid,
            "suite": measured.probe.suite,
            "probe": measured.probe.id,
            "threshold": rows.title_of(item),
            "model": measured.subject.name,
            "items": len(measured.probe.items),
            "sources": prospect.sources,
            "repetitions": prospect.repetitions,
            **predict(item, prospect),
            "cost": prospect.cost(),
        }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        super().pytest_runtest_logreport(report)
        for name, value in report.user_properties:
            if name == PROPERTY:
                self._rows[report.nodeid] = json.loads(str(value))

    def _conclude(self) -> None:
        from pytest_fairness.session import results

        if not self._rows:
            return
        settings = self._fairness.settings
        of_models = summary.by_model(list(self._rows.values()))
        plan = {
            "thresholds": list(self._rows.values()),
            "models": [plan_tables.total(model, found, settings) for model, found in of_models.items()],
        }
        nothing = {"attempts": 0, "from_store": 0, "ungraded": 0}
        compiled = results.compile_results(self._fairness.run, self._started, [], nothing, {}, settings.root)
        self._results = compiled | {"plan": plan}
        if settings.json is not None:
            results.write_results(settings.json, self._results)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._problem:
            terminalreporter.write_line(f"fairness: {self._problem}", red=True)
        if self._results is None:
            return
        settings, width = self._fairness.settings, self._config.get_terminal_writer().fullwidth
        of_models = summary.by_model(self._results["plan"]["thresholds"])
        for (model, found), total in zip(of_models.items(), self._results["plan"]["models"], strict=True):
            terminalreporter.write_sep("=", f"plan: {model}")
            for line in (*plan_tables.table(found, width), *plan_tables.notes(found, total, settings, width)):
                terminalreporter.write_line(line)
        if settings.json is not None:
            terminalreporter.write_line(f"results: {settings.json}")
