"""Many processes on one store: each attempt is asked for once, whatever becomes of the server or of a process."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from pytest_fairness.store import owners
from pytest_fairness.store.location import PostgresURL, StoreLocation
from pytest_fairness.store.store import Store
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.postgresql_server import PostgreSQL

WORKING = Path(__file__).parents[1] / "helpers" / "store_worker.py"


def url_of(location: StoreLocation) -> str:
    return location.url if isinstance(location, PostgresURL) else str(location)


@contextmanager
def working(python: str, location: StoreLocation, keys: int) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [python, str(WORKING), url_of(location), str(keys)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        process.kill()


def begin(processes: list[subprocess.Popen[str]]) -> None:
    """Let all begin together."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def asked_by(processes: list[subprocess.Popen[str]]) -> Counter[str]:
    """Return how often each key was requested, by processes that must not have failed."""
    ended = [process.communicate(timeout=120) for process in processes]
    assert [errors for _, errors in ended] == [""] * len(processes)
    return Counter(key for out, _ in ended for key in out.split())


def answered(location: StoreLocation, keys: int) -> set[str]:
    store = Store(location)
    loaded, _ = store.load([str(number) for number in range(keys)], "run")
    store.close()
    return {key for key, attempt in loaded.items() if attempt.answer and attempt.answer.text == f"answer to {key}"}


@pytest.mark.parametrize(("kind", "processes"), [("sqlite", 4), pytest.param("postgresql", 8, marks=pytest.mark.slow)])
def test_processes_request_nothing_twice(
    kind: str, processes: int, request: pytest.FixtureRequest, tmp_path: Path, forked_workers: ForkedWorkers
) -> None:
    location = request.getfixturevalue("postgresql").location() if kind == "postgresql" else tmp_path / "store.sqlite"
    with ExitStack() as stack:
        working_ = [stack.enter_context(working(forked_workers.server.python, location, 300)) for _ in range(processes)]
        begin(working_)
        assert asked_by(working_) == dict.fromkeys(map(str, range(300)), 1)
    assert len(answered(location, 300)) == 300


@pytest.mark.parametrize("link", ["file", "folder", "before the store"])
def test_processes_request_nothing_twice_over_a_link(link: str, tmp_path: Path, forked_workers: ForkedWorkers) -> None:
    """Regression: two names of one store were two stores, each of which took the processes of the other for dead."""
    folder = tmp_path / "real"
    folder.mkdir()
    real = folder / "store.sqlite"
    if link == "file":
        Store(real).close()
    if link == "folder":
        (tmp_path / "other").symlink_to(folder, target_is_directory=True)
        linked = tmp_path / "other" / "store.sqlite"
    else:
        linked = tmp_path / "other.sqlite"
        linked.symlink_to(real)
    with ExitStack() as stack:
        working_ = [
            stack.enter_context(working(forked_workers.server.python, location, 300)) for location in (real, linked)
        ]
        begin(working_)
        assert asked_by(working_) == dict.fromkeys(map(str, range(300)), 1)
    assert len(answered(linked, 300)) == 300
    assert not list(tmp_path.glob("other.sqlite?*"))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_restart_of_the_server_loses_and_repeats_nothing(
    mode: str, postgresql: PostgreSQL, forked_workers: ForkedWorkers
) -> None:
    location = postgresql.location()
    with ExitStack() as stack:
        processes = [stack.enter_context(working(forked_workers.server.python, location, 900)) for _ in range(3)]
        begin(processes)
        for _ in range(2):
            time.sleep(0.4)
            assert all(process.poll() is None for process in processes)
            postgresql.stop(mode)
            time.sleep(0.3)
            postgresql.start()
        assert asked_by(processes) == dict.fromkeys(map(str, range(900)), 1)
    assert len(answered(location, 900)) == 900


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten leases."""
    monkeypatch.setattr(owners, "HEARTBEAT_INTERVAL", 0.1)
    monkeypatch.setattr(owners, "LONGEST_GAP", 0.9)
    monkeypatch.setattr(owners, "LEASE", 2.4)


def until_claimed(store: Store, key: str, seconds: float) -> bool:
    """Return whether a key that another owner has claimed is freed within this time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        turn = store.sync("run", wanted=[key])
        if key in turn.claimed:
            return True
        store.release_dead(turn.foreign.values())
        time.sleep(0.02)
    return False


def test_claims_of_a_killed_process_end_with_its_lease(
    postgresql: PostgreSQL, quick: None, forked_workers: ForkedWorkers
) -> None:
    location = postgresql.location()
    with working(forked_workers.server.python, location, 8) as process:
        begin([process])
        assert process.stdout is not None
        key = process.stdout.readline().strip()
        os.kill(process.pid, 9)
        process.wait()
        store = Store(location)
        # Its last answers may have been written; else what it had claimed is free again.
        assert store.load([key], "run")[0] or until_claimed(store, key, 60)
        store.close()


@pytest.mark.slow
def test_live_owner_keeps_its_claims_under_any_clock(
    postgresql: PostgreSQL, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = postgresql.location()
    holder, other = Store(location), Store(location)
    assert holder.sync("run", wanted=["a"]).claimed
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1e6)
    assert not until_claimed(other, "a", 4)
    monkeypatch.setattr(time, "time", lambda: now - 1e6)
    assert not until_claimed(other, "a", 0.5)
    holder.close()
    assert until_claimed(other, "a", 60)
    other.close()


@pytest.mark.slow
def test_server_outage_releases_no_live_owner(postgresql: PostgreSQL, quick: None) -> None:
    location = postgresql.location()
    holder, other = Store(location), Store(location)
    assert holder.sync("run", wanted=["a"]).claimed
    time.sleep(3)  # until the other has been alive for a lease
    postgresql.stop()
    time.sleep(3.6)  # for longer than a lease
    postgresql.start()
    assert not until_claimed(other, "a", 4)
    holder.close()
    other.close()


def test_batches_are_graded_by_one_process_at_a_time(postgresql: PostgreSQL) -> None:
    location = postgresql.location()
    one, other = Store(location), Store(location)
    entered = Event()

    def grade() -> None:
        with other.grading():
            entered.set()

    with one.grading():
        thread = Thread(target=grade)
        thread.start()
        assert not entered.wait(0.3)
    assert entered.wait(5)
    thread.join()
    one.close()
    other.close()
