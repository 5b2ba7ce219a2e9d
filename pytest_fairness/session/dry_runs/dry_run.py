"""A run that asks no model: it keeps the thresholds, and gathers what is found out about each."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.session import summary, thresholds
from pytest_fairness.session.run import Run
from pytest_fairness.session.state import FairnessSession


class DryRun(Run):
    """One pytest process of such a run, whatever its part."""

    section: str
    """Its part of the results file; also names the property that carries a row on its test's report."""
    heading: str
    """Stands before a model's name in the terminal."""

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        super().__init__(config, fairness)
        self._rows: dict[str, dict[str, Any]] = {}

    @abstractmethod
    def _content(self, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The section of the results file, from the rows of all thresholds."""

    @abstractmethod
    def _lines(self, model: str, found: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
        """What the terminal shows of a model, from the rows of its thresholds."""

    def _carry(self, item: pytest.Item, row: Mapping[str, Any]) -> None:
        """Let a test's report carry this row."""
        item.user_properties[:] = [(f"fairness_{self.section}", json.dumps(row))]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the thresholds: nothing is measured, and other tests might ask a model."""
        kept = [item for item in items if thresholds.is_threshold(item)]
        if others := [item for item in items if item not in kept]:
            config.hook.pytest_deselected(items=others)
            items[:] = kept

    def _select(self, item: pytest.Function, expected: dict[str, dict[str, Any]]) -> None:
        """Nothing is laid out: no attempt is going to be made."""

    def _expect_left_out(self, selected: Sequence[pytest.Item], expected: dict[str, dict[str, Any]]) -> None:
        """Nothing is left out: there is no release."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == f"fairness_{self.section}":
                self._rows[report.nodeid] = json.loads(str(value))
        super().pytest_runtest_logreport(report)

    def _conclude(self) -> None:
        from pytest_fairness.report.results import Facts, compile_results, write_results

        settings = self._fairness.settings
        if self._config.option.collectonly or not (self._rows or self._must_write):
            return
        nothing = {"attempts": 0, "from_store": 0, "ungraded": 0}
        compiled = compile_results(Facts(self._fairness.run, self._started, settings.root), [], nothing)
        found = {self.section: self._content(list(self._rows.values()))} if self._rows else {}
        if settings.json is not None:
            write_results(settings.json, compiled | found)
        self._results = compiled | found if found else None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._problem:
            terminalreporter.write_line(f"fairness: {self._problem}", red=True)
        if self._results is None:
            return
        width = self._config.get_terminal_writer().fullwidth
        for model, found in summary.by_model(self._results[self.section]["thresholds"]).items():
            terminalreporter.write_sep("=", f"{self.heading}: {model}")
            for line in self._lines(model, found, width):
                terminalreporter.write_line(line)
        if self._fairness.settings.json is not None:
            terminalreporter.write_line(f"results: {self._fairness.settings.json}")
