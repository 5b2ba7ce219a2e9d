"""Collected thresholds and probes, selected or not: a release covers all of them."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Collection, Generator, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.formatting import counted
from pytest_fairness.core.results import RunResults
from pytest_fairness.declarative.files import suite_in
from pytest_fairness.plugin.config.option_values import path_from
from pytest_fairness.plugin.output.outcomes import unjudged_fields
from pytest_fairness.plugin.own_tests import mentions_thresholds
from pytest_fairness.plugin.probes.identity import get_sample
from pytest_fairness.plugin.probes.marked_tests import is_marked, is_threshold
from pytest_fairness.plugin.probes.markers import get_mark, own_marks
from pytest_fairness.report.release import FILE, NOT_JUDGED, NOT_SELECTED, is_of_file, not_judged, reason_of

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import ExpectedThreshold, Unjudged


_OWN = ("_pytest", "pytest_fairness")
"""The packages whose plugins leave out what a user has said."""
NOTHING_COLLECTED = "nothing was judged: no threshold was collected"


class CollectedTests:
    """The thresholds and the probes' items of every file that was collected, selected or not.

    They are recorded as their module or class collects them, since pytest drops the other tests of a file that is
    selected by node id.
    """

    def __init__(self, tests: Collection[str]) -> None:
        self._tests = frozenset(tests)
        """The ids of the only tests to run; empty for all."""
        self._thresholds: dict[str, pytest.Function] = {}
        self._probes: set[object] = set()
        """The functions of probes whose items were collected."""
        self._classes: list[pytest.Class] = []
        """The classes of collected files."""
        self._collected: set[pytest.Collector] = set()
        self._skipped_files: dict[str, Unjudged] = {}
        """The reasons why files that may have thresholds have no tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Collector) -> Generator[None, object, object]:
        """Record the tests or the class of one name in a module or class."""
        collected = yield
        self._collected.add(collector)
        self._record(collected)
        return collected

    def _record(self, collected: object) -> None:
        for node in collected if isinstance(collected, list) else [collected]:
            if isinstance(node, pytest.Class):
                self._classes.append(node)
            elif isinstance(node, pytest.Function) and is_marked(node):
                if is_threshold(node):
                    self._thresholds[node.nodeid] = node
                else:
                    self._probes.add(_get_probe_id(node))

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect all tests but those of ``--fairness-test``, if it is given."""
        if not self._tests:
            return
        deselected = [item for item in items if item.nodeid not in self._tests]
        items[:] = [item for item in items if item.nodeid in self._tests]
        config.hook.pytest_deselected(items=deselected)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        self.record_report(collector, report)
        return report

    def record_report(self, collector: pytest.Collector, report: pytest.CollectReport) -> None:
        """Record a file that was skipped, could not be imported, or that ``--lf`` leaves out."""
        reason = None if report.passed else unjudged_fields(report)
        if report.passed and isinstance(collector, pytest.File) and not report.result:
            is_left_out = collector.config.getoption("lf", default=False)
            reason = not_judged("skipped: by --lf", "skipped") if is_left_out else None
        if reason is None:
            return
        for file in filter(mentions_thresholds, _files_of(collector)):
            self._skipped_files[_name_of(file, collector, report.nodeid)] = reason

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(
        self, collection_path: Path, config: pytest.Config
    ) -> Generator[None, bool | None, bool | None]:
        is_ignored = yield
        if is_ignored and collection_path.is_file() and mentions_thresholds(collection_path):
            self.record_ignored(collection_path, config)
        return is_ignored

    def record_ignored(self, file: Path, config: pytest.Config) -> None:
        """Record a file that an installed plugin leaves out, as one does whose code has not changed."""
        plugin = _plugin_that_ignores(file, config)
        if plugin and any(fnmatch(file.name, pattern) for pattern in config.getini("python_files")):
            self._skipped_files[path_from(file, config.rootpath)] = not_judged(f"skipped: by {plugin}", "skipped")

    def uncollected_rows(self) -> dict[str, ExpectedThreshold]:
        """Return a row for each file that may have thresholds, and was skipped or could not be imported."""
        if not self._skipped_files:
            return {}
        from pytest_fairness.plugin.judgment.threshold_rows import uncollected_row

        return {
            file: uncollected_row(file).unjudged(_of_file(file, reason)) for file, reason in self._skipped_files.items()
        }

    def thresholds(self, selected: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return all collected thresholds, selected or not."""
        return [*filter(is_threshold, selected), *self.unselected_thresholds({item.nodeid for item in selected})]

    @property
    def skipped_files(self) -> Collection[str]:
        """The files that may have thresholds, and were skipped or could not be imported."""
        return self._skipped_files.keys()

    def unselected_thresholds(self, selected: Collection[str]) -> Iterator[pytest.Function]:
        """Yield the thresholds that were not selected."""
        for node in self._classes:  # grows by nested classes
            if node not in self._collected and _has_thresholds(node.obj):
                self._collected.add(node)
                list(node.collect())  # calls the hook above
        yield from (item for test, item in self._thresholds.items() if test not in selected)

    def mismatch_note(self, selected: Sequence[pytest.Item]) -> str:
        """Return a note on selected items without their thresholds, or thresholds without items; else an empty text."""
        tests = {item.nodeid for item in selected}
        items = (item for item in selected if isinstance(item, pytest.Function) and own_marks(item).probe)
        measured = set(map(_get_probe_id, items))
        judged = [_get_probe_id(item) for test, item in self._thresholds.items() if test in tests]
        unjudged = [_get_probe_id(item) for test, item in self._thresholds.items() if test not in tests]
        unselected = sum(probe in measured and probe not in judged for probe in unjudged)
        without_items = sum(probe in self._probes and probe not in measured for probe in judged)
        notes = []
        if unselected:
            notes.append(f"of the selected items {_count_thresholds(unselected)} not selected: nothing judges them")
        if without_items:
            notes.append(f"{_count_thresholds(without_items)} selected without items: the whole sample is measured")
        return "; ".join(notes)


