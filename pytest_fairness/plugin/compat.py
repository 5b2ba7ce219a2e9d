"""Private API of pytest, pluggy, xdist, rerunfailures and hypothesis, with the reason for each use.

Checked with pytest 8.4.2 and 9.2.0, pluggy 1.5.0 and 1.7.0, pytest-xdist 3.8.0 with execnet 2.1.2, hypothesis
6.100.0 and 6.170.15. A test refuses such names in other modules.
"""

from __future__ import annotations

import re
import sys
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from inspect import isasyncgenfunction, iscoroutinefunction, signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TextIO

import pytest

if TYPE_CHECKING:
    from _pytest.junitxml import LogXML
    from hypothesis import settings

_SETTINGS = "_hypothesis_internal_use_settings"
_SEED = "_hypothesis_internal_use_seed"
_KEPT = frozenset(("numpy", "scipy", "pytest_fairness"))


def allow_fixture_overrides(manager: pytest.PytestPluginManager) -> None:
    """Allow every other plugin to override the fixtures of the plugin registered last.

    Of fixtures with one name, pytest uses that of the plugin registered last. It reads them as it replays the calls of
    this hook, whose order has no public setter.
    """
    history = getattr(manager.hook.pytest_plugin_registered, "_call_history", None)
    if history:
        history.insert(0, history.pop())


def later_plugins(manager: pytest.PytestPluginManager, plugin: object) -> list[object]:
    """Return the plugins that are registered after one."""
    plugins = [other for _, other in manager.list_name_plugin()]
    return plugins[plugins.index(plugin) + 1 :]


def register_before(manager: pytest.PytestPluginManager, plugin: object, later: Sequence[object]) -> None:
    """Register a plugin whose hooks are called as if it had been registered before others.

    pluggy calls the hooks of the plugin registered last first, and has no public way to register one in between.
    """
    manager.register(plugin)
    ids = set(map(id, later))
    for caller in manager.get_hookcallers(plugin) or ():
        hooks: list[Any] = caller._hookimpls
        own = next(hook for hook in hooks if hook.plugin is plugin)
        following = (hook for hook in hooks if id(hook.plugin) in ids and _order(hook) == _order(own))
        if (first := next(following, None)) is not None:
            hooks.remove(own)
            hooks.insert(hooks.index(first), own)


def _order(hook: Any) -> tuple[bool, bool, bool]:
    """Return what pluggy sorts the hooks of one name by, before the order of their plugins."""
    return hook.wrapper or hook.hookwrapper, hook.tryfirst, hook.trylast


def import_without_rewriting(manager: pytest.PytestPluginManager, package: str) -> None:
    """Import the modules of a package from now on as Python does, with their assertions as they are.

    pytest marks all modules of a plugin for rewriting, and has no public setter that undoes it. It reads a rewritten
    module several times as slowly, in each process, and assertions of this package need no details.
    """
    marked: set[str] = getattr(manager.rewrite_hook, "_must_rewrite", set())
    marked -= {name for name in marked if f"{name}.".startswith(f"{package}.")}


def ini_values(config: pytest.Config) -> dict[str, object]:
    """Return the keys of the ini file, and of ``-o``, with their raw values.

    `Config.getini` accepts only the declared type, and the files of pytest 9 have texts as well as numbers.
    """
    untyped: Any = config
    if hasattr(untyped, "_inicfg"):  # pytest 9, where `inicfg` warns
        return {key: entry.value for key, entry in untyped._inicfg.items()}
    overrides = (text.partition("=") for text in untyped._override_ini)
    return {**untyped.inicfg, **{key: value for key, _, value in overrides}}


def rootdir_of_tests(config: pytest.Config, *more: Path) -> Path:
    """Return the rootdir as the tests alone, or `-c` and `--rootdir`, make it.

    Before it knows the options of plugins, pytest takes the values of those for tests as well, if they are paths that
    exist. `determine_setup` has another parameter in each version.

    Args:
        config: The configuration.
        more: Paths that exist, and that pytest takes for tests.
    """
    from _pytest.config.findpaths import determine_setup

    options = config.known_args_namespace
    given: dict[str, Any] = {
        "inifile": options.inifilename,
        "override_ini": options.override_ini,
        "args": [*(config.args if config.args_source is config.ArgsSource.ARGS else []), *map(str, more)],
        "rootdir_cmd_arg": options.rootdir or None,
        "invocation_dir": config.invocation_params.dir,
    }
    wanted = signature(determine_setup).parameters
    untyped: Any = determine_setup
    rootdir: Path = untyped(**{name: value for name, value in given.items() if name in wanted})[0]
    return rootdir


