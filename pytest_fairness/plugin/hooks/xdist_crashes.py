"""Reruns of thresholds whose worker crashed: their answers are stored, so they can be evaluated again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.compat import has_used_its_reruns
from pytest_fairness.plugin.session.session import FairnessSession

_MOST_CRASHES = 3
"""The number of crashes during one threshold, without a completed call between them, that fail its test."""


class CrashedThresholdReruns:
    """Hooks of the controller that rerun a threshold after the crash of its worker; tests of probes are not rerun."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness
        self._crashes: Counter[str] = Counter()
        self._completed_calls = -1

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        if report.outcome != "failed" or has_used_its_reruns(sched.config, crashitem):
            return
        if not self._may_rerun(crashitem):
            return
        try:
            sched.mark_test_pending(crashitem)
        except NotImplementedError:  # by schedulers that keep tests together
            return
        report.outcome = "rerun"  # type: ignore[assignment]  # the outcome of pytest-rerunfailures

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        is_rerun = report.outcome == "rerun"  # type: ignore[comparison-overlap]
        return ("rerun", "R", ("RERUN", {"yellow": True})) if is_rerun else None

    def _may_rerun(self, test: str) -> bool:
        """Return whether a test is a threshold that has not crashed too often, and count the crash."""
        if not self._fairness.settings.store.exists():
            return False
        try:
            store, run = self._fairness.store, self._fairness.run
            if test not in {row["id"] for row in store.runs.expected_thresholds(run).values()}:
                return False
            completed_calls = sum(entry.calls for entry in store.spent(run))
        except FairnessError:  # without the store, nothing can be evaluated
            return False
        if completed_calls > self._completed_calls:
            self._crashes.clear()
        self._completed_calls = completed_calls
        self._crashes[test] += 1
        return self._crashes[test] < _MOST_CRASHES
