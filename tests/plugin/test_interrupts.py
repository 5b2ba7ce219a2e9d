"""Runs that end early: by a failure, by Ctrl-C, by a kill. Nothing new leaves, nothing answered is lost."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.helpers import project_sources
from tests.helpers.deadlines import wait_until
from tests.helpers.project import N2, NO_XDIST, QUIET, Project, distributed, first_in_every_mode, shown

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")

GOES_ON = r"stopped after \d+ calls: answers are in the store, and the same command goes on"
SLOW = "    import time\n    time.sleep(0.02)"


@pytest.mark.slow
@first_in_every_mode("option", ["-x", "--maxfail=2"], modes=(N2, NO_XDIST))
def test_nothing_is_sent_after_the_last_failure(project: Project, option: str) -> None:
    probe = (
        project_sources.PROBE
        + """
    if probe_item.id in ("person-0002", "person-0004"):
        from pathlib import Path
        import time
        Path(f"failed-{probe_item.id}").write_text(str(time.time()))
        assert False
"""
    )
    stamp = SLOW + "\n    with open('times.txt', 'a') as file:\n        file.write(f'{time.time()}\\n')"
    project.write_suite(conftest=project_sources.application(body=stamp), probe=probe, count=1000)
    result = project.run(option, "--fairness-concurrency=4")
    assert result.ret in (1, 2)
    requests = sum(project.calls().values())
    # Of 2,000; what was asked ahead of the tests is bounded.
    assert requests < 700
    ended = max(float(file.read_text()) for file in project.path.glob("failed-*"))
    times = [float(line) for line in (project.path / "times.txt").read_text().split()]
    # What was under way may still end; the controller hears of a failure a moment later.
    late = [at for at in times if at > ended + 10.0]
    assert not late, f"{len(late)} of {requests}, up to {max(times) - ended:.1f} s after the failure"


@first_in_every_mode("option", ["-x"], modes=(N2, NO_XDIST))
def test_answers_in_flight_at_the_last_failure_are_kept(project: Project, option: str) -> None:
    probe = project_sources.PROBE + "    assert probe_item.id != 'person-0002'\n"
    application = project_sources.application(version="1", body="    import asyncio\n    await asyncio.sleep(0.2)")
    project.write_suite(conftest=application.replace("def application", "async def application"), probe=probe, count=24)
    assert project.run(option, "--fairness-concurrency=8").ret in (1, 2)
    project.run()
    assert not asked_twice(project)


def test_failure_on_one_worker_ends_a_threshold_on_another(project: Project) -> None:
    """Fail a test on one worker while the other waits for 2,000 slow answers."""
    failing = """
def test_that_fails():
    import time
    from pathlib import Path
    end = time.time() + 100
    while time.time() < end:
        if Path("asked.txt").exists() and len(Path("asked.txt").read_text().splitlines()) > 20:
            assert False, "now"
        time.sleep(0.02)
"""
    body = "    import time\n    time.sleep(0.1)"
    project.write_suite(conftest=project_sources.application(body=body), count=1000, test_failing=failing)
    result = project.run(
        "-x", "-k", "fails or alike", "--fairness-concurrency=4", mode=distributed("-n2", "--dist", "loadfile")
    )
    assert result.ret in (1, 2)
    assert "now" in shown(result)
    assert sum(project.calls().values()) < 600
    assert result.duration < 40
    assert "fair" not in project.verdicts().values() if (project.path / "results.json").exists() else True


STARTED: list[subprocess.Popen[bytes]] = []


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    """Kill a hanging run and its workers when their test has failed."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own
            process.communicate()


def start(project: Project, *args: str) -> subprocess.Popen[bytes]:
    """Start pytest in a process of its own, with a session of its own for signals."""
    return start_command(project, *project.command(*args))


def start_command(project: Project, *command: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command,
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # A shell starts what it puts into the background with interrupts ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    STARTED.append(process)
    return process


def wait_for(project: Project, count: int) -> None:
    """Wait until the callable was asked so often."""
    wait_until(lambda: project.calls().total() >= count)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["time.sleep(60)", "await asyncio.to_thread(time.sleep, 60)"])
def test_blocking_async_application_is_interrupted(project: Project, call: str) -> None:
    """`requests.post` in a coroutine, which many write: Ctrl-C once did nothing for as long as it took."""
    text = project_sources.application(body=f"    import asyncio, time\n    {call}")
    text = text.replace("def application", "async def application")
    project.write_suite(conftest=text, count=4)
    process = start(project, "-p", "no:xdist")
    wait_for(project, 1)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=50)  # the application would sleep for sixty seconds
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output.decode()
    assert b"Traceback" not in output


