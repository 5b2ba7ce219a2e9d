"""Common part of dry runs: the selected thresholds, their rows, and the section of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import pytest

from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.plugin.hooks.run_state import RunState
from pytest_fairness.plugin.output.terminal_text import ModelRowType, group_by_model
from pytest_fairness.plugin.probes.marked_tests import is_threshold
from pytest_fairness.plugin.report_data import clear, read, write

Row = TypeVar("Row", bound=JsonRecord)


class DryRun(Generic[Row]):
    """The selected thresholds of a dry run, with one row for each.

    Args:
        state: The state of the process.
        section: The name of the section in the results file.
        kind: The class of the rows.
    """

    def __init__(self, state: RunState, section: str, kind: type[Row]) -> None:
        self.state = state
        self.section = section
        """The name of the section in the results file, and the key of a test's row in its report."""
        self._kind = kind
        self.rows: dict[str, Row] = {}
        """The rows by the ids of tests."""
        self._order: dict[str, int] = {}
        """The order of the tests of workers, of which any may end first."""
        self.results: RunResults | None = None

    def attach(self, item: pytest.Item, row: Row) -> None:
        """Add the row of a test to its report."""
        clear(item)
        write(item, self.section, row.to_json())

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect all tests but thresholds: others could send requests."""
        selected = [item for item in items if is_threshold(item)]
        if others := [item for item in items if item not in selected]:
            config.hook.pytest_deselected(items=others)
            items[:] = selected

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Check the selected thresholds; no work is planned."""
        if not self.state.lists_only and self.state.fairness.is_used:
            needs_model = self.state.fairness.settings.verify is None
            self.state.refuse(self.state.check_selection(session.items, needs_model=needs_model), session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._order = {test: index for index, test in enumerate(ids)}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        content = read(report)
        if self.section in content:
            self.rows[report.nodeid] = self._kind.from_json(content[self.section], report.nodeid)

    def conclude(self, content: Callable[[Sequence[Row]], JsonRecord]) -> None:
        """Compile the results, and write them to the file of ``--fairness-json``.

        Args:
            content: Returns the section of the results for the rows of all thresholds.
        """
        from pytest_fairness.report.results import compile_results, moment, write_results

        settings = self.state.fairness.settings
        if self.state.config.option.collectonly or not (self.rows or self.state.must_write):
            return
        run = RunResult(id=self.state.fairness.run, started=moment(self.state.started))
        compiled = compile_results(run, settings.root, [], {}, name_models=self.state.fairness.models.name_models)
        if self.rows:
            tests = sorted(self.rows, key=lambda test: self._order.get(test, 0))
            section = {self.section: content([self.rows[test] for test in tests])}
            compiled = self.results = replace(compiled, **section)  # type: ignore[arg-type]  # a type for each section
        if settings.json is not None:
            write_results(settings.json, compiled)

    def write_tables(
        self,
        terminalreporter: pytest.TerminalReporter,
        heading: str,
        rows: Sequence[ModelRowType],
        lines: Callable[[str, Sequence[ModelRowType], int], Iterator[str]],
    ) -> None:
        """Write the lines of each model, and the name of the results file.

        Args:
            terminalreporter: The terminal.
            heading: The words before the name of a model.
            rows: The rows of all thresholds.
            lines: Yields the lines of a model, given its name, the rows of its thresholds, and the width.
        """
        self.state.write_problem(terminalreporter)
        if self.results is None:
            return
        width = self.state.config.get_terminal_writer().fullwidth
        for model, model_rows in group_by_model(rows).items():
            terminalreporter.write_sep("=", f"{heading}: {self.state.fairness.models.introduce(model)}")
            for line in lines(model, model_rows, width):
                terminalreporter.write_line(line)
        self.write_file_name(terminalreporter)

    def write_file_name(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the name of the results file, if one was requested."""
        from pytest_fairness.plugin.output.outputs import results_line

        if self.state.fairness.settings.json is not None:
            terminalreporter.write_line(results_line(self.state.fairness.settings))