def request_of(test: pytest.Item) -> pytest.FixtureRequest:
    """Return the request of a test: for each fixture that takes `request`, pytest makes a new one."""
    untyped: Any = test
    request: pytest.FixtureRequest = untyped._request
    return request


def fail_fixture(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest, message: str) -> NoReturn:
    """Fail the test before a fixture is set up, and every other test that uses the fixture.

    pytest stores the result of a fixture's setup. If a hook ends the setup, nothing is stored, and the next test with
    the fixture is an internal error.
    """
    untyped: Any = fixturedef
    try:
        pytest.fail(message, pytrace=False)
    except pytest.fail.Exception as error:
        untyped.cached_result = (None, untyped.cache_key(request), (error, error.__traceback__))
        raise error from None


def is_refused_async(fixturedef: pytest.FixtureDef[Any], error: BaseException) -> bool:
    """Return whether an error is pytest's refusal to set up an async fixture, which no plugin runs.

    It stores no result then, and the next test with the fixture fails at an assertion of pytest. Nor does it where the
    user interrupts an async fixture that a plugin runs.
    """
    if not isinstance(error, Exception | pytest.fail.Exception):
        return False
    untyped: Any = fixturedef
    is_async = iscoroutinefunction(fixturedef.func) or isasyncgenfunction(fixturedef.func)
    return is_async and untyped.cached_result is None


def share_location(tests: Iterable[pytest.Function]) -> None:
    """Give the tests of one function the location of the first, since pytest looks it up again for each of them.

    pytest has no public way to set the location of a test.
    """
    if not isinstance(vars(pytest.Item).get("location"), cached_property):
        return
    firsts: dict[tuple[object, str], pytest.Function] = {}
    for test in tests:
        first = firsts.setdefault((test.parent, test.originalname), test)
        if type(test).reportinfo is pytest.Function.reportinfo and first is not test:
            path, line, name = first.location
            vars(test)["location"] = path, line, name.removesuffix(first.name) + test.name


class GeneratedModule(pytest.Module):
    """A test module that is generated, not imported, for which pytest has no public hook."""

    _generated: ModuleType | None = None

    @abstractmethod
    def generate(self) -> ModuleType:
        """Return the module."""

    def _getobj(self) -> ModuleType:
        if self._generated is None:
            self._generated = self.generate()
            self._generated.__file__ = str(self.path)  # hooks of projects read it of every test's module
        return self._generated


def junit_file(config: pytest.Config) -> LogXML | None:
    """Return the JUnit file of the run, for properties outside of a test."""
    try:
        from _pytest.junitxml import xml_key
    except ImportError:
        return None
    return config.stash.get(xml_key, None)


def make_known(category: str, color: str) -> None:
    """Make a category of reports one that pytest knows, shown behind the passed tests.

    A category that pytest does not know makes the last line yellow, even of a run in which nothing failed.
    """
    import _pytest.terminal

    names = vars(_pytest.terminal)
    categories: tuple[str, ...] = names.get("KNOWN_TYPES", ())
    if "passed" in categories and category not in categories:
        index = categories.index("passed") + 1
        names["KNOWN_TYPES"] = (*categories[:index], category, *categories[index:])
        names["_color_for_type"][category] = color


def terminal_file(config: pytest.Config) -> TextIO | None:
    """Return the file of the terminal writer, whose `write` would count the characters on the line."""
    file: TextIO | None = getattr(config.get_terminal_writer(), "_file", None)
    return file


def terminal_width(text: str) -> int:
    """Return the columns of a text: two for a wide character, none for a combining one.

    pytest has no public function for it.
    """
    from _pytest._io.wcwidth import wcswidth

    columns = wcswidth(text)
    return len(text) if columns < 0 else columns


def expects_failure(item: pytest.Item) -> bool:
    """Return whether an xfail mark of a test applies, given its condition and ``--runxfail``.

    pytest has no public function for it.
    """
    from _pytest.skipping import evaluate_xfail_marks

    return not item.config.getoption("runxfail") and evaluate_xfail_marks(item) is not None


def report_portal(config: pytest.Config) -> Any:
    """Return the service of pytest-reportportal, which has no public accessor; None if it reports nothing.

    Checked with pytest-reportportal 5.6.13.
    """
    return getattr(config, "py_test_service", None) if getattr(config, "_rp_enabled", False) else None


def hypothesis_settings(function: object) -> settings | None:
    """Return the settings of a hypothesis test, for which there is no public function."""
    value: settings | None = getattr(function, _SETTINGS, None)
    return value