HANGS = "    import time\n    if 'profile 3 ' in text: time.sleep(600)"
ENDS = """

def pytest_sessionfinish(session):
    import os
    Path(f"ended-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.txt").write_text("")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arg", "signals"),
    [
        ("-pno:xdist", [signal.SIGTERM]),
        ("-n2", [signal.SIGTERM, signal.SIGTERM]),
        ("-n2", [signal.SIGINT, signal.SIGINT]),
    ],
)
def test_hanging_application_is_interrupted(project: Project, arg: str, signals: list[signal.Signals]) -> None:
    """Ignore execnet's own interrupt, which comes after five seconds: workers end with their controller."""
    deaf = (
        "\nimport os, signal\nif 'PYTEST_XDIST_WORKER' in os.environ:\n    signal.signal(signal.SIGINT, signal.SIG_IGN)"
    )
    project.write_suite(conftest=project_sources.application(version="1", body=HANGS) + deaf + ENDS, count=12)
    process = start(project, arg)
    wait_for(project, 7)
    for number in signals:
        os.kill(process.pid, number)
        time.sleep(0.2)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output.decode()
    assert b"Traceback" not in output
    assert re.search(GOES_ON, output.decode())
    ended = {file.stem for file in project.path.glob("ended-*")}
    assert ended == {"ended-alone"} | ({"ended-gw0", "ended-gw1"} if arg == "-n2" else set())


def asked_twice(project: Project) -> Counter[str]:
    return Counter({text: count for text, count in project.calls().items() if count > 1})


@pytest.mark.parametrize("args", [("-p", "no:xdist"), ("-n2",)], ids=["no-xdist", "n2"])
def test_interrupted_run_is_resumed_where_it_stopped(project: Project, args: tuple[str, ...]) -> None:
    project.write_suite(conftest=project_sources.application(version="1", body=SLOW), count=100)
    stale = '{\n "schema": 1,\n "release": [{"verdict": "fair"}]}'
    (project.path / "results.json").write_text(stale)
    # A new interpreter, in which nothing is imported yet.
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", *QUIET, *args]
    process = start_command(project, *command, "--fairness-concurrency=2", "--fairness-json=results.json")
    wait_for(project, 60)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output.decode()
    before = sum(project.calls().values())
    assert before < 200
    assert project.row()["message"] == "not judged: the run was stopped"
    assert project.results()["release"][0]["verdict"] == "undecided"
    assert re.search(GOES_ON, output.decode())
    result = project.run(mode=NO_XDIST)
    assert set(project.calls()) == {
        f"Should a {g} of profile {n} be hired?" for g in ("woman", "man") for n in range(100)
    }
    # In flight when it was stopped: two requests on each of at most two workers.
    assert sum(count - 1 for count in asked_twice(project).values()) <= 4
    assert project.results()["run"]["from_store"] >= before - 4
    assert result.ret == 0


@pytest.mark.slow
def test_interrupt_of_the_controller_stops_its_workers(project: Project) -> None:
    """Regression: until the controller had written the report, they went on: 400 requests at 64 in flight."""
    project.write_suite(conftest=project_sources.application(body=SLOW), count=200)
    process = start(project, "-n2", "--fairness-concurrency=2")
    wait_for(project, 20)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=120)
    with closing(sqlite3.connect(project.store)) as store:
        assert store.execute("SELECT count(*) FROM stops").fetchone() == (1,)


@pytest.mark.slow
def test_killed_run_is_resumed_where_it_stopped(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1", body=SLOW), count=100)
    process = start(project, "-p", "no:xdist", "--fairness-concurrency=4")
    wait_for(project, 80)
    process.kill()
    process.communicate(timeout=120)
    before = sum(project.calls().values())
    result = project.run(mode=NO_XDIST)
    assert result.ret == 0
    # In flight when it died, or answered but not yet written: a handful.
    assert sum(count - 1 for count in asked_twice(project).values()) <= 12
    assert project.results()["run"]["from_store"] >= before - 12
    assert project.row()["attempts"] == 200


@pytest.mark.slow
def test_killed_run_does_not_delay_the_next(project: Project) -> None:
    project.write_suite(
        conftest=project_sources.application(version="1", body="    import time\n    time.sleep(0.2)"), count=30
    )
    process = start(project, "-p", "no:xdist", "--fairness-concurrency=30")
    wait_for(project, 10)
    process.kill()
    process.communicate(timeout=120)
    result = project.run("--fairness-concurrency=60", mode=NO_XDIST)
    assert result.ret == 0 or project.row()["verdict"] == "undecided"
    assert result.duration < 45


def test_pytest_exit_keeps_the_answers(project: Project) -> None:
    leaving = project_sources.PROBE + "    if probe_item.id == 'person-0005':\n        pytest.exit('enough')\n"
    project.write_suite(conftest=project_sources.application(version="1"), probe=leaving)
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "INTERNALERROR" not in shown(result)
    answered = sum(project.calls().values())
    assert answered >= 12
    project.forget_calls()
    project.write(test_hiring=project_sources.suite())
    assert project.run().ret == 0
    assert sum(project.calls().values()) <= 120 - answered + 32


@pytest.mark.slow
def test_two_runs_on_one_store_request_nothing_twice(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1", body=SLOW), count=100)
    processes = [start(project, "-p", "no:xdist", "-q", "--fairness-concurrency=4") for _ in range(2)]
    outputs = [process.communicate(timeout=240)[0].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert not asked_twice(project)
    assert len(project.calls()) == 200
