"""Reruns of thresholds whose worker died: a threshold of stored answers can be called again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.session import FairnessSession

_MOST = 3
"""Deaths of a threshold's worker without a completed call in between: more show that the test kills it."""


class CrashedThresholdReruns:
    """Reruns of such thresholds, which the controller of xdist calls again; the tests of probes are left alone."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness
        self._crashes: Counter[str] = Counter()
        self._ended = -1

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        if report.outcome != "failed" or not self._may_go_again(crashitem):
            return
        try:
            sched.mark_test_pending(crashitem)
        except NotImplementedError:  # of schedulers that keep tests together
            return
        report.outcome = "rerun"  # type: ignore[assignment]  # as rerunfailures has it: no failure yet

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        again = report.outcome == "rerun"  # type: ignore[comparison-overlap]
        return ("rerun", "R", ("RERUN", {"yellow": True})) if again else None

    def _may_go_again(self, test: str) -> bool:
        if not self._fairness.settings.store.exists():
            return False
        try:
            store, run = self._fairness.store, self._fairness.run
            if test not in store.runs.expected_thresholds(run):
                return False
            ended = sum(entry.calls for entry in store.spent(run))
        except FairnessError:  # the store is not to be had: nothing can be measured again
            return False
        if ended > self._ended:
            self._crashes.clear()
        self._ended = ended
        self._crashes[test] += 1
        return self._crashes[test] < _MOST
