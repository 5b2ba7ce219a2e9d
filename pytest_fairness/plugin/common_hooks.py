"""Hooks of every kind of run, dry or not: collection, set-up of tests, reports, xdist, and the end of the session."""

from __future__ import annotations

from collections.abc import Callable, Generator, MutableMapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from inspect import iscoroutinefunction
from itertools import zip_longest
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import pytest

from pytest_fairness.core.errors import FairnessError, describe_error
from pytest_fairness.core.garbage_collection import MANY_TESTS, paused_collection, search_rarely
from pytest_fairness.plugin import outcomes, report_data
from pytest_fairness.plugin.attachments import attach_verdict
from pytest_fairness.plugin.collection import (
    check_fixture,
    check_model,
    check_scope,
    get_item_parameter,
    hide_parameters,
    is_imported,
    is_marked,
    is_threshold,
    parametrize,
    why_uncollected,
)
from pytest_fairness.plugin.compat import fail_fixture, is_refused_async, make_known
from pytest_fairness.plugin.cost_estimate import announcement
from pytest_fairness.plugin.failure_causes import ShownCauses
from pytest_fairness.plugin.identity import find_model_name, get_sample
from pytest_fairness.plugin.ini_file import pass_to_worker
from pytest_fairness.plugin.interrupts import ignore_second_interrupt, interrupt_on_sigterm
from pytest_fairness.plugin.markers import get_mark
from pytest_fairness.plugin.own_tests import asks_models
from pytest_fairness.plugin.run_state import RunState
from pytest_fairness.report.escaping import escape_controls

_SKIPPED_FIXTURE = (
    "the `{}` fixture skips ({}), and what could not be measured is never fair: to leave a threshold out on purpose, "
    "deselect it (-m 'not threshold'), mark it with skipif, or skip in its test"
)
"""The reason of a threshold that lacks a fixture, since that calls `pytest.skip`."""
_OTHER_MEASURED = (
    "the `measured` fixture is overridden by one that returns {!r:.60}, and a threshold needs that of pytest-fairness: "
    "rename the other one"
)
_ASYNC_FIXTURE = (
    "the `{}` fixture is async, and no plugin such as pytest-asyncio runs it: write `def` in place of `async def`"
)
_ASYNC_TEST = "{} is async, and no plugin such as pytest-asyncio runs it: write `def` in place of `async def`"


