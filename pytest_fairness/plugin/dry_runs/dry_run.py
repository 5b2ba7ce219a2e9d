"""Common part of the runs that ask no model: the selected thresholds, their rows, and the section of the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import pytest

from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.plugin.collection import is_threshold
from pytest_fairness.plugin.run_state import RunState
from pytest_fairness.plugin.terminal_text import OfModelRow, by_model

Row = TypeVar("Row", bound=JsonRecord)


class DryRun(Generic[Row]):
    """Thresholds of a selection, with one row for each."""

    def __init__(self, state: RunState, section: str, kind: type[Row]) -> None:
        self.state = state
        self.section = section
        """Its part of the results file; also names the property that carries a row on the report of its test."""
        self._kind = kind
        self.rows: dict[str, Row] = {}
        """By the ids of tests."""
        self.results: RunResults | None = None

    def attach(self, item: pytest.Item, row: Row) -> None:
        """Let the report of a test carry its row."""
        item.user_properties[:] = [(f"fairness_{self.section}", json.dumps(row.to_json()))]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the thresholds: nothing is measured, and other tests might ask a model."""
        kept = [item for item in items if is_threshold(item)]
        if others := [item for item in items if item not in kept]:
            config.hook.pytest_deselected(items=others)
            items[:] = kept

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Check the selected thresholds; no work is planned."""
        if not self.state.lists_only and self.state.fairness.is_used:
            needs_model = self.state.fairness.settings.verify is None
            self.state.refuse(self.state.check_selection(session.items, needs_model=needs_model), session.items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Read the row of a test, before the properties of its report are replaced by those to show."""
        for name, value in report.user_properties:
            if name == f"fairness_{self.section}":
                self.rows[report.nodeid] = self._kind.from_json(json.loads(str(value)), report.nodeid)
        yield

    def conclude(self, content: Callable[[Sequence[Row]], JsonRecord]) -> None:
        """Compile the results, and write them to the file of ``--fairness-json``.

        Args:
            content: Turns the rows of all thresholds into the section of the results.
        """
        from pytest_fairness.report.results import compile_results, moment, write_results

        settings = self.state.fairness.settings
        if self.state.config.option.collectonly or not (self.rows or self.state.must_write):
            return
        run = RunResult(id=self.state.fairness.run, started=moment(self.state.started))
        compiled = compile_results(run, settings.root, [], {})
        if self.rows:
            section = {self.section: content(list(self.rows.values()))}
            compiled = self.results = replace(compiled, **section)  # type: ignore[arg-type]  # the section's own type
        if settings.json is not None:
            write_results(settings.json, compiled)

    def write_tables(
        self,
        terminalreporter: pytest.TerminalReporter,
        heading: str,
        rows: Sequence[OfModelRow],
        lines: Callable[[str, Sequence[OfModelRow], int], Iterator[str]],
    ) -> None:
        """Write the lines of each model, and the name of the results file.

        Args:
            terminalreporter: The terminal.
            heading: Stands before the name of a model.
            rows: Those of all thresholds.
            lines: Yields the lines of a model, from its name, the rows of its thresholds, and the width.
        """
        self.state.write_problem(terminalreporter)
        if self.results is None:
            return
        width = self.state.config.get_terminal_writer().fullwidth
        for model, of_model in by_model(rows).items():
            terminalreporter.write_sep("=", f"{heading}: {model}")
            for line in lines(model, of_model, width):
                terminalreporter.write_line(line)
        self.write_file_name(terminalreporter)

    def write_file_name(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the name of the results file, if one was requested."""
        if self.state.fairness.settings.json is not None:
            terminalreporter.write_line(f"results: {self.state.fairness.settings.json}")
