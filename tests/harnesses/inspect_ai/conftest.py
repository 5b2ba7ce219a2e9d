"""Workers that have loaded inspect_ai, and its own run of the tasks of `tests.helpers.inspect_tasks`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_fairness.harnesses.task_tests
import pytest_fairness.stats.external_metrics  # noqa: F401
import tests.helpers
from tests.helpers.fork_server import ForkedWorkers

HELPERS = (
    Path(tests.helpers.__file__ or "").parent if tests.helpers.__file__ else Path(next(iter(tests.helpers.__path__)))
)
MODULES = ("model", "_eval.loader", "_eval.task.results")
TASKS = (
    *("matching", "letters", "including", "patterns", "judged", "turns", "gathered", "forked", "repeated"),
    *("calling", "acting", "approved", "rated", "planned", "curtailed"),
)


@pytest.fixture(scope="session")
def forked_workers(forked_workers: ForkedWorkers) -> Iterator[ForkedWorkers]:
    """Yield a plugin for runs with ``-n``, whose workers have inspect_ai imported: it takes them seconds."""
    workers = ForkedWorkers([f"inspect_ai.{name}" for name in MODULES], forked_workers)
    yield workers
    workers.close()


@pytest.fixture(scope="session")
def their_run(forked_workers: ForkedWorkers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of inspect_ai's own run: its scores, its logs, and replay files of every answer."""
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "tasks.py").write_text((HELPERS / "inspect_tasks.py").read_text(encoding="utf-8"), encoding="utf-8")
    script = [forked_workers.server.python, str(HELPERS / "inspect_runs.py"), "tasks.py", ".", *TASKS]
    process = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    return folder
