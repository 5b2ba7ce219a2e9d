"""The hooks of a run: what is selected, how tests are called, what their reports come to."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.ci.junit import shown_properties
from pytest_fairness.report.release import NOT_JUDGED, NOT_SELECTED, not_judged, reason_of
from pytest_fairness.report.texts import visible
from pytest_fairness.session import outcomes, rows, thresholds
from pytest_fairness.session.baseline import choose_latest
from pytest_fairness.session.collection import (
    all_unnamed,
    belongs_elsewhere,
    hide_parameters,
    is_marked,
    item_of,
    lists_only,
    missing_fixture,
    name_of,
    optimised,
    parametrize,
    shared_results,
    takes_named_model,
    unnamed,
)
from pytest_fairness.session.declared import BROKEN, Broken
from pytest_fairness.session.identity import ItemOf, sample_of
from pytest_fairness.session.interrupts import end_with_controller, ignore_second_interrupt, interrupt_on_sigterm
from pytest_fairness.session.probes import mark_of
from pytest_fairness.session.progress import Progress
from pytest_fairness.session.searching import begin, is_search
from pytest_fairness.session.selection import Selection, unjudged_lines
from pytest_fairness.session.state import FairnessSession, Planned
from pytest_fairness.session.unused_options import check_options, refuse_unknown_tests
from pytest_fairness.session.work_list import WorkList


class Run:
    """One pytest process, whatever its part: alone, worker, or controller of workers."""

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        self._config = config
        self._fairness = fairness
        self._is_worker = hasattr(config, "workerinput")
        self._started = time.time()
        self._outcomes = outcomes.Outcomes()
        self._selection = Selection(config.getoption("fairness_test") or ())
        config.pluginmanager.register(self._selection)  # without a name, by which it could be blocked
        self._results: dict[str, Any] | None = None
        self._written: list[str] = []
        """Lines that name the files with the results."""
        self._stopped = False
        """Whether the run ended before all of its tests had."""
        self._problem = ""
        self._broken = False
        """Whether a file that declares probes could not be read."""
        self._progress: Progress | None = None
        self._work = WorkList(fairness)
        self._refusal: str | None = None
        """Why no probe and no threshold of this process may run."""
        self._is_refused = False
        """Whether no test runs for that."""
        self._lists_only = lists_only(config)
        self._in_ours = False
        """Whether the test that is being set up is a probe's or a threshold."""

    # Collection.

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        parametrize(metafunc, self._fairness)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Module | pytest.Class, obj: object
    ) -> list[pytest.Item] | None:
        if not any(mark_of(obj, mark) for mark in ("probe", "threshold")):
            return None
        return [] if belongs_elsewhere(collector, obj) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Lay out the work of the selected tests, in their order, before the first of them runs."""
        if self._lists_only:
            if self._config.option.collectonly:
                hide_parameters(session.items)
            return
        expected: dict[str, dict[str, Any]] = {}
        ours = [item for item in session.items if is_marked(item)]
        for item in ours:
            self._select(item, expected)
        selects = bool(self._fairness.plan or expected)
        if not self._fairness.is_used:
            return
        if self._must_write or ours:
            self._expect_left_out(session.items, expected)
        self._refusal = self._lay_out(session.items, ours, selects=selects)
        ending = [item for item in session.items if is_marked(item) or is_search(item)]
        if self._fairness.fault and not ending:
            self._refusal = None
        if self._refusal and len(ending) in (0, len(session.items)):  # others' tests run nevertheless
            self._refuse(visible(self._refusal))
        elif expected:
            self._quietly(lambda: self._fairness.store.runs.expect_thresholds(self._fairness.run, expected))

    @property
    def _must_write(self) -> bool:
        """Whether the results file was named for this very run, so that none of an earlier one may stay behind."""
        return bool(self._config.getoption("fairness_json"))

    def _expect_left_out(self, selected: Sequence[pytest.Item], expected: dict[str, dict[str, Any]]) -> None:
        """Expect the thresholds as well that were collected and are not selected."""
        for item in self._selection.left_out({item.nodeid for item in selected}):
            expected[item.nodeid] = rows.expected_row(item) | not_judged(NOT_SELECTED, "not run")
        expected |= self._selection.uncollected(self._fairness.settings.root)
        expected |= {item.nodeid: rows.expected_row(item) for item in selected if isinstance(item, Broken)}
        if not self._fairness.settings.shard:  # which leaves items to others
            self._work.notes.append(self._selection.mismatch(selected))

    def _lay_out(self, items: Sequence[pytest.Item], ours: Sequence[pytest.Function], *, selects: bool) -> str | None:
        """Lay out the work of our tests among these, and tell it; return why they cannot run."""
        fairness = self._fairness
        if fairness.fault:
            return fairness.fault
        try:
            refuse_unknown_tests(fairness, items)
            fairness.own.settle()
            self._work.notes += check_options(fairness, items)
            no_model = None if fairness.settings.verify else all_unnamed(ours)  # a verification needs none
            if refusal := optimised(items) or shared_results(items) or no_model:
                return refusal
            if selects:
                choose_latest(fairness, items)
                names = {name_of(item) for item in ours if takes_named_model(item)}
                calls = self._work.lay_out(sorted(filter(None, names)))
                interrupt_on_sigterm(self._config)
                fairness.on_wait = end_with_controller(self._config) if self._is_worker else self._follow(calls).tick
        except FairnessError as error:
            return str(error)
        return None

    def _refuse(self, reason: str) -> None:
        """End the session before its first test."""
        self._is_refused = True
        if not self._is_worker:
            raise pytest.UsageError(reason)
        # A worker that gives up here is taken for a crashed one: the controller ends the session, which reads this.
        self._quietly(lambda: self._work.refuse(reason))

    def _select(self, item: pytest.Function, expected: dict[str, dict[str, Any]]) -> None:
        name = name_of(item)
        may_skip = any(item.get_closest_marker(mark) for mark in ("skip", "skipif"))
        if (measured := item_of(item)) is not None:
            if isinstance(measured, ItemOf) and not may_skip:
                self._fairness.plan.append(Planned(name, measured.sample, (measured.place,)))
        elif thresholds.is_threshold(item):
            expected[item.nodeid] = rows.expected_row(item)
            sample = sample_of(item)
            if sample is not None and not may_skip:
                self._fairness.plan.append(Planned(name, sample, self._fairness.places(sample.probe)))

    def pytest_report_collectionfinish(self) -> list[str]:
        if not self._fairness.is_used or (self._lists_only and self._config.get_verbosity() < 0):
            return []  # programs read the ids of ``--collect-only -q``
        if self._lists_only and self._fairness.fault:
            return [f"fairness: {self._fairness.fault}"]  # which a run refuses
        return self._work.lines()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        settings = self._fairness.settings
        node.workerinput |= {"fairness_run": self._fairness.run, "fairness_session": self._fairness.id}
        node.workerinput |= {"fairness_baseline": settings.baseline, "fairness_certify": settings.certify}
        try:
            node.workerinput["fairness_cluster"] = self._fairness.executor.join()
        except FairnessError as error:
            raise pytest.UsageError(visible(str(error))) from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        settings = self._fairness.settings
        if self._progress is not None or not settings.store.exists():
            return
        try:
            self._tell_work()
        except FairnessError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)

    def _tell_work(self) -> None:
        work = self._work.read()
        if "refusal" in work:
            self._is_refused = True
            pytest.exit(work["refusal"], returncode=pytest.ExitCode.USAGE_ERROR)
        if work.get("baseline"):  # which run is the latest, the workers know
            self._fairness.settings = replace(self._fairness.settings, baseline=work["baseline"])
        if (reporter := self._config.pluginmanager.get_plugin("terminalreporter")) is not None:
            writer = self._config.get_terminal_writer()
            if writer.width_of_current_line:  # xdist rewrites its line, which pytest takes for none
                writer.line()
            for line in work["lines"]:
                reporter.write_line(line)
        interrupt_on_sigterm(self._config)
        self._follow(work["calls"]).watch()

    def _follow(self, calls: int | None) -> Progress:
        """Show how far all processes of the run are, from now on."""
        run = self._fairness.run
        self._progress = Progress(self._config, lambda: self._fairness.store.spent(run), calls)
        self._config.pluginmanager.register(self._progress, "fairness-progress")
        return self._progress

    def _tell(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line)

    # Tests.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._in_ours = False
        self._fairness.test = item
        if is_search(item):
            self._in_ours = True
            if self._refusal:
                pytest.fail(visible(self._refusal), pytrace=False)
            begin(item)
        if is_marked(item):
            self._in_ours = True
            # Of an earlier execution: a rerun that errors has none of its own.
            item.user_properties[:] = [each for each in item.user_properties if not each[0].startswith(rows.PREFIX)]
            if reason := missing_fixture(item):
                pytest.fail(reason, pytrace=False)
            if not self._lists_only and (cause := self._refusal or unnamed(item)):
                self._fairness.causes.end(item, cause, self._fairness.attempts_of(item_of(item)))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        ours = self._in_ours and fixturedef.argname == "model"
        if ours and fixturedef.scope != "session":
            pytest.fail(
                f"the `model` fixture has {fixturedef.scope} scope: answers are asked for ahead of the tests, "
                'so it must be @pytest.fixture(scope="session")',
                pytrace=False,
            )
        value = yield
        if self._in_ours and fixturedef.argname in ("model", "judge") and self._fairness.test is not None:
            for model in value if isinstance(value, list | tuple) else [value]:
                place, label = self._fairness.probes.maker_of(model, fixturedef, request, self._fairness.test)
                if ours or label:  # what judges is told apart by its name but where several fixtures make it
                    self._fairness.note_model(model, place, label)
        return value

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        __tracebackhide__ = True
        if not self._in_ours or not thresholds.is_threshold(pyfuncitem):
            return None
        thresholds.run_threshold(pyfuncitem)
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        outcomes.dress(item, report)
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        return outcomes.status(report) if isinstance(report, pytest.TestReport) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcomes.add(report)
        self._broken |= (BROKEN, "yes") in report.user_properties
        if not self._is_worker:  # after the rows were read from them, before a JUnit file is written
            report.user_properties = shown_properties(report.user_properties)
        most = self._config.getoption("maxfail")
        if report.failed and most and self._outcomes.failures >= most:
            self._quietly(self._fairness.stop)

    def pytest_enter_pdb(self) -> None:
        engine = self._fairness.existing_engine()
        if engine is not None:
            engine.pause()

    def pytest_leave_pdb(self) -> None:
        engine = self._fairness.existing_engine()
        if engine is not None:
            engine.resume()

    # The end.

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        ignore_second_interrupt(self._config)
        self._fairness.close_engine()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._progress is not None:
            self._progress.end()
        self._quietly(self._fairness.close_engine)
        self._quietly(self._fairness.keep_parts)
        if not self._is_worker:
            ended = session.exitstatus == pytest.ExitCode.INTERRUPTED
            self._stopped = ended or bool(session.shouldfail or session.shouldstop)
            self._quietly(self._conclude)
        self._quietly(self._fairness.close)
        failed = self._broken and session.exitstatus == pytest.ExitCode.TESTS_FAILED
        if failed or (self._problem and session.exitstatus == pytest.ExitCode.OK):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _quietly(self, step: Callable[[], None]) -> None:
        """What fails here is told at the end: it must not hide the verdicts that there are."""
        try:
            step()
        except FairnessError as error:
            self._problem = self._problem or str(error)

    def _conclude(self) -> None:
        fairness = self._fairness
        settings = fairness.settings
        has_run = bool(fairness.existing_store() or (self._outcomes.any and settings.store.exists()))
        if self._lists_only or not (has_run or self._must_write):
            return
        from pytest_fairness.report.results import compile_results
        from pytest_fairness.session import telling

        expected = fairness.store.runs.expected_thresholds(fairness.run) if has_run else {}
        expected = self._outcomes.of_here(expected) if settings.shard else expected
        facts = telling.facts(fairness, self._started, has_run=has_run)
        told = self._outcomes.rows(expected, stopped=self._stopped)
        totals, searches = self._outcomes.totals(told), self._outcomes.searches
        judged = any(row["verdict"] != NOT_JUDGED for row in told) or bool(searches)
        ran = judged or totals["attempts"] or any(reason_of(row) != NOT_SELECTED for row in told)
        deferred = settings.shard is not None and (self._outcomes.deferred or not judged)
        if deferred and has_run:
            self._written = [self._outcomes.shard_line(str(settings.shard), fairness.run)]
        # Rows that no test has made are those of a run that selects something of ours, or names its results file.
        if not (self._must_write or ((ran or told) and not deferred)):
            return
        redact = telling.hiding_secrets(settings)
        results = compile_results(facts, told, totals, redact, searches)
        telling.add_to_junit(self._config, results)
        self._results = None if deferred or self._is_refused else results
        # Where there is nothing that a report could tell, that of the last run stays.
        reports = ran and not deferred and (judged or not self._stopped or settings.report_is_asked_for)
        if reports:
            telling.keep(fairness, results)
        self._written += telling.write_json(settings, results)
        try:
            self._written += telling.write(fairness, results, self._tell) if reports else []
        except FairnessError:
            raise
        except Exception as error:  # a mistake of ours: it must not hide the verdicts
            said = f"{type(error).__name__}: {error}"
            raise FairnessError(
                f"the report could not be made, by a mistake of pytest-fairness ({said}); the run is in the store"
            ) from error

    def pytest_unconfigure(self) -> None:
        self._quietly(self._fairness.close)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        from pytest_fairness.session import summary

        if self._problem:
            terminalreporter.write_line(f"fairness: {self._problem}", red=True)
        causes = self._outcomes.causes
        summary.tell_causes(terminalreporter, causes, self._config.get_terminal_writer().fullwidth)
        if self._results is None:
            for line in self._written:
                terminalreporter.write_line(line)
            return
        last = unjudged_lines(self._config, self._results, stopped=self._stopped)
        summary.tell(terminalreporter, self._results, causes, self._written, last)