def _files_of(collector: pytest.Collector) -> Iterator[Path]:
    """Yield the file of a collector, or the files of tests in a folder that its `conftest.py` skips."""
    if not collector.path.is_dir():
        yield collector.path
        return
    patterns = collector.config.getini("python_files")
    for file in sorted(collector.path.rglob("*")):
        if suite_in(file) is not None or any(fnmatch(file.name, pattern) for pattern in patterns):
            yield file


def _plugin_that_ignores(path: Path, config: pytest.Config) -> str:
    """Return the name of the installed plugin that leaves out a file; empty where options or a conftest.py do."""
    arguments = {"collection_path": path, "config": config}
    for hook in config.pluginmanager.hook.pytest_ignore_collect.get_hookimpls():
        module = str(getattr(hook.plugin, "__module__", None) or getattr(hook.plugin, "__name__", ""))
        if hook.plugin_name.endswith("conftest.py") or module.partition(".")[0] in _OWN:
            continue
        is_answer = not (hook.wrapper or hook.hookwrapper) and arguments.keys() >= set(hook.argnames)
        if is_answer and hook.function(*(arguments[name] for name in hook.argnames)):
            return hook.plugin_name
    return ""


def _name_of(file: Path, collector: pytest.Collector, nodeid: str) -> str:
    """Return the id of a file: that of its collector, or of one in the collector's folder."""
    if file == collector.path:
        return nodeid or file.name
    return (PurePosixPath(nodeid) / file.relative_to(collector.path).as_posix()).as_posix()


def _of_file(file: str, reason: Unjudged) -> Unjudged:
    """Return the reason of a file's row: ``file test_b.py skipped: no data``."""
    _, prefix, cause = reason.message.partition(f"{NOT_JUDGED}: ")
    return not_judged(f"{FILE} {file} {cause}", reason.outcome) if prefix else reason


def _get_probe_id(item: pytest.Item) -> int | None:
    sample = get_sample(item)
    return None if sample is None else id(sample.probe)


def _has_thresholds(cls: object, depth: int = 5) -> bool:
    members = [value for name, value in inspect.getmembers_static(cls) if not name.startswith("__")]
    nested = any(_has_thresholds(value, depth - 1) for value in members if inspect.isclass(value) and depth)
    return nested or any(get_mark(value, "threshold") for value in members)


def _count_thresholds(count: int) -> str:
    return f"{count} threshold{' is' if count == 1 else 's are'}"


def format_unjudged_lines(config: pytest.Config, results: RunResults, *, stopped: bool) -> Iterator[str]:
    """Yield the reason why a run judged nothing, and how a stopped run goes on."""
    rows, calls = results.thresholds, results.run.calls
    if results.searches or any(row.verdict != NOT_JUDGED for row in rows):
        return
    yield _explain_nothing_judged(config, [reason_of(row) for row in rows])
    if stopped and (ended := sum(line.calls for line in calls)):  # some of them in errors, which are not stored
        is_application = any(line.model.startswith("function:") for line in calls)
        where = ", where the application has a `fairness_version`" if is_application else ""
        calls_ended = counted(ended, "call")
        yield f"stopped after {calls_ended}: answers are in the store, and the same command goes on from there{where}"


def _explain_nothing_judged(config: pytest.Config, reasons: Sequence[str]) -> str:
    """Return the reason why a run has judged nothing, from the reasons of its thresholds."""
    if not reasons:
        return NOTHING_COLLECTED
    unselected = sum(reason == NOT_SELECTED for reason in reasons)
    if unselected == len(reasons):
        return f"nothing was judged: no threshold was selected: {_format_deselection(config, unselected)}"
    files = [reason for reason in reasons if is_of_file(reason)]
    skipped = sum(reason.startswith("skipped") for reason in reasons)
    left = len(reasons) - len(files) - skipped - unselected
    counts = ((skipped, "skipped"), (unselected, "not selected"), (left, "not run"))
    parts = [*(f"{count} {reason}" for count, reason in counts if count), *files]
    return f"nothing was judged: {', '.join(parts)}"


def _format_deselection(config: pytest.Config, count: int) -> str:
    """Return the options that deselected thresholds, as in ``-k application deselected 14``."""
    parts = selecting_options(config)
    if not parts and any("::" in argument for argument in config.args):
        return f"{count} {'is' if count == 1 else 'are'} not among the tests that were named"
    if not parts and not config.getoption("fairness_test"):
        return f"a conftest.py or another plugin left out {count}"
    return f"{' '.join(parts)} deselected {count}" if parts else f"{count} deselected"


def selecting_options(config: pytest.Config) -> list[str]:
    """Return the options by which the user leaves out tests."""
    option = config.option
    expressions = {"-k": getattr(option, "keyword", ""), "-m": getattr(option, "markexpr", "")}
    parts = [f"{name} {shlex.quote(text)}" for name, text in expressions.items() if text]
    parts += [f"--deselect {shlex.quote(prefix)}" for prefix in getattr(option, "deselect", None) or ()]
    return parts + (["--lf"] if getattr(option, "lf", False) else [])
