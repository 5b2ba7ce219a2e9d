"""Hooks of a run that measures: the work of the selected tests, calls of thresholds, results and summary."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.garbage_collection import MANY_TESTS, search_rarely
from pytest_fairness.core.results import RunResults
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.plugin.collection.declarative import BrokenDeclaration
from pytest_fairness.plugin.compat import share_location
from pytest_fairness.plugin.config.settings import secret_redactor
from pytest_fairness.plugin.hooks.collected_tests import (
    NOTHING_COLLECTED,
    format_unjudged_lines,
    selecting_options,
)
from pytest_fairness.plugin.hooks.interrupts import end_with_controller, interrupt_on_sigterm
from pytest_fairness.plugin.hooks.run_state import RunState
from pytest_fairness.plugin.output.outcomes import INVALID_CODE, UNDECIDED_CODE
from pytest_fairness.plugin.probes.identity import ItemParameter, get_sample
from pytest_fairness.plugin.probes.marked_tests import (
    get_item_parameter,
    get_model_name,
    is_marked,
    is_not_overridden,
    is_threshold,
    uses_named_model,
)
from pytest_fairness.plugin.session.work_plan import PlannedTest
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import NOT_JUDGED, NOT_SELECTED, not_judged, reason_of

if TYPE_CHECKING:
    from pytest_fairness.core.agreement_results import AgreementResult
    from pytest_fairness.core.threshold_results import ExpectedThreshold, ThresholdResult

_VERDICT_CODES = (pytest.ExitCode.OK, pytest.ExitCode.USAGE_ERROR, UNDECIDED_CODE, INVALID_CODE)
"""The exit codes that yield to the 1 of a hidden verdict; others are set by other plugins."""


class MeasurementHooks:
    """Hooks that measure the samples of probes, evaluate thresholds on them, and write the results."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._fairness = state.fairness
        self._selection = state.selection
        self._results: RunResults | None = None
        self._written: list[str] = []
        """Lines that name the files with the results."""
        self._selected: frozenset[str] = frozenset()
        """The ids of the tests, the thresholds among them, that this process or its workers must run."""
        self._expected: dict[str, ExpectedThreshold] = {}
        """The thresholds that this process has collected, for results without a store."""
        self._is_planned = False
        """Whether the work of the session was planned."""
        self._hidden = ""
        """A threshold whose verdict another plugin hides."""
        self._is_empty = False
        """Whether the session names a model and has no test."""
        self._unjudged = 0
        """The thresholds of the results that were not judged."""

    def pytest_sessionstart(self) -> None:
        """Empty the results file of an earlier run that this call names: a session may end without its last hooks."""
        if self._state.must_write and not (self._state.is_worker or self._state.lists_only):
            self._state.empty_results()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan the work of the selected tests, in their order, before the first of them runs."""
        if self._state.lists_only or self._is_planned:  # xdist's --looponfail ends a collection twice
            return
        self._is_planned = True
        expected: dict[str, ExpectedThreshold] = {}
        marked = []
        for index, item in enumerate(session.items):
            if is_marked(item):
                marked.append(item)
                self._plan(index, item, expected)
        share_location(marked)
        self._selected = frozenset(expected)
        has_work = bool(self._fairness.work.tests or expected)
        if not self._fairness.is_used:
            return
        if self._state.must_write or marked:
            self._expect_left_out(session.items, expected)
        refusal = self._state.check_selection(session.items) or self._check_seal(session.items, expected)
        if refusal is None and has_work:
            refusal = self._prepare_work(session.items, marked, expected)
        if not self._state.refuse(refusal, session.items) and expected:
            self._expected = expected
            rows = {threshold.key or test: threshold.to_json() for test, threshold in expected.items()}
            # A store that cannot be opened has refused the tests of this plugin; the others still run.
            self._state.attempt(lambda: self._fairness.store.runs.expect_thresholds(self._fairness.run, rows))

    def _plan(self, index: int, item: pytest.Function, expected: dict[str, ExpectedThreshold]) -> None:
        name = get_model_name(item)
        may_skip = any(mark.name in ("skip", "skipif") for mark in item.iter_markers())
        if (measured := get_item_parameter(item)) is not None:
            if isinstance(measured, ItemParameter) and not may_skip:
                self._fairness.work.add(index, PlannedTest(name, measured.sample, (measured.index,)))
        elif is_threshold(item):
            expected[item.nodeid] = _expected_row(item)
            sample = get_sample(item)
            if sample is not None and not may_skip:
                indices = self._fairness.work.item_indices(sample.probe)
                self._fairness.work.add(index, PlannedTest(name, sample, indices))

    def _expect_left_out(self, selected: Sequence[pytest.Item], expected: dict[str, ExpectedThreshold]) -> None:
        """Add the collected thresholds that are not selected to the expected ones."""
        for item in self._selection.unselected_thresholds({item.nodeid for item in selected}):
            expected[item.nodeid] = _expected_row(item).unjudged(not_judged(NOT_SELECTED, "not run"))
        expected |= self._selection.uncollected_rows()
        broken = [item for item in selected if isinstance(item, BrokenDeclaration) and item.hides_thresholds]
        expected |= {item.nodeid: _expected_row(item) for item in broken}
        if not self._fairness.settings.shard:  # other shards have the other items
            self._state.work.notes.append(self._selection.mismatch_note(selected))

    def _check_seal(self, selected: Sequence[pytest.Item], expected: dict[str, ExpectedThreshold]) -> str | None:
        """Return that a sealed threshold is gone; add those that are not run to the expected ones."""
        if self._fairness.seal is None:
            return None
        from pytest_fairness.plugin.judgment.seals import explain_missing, uncollected_rows

        config, thresholds = self._state.config, self._selection.thresholds(selected)
        if reason := explain_missing(config, thresholds, self._selection.skipped_files):
            return reason
        if expected:
            expected |= uncollected_rows(config, thresholds)
        return None

    def _prepare_work(
        self,
        items: Sequence[pytest.Item],
        marked: Sequence[pytest.Function],
        expected: Mapping[str, ExpectedThreshold],
    ) -> str | None:
        """Prepare the work and print it; return the reason if it cannot be done."""
        state = self._state
        try:
            if self._fairness.settings.run:
                self._check_models(expected.values())
            if self._fairness.settings.baseline:
                from pytest_fairness.plugin.samples.baseline import choose_latest_baseline

                choose_latest_baseline(self._fairness, items)
            names = set[str]()
            for item in marked:
                if (name := get_model_name(item)) and name not in names and uses_named_model(item):
                    names.add(name)
            judge = self._fairness.settings.judge
            of_parents = {item.parent: item for item in marked}.values()
            if judge and not any(is_not_overridden(item, "judge") for item in of_parents):
                judge = None
            calls = state.work.prepare(sorted(names), judge)
        except FairnessError as error:
            return str(error)
        import pytest_fairness.core.event_loops  # noqa: F401  # before fixtures of the tests replace parts of asyncio

        interrupt_on_sigterm(state.config)
        if not state.is_worker:
            state.empty_results()
        on_wait = end_with_controller(state.config) if state.is_worker else state.follow(calls).tick
        self._fairness.work.on_wait = on_wait
        if len(marked) >= MANY_TESTS:
            search_rarely(self._state.config.add_cleanup)
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        __tracebackhide__ = True
        if not is_threshold(pyfuncitem):
            return None
        from pytest_fairness.plugin.judgment.thresholds import run_threshold

        try:
            run_threshold(pyfuncitem)
        except FairnessError as error:  # of the store: those of the test make it invalid
            pytest.fail(escape_controls(self._fairness.models.show(str(error))), pytrace=False)
        finally:
            self._state.modules.keep()
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        """Fail the end of a threshold whose fixtures have used the sample there: nothing judges that."""
        self._fairness.outside_use = ""
        yield
        if self._fairness.outside_use and is_threshold(item):
            pytest.fail(self._fairness.outside_use, pytrace=False)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note the tests that the workers must run."""
        self._selected |= frozenset(ids)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Set the exit code of a session that failed only by what was measured.

        It is 1 if another plugin has hidden what a threshold's test concludes, whatever the other tests conclude.

        A session without any test is no pass either, where the call names a model: plugins that leave out the tests
        of unchanged files end it so, and a model changes without them. Nor is a run under a seal a pass that has not
        judged every threshold: who seals a threshold cannot leave it out.
        """
        state = self._state
        is_over = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)  # and no pytest.exit
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED:  # before other plugins, so that what they set stays
            session.exitstatus = state.outcomes.exit_code(session.testsfailed)
        result = yield
        self._is_empty = self._lacks_tests(session)
        if self._is_empty:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        if self._unjudged and session.exitstatus == pytest.ExitCode.OK and self._fairness.seal is not None:
            unjudged = f"not judged under {SEAL}: {counted(self._unjudged, 'threshold')}: run all of them to pass"
            state.problem = f"{state.problem}; {unjudged}" if state.problem else unjudged
            session.exitstatus = UNDECIDED_CODE
        if self._hidden and is_over and not state.is_refused:
            hidden = (
                f"{self._hidden}: a conftest.py or another plugin keeps it from running, or changes its report; "
                "to let a verdict pass, mark the threshold xfail or accept it"
            )
            state.problem = f"{state.problem}; {hidden}" if state.problem else hidden
            if session.exitstatus in _VERDICT_CODES:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result

    def _lacks_tests(self, session: pytest.Session) -> bool:
        """Return whether no test was collected although the call names a model, and no option of it selects tests."""
        state = self._state
        is_over = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if not is_over or session.testscollected or not state.fairness.is_model_typed:
            return False
        is_excused = state.is_worker or state.lists_only or state.is_refused or state.fairness.settings.shard
        return not is_excused and not selecting_options(state.config)

    def _find_hidden(self, expected: Mapping[str, ExpectedThreshold], rows: Sequence[ThresholdResult]) -> str:
        """Return what is hidden: of a threshold that did not fail, or of a selected one with no result; else empty."""
        for row in rows:
            if row.outcome in ("passed", "skipped") and row.verdict not in ("fair", NOT_JUDGED):
                return f"{row.id} is {row.verdict}, and its test is reported as {row.outcome}"
        if self._state.is_stopped:
            return ""
        lost = self._state.outcomes.without_report(expected)
        return next((f"{test} was selected and gave no result" for test in lost if test in self._selected), "")

    def conclude(self) -> None:
        """Compile the results, and write them to the store and the files of the options."""
        state, settings = self._state, self._fairness.settings
        has_store = self._fairness.existing_store is not None
        has_run = has_store or (state.outcomes.any and settings.store.exists() and self._can_open_store())
        if state.lists_only or not (has_run or state.must_write):
            return
        from pytest_fairness.plugin.output import outputs
        from pytest_fairness.report.results import compile_results, with_distinct_titles
        from pytest_fairness.report.shown_names import with_shown_names

        run = self._fairness.run
        expected = self._expected_thresholds() if has_run else self._expected
        reported = state.outcomes.of_here(expected) if settings.shard else expected
        metadata = outputs.collect_metadata(self._fairness, state.started, has_run=has_run)
        rows = state.outcomes.rows(reported, stopped=state.is_stopped)
        self._hidden = self._find_hidden(expected, rows)
        self._unjudged = 0 if settings.shard else sum(row.verdict == NOT_JUDGED for row in rows)
        totals, searches = state.outcomes.totals(rows), state.outcomes.searches
        has_judged = any(row.verdict != NOT_JUDGED for row in rows) or bool(searches)
        has_measured = has_judged or totals["attempts"] or any(reason_of(row) != NOT_SELECTED for row in rows)
        is_deferred = settings.shard is not None and (state.outcomes.deferred or not has_judged)
        if is_deferred and has_run:
            self._written = [state.outcomes.shard_line(str(settings.shard), run)]
        # Rows without a test exist only if tests of this plugin, or a results file, were requested.
        if not (state.must_write or ((has_measured or rows) and not is_deferred)):
            return
        evidence_map = self._fairness.evidence_map if rows else None
        results = compile_results(
            metadata,
            settings.root,
            rows,
            totals,
            secret_redactor(settings),
            metrics=state.outcomes.metrics,
            probes=state.outcomes.probes,
            searches=searches,
            agreements=self._agreements(rows) if has_run and rows else [],
            acceptances=self._fairness.acceptances.results(rows),
            evidence=() if evidence_map is None else evidence_map.results(rows),
            name_models=self._fairness.models.name_models,
        )
        outputs.add_to_junit(state.config, results)
        self._results = None if is_deferred or state.is_refused else with_shown_names(with_distinct_titles(results))
        # Without anything to report, the report of the last run stays.
        has_report = has_run and has_measured and not is_deferred
        has_report = has_report and (has_judged or not state.is_stopped or settings.is_report_requested)
        self._write(results, has_report=bool(has_report))

    def _can_open_store(self) -> bool:
        self._state.attempt(lambda: self._fairness.store)
        return self._fairness.existing_store is not None

    def _check_models(self, expected: Iterable[ExpectedThreshold]) -> None:
        """Check that no other session of the run judges another model in a test of the same id.

        Raises:
            FairnessError: One does, as the ids of tests have no parameters of models: its verdict would be replaced.
        """
        stored = self._expected_thresholds()
        for row in expected:
            other = stored[row.id].model if row.id in stored else ""
            if row.model and other not in ("", row.model):
                raise FairnessError(
                    f"run {self._fairness.run} has judged {other} in {row.id}, and would lose that verdict to "
                    f"{row.model}: give another --fairness-run, or one session both models"
                )

    def _expected_thresholds(self) -> dict[str, ExpectedThreshold]:
        """Return the thresholds of the run that its processes have stored before the first test."""
        stored = self._fairness.store.runs.expected_thresholds(self._fairness.run)
        if not stored:
            return {}
        from pytest_fairness.core.threshold_results import ExpectedThreshold

        rows = [ExpectedThreshold.from_json(row, key, strict=False) for key, row in stored.items()]
        return {row.id: row for row in rows}

    def _agreements(self, rows: Sequence[ThresholdResult]) -> list[AgreementResult]:
        from pytest_fairness.plugin.samples.agreements import find_agreements

        return find_agreements(self._fairness.store.runs, self._fairness.run, rows)

    def _write(self, results: RunResults, *, has_report: bool) -> None:
        from pytest_fairness.plugin.output import outputs

        if has_report:
            outputs.store_results(self._fairness, results)
        self._written += outputs.write_json(self._fairness.settings, results)
        try:
            self._written += outputs.write_outputs(self._fairness, results, self._write_line) if has_report else []
        except FairnessError:
            raise
        except Exception as error:  # an error of this plugin must not hide the verdicts
            detail = f"{type(error).__name__}: {error}"
            raise FairnessError(
                f"the report could not be made, because of a bug in pytest-fairness ({detail}); the run is in the store"
            ) from error

    def _write_line(self, line: str, **markup: bool) -> None:
        reporter = self._state.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line, **markup)

    def write_releases(self, reporter: pytest.TerminalReporter) -> None:
        """Write the verdict on each model below everything else."""
        from pytest_fairness.plugin.output import terminal_summary

        if self._results is not None:
            terminal_summary.write_releases(reporter, self._results)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        from pytest_fairness.plugin.output import terminal_summary
        from pytest_fairness.plugin.output.terminal_summary import write_decisions

        state = self._state
        state.write_problem(terminalreporter)
        causes = state.outcomes.causes
        terminal_summary.write_causes(terminalreporter, causes, state.config.get_terminal_writer().fullwidth)
        if self._results is None:
            for line in self._written:
                terminalreporter.write_line(line)
            if self._is_empty:
                self._write_line(f"fairness: {NOTHING_COLLECTED}", yellow=True)
            return
        write_decisions(terminalreporter, self._results.acceptances or ())
        last = format_unjudged_lines(state.config, self._results, stopped=state.is_stopped)
        if not self._results.thresholds and any(causes):  # workers without a store cannot name their thresholds
            last = iter(())
        terminal_summary.write_summary(terminalreporter, self._results, causes, self._written, last)


def _expected_row(item: pytest.Item) -> ExpectedThreshold:
    from pytest_fairness.plugin.judgment.threshold_rows import expected_row

    return expected_row(item)


class ReleaseHooks:
    """Hooks that write the verdict on the release below the sections of all other plugins."""

    def __init__(self, measurement: MeasurementHooks) -> None:
        self._measurement = measurement

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        try:
            return (yield)
        finally:
            self._measurement.write_releases(terminalreporter)