def set_hypothesis_settings(function: object, value: settings) -> None:
    """Replace the settings of a hypothesis test, which the decorator refuses."""
    setattr(function, _SETTINGS, value)


def has_hypothesis_seed(function: object) -> bool:
    """Return whether a hypothesis test has a seed of its own."""
    return getattr(function, _SEED, None) is not None


def worker_interactor(config: pytest.Config) -> Any:
    """Return the object through which a worker of xdist talks to its controller; None in other processes.

    xdist has hooks for reports, not for the other messages, nor for the end of the controller. Used are its `channel`
    and `sendevent`, and `process_from_remote` of the controller's nodes.
    """
    plugins = config.pluginmanager.get_plugins()
    return next((plugin for plugin in plugins if type(plugin).__name__ == "WorkerInteractor"), None)


def has_used_its_reruns(config: pytest.Config, test: str) -> bool:
    """Return whether pytest-rerunfailures has repeated a test as often as it may: its workers skip it from now on.

    They report nothing then, and the plugin has no public sign. Without it, or for a test that it does not repeat, the
    answer is no.
    """
    counts: Any = getattr(config, "failures_db", None)
    if counts is None or (config.getoption("reruns", None) is None and not counts.get_test_reruns(test)):
        return False
    return bool(counts.get_test_failures(test) > counts.get_test_reruns(test))


def is_repeated_on_changes(config: pytest.Config) -> bool:
    """Return whether xdist's ``--looponfail`` repeats the session whenever a file of the folder changes.

    It sets its option to false in the session that it repeats, and has no public sign.
    """
    return any(type(plugin).__name__ == "WorkerFailSession" for plugin in config.pluginmanager.get_plugins())


class WorkerQueue:
    """The tests that xdist has assigned to a worker, by their index in its session.

    xdist has no hook that gives a worker its tests.
    """

    def __init__(self, interactor: Any) -> None:
        worker = interactor.config.workerinput
        self.workers: int = worker["workercount"]
        """The number of workers."""
        self.number = int(re.sub(r"\D", "", worker["workerid"]) or 0) % self.workers
        """The number of this worker, from 0; one in place of a crashed worker may have that of another one."""
        self._interactor = interactor
        self._end: object = None

    @classmethod
    def find(cls, config: pytest.Config) -> WorkerQueue | None:
        """Return the queue of a worker; None in other processes, or if this version of xdist has another."""
        interactor = worker_interactor(config)
        return cls(interactor) if hasattr(getattr(interactor, "torun", None), "_items") else None

    # Without the queue's lock, which takes longer than all else here: another thread appends at most.

    def read_new(self) -> list[int]:
        """Return the current and the waiting tests if any have come since the last call, else none."""
        queued = self._interactor.torun._items
        end = queued[-1] if queued else None
        if queued and end == self._end:
            return []
        self._end = end
        indices = [self._interactor.item_index, self._interactor.nextitem_index, *queued.copy()]
        return [index for index in indices if isinstance(index, int)]

    def continues(self) -> bool:
        """Return whether the next test begins at once: it is known, and so is the one after it."""
        interactor = self._interactor
        if interactor.session.shouldfail or interactor.session.shouldstop:
            return False
        return bool(interactor.torun._items) and isinstance(interactor.nextitem_index, int)


def fixture_definitions(item: pytest.Function) -> Iterable[Sequence[pytest.FixtureDef[Any]]]:
    """Return the definitions of all fixtures that a test takes, directly or through others.

    Private: pytest has no public list of them. Checked with pytest 8.4 and 9.0.
    """
    return item._fixtureinfo.name2fixturedefs.values()


class KeptModules:
    """The modules of numpy, scipy and this package that the runs of one process have imported.

    A fixture with ``patch.dict(sys.modules)`` drops at its end all that was imported since its beginning, and so does
    a run of pytest inside of another one (`pytester.inline_run`). This package imports what a threshold needs when it
    is needed, and numpy and scipy cannot be imported twice in one process.
    """

    _modules: ClassVar[dict[str, ModuleType]] = {}
    """Shared by all runs of the process, as `sys.modules` is."""

    def keep(self) -> None:
        """Record the modules of a start of this plugin, or of a threshold, before its fixtures end."""
        self._modules.update(item for item in sys.modules.copy().items() if item[0].partition(".")[0] in _KEPT)

    def restore(self) -> None:
        """Add the recorded modules that were removed, before the next run and the fixtures of the next threshold."""
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)
