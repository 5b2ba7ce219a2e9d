"""The pytest side: options, marks, collection, fixtures, thresholds, summary, dry runs.

This module is the pytest11 entry point. A run without a test and without an option of this plugin imports the modules
that are imported here, and no others: `FirstUse` imports the rest.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.plugin import compat

if TYPE_CHECKING:
    from pytest_fairness.plugin.hooks.run_state import RunState
    from pytest_fairness.plugin.session.session import FairnessSession


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the options."""
    compat.import_without_rewriting(pluginmanager, "pytest_fairness")
    from pytest_fairness.plugin.compat import KeptModules
    from pytest_fairness.plugin.config.options import add_options

    KeptModules().restore()  # before conftest files import some of them
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register marks and fixtures; the hooks as well where this run surely needs them."""
    from pytest_fairness.plugin.hooks import fixtures
    from pytest_fairness.plugin.own_tests import MARKS, QUERY_FIXTURES, SEARCH

    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    first_use = FirstUse(config)
    if _is_configured(config) or _has_workers(config):
        first_use.start()
    else:
        config.pluginmanager.register(first_use)
    config.stash[QUERY_FIXTURES] = {SEARCH}
    for module in (fixtures, fixtures.make_session_fixtures(first_use.session)):
        config.pluginmanager.register(module, f"fairness-{module.__name__}")
        compat.allow_fixture_overrides(config.pluginmanager)


def _is_configured(config: pytest.Config) -> bool:
    """Return whether the command line has an option of this plugin, or the ini file a key."""
    from pytest_fairness.plugin.config.options import OPTIONS

    is_given = any(config.getoption(option.dest) is not None for option in OPTIONS)
    return is_given or any(key.startswith("fairness") for key in compat.ini_values(config))


def _has_workers(config: pytest.Config) -> bool:
    """Return whether this process is xdist's controller, which collects no tests and gives its workers the run."""
    return bool(config.getoption("dist", "no") != "no")


class FirstUse:
    """Hooks that start this plugin at the first test of its own, with which they end: most runs have none."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._state: RunState | None = None
        self._test: pytest.Item | None = None
        """The current test."""
        self._reports: list[tuple[pytest.Collector, pytest.CollectReport]] = []
        """The files without tests, some of which may have thresholds, with the reports of their collection."""
        self._ignored: list[Path] = []

    def start(self) -> RunState:
        """Register the hooks of this run, once, and return their state."""
        if self._state is None:
            from pytest_fairness.core.garbage_collection import paused_collection
            from pytest_fairness.plugin.compat import KeptModules

            with paused_collection():
                from pytest_fairness.plugin.hooks.startup import start

            manager = self._config.pluginmanager
            if manager.is_registered(self):  # else this is the configuration
                later = compat.later_plugins(manager, self)
                self._state = start(self._config, lambda hooks: compat.register_before(manager, hooks, later))
                manager.unregister(self)
            else:
                self._state = start(self._config, manager.register)
            self._state.fairness.test = self._test
            KeptModules().keep()
            for collector, report in self._reports:
                self._state.selection.record_report(collector, report)
            for file in self._ignored:
                self._state.selection.record_ignored(file, self._config)
        return self._state

    def session(self) -> FairnessSession:
        """Return the session of this process, for fixtures."""
        return self.start().fairness

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(self, collection_path: Path) -> Generator[None, bool | None, bool | None]:
        is_ignored = yield
        if is_ignored and collection_path.is_file():
            self._ignored.append(collection_path)
        return is_ignored

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if ".probe." not in file_path.name:
            return None
        from pytest_fairness.plugin.collection.declarative import DeclaredFiles

        self.start()
        return DeclaredFiles().pytest_collect_file(file_path, parent)  # too late for those that are registered now

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if self._state is not None:  # since this collection
            self._state.selection.record_report(collector, report)
        elif not report.result:
            self._reports.append((collector, report))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Module | pytest.Class, name: str, obj: object) -> object:
        from pytest_fairness.plugin.own_tests import has_own_mark, is_class

        if is_class(obj) and not (collector.istestclass(obj, name) or _is_defined_in(obj, collector)):
            return None
        if not has_own_mark(obj):
            return None
        self.start()
        # Again, with the hooks that are registered now.
        return collector.ihook.pytest_pycollect_makeitem(collector=collector, name=name, obj=obj)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        from pytest_fairness.plugin.own_tests import find_query_fixtures

        if find_query_fixtures(metafunc):
            from pytest_fairness.plugin.collection.collection import parametrize

            parametrize(metafunc, self.session())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._test = item


def _is_defined_in(cls: type, collector: pytest.Module | pytest.Class) -> bool:
    module = collector.getparent(pytest.Module)
    return module is not None and cls.__module__ == module.obj.__name__
