"""inspect_ai, loaded once, and its own run of the tasks of `tests.helpers.inspect_tasks`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import pytest_fairness.plugin.inspect_ai
import pytest_fairness.stats.external_metrics  # noqa: F401
import tests.helpers
from pytest_fairness.benchmarks.inspect_ai.package import inspect_module
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.shared_folder import shared_folder

HELPERS = (
    Path(tests.helpers.__file__ or "").parent if tests.helpers.__file__ else Path(next(iter(tests.helpers.__path__)))
)
MODULES = ("model", "_eval.loader", "_eval.task.results")
TASKS = (
    *("matching", "letters", "including", "patterns", "judged", "turns", "gathered", "forked", "repeated"),
    *("calling", "acting", "approved", "rated", "planned", "curtailed"),
)


@pytest.fixture(scope="session", autouse=True)
def _inspect_ai_imported_once() -> None:
    """Import inspect_ai once, and only where a test of this folder runs: a second import breaks it."""
    if find_spec("inspect_ai") is not None:
        for name in MODULES:
            inspect_module(name)


@pytest.fixture(scope="session")
def forked_workers() -> Iterator[ForkedWorkers]:
    """Yield a plugin for runs with ``-n``, whose workers have inspect_ai imported: it takes them seconds."""
    workers = ForkedWorkers([f"inspect_ai.{name}" for name in MODULES])
    yield workers
    workers.close()


@pytest.fixture(scope="session")
def their_run(request: pytest.FixtureRequest) -> Path:
    """Return the folder of inspect_ai's own run: its scores, its logs, and replay files of every answer."""
    pytest.importorskip("inspect_ai")
    return shared_folder(request, "inspect", run_tasks)


def run_tasks(folder: Path) -> None:
    """Have inspect_ai run the tasks in a folder."""
    (folder / "tasks.py").write_text((HELPERS / "inspect_tasks.py").read_text(encoding="utf-8"), encoding="utf-8")
    script = [sys.executable, str(HELPERS / "inspect_runs.py"), "tasks.py", ".", *TASKS]
    process = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
