"""The store keeps what was answered, whoever asks for it and however a process ends."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.finish_reasons import stray_error
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.store import sqlite
from pytest_fairness.store.samples import StoredSample
from pytest_fairness.store.schema import LAYOUT
from pytest_fairness.store.store import CompletedAttempt, Store
from tests.helpers.deadlines import wait_until
from tests.helpers.fork_server import ForkedWorkers

MESSAGES = [{"role": "user", "content": "Grüße, 你好, \ud83d"}]


def completed(key: str, text: str = "yes", error: str | None = None) -> CompletedAttempt:
    answer = None if error else Answer(text, "stop", "because", {"input": 3}, 0.5, "m-1")
    return CompletedAttempt(Attempt(key, 2, answer, error), "m", "p" + key, MESSAGES)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "störe.sqlite"


@pytest.fixture
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    location = (
        request.getfixturevalue("postgresql").location() if getattr(request, "param", "") == "postgresql" else path
    )
    store = Store(location)
    store.runs.start("run")
    yield store
    store.close()


on_both = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)


@on_both
def test_attempt_is_stored_unchanged(store: Store) -> None:
    one = completed("k", 'text with "quotes", \x00 and 🙂')
    store.sync("run", completed=[one])
    attempts, _ = store.load(["k", "unknown"], "run")
    assert attempts == {"k": one.attempt}
    later, _ = store.load(["k"], "another")
    assert later["k"].from_store


@on_both
def test_first_answer_counts_and_an_error_is_none(store: Store) -> None:
    store.sync("run", completed=[completed("a", error="HTTP 500"), completed("b", "first")])
    turn = store.sync("run", completed=[completed("a", "mended"), completed("b", "second"), completed("c")])
    assert {key: attempt.answer.text for key, attempt in turn.answered.items() if attempt.answer} == {
        "a": "mended",
        "b": "first",
        "c": "yes",
    }
    assert not store.sync("run", completed=[completed("d"), completed("e")]).answered
    assert store.unanswered(["a", "b", "c", "d", "missing"]) == 1


def replied(key: str, model: str = "openai:m", **fields: Any) -> CompletedAttempt:
    answer = Answer("yes", "stop", **{"reply_id": f"chatcmpl-{'a' * 29}", "served_by": "m", **fields})
    return CompletedAttempt(Attempt(key, 0, answer), model, "p" + key, MESSAGES)


@on_both
def test_reply_to_another_request_is_no_answer_of_the_store(store: Store) -> None:
    """Regression: a gateway's cache answered two prompts, or two models, with one reply."""
    store.sync("run", completed=[replied("a"), replied("b", reply_id="chatcmpl-of-its-own-0000")])
    time.sleep(0.01)  # those that are stored at one time are all strays
    store.sync("run", completed=[replied("c"), replied("d", "openai:other")])
    strays = store.disown_strays(["a", "b", "c", "d"])
    assert {key: reason.partition(" (")[0] for key, reason in strays.items()} == {
        "c": "its reply is that to another prompt",
        "d": "its reply is one to a request for m",
    }
    attempts, _ = store.load(["a", "b", "c", "d"], "run")
    assert {key: attempt.error for key, attempt in attempts.items()} == {
        "a": None,
        "b": None,
        "c": stray_error(strays["c"]),
        "d": stray_error(strays["d"]),
    }
    assert store.disown_strays(["a", "b", "c", "d"]) == strays
    later = Store(store.location)
    assert later.sync("run", wanted=["a", "c", "d"]).claimed == {"c", "d"}
    assert later.disown_strays(["c"]) == {"c": strays["c"]}
    later.sync("run", completed=[replied("c", reply_id="chatcmpl-a-fresh-one-0000")])
    assert later.disown_strays(["a", "c"]) == {}
    later.close()


@on_both
def test_answers_of_another_model_than_the_named_are_found(store: Store) -> None:
    others = [replied(f"o{number}", reply_id=None, served_by="other") for number in range(3)]
    store.sync("run", completed=others)
    assert store.disown_strays(["o0", "o1", "o2"]) == {}  # a deployment's own name
    assert store.served_by(["o0", "o1"]) == {"other": 2}
    store.sync("run", completed=[replied("m", reply_id=None)])
    assert store.disown_strays(["o0", "o1", "o2"]).keys() == {"o0", "o1", "o2"}


@on_both
def test_error_is_an_answer_to_its_own_session_only(store: Store) -> None:
    """Whatever run the sessions name: a job that is repeated has the same."""
    worker, later = Store(store.location, store.session), Store(store.location)
    store.sync("run", completed=[completed("a", error="HTTP 500")])
    assert [one.unanswered(["a"]) for one in (store, worker, later)] == [0, 0, 1]
    assert worker.sync("run", wanted=["a"]).answered["a"].error == "HTTP 500"
    assert later.sync("run", wanted=["a"]).claimed == {"a"}
    worker.close()
    later.close()


