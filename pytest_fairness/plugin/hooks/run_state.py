"""State that the hooks of one pytest process share: its role in the run, refusals and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.collection.collection import (
    check_any_model,
    check_forks,
    check_optimization,
    check_shared_results,
    lists_only,
)
from pytest_fairness.plugin.compat import KeptModules
from pytest_fairness.plugin.hooks.collected_tests import CollectedTests
from pytest_fairness.plugin.hooks.unused_options import check_options, refuse_unknown_tests
from pytest_fairness.plugin.output.outcomes import ThresholdOutcomes
from pytest_fairness.plugin.output.progress import Progress
from pytest_fairness.plugin.output.work_summary import WorkSummary
from pytest_fairness.plugin.own_tests import asks_models
from pytest_fairness.plugin.probes.marked_tests import is_marked
from pytest_fairness.plugin.session.session import FairnessSession
from pytest_fairness.report.escaping import escape_controls


class RunState:
    """The state of one pytest process: the only one, a worker, or the controller of workers."""

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        self.config = config
        self.fairness = fairness
        self.is_worker = hasattr(config, "workerinput")
        self.lists_only = lists_only(config)
        self.started = Clock.now_in_seconds()
        self.selection = CollectedTests(config.getoption("fairness_test") or ())
        self.work = WorkSummary(fairness)
        self.outcomes = ThresholdOutcomes()
        self.modules = KeptModules()
        self.progress: Progress | None = None
        self.refusal: str | None = None
        """The reason why no probe and no threshold of this process may run."""
        self.is_refused = False
        """Whether the session ends for that reason before its first test."""
        self.is_stopped = False
        """Whether the run ended before all of its tests did."""
        self.problem = ""
        """The first error outside of a test, which is reported at the end."""

    @property
    def must_write(self) -> bool:
        """Whether this call names the results file, so that an old file must be replaced."""
        return bool(self.config.getoption("fairness_json"))

    def attempt(self, step: Callable[[], object]) -> None:
        """Run a step, and record its error for the end of the run, so that it does not hide the verdicts."""
        try:
            step()
        except FairnessError as error:
            self.problem = self.problem or str(error)

    def check_selection(self, items: Sequence[pytest.Item], *, needs_model: bool = True) -> str | None:
        """Return the reason why the selected tests of this plugin cannot run, and note options that they do not use."""
        if self.fairness.fault:
            return self.fairness.fault
        try:
            refuse_unknown_tests(self.fairness, items)
            self.fairness.resolve_overrides()
            self.fairness.acceptances.check()
            if self.fairness.seal is not None:
                from pytest_fairness.plugin.judgment.seals import record_code

                record_code(items)
            self.fairness.check_evidence_map()
            self.work.notes += check_options(self.fairness, items)
        except FairnessError as error:
            return str(error)
        marked = [item for item in items if is_marked(item)]
        missing_model = check_any_model(marked) if needs_model else None
        return check_optimization(marked) or check_forks(marked) or check_shared_results(marked) or missing_model

    def refuse(self, reason: str | None, items: Sequence[pytest.Item]) -> bool:
        """Make the tests of this plugin fail for a reason, if any; end the session if there are no other tests.

        Returns:
            Whether the session ends.
        """
        if reason is None:
            return False
        reason = self.fairness.models.show(reason)
        plugin_tests = [item for item in items if is_marked(item) or asks_models(item)]
        self.refusal = None if self.fairness.fault and not plugin_tests else reason
        if not self.refusal or len(plugin_tests) not in (0, len(items)):  # the other tests still run
            return False
        reason = escape_controls(self.refusal)
        self.is_refused = True
        if not self.is_worker:
            raise pytest.UsageError(reason)
        # For xdist, a worker that ended here would have crashed: the controller gets the reason and ends the session.
        # Not by the store, which may be the reason.
        from pytest_fairness.plugin.hooks.xdist_events import send_refusal

        send_refusal(self.config, reason)
        return True

    def empty_results(self) -> None:
        """Empty the results file of an earlier run before the first test of this one."""
        if self.fairness.settings.json is not None:
            from pytest_fairness.plugin.output.outputs import empty_earlier_results

            empty_earlier_results(self.fairness.settings.json, self.fairness.run)

    def follow(self, calls: int | None) -> Progress:
        """Start the progress display of all processes of the run."""
        run = self.fairness.run
        store = self.fairness.store
        models = self.fairness.models
        self.progress = Progress(
            self.config,
            partial(store.spent, run),
            partial(store.foreign_owners, run),
            calls,
            lambda key: models.show(models.find_name(key)),
        )
        if self.progress.is_shown:
            self.config.pluginmanager.register(self.progress, "fairness-progress")
        return self.progress

    def write_problem(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the error outside of a test, if any."""
        if self.problem and self.problem != self.refusal:
            terminalreporter.write_line(f"fairness: {self.problem}", red=True)
