"""Stores of several machines become one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_fairness.cli import main
from pytest_fairness.core.attempts import Answer, Attempt, Grade
from pytest_fairness.core.items import Prompt
from pytest_fairness.store.store import CompletedAttempt, Store
from tests.helpers.postgresql_server import PostgreSQL
from tests.store.test_layouts import make

MESSAGES = [{"role": "user", "content": "Who?"}]


def completed(key: str, text: str = "yes", error: str | None = None) -> CompletedAttempt:
    answer = None if error else Answer(text, "stop", "", {"output": 1}, 0.5, "m-1")
    return CompletedAttempt(Attempt(key, 0, answer, error), "m", Prompt(MESSAGES).digest, MESSAGES)


def fill(store: Store, *attempts: CompletedAttempt, grade: str = "", run: str = "shared") -> None:
    store.runs.start(run)
    graded = [(one.attempt.key, "g", Grade(grade)) for one in attempts if grade]
    store.sync(run, completed=attempts, grades=graded)
    store.close()


def merged(*places: object, out: Path) -> int:
    return main.main(["merge", *map(str, places), f"--out={out}"])


def test_first_answer_wins_with_its_grade_and_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, out = (tmp_path / f"{name}.sqlite" for name in ("one", "two", "new/all"))
    fill(Store(one), completed("a", "first"), completed("b"), completed("c", error="HTTP 500"), grade="of one")
    fill(Store(two), completed("a", "second"), completed("b"), completed("c", "mended"), completed("d"), grade="of two")
    before = [hashlib.sha256(path.read_bytes()).digest() for path in (one, two)]
    assert merged(one, two, out=out) == 0
    printed = capsys.readouterr().out
    assert "1 attempt had another answer in an earlier store: the first is kept" in printed
    assert "Runs judged by another answer can no longer be verified here" in printed
    assert "(4 attempts, 1 run)" in printed
    assert before == [hashlib.sha256(path.read_bytes()).digest() for path in (one, two)]
    assert [path.name for path in out.parent.iterdir()] == ["all.sqlite"]
    store = Store(out)
    loaded, grades = store.load(["a", "b", "c", "d"], "shared")
    assert {key: attempt.answer.text for key, attempt in loaded.items() if attempt.answer} == {
        "a": "first",
        "b": "yes",
        "c": "mended",
        "d": "yes",
    }
    assert grades["a", "g"].value == "of one"
    assert grades["d", "g"].value == "of two"
    assert store.sync("shared", wanted=["e"]).claimed == {"e"}
    store.close()


def test_judgments_and_run_data_are_merged(tmp_path: Path) -> None:
    one, two, out = (tmp_path / f"{name}.sqlite" for name in ("one", "two", "all"))
    for path, judged in ((one, "t::a"), (two, "t::b")):
        store = Store(path)
        store.runs.start("shared")
        store.runs.expect_thresholds("shared", {"t::a": {"suite": "s"}, "t::b": {"suite": "s"}})
        store.runs.record_thresholds("shared", {judged: {"verdict": "fair"}})
        store.runs.save_document("shared", {"results": {"of": path.name}})
        store.close()
    assert merged(one, two, out=out) == 0
    store = Store(out)
    store.runs.start("later")
    assert [store.runs.history(test, before="later")[0]["verdict"] for test in ("t::a", "t::b")] == ["fair", "fair"]
    assert store.runs.document("shared") == {"results": {"of": "one.sqlite"}}
    store.close()


def test_many_pages_older_layouts_and_servers_are_merged(tmp_path: Path, postgresql: PostgreSQL) -> None:
    old, many, out, server = tmp_path / "old.sqlite", tmp_path / "many.sqlite", tmp_path / "all", postgresql.location()
    make(old, 1)
    keys = [f"key {number}" for number in range(2345)]
    fill(Store(many), *map(completed, keys))
    fill(Store(server), completed("on the server", "\x00"))
    assert merged(old, many, server.url, out=out) == 0
    store = Store(out)
    assert store.unanswered([*keys, "k", "on the server"]) == 0
    answer = store.load(["on the server"], "shared")[0]["on the server"].answer
    assert answer is not None
    assert answer.text == "\x00"
    store.close()


@pytest.mark.parametrize("wrong", ["missing", "letter", "out"])
def test_unmergeable_store_is_reported_in_one_line(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, out, letter = tmp_path / "store.sqlite", tmp_path / "all.sqlite", tmp_path / "letter.txt"
    fill(Store(store), completed("a"))
    letter.write_text("To my aunt. " * 1000)
    if wrong == "out":
        out.write_text("")
    source = {"missing": tmp_path / "missing.sqlite", "letter": letter, "out": store}[wrong]
    assert merged(store, source, out=out) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(out if wrong == "out" else source) in error
    assert wrong == "out" or not out.exists()


def test_server_as_the_merged_store_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(Store(tmp_path / "store.sqlite"), completed("a"))
    assert main.main(["merge", "store.sqlite", "--out=postgresql+psycopg://me:secret@host/fairness"]) == 2
    assert capsys.readouterr().err == (
        "pytest-fairness: --out is postgresql+psycopg://me@host/fairness, a server: stores are merged into a new file, "
        "so give its path\n"
    )
    assert not (tmp_path / "postgresql+psycopg:").exists()


def test_claims_of_a_batch_are_kept(tmp_path: Path) -> None:
    one, two, out = (tmp_path / f"{name}.sqlite" for name in ("one", "two", "all"))
    store = Store(one)
    store.runs.start("run")
    store.sync("run", wanted=["a", "b", "c"])
    batch, keys = store.submissions.begin("m", ["a", "b"])
    store.submissions.name(batch, "batch_1")
    store.close()
    fill(Store(two), completed("d"))
    assert (keys, merged(two, one, out=out)) == ({"a", "b"}, 0)
    store = Store(out)
    store.runs.start("later")
    turn = store.sync("later", wanted=["a", "b", "c", "d"])
    assert (turn.foreign, turn.claimed, set(turn.answered)) == ({"a": batch, "b": batch}, {"c"}, {"d"})
    submission = turn.submissions[batch]
    assert (submission.name, submission.requests) == ("batch_1", 2)
    store.close()


def test_stores_without_a_run_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, empty, out = (tmp_path / f"{name}.sqlite" for name in ("one", "empty", "all"))
    fill(Store(one), completed("a"))
    Store(empty).close()
    assert merged(empty, out=out) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"there is no run in {empty}: was the file beside it left behind" in line
    assert not out.exists()
    assert merged(one, empty, out=out) == 0
    assert f"there is no run in {empty}: was the file beside it" in capsys.readouterr().out