@on_both
def test_claim_is_exclusive_until_it_is_answered(store: Store) -> None:
    other = Store(store.location)
    assert store.sync("run", wanted=["a", "b"]).claimed == {"a", "b"}
    turn = other.sync("run", wanted=["c", "a", "b"])
    assert turn.claimed == {"c"}
    assert turn.foreign == {"a": store.owner.id, "b": store.owner.id}
    store.sync("run", completed=[completed("a")])
    turn = other.sync("run", wanted=["a", "b"])
    assert (set(turn.answered), turn.foreign) == ({"a"}, {"b": store.owner.id})
    other.close()


@on_both
def test_closing_frees_claims(store: Store) -> None:
    other = Store(store.location)
    store.sync("run", wanted=["a"])
    store.owner.release()
    assert other.sync("run", wanted=["a"]).claimed == {"a"}
    other.close()


@on_both
def test_stopped_session_claims_nothing_but_others_do(store: Store) -> None:
    worker, shard = Store(store.location, store.session), Store(store.location)
    store.stop()
    for one in (store, worker):
        turn = one.sync("run", wanted=["a"])
        assert turn.stopped
        assert not turn.claimed
    assert shard.sync("run", wanted=["a"]).claimed == {"a"}
    worker.close()
    shard.close()


@on_both
def test_late_error_frees_no_claim_of_another(store: Store) -> None:
    """Write after the lease has ended: the claim of another owner stays."""
    other, third = Store(store.location), Store(store.location)
    other.sync("run", wanted=["a"])
    store.sync("run", completed=[completed("a", error="HTTP 500")])
    assert store.sync("run", wanted=["a"]).claimed == set()
    assert third.sync("run", wanted=["a"]).foreign == {"a": other.owner.id}
    third.close()
    other.close()


@on_both
def test_run_time_follows_the_clock_of_the_database(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1e6)
    assert 0 <= store.runs.elapsed("run") < 60
    assert store.runs.elapsed("none") == 0


@pytest.mark.parametrize("folder", ["100%20", "what?", "a#b", "feature%2Fx"])
def test_path_is_never_decoded_as_a_url(folder: str, tmp_path: Path) -> None:
    """Open a folder named `feature%2Fx`, as Jenkins names the workspaces of branches."""
    path = tmp_path / folder / "store.sqlite"
    store = Store(path)
    store.sync("run", completed=[completed("a")])
    store.close()
    assert path.is_file()
    assert {path.name for path in tmp_path.iterdir()} == {folder}


def test_dead_owners_are_released_if_open_files_cannot_be_deleted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: on Windows, releasing a dead owner ended with a PermissionError, and it stayed alive to all."""
    unlink, released = Path.unlink, list[str]()
    release = FileLock.release

    def recorded(lock: FileLock, *args: Any, **kwargs: Any) -> None:
        release(lock, *args, **kwargs)
        released.append(lock.lock_file)

    def as_on_windows(path: Path, missing_ok: bool = False) -> None:
        if str(path) not in released:
            raise PermissionError(32, "The process cannot access the file")
        unlink(path, missing_ok)

    monkeypatch.setattr(FileLock, "release", recorded)
    monkeypatch.setattr(Path, "unlink", as_on_windows)
    dead = Store(store.location)
    dead.sync("run", wanted=["a"])
    release(dead.owner._lock)  # type: ignore[attr-defined]
    assert store.release_dead([dead.owner.id])
    assert store.sync("run", wanted=["a"]).claimed == {"a"}
    assert not store.owner._path(dead.owner.id).exists()  # type: ignore[attr-defined]
    dead.close()


def test_unwritable_owners_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite.owners").write_text("")
    with pytest.raises(StoreError, match=r"cannot be shared: .*store\.sqlite\.owners: File exists") as caught:
        Store(tmp_path / "store.sqlite")
    assert "\n" not in str(caught.value)


@on_both
def test_tokens_count_requests_of_this_run(store: Store) -> None:
    store.sync("earlier", completed=[completed("a")])
    store.sync("run", completed=[completed("b"), completed("c"), completed("d", error="HTTP 500")])
    assert store.runs.tokens("run") == {"input": 6}


@on_both
def test_earlier_answers_of_a_model_are_found(store: Store) -> None:
    store.sync("run", completed=[completed("a"), completed("b", error="HTTP 500")])  # repetition 2
    assert store.runs.asked_prompts("run", "m") == {"pa", "pb"}
    assert not store.runs.asked_prompts("run", "another") | store.runs.asked_prompts("another", "m")
    for prompts, before, expected in ((["pa", "pb"], 3, True), (["pa"], 2, False), (["pb"], 3, False)):
        assert store.runs.has_answers("m", prompts, before) is expected


@on_both
def test_other_samples_are_counted_once(store: Store) -> None:
    def of(count: int) -> StoredSample:
        item = ProbeItem("i", [Prompt(f"{number}") for number in range(count)])
        attempts = [GradedAttempt(item, prompt, Attempt("k", 0), {}) for prompt in item.prompts]
        return StoredSample("p", "model", "key", attempts, {}, {}, {}, None)

    for run, count in (("run", 9), ("a", 1), ("b", 2), ("c", 2)):
        store.runs.save_sample(run, of(count))
    for run, owner, count in (("d", "1", 1), ("d", "2", 3), ("e", "1", 3), ("e", "2", 1), ("f", "1", 1)):
        store.runs.save_part(run, owner, of(count))
    assert store.runs.count_others("run", "p", "key", "") == 4
    assert store.runs.count_others("run", "p", "another", "") == 0
    assert store.runs.count_others("run", "p", "another", "model") == 4


@on_both
def test_thresholds_are_expected_and_recorded(store: Store) -> None:
    store.runs.expect_thresholds("run", {"t::b": {"suite": "x"}, "t::a": {"suite": "y"}})
    store.runs.expect_thresholds("run", {"t::a": {"suite": "from another worker"}})
    store.runs.record_thresholds("run", {"t::a": {"verdict": "fair"}})
    assert store.runs.expected_thresholds("run") == {"t::a": {"suite": "y"}, "t::b": {"suite": "x"}}


OPEN = """
import sys
from pathlib import Path
from pytest_fairness.store.store import Store
print("ready", flush=True)
for line in sys.stdin:
    store = Store(Path(line.strip()))
    store.runs.start("run")
    store.sync("run", wanted=[sys.argv[1]])
    store.close()
    print("opened", flush=True)
