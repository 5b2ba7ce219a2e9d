"""The hooks of a run: what is selected, how tests are called, what their reports come to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.ci.junit import shown_properties
from pytest_fairness.report.release import sentence
from pytest_fairness.session import outcomes, rows, thresholds
from pytest_fairness.session.baseline import with_named_runs
from pytest_fairness.session.collection import (
    belongs_elsewhere,
    is_marked,
    missing_fixture,
    optimised,
    parametrize,
    place_of,
)
from pytest_fairness.session.crashes import Crashes
from pytest_fairness.session.declared import BROKEN, DeclaredFiles
from pytest_fairness.session.estimating import announced, estimates, lines
from pytest_fairness.session.probes import MARKS, Probe, mark_of
from pytest_fairness.session.progress import Progress
from pytest_fairness.session.searching import begin, is_search
from pytest_fairness.session.settings import read_settings
from pytest_fairness.session.state import SESSION, FairnessSession, Planned, Unbuilt


def start(config: pytest.Config) -> Run:
    """The run of this process, from what the user chose.

    Raises `pytest.UsageError`, in one line, for what cannot be meant.
    """
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    worker_input: dict[str, Any] = getattr(config, "workerinput", {})
    settings = read_settings(config)
    try:
        if settings.verify:
            from pytest_fairness.session.dry_runs.verifying import as_verified

            settings = as_verified(settings, config)
        known = (worker_input.get("fairness_run"), worker_input.get("fairness_cluster"))
        fairness = FairnessSession(with_named_runs(settings, worker_input), *known)
        fairness.check_models()
        if settings.genderbench:
            from pytest_fairness.session.genderbench import GenderBenchTests

            config.pluginmanager.register(GenderBenchTests(settings.genderbench), "fairness-genderbench")
    except FairnessError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[SESSION] = fairness
    config.pluginmanager.register(DeclaredFiles(), "fairness-declared")
    if settings.shard:
        from pytest_fairness.session.shard_tests import ShardTests

        config.pluginmanager.register(ShardTests(fairness), "fairness-shard")
    if fairness.settings.verify:
        from pytest_fairness.session.dry_runs.verifying import Verification

        return Verification(config, fairness)
    if fairness.settings.certify:
        from pytest_fairness.session.dry_runs.certifying import Certification

        return Certification(config, fairness)
    if fairness.settings.plan:
        from pytest_fairness.session.dry_runs.planning import Plan

        return Plan(config, fairness)
    if not worker_input:
        config.pluginmanager.register(Crashes(fairness), "fairness-crashes")
    return Run(config, fairness)


class Run:
    """One pytest process, whatever its part: alone, worker, or controller of workers."""

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        self._config = config
        self._fairness = fairness
        self._is_worker = hasattr(config, "workerinput")
        self._started = time.time()
        self._outcomes = outcomes.Outcomes()
        self._results: dict[str, Any] | None = None
        self._written: list[str] = []
        """Lines that name the files with the results."""
        self._problem = ""
        self._broken = False
        """Whether a file that declares probes could not be read."""
        self._progress: Progress | None = None
        self._estimate: list[str] = []
        """Lines that say what the run is going to cost."""
        self._refusal: str | None = None
        """Why no probe and no threshold of this process may run."""
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
        if self._config.option.collectonly:
            return
        expected: dict[str, dict[str, Any]] = {}
        for item in session.items:
            if is_marked(item):
                self._select(item, expected)
        self._refusal = optimised(session.items)
        try:
            self._fairness.own.settle()
            if self._fairness.plan or expected:
                self._lay_out(expected)
        except FairnessError as error:
            self._refusal = str(error)
        if self._refusal and not self._is_worker:
            # A worker that gives up here is taken for a crashed one: its tests fail one by one instead.
            raise pytest.UsageError(self._refusal)

    def _lay_out(self, expected: dict[str, dict[str, Any]]) -> None:
        self._fairness.executor.join()
        counts = self._fairness.counts()
        self._fairness.store.runs.expect_thresholds(self._fairness.run, expected)
        found = estimates(self._fairness)
        self._estimate = list(lines(self._fairness, found))
        # Of a model that costs nothing nobody has looked up what the store has.
        calls = sum(each.calls for each in found) if len(found) == len(self._fairness.model_names()) else None
        calls = counts["attempts"] if calls is None else calls
        work = {"lines": self._work_lines(counts), "calls": calls}
        self._fairness.store.runs.describe_work(self._fairness.run, json.dumps(work))
        if not self._is_worker:
            self._fairness.on_wait = self._follow(calls).tick

    def _select(self, item: pytest.Function, expected: dict[str, dict[str, Any]]) -> None:
        parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
        name = parameters.get("model_name")
        may_skip = any(item.get_closest_marker(mark) for mark in ("skip", "skipif"))
        if (place := place_of(item)) is not None:
            if not isinstance(place, Unbuilt) and not may_skip:
                self._fairness.plan.append(Planned(name, self._fairness.probe(item.function), (place,)))
        elif thresholds.is_threshold(item):
            probe = parameters.get("measured")
            expected[item.nodeid] = rows.expected_row(item, probe if isinstance(probe, Probe) else None, name)
            if isinstance(probe, Probe) and not may_skip:
                self._fairness.plan.append(Planned(name, probe, self._fairness.places(probe)))

    def pytest_report_collectionfinish(self) -> list[str]:
        return self._work_lines(self._fairness.counts())

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        settings = self._fairness.settings
        node.workerinput["fairness_run"] = self._fairness.run
        node.workerinput |= {"fairness_baseline": settings.baseline, "fairness_certify": settings.certify}
        try:
            node.workerinput["fairness_cluster"] = self._fairness.executor.join()
        except FairnessError as error:
            raise pytest.UsageError(str(error)) from None

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
        # The work in the store may be that of another shard.
        known = None if self._fairness.settings.shard else self._fairness.store.runs.work(self._fairness.run)
        work = json.loads(known) if known else {"lines": [], "calls": None}
        if (reporter := self._config.pluginmanager.get_plugin("terminalreporter")) is not None:
            writer = self._config.get_terminal_writer()
            if writer.width_of_current_line:  # xdist rewrites its line, which pytest takes for none
                writer.line()
            for line in work["lines"]:
                reporter.write_line(line)
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

    def _work_lines(self, counts: dict[str, int]) -> list[str]:
        """What is going to be asked, if anything is; what the lint says of counterfactual items, if there are any."""
        models = ", ".join(str(name) for name in self._fairness.model_names() if name) or "the `model` fixture"
        sizes = [f"{count:,} {what if count != 1 else what.removesuffix('s')}" for what, count in counts.items()]
        if self._fairness.settings.shard:
            models += f" (shard {self._fairness.settings.shard} of run {self._fairness.run})"
        shown = [f"{', '.join(sizes)} on {models}" if self._fairness.plan else "", str(self._fairness.lint)]
        return [*(line for text in shown if text for line in announced(text)), *self._estimate]

    # Tests.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._in_ours = False
        self._fairness.test = item
        if is_search(item):
            self._in_ours = True
            begin(item)
        if is_marked(item):
            self._in_ours = True
            refusal = self._refusal or missing_fixture(item)
            if refusal:
                pytest.fail(refusal, pytrace=False)

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
        if ours:
            place = f"{fixturedef.baseid}#{getattr(request, 'param_index', 0)}"
            self._fairness.note_model(value, place)
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

    def pytest_keyboard_interrupt(self) -> None:
        self._fairness.close_engine()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._progress is not None:
            self._progress.end()
        self._quietly(self._fairness.close_engine)
        self._quietly(self._fairness.keep_parts)
        if not self._is_worker:
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
        from pytest_fairness.report.results import compile_results
        from pytest_fairness.session import telling

        fairness = self._fairness
        if not (fairness.existing_store() or (self._outcomes.any and fairness.settings.store.exists())):
            return
        shard, expected = fairness.settings.shard, fairness.store.runs.expected_thresholds(fairness.run)
        judged = self._outcomes.rows(self._outcomes.of_here(expected) if shard else expected)
        totals = self._outcomes.totals(judged)
        if shard and (self._outcomes.deferred or not judged):
            self._written = [self._outcomes.shard_line(str(shard), fairness.run)]
            return
        searches = self._outcomes.searches
        if not (judged or totals["attempts"] or searches):
            return
        redact = telling.hiding_secrets(fairness.settings)
        self._results = compile_results(telling.facts(fairness, self._started), judged, totals, redact, searches)
        telling.keep(fairness, self._results)
        telling.add_to_junit(self._config, self._results)
        try:
            self._written = telling.write(fairness, self._results, self._tell)
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
        if self._problem:
            terminalreporter.write_line(f"fairness: {self._problem}", red=True)
        if self._results is None:
            for line in self._written:
                terminalreporter.write_line(line)
            return
        from pytest_fairness.session import summary

        judged: Sequence[dict[str, Any]] = self._results["thresholds"]
        width = self._config.get_terminal_writer().fullwidth
        if not judged:
            terminalreporter.write_sep("=", "fairness")
        releases = {line["model"]: line for line in self._results["release"]}
        for model, of_model in summary.by_model(judged).items():
            terminalreporter.write_sep("=", f"fairness: {model}")
            head, *lines = summary.table(of_model, width)
            terminalreporter.write_line(head, bold=True)
            for line, row in zip(lines, of_model, strict=True):
                terminalreporter.write_line(line, **summary.COLOURS[row["verdict"]])
            for line in summary.notes(of_model, width):
                terminalreporter.write_line(line)
            for line in summary.marks(self._results["marks"], of_model[0]["model"], width):
                terminalreporter.write_line(line)
            release = releases[of_model[0]["model"]]
            for line in summary.wrapped(sentence(release), width):
                terminalreporter.write_line(line, **summary.COLOURS[release["verdict"]])
        summary.tell_searches(terminalreporter, self._results["searches"], width)
        for line in [*summary.closing(self._results, width), *self._written]:
            terminalreporter.write_line(line)
