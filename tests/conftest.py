"""Fixtures of all tests: small projects that pytest runs in, a database server, slow modules imported once."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator

import _pytest.pytester
import hypothesis
import pytest

from tests.helpers.examples import USUAL
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.postgresql_server import postgresql  # noqa: F401 - a fixture
from tests.helpers.preloaded import ProjectModulesSnapshot, preload, search_once
from tests.helpers.project import NO_XDIST, InterruptRecorder, Mode, Project

# Threads of numpy and torch wait for each other in loops: where every worker has as many as there are processors, that
# is most of what they do.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples in every run, however busy the machine: a change is not refused by chance.
# They find nothing new in a second run: a few are enough here, and `random` has hypothesis' own number.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=USUAL)
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile("steady"), max_examples=12)
hypothesis.settings.register_profile("random", deadline=None, database=None)
hypothesis.settings.load_profile("steady")

pytest_plugins = ["pytester"]

collect_ignore = ["example_extension"]  # a package of its own, which a test installs and runs


def pytest_configure(config: pytest.Config) -> None:
    """Reduce the examples to a fifth for ``make test``."""
    if config.getoption("markexpr") == "not slow" and not config.getoption("--hypothesis-profile", None):
        hypothesis.settings.load_profile("quick")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark further cases of runs of pytest and of browsers as slow, and begin with the files that have slow tests.

    All workers are to end at about the same time.
    """
    for item in items:
        if is_further_run(item):
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    yield
    items.sort(key=lambda item: item.path not in slow)


def is_further_run(item: pytest.Item) -> bool:
    """Return whether a test runs pytest or a browser with other parameters than its first ones: a mode or a value."""
    callspec = getattr(item, "callspec", None)
    is_run = not {"pytester", "browser"}.isdisjoint(getattr(item, "fixturenames", ()))
    return callspec is not None and is_run and any(callspec.indices.values())


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import what runs of pytest in this process need, and freeze the objects of tests and libraries, half a million.

    Garbage collection need not search them. The controller of workers collects nothing, and needs none of it; nor does
    a file whose tests run no pytest.
    """
    if any("pytester" in getattr(item, "fixturenames", ()) for item in session.items):
        preload()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="module", autouse=True)
def _imports_frozen() -> None:
    """Freeze what earlier modules have imported: every run of pytest in this process collects garbage five times."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _few_plugins() -> Iterator[None]:
    """Start processes of pytest without other plugins, which take half of the time."""
    names = ("hypothesispytest", "html", "metadata", "anyio", "cov")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in names))
        yield


@pytest.fixture(scope="session", autouse=True)
def _outside_of_ci() -> Iterator[None]:
    """Run projects as on a user's terminal: where these variables are set, pytest cuts no line of its summary."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _measured_items_pass() -> Iterator[None]:
    """Count tests of items, which pytest shows as measured, as passed: `assert_outcomes` knows no other category."""
    parse = pytest.RunResult.parse_summary_nouns

    def parse_with_measured(lines: Iterable[str]) -> dict[str, int]:
        outcomes = parse(lines)
        if measured := outcomes.pop("measured", 0):
            outcomes["passed"] = outcomes.get("passed", 0) + measured
        return outcomes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pytest.RunResult, "parse_summary_nouns", staticmethod(parse_with_measured))
        yield


@pytest.fixture(scope="session", autouse=True)
def _searched_once() -> Iterator[None]:
    """Search the packages for entry points and fixtures once for all runs in this process."""
    with pytest.MonkeyPatch.context() as patch:
        search_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _libraries_stay_imported() -> Iterator[None]:
    """Keep what a run in this process has imported of libraries and of the plugin: the next run needs it as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pytest.pytester, "SysModulesSnapshot", ProjectModulesSnapshot)
        yield


@pytest.fixture(scope="session")
def forked_workers() -> Iterator[ForkedWorkers]:
    """Yield a plugin for runs with ``-n``, whose workers start in milliseconds."""
    workers = ForkedWorkers()
    yield workers
    workers.close()


@pytest.fixture
def mode(request: pytest.FixtureRequest) -> Mode:
    """Return how pytest is run; `every_mode` parametrizes it."""
    mode: Mode = getattr(request, "param", NO_XDIST)
    return mode


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    mode: Mode,
    monkeypatch: pytest.MonkeyPatch,
    forked_workers: ForkedWorkers,
) -> Iterator[Project]:
    """Yield an empty folder that is a user's project."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(pytester, "make_hook_recorder", InterruptRecorder)
    hidden = ("PYTHONDONTWRITEBYTECODE", "PYTHONOPTIMIZE", "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS")
    of_our_worker = ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID")
    for name in (*hidden, *of_our_worker):
        monkeypatch.delenv(name, raising=False)
    # Hundreds of runs that nobody reads a report of; a test of reports takes this back.
    monkeypatch.setenv("PYTEST_ADDOPTS", "--fairness-report=none")
    ours = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.load_profile("default")
    yield Project(pytester, mode, forked_workers)
    hypothesis.settings.load_profile(ours)