class CollectionHooks:
    """Hooks that generate the tests of probes and thresholds, and print the planned work."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._pause = ExitStack()
        """The pause of the garbage collector from the first probe to the end of the collection."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if get_mark(metafunc.function, "probe"):  # which may have very many items
            self._pause.enter_context(paused_collection())
        parametrize(metafunc, self._state.fairness)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Module | pytest.Class, name: str, obj: object
    ) -> list[pytest.Item] | None:
        is_marked_test = any(get_mark(obj, mark) for mark in ("probe", "threshold"))
        if is_marked_test and is_imported(collector, obj):
            return []
        if reason := why_uncollected(collector, name, obj):
            raise collector.CollectError(reason)
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> Generator[None, object, object]:
        with self._pause:
            if self._state.config.option.collectonly:
                hide_parameters(session.items)
            return (yield)

    def pytest_report_collectionfinish(self) -> list[str]:
        state = self._state
        return state.work.lines() if state.fairness.is_used and not state.lists_only else []

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write what a listing has found, below its tests, which may be thousands."""
        state = self._state
        if not (state.lists_only and state.fairness.is_used) or state.config.get_verbosity() < 0:
            return  # programs read the ids of ``--collect-only -q``
        fault = state.fairness.fault  # a run would be refused for it
        texts = [fault] if fault else state.fairness.probes.errors
        for line in [*(line for text in texts for line in announcement(text)), *([] if fault else state.work.lines())]:
            terminalreporter.write_line(line)


class ItemHooks:
    """Hooks that set up tests, and record the fixtures that make their models."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._fairness = state.fairness
        self._is_ours = False
        """Whether the current test belongs to a probe, is a threshold, or asks models by a fixture."""
        self._skips: MutableMapping[BaseException, str] = WeakKeyDictionary()
        """The fixtures whose set-up has raised a skip; pytest raises it again in other tests that take the fixture."""
        self._fixture_errors: dict[int, tuple[BaseException, str]] = {}
        """The errors of fixtures by their identity, each with its cause: pytest raises them again in other tests."""
        self._own_error: tuple[BaseException, str] | None = None
        """The last error of a fixture that each test sets up for itself, with its cause."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        __tracebackhide__ = True
        self._begin(item)
        try:
            yield
        except BaseException as error:
            self._end_repeated(item, error)
            if error not in self._skips or not is_threshold(item) or _has_skipped_items(item):
                raise
            reason = _SKIPPED_FIXTURE.format(self._skips[error], error)
        else:
            if not is_threshold(item) or self._state.lists_only or _is_measured(item.funcargs["measured"]):
                return
            reason = _OTHER_MEASURED.format(item.funcargs["measured"])
        pytest.fail(escape_controls(reason), pytrace=False)

    def _begin(self, item: pytest.Item) -> None:
        """Prepare the set-up of a test, and fail one of this plugin's that cannot run."""
        refusal = self._state.refusal
        self._fairness.test = item
        marked, asks = is_marked(item), asks_models(item)
        self._is_ours = marked or asks
        if asks and refusal:
            pytest.fail(escape_controls(refusal), pytrace=False)
        if isinstance(item, pytest.Function) and marked:
            report_data.clear(item)  # of the run before a rerun
            if is_threshold(item):
                self._state.modules.restore()
            if reason := check_fixture(item):
                pytest.fail(reason, pytrace=False)
            if not self._state.lists_only and (cause := refusal or check_model(item)):
                self._fairness.causes.end(item, cause, self._fairness.work.count_attempts(get_item_parameter(item)))

    def _end_repeated(self, item: pytest.Item, error: BaseException) -> None:
        """End a test of this plugin in one line if an earlier one has shown the same error of a fixture."""
        own = self._own_error if self._own_error is not None and self._own_error[0] is error else (error, "")
        _, cause = self._fixture_errors.get(id(error), own)
        if isinstance(error, pytest.FixtureLookupError):  # a new one for each test
            cause = f"fixture {error.argname!r} not found"
        if cause and is_marked(item):
            attempts = self._fairness.work.count_attempts(get_item_parameter(item))
            try:
                self._fairness.causes.end_repeated(item, cause, attempts)
            except pytest.fail.Exception as failure:
                raise failure from None  # without the traceback that the first test shows

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Show a mistake in a probe's test for its first items, not for all."""
        __tracebackhide__ = True
        try:
            return (yield)
        except (Exception, pytest.fail.Exception) as error:
            self._end_similar(pyfuncitem, error)
            raise

    def _end_similar(self, item: pytest.Function, error: BaseException) -> None:
        """End the test of a probe's item if its error is no finding of this item, and was shown before."""
        if not is_marked(item) or is_threshold(item):
            return
        if _is_unsupported_async(item, error):
            self._fairness.causes.end(item, _ASYNC_TEST.format(item.originalname), 0)  # a threshold measures them
        if isinstance(error, FairnessError):
            self._fairness.causes.end_repeated(item, str(error), 0)
        if isinstance(error, Exception) and not isinstance(error, AssertionError):
            self._fairness.causes.skip_similar(item, describe_error(error))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        __tracebackhide__ = True
        try:
            return (yield from self._set_up(fixturedef, request))
        except (Exception, pytest.fail.Exception) as error:
            name = fixturedef.argname
            if not _is_skip(error):
                is_refusal = isinstance(error, pytest.fail.Exception)
                cause = str(error) if is_refusal else f"the `{name}` fixture raised {describe_error(error)}"
                # The innermost fixture is first.
                if fixturedef.scope != "function" or name == "model":
                    self._fixture_errors.setdefault(id(error), (error, cause))
                elif self._own_error is None or self._own_error[0] is not error:
                    self._own_error = error, cause
            raise

    def _set_up(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        __tracebackhide__ = True
        name, test = fixturedef.argname, self._fairness.test
        is_subject = self._is_ours and name == "model"
        if is_subject and (reason := check_scope(fixturedef)):
            fail_fixture(fixturedef, request, reason)
        self._fairness.fixtures.append(fixturedef)
        try:
            value = yield
        except BaseException as error:
            if _is_skip(error):
                self._skips.setdefault(error, name)
            if self._is_ours and isinstance(error, SystemExit):  # of which pytest keeps nothing for the next test
                fail_fixture(fixturedef, request, f"the `{name}` fixture raised {describe_error(error)}")
            if self._is_ours and is_refused_async(fixturedef, error):
                hint = "; the function that it returns may be async" if is_subject else ""
                fail_fixture(fixturedef, request, _ASYNC_FIXTURE.format(name) + hint)
            raise
        finally:
            self._fairness.fixtures.pop()
        if self._is_ours and name in ("model", "judge") and test is not None:
            for model in value if isinstance(value, list | tuple) else [value]:
                source, label = self._fairness.probes.find_model_source(model, fixturedef, test)
                if is_subject or label:  # the name of a judge identifies it, unless several fixtures make it
                    try:
                        self._fairness.models.record_maker(model, source, label, find_model_name(test))
                    except FairnessError as error:
                        fail_fixture(fixturedef, request, str(error))
        return value

    def pytest_enter_pdb(self) -> None:
        if self._fairness.work.existing_engine is not None:
            self._fairness.work.existing_engine.pause()

    def pytest_leave_pdb(self) -> None:
        if self._fairness.work.existing_engine is not None:
            self._fairness.work.existing_engine.resume()


def hide_own_frames(error: BaseException) -> None:
    """Remove this package's frames from the tracebacks of an error that a user's code raised, or that is a message.

    A bug of this package, which is neither, keeps them.
    """
    from pytest_fairness.core.decisions import is_users

    if isinstance(error, pytest.fail.Exception) and not error.pytrace:  # of which the message is all
        error.__suppress_context__ = True
    shown: BaseException | None = error
    while shown is not None:
        entries = []
        entry = shown.__traceback__
        while entry is not None:
            entries.append(entry)
            entry = entry.tb_next
        users = [entry for entry in entries if is_users(entry.tb_frame.f_code.co_filename)]
        if users and (isinstance(shown, FairnessError) or users[-1] is entries[-1]):
            for entry, following in zip_longest(users, users[1:]):
                entry.tb_next = following
        shown = shown.__cause__ or shown.__context__


def _is_unsupported_async(item: pytest.Function, error: BaseException) -> bool:
    """Return whether pytest refuses an async test, which no plugin runs."""
    return iscoroutinefunction(item.obj) and "not natively supported" in str(error)


def _is_skip(error: BaseException) -> bool:
    from unittest import SkipTest

    return isinstance(error, pytest.skip.Exception | SkipTest)


def _is_measured(value: object) -> bool:
    """Return whether the value of a `measured` fixture is this plugin's; another's may be created by any test."""
    from pytest_fairness.plugin.measurement import MeasuredFixture

    return isinstance(value, MeasuredFixture)


def _has_skipped_items(threshold: pytest.Item) -> bool:
    sample = get_sample(threshold)
    return sample is not None and sample.probe.is_skipped


class ReportHooks:
    """Hooks that complete and read the reports of tests, and stop the run at ``--maxfail``."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._shown_causes = ShownCauses()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        if (
            call.excinfo is not None
            and (is_marked(item) or asks_models(item))
            and not item.config.getoption("fulltrace", default=False)
        ):
            hide_own_frames(call.excinfo.value)
        report = yield
        if report.when == "call" or not report.passed:
            outcomes.annotate_report(item, report, None if call.excinfo is None else call.excinfo.value)
        if report.when == "call" and is_threshold(item):
            attach_verdict(item, report)
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        status = outcomes.status(report) if isinstance(report, pytest.TestReport) else None
        if status is not None and status[0] == outcomes.MEASURED:
            make_known(outcomes.MEASURED, "cyan")
        return status

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        state = self._state
        if not state.is_worker:
            self._shown_causes.show_once(report)
        # The controller makes the rows; of a set-up or teardown that passed, all is in the report of the call.
        if not report.passed or (report.when == "call" and not state.is_worker):
            state.outcomes.add(report)
        maxfail = state.config.getoption("maxfail") if report.failed else None
        if maxfail and state.outcomes.failures >= maxfail:
            state.attempt(state.fairness.work.stop)


class ControllerHooks:
    """Hooks of xdist's controller: pass settings to workers, and print the work that they have planned."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._refusals: list[str] = []
        """The reasons of workers whose sessions end before their first test."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        self._state.attempt(self._state.fairness.work.stop)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        from pytest_fairness.plugin.xdist_events import receive_in_batches

        receive_in_batches(node, self._refusals.append)
        fairness = self._state.fairness
        node.workerinput |= {"fairness_run": fairness.run, "fairness_session": fairness.session_id}
        settings = fairness.settings
        node.workerinput |= {"fairness_baseline": settings.baseline, "fairness_certify": settings.certify}
        pass_to_worker(node.config, node.workerinput)
        try:
            node.workerinput["fairness_cluster"] = fairness.executor.join()
        except FairnessError as error:
            raise pytest.UsageError(escape_controls(str(error))) from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if self._refusals:
            self._end(self._refusals[0])
        if self._state.progress is not None or not self._state.fairness.settings.store.exists():
            return
        try:
            self._show_work()
        except FairnessError as error:
            self._end(str(error))
        if len(ids) >= MANY_TESTS:
            search_rarely(self._state.config.add_cleanup)

    def _end(self, reason: str) -> NoReturn:
        """End the session before its first test."""
        self._state.is_refused = True
        self._state.refusal = reason
        pytest.exit(reason, returncode=pytest.ExitCode.USAGE_ERROR)

    def _show_work(self) -> None:
        state = self._state
        work = state.work.read()
        if work.get("baseline"):  # the run that the workers chose for `latest`
            state.fairness.settings = replace(state.fairness.settings, baseline=work["baseline"])
        if (reporter := state.config.pluginmanager.get_plugin("terminalreporter")) is not None:
            writer = state.config.get_terminal_writer()
            if writer.width_of_current_line:  # pytest does not count the line that xdist rewrites
                writer.line()
            for line in work["lines"]:
                reporter.write_line(line)
        interrupt_on_sigterm(state.config)
        state.empty_results()
        state.follow(work["calls"]).watch()


class SessionEndHooks:
    """Hooks that end the session: they close engine and store, and conclude the run in between."""

    def __init__(self, state: RunState, conclude: Callable[[], None]) -> None:
        self._state = state
        self._conclude = conclude

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        ignore_second_interrupt(self._state.config)
        self._state.fairness.work.close_engine(at_once=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        state = self._state
        if state.progress is not None:
            state.progress.end()
        state.attempt(state.fairness.work.close_engine)
        state.attempt(state.fairness.work.close)
        if not state.is_worker:
            is_interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
            state.is_stopped = is_interrupted or bool(session.shouldfail or session.shouldstop)
            state.attempt(self._conclude)
        state.attempt(state.fairness.close)
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED:
            is_misused = state.outcomes.exit_code(session.testsfailed) == pytest.ExitCode.USAGE_ERROR
        else:
            is_misused = bool(state.problem) and session.exitstatus == pytest.ExitCode.OK
        if is_misused:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_unconfigure(self) -> None:
        self._state.attempt(self._state.fairness.close)
