"""Whatever fails, every attempt is in the store once, and the verdict is that of a run that nothing disturbed.

The large form, with more faults, is ``tests/benchmarks/faults.py``.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.benchmarks.faults import SERVER_FAULTS, faulty
from tests.helpers import project_sources
from tests.helpers.project import QUIET, Project, distributed, shown

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are those of POSIX")

COUNT = 30


def answered(project: Project) -> int:
    """Return how many attempts the store has answered; none may hold an error or a claim."""
    with closing(sqlite3.connect(project.store)) as connection:
        ((failed, claims),) = connection.execute(
            "SELECT (SELECT count(*) FROM attempts WHERE error IS NOT NULL), (SELECT count(*) FROM claims)"
        )
        assert (failed, claims) == (0, 0)
        ((count,),) = connection.execute("SELECT count(*) FROM attempts")
        return int(count)


def results(project: Project) -> dict[str, object]:
    """Return the verdict with its numbers."""
    row = project.row()
    return {name: row[name] for name in ("verdict", "estimate", "low", "high", "items", "attempts", "ungraded")}


def test_faulty_server_changes_nothing(project: Project) -> None:
    """Disturb a fifth of the replies by each fault in turn: an error, a cut, silence, or an invalid answer."""
    project.write(test_hiring=project_sources.suite(count=COUNT))
    with faulty(share=0.2) as server:
        args = (f"--fairness-model=openai:m?base_url={server.url}&timeout=0.5", "--fairness-concurrency=8")
        project.run(*args)
        expected = results(project)
        project.store.unlink()
        server.begin(SERVER_FAULTS)
        result = project.run(*args)
    assert results(project) == expected
    assert "failed" not in result.parseoutcomes() or expected["verdict"] != "fair"
    assert answered(project) == 2 * COUNT
    assert set(server.answered.values()) == {1}
    assert server.calls.total() > 2 * COUNT


@pytest.mark.slow
def test_jumping_clock_changes_nothing(project: Project) -> None:
    jumps = """
import itertools, time
_real, _jumps = time.time, itertools.cycle([0, 9 * 3600, -9 * 3600, 40 * 86400, -40 * 86400])
time.time = lambda: _real() + next(_jumps)
"""
    application = project_sources.application(version="1")
    project.write_suite(conftest=application, count=COUNT)
    project.run()
    expected = results(project)
    project.store.unlink()
    project.forget_calls()
    project.write(conftest=application + jumps)
    project.separate_run("-n2")
    assert results(project) == expected
    assert answered(project) == 2 * COUNT
    assert set(project.calls().values()) == {1}


@pytest.mark.slow
def test_full_disk_is_reported_and_answers_are_kept(project: Project) -> None:
    """Limit the size of files, which SQLite takes for a full or failing disk."""
    project.write_suite(conftest=project_sources.application(version="1"), count=200)
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:randomly", "--fairness-report=none", *QUIET]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    run = subprocess.run(
        command, cwd=project.path, capture_output=True, text=True, preexec_fn=limited, timeout=120, check=False
    )
    assert run.returncode not in (0, 5)
    assert "what was answered before is kept: mend it (free space, permissions) and run again" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
    before = project.calls().total()
    with closing(sqlite3.connect(project.store)) as connection:
        ((in_store,),) = connection.execute("SELECT count(*) FROM attempts")
    assert 0 < in_store <= before
    project.run()
    assert answered(project) == 400
    # What was answered when the store failed, and could not be written, is asked again; nothing else is.
    assert project.calls().total() == 400 + before - in_store
    assert project.row()["attempts"] == 400


KILLED_ONCE = """
import os, signal
from pathlib import Path
if "PYTEST_XDIST_WORKER" in os.environ and not Path("killed").exists():
    Path("killed").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("dist", ["load", "worksteal"])
def test_threshold_whose_worker_was_killed_is_judged_by_another(project: Project, dist: str) -> None:
    test = project_sources.threshold(f"{KILLED_ONCE}\nassert 0.8 <= {project_sources.RATIO} <= 1.25", name="test_alike")
    project.write_suite(test, conftest=project_sources.application(version="1"), count=COUNT)
    project.run(mode=distributed("-n2", "--dist", dist))
    assert (project.path / "killed").exists()
    disturbed = results(project)
    result = project.run(mode=distributed("-n0"))
    assert results(project) == disturbed
    assert disturbed["verdict"] != "invalid"
    assert answered(project) == 2 * COUNT
    assert set(project.calls().values()) == {1}
    assert "RERUN" not in shown(result)