"""


@pytest.mark.slow
def test_four_processes_open_a_fresh_store_at_once(tmp_path: Path, forked_workers: ForkedWorkers) -> None:
    processes = [
        subprocess.Popen(
            [forked_workers.server.python, "-c", OPEN, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    assert [line_of(process) for process in processes] == ["ready\n"] * 4
    for attempt in range(10):
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(f"{tmp_path / str(attempt)}.sqlite\n")
            process.stdin.flush()
        assert [line_of(process) for process in processes] == ["opened\n"] * 4
    assert [process.communicate(timeout=60)[1] for process in processes] == [""] * 4


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


HOLD = """
import sys, time
from pathlib import Path
from typing import Any
from pytest_fairness.store.store import Store
store = Store(Path(sys.argv[1]))
store.sync("run", wanted=["a"])
print("claimed", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_claims_of_a_killed_process_are_freed_at_once(store: Store) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(store.location)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "claimed\n"
    turn = store.sync("run", wanted=["a"])
    owner = turn.foreign["a"]
    assert not store.release_dead([owner])
    os.kill(holder.pid, signal.SIGKILL)
    wait_until(lambda: store.release_dead([owner]))  # without `holder.wait`: a zombie holds no lock either
    assert store.sync("run", wanted=["a"]).claimed == {"a"}
    holder.wait()
    holder.stdout.close()


def test_store_of_a_newer_version_is_refused_in_one_line(store: Store, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE layout SET number = ?", [LAYOUT + 1])
    connection.close()
    with pytest.raises(StoreError, match=f"layout {LAYOUT + 1} .* upgrade pytest-fairness") as caught:
        Store(store.location)
    assert "\n" not in str(caught.value)


def test_file_that_is_no_store_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_text("This is a letter to my aunt. " * 100)
    with pytest.raises(StoreError, match="not a database") as caught:
        Store(path)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete open files")
def test_removed_file_is_reported(path: Path) -> None:
    store = Store(path)
    path.unlink()
    with pytest.raises(StoreError, match="was removed while it was in use"):
        store.sync("run", completed=[completed("k")])
    with suppress(StoreError):
        store.close()


def test_locked_file_is_reported_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.sqlite"
    Store(path).close()
    monkeypatch.setattr(sqlite, "_OPENING", 100)
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="database is locked"):
            Store(path)
        other.rollback()
    other.close()
    store = Store(path)
    assert store._database.scalar("PRAGMA busy_timeout") == 60_000
    store.close()


def test_failed_transaction_holds_no_lock(store: Store, path: Path) -> None:
    """Regression: the cursor of an exception that is still at hand kept the transaction of a closed connection."""
    store.sync("run", wanted=["first"])
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0.1)) as other:
        other.execute("ALTER TABLE claims RENAME TO lost")
        with pytest.raises(StoreError, match="no such table: claims") as caught:
            store.sync("run", completed=[completed("a"), completed("b")], wanted=["c"])
        other.execute("ALTER TABLE lost RENAME TO claims")
        assert "a" not in [key for (key,) in other.execute("SELECT key FROM attempts")]
    assert caught.tb is not None


def test_folder_that_cannot_be_created_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        Store(tmp_path / "file" / "store.sqlite")


def test_full_disk_is_reported_in_one_line_and_loses_nothing(store: Store) -> None:
    store.sync("run", completed=[completed("before")])
    pages = store._database.scalar("PRAGMA page_count")
    store._database.scalar(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full") as caught:
        store.sync("run", completed=[completed(str(number), "long " * 1000) for number in range(20)])
    assert "\n" not in str(caught.value)
    assert set(store.load(["before", "1"], "run")[0]) == {"before"}
