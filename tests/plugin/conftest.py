"""The project that a test runs pytest in, and the mode it is run in."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

from tests.helpers.fork_server import ForkedWorkers

from .project import NO_XDIST, Mode, Project


@pytest.fixture
def mode(request: pytest.FixtureRequest) -> Mode:
    """How pytest is run: `every_mode` parametrises it."""
    mode: Mode = getattr(request, "param", NO_XDIST)
    return mode


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    mode: Mode,
    monkeypatch: pytest.MonkeyPatch,
    forked_workers: ForkedWorkers,
) -> Iterator[Project]:
    """An empty folder that is a user's project."""
    monkeypatch.setenv("COLUMNS", "80")
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
