"""What every test of the project needs: pytester, and slow modules imported once."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import hypothesis
import pytest

from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.preloaded import preload
from tests.postgres import postgresql  # noqa: F401 - a fixture

preload()

# The same examples in every run, however busy the machine: a change is not refused by chance.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("random", deadline=None, database=None)
hypothesis.settings.load_profile("steady")

pytest_plugins = ["pytester"]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Begin with the files that have slow tests: all workers are to end at about the same time."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    yield
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Half a million objects of tests and libraries stay to the end: what looks for garbage need not look there."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_to_look_through() -> None:
    """Nor among what the modules before have loaded: every run of pytest in this process looks five times."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _few_plugins() -> Iterator[None]:
    """Other plugins are half of what starting pytest takes: a process of its own goes without them."""
    names = ("hypothesispytest", "html", "metadata", "anyio", "cov")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in names))
        yield


@pytest.fixture(scope="session")
def forked_workers() -> Iterator[ForkedWorkers]:
    """A plugin for runs with ``-n``: their workers start in milliseconds."""
    workers = ForkedWorkers()
    yield workers
    workers.close()
