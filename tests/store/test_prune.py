"""``pytest-fairness prune``: what nothing needs goes, and nothing else."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli import main
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import attempt_key
from pytest_fairness.store.location import PostgresURL, StoreLocation
from pytest_fairness.store.samples import StoredSample
from pytest_fairness.store.store import CompletedAttempt, Store
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.postgresql_server import PostgreSQL

LONG = "word " * 400
QUESTION = "asked by a grader of "


def attempt(model: str, text: str) -> CompletedAttempt:
    prompt = Prompt(text)
    key = attempt_key(model, prompt.digest, 0)
    return CompletedAttempt(Attempt(key, 0, Answer(LONG)), model, prompt.digest, prompt.messages)


def measure(
    location: StoreLocation, run: str, texts: Sequence[str], model: str = "m", baseline: str = "", grader: bool = True
) -> None:
    """Store a run that asks one prompt for each text, and its grader one more."""
    store = Store(location)
    store.runs.start(run)
    attempts = [attempt(model, text) for text in texts]
    question = attempt("judge", f"{QUESTION}{run}")
    all_asked = [*attempts, question] if grader else attempts
    store.sync(run, completed=all_asked, grades=[(one.attempt.key, "g", Grade(True)) for one in all_asked])
    item = ProbeItem("item", [Prompt(text) for text in texts])
    graded = [
        GradedAttempt(item, prompt, one.attempt, {"g": Grade(True)})
        for prompt, one in zip(item.prompts, attempts, strict=True)
    ]
    questions = [question.attempt.key] if grader else []
    sample = StoredSample("t.py::p", model, model, graded, graders={"g": "g"}, questions=questions)
    store.runs.save_sample(run, sample)
    store.runs.expect_thresholds(run, {"t.py::t": {"suite": "s"}})
    store.runs.record_thresholds(run, {"t.py::t": {"verdict": "fair"}})
    command = [f"--fairness-baseline={baseline}"] if baseline else []
    store.runs.save_document(run, {"results": {"run": {"attempts": len(attempts), "command": command}}, "cards": {}})
    store.close()


def change(location: StoreLocation, statement: str) -> None:
    store = Store(location)
    store._database.execute(statement)
    store.close()


def answers(location: StoreLocation) -> dict[str, int]:
    """Return the number of answers left of each run."""
    store = Store(location)
    counts: dict[str, int] = {}
    for (run,) in store._database.rows("SELECT run FROM attempts"):
        counts[run] = counts.get(run, 0) + 1
    store.close()
    return counts


def contents(location: Path) -> list[Any]:
    with closing(sqlite3.connect(location)) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        return [(name, sorted(map(repr, store.execute(f"SELECT * FROM {name}")))) for name in names]  # noqa: S608


def pruned(location: StoreLocation, *args: str) -> int:
    store = location.url if isinstance(location, PostgresURL) else str(location)
    return main.main(["prune", f"--store={store}", *args])


@pytest.fixture(params=["file", "server"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    if request.param == "file":
        return tmp_path / "store.sqlite"
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.location()


def test_data_of_remaining_runs_is_kept(location: StoreLocation, capsys: pytest.CaptureFixture[str]) -> None:
    measure(location, "base", ["a"])
    measure(location, "old", ["b", "shared"])
    change(location, "UPDATE runs SET started = started - 8640000")
    change(location, "UPDATE attempts SET at = at - 8640000")
    measure(location, "new", ["shared", "c"], baseline="base")
    assert pruned(location, "--older-than=30d", "--dry-run") == 0
    would = capsys.readouterr().out
    # Its grader's question and the prompt that no other run has; the answer to "shared" is held by the newer run.
    assert would.startswith("would be removed: 1 run, 2 answers, 2 prompts, 2 grades (")
    assert answers(location) == {"base": 2, "old": 3, "new": 2}
    assert pruned(location, "--older-than=30d") == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == would.strip().replace("would be removed", "removed")
    assert answers(location) == {"base": 2, "old": 1, "new": 2}
    store = Store(location)
    sample = store.runs.sample("new", "t.py::p", "m")
    assert sample is not None
    assert [attempt.attempt.answer is not None for attempt in store.with_answers(sample, "new").attempts] == [
        True,
        True,
    ]
    assert [past["run"] for past in store.runs.history("t.py::t")] == ["base", "old", "new"]  # looks are not undone
    assert store.runs.document("base") is not None
    assert store.runs.document("old") is None
    store.close()
    assert pruned(location, "--older-than=30d") == 0
    assert capsys.readouterr().out.startswith("removed: 0 runs, 0 answers, 0 prompts, 0 grades (0 bytes of contents)")


def test_newest_passed_run_stays_as_baseline(tmp_path: Path) -> None:
    """Keep the run that ``--fairness-baseline latest`` takes where later ones have failed."""
    location = tmp_path / "store.sqlite"
    for run, outcome in (("old", "passed"), ("good", "accepted"), ("bad", "failed"), ("last", "failed")):
        measure(location, run, [run], grader=False)
        store = Store(location)
        store.runs.record_thresholds(run, {"t.py::t": {"verdict": "unfair", "outcome": outcome}})
        store.close()
        change(location, "UPDATE runs SET started = started - 8640000")
        change(location, "UPDATE attempts SET at = at - 8640000")
    assert pruned(location, "--older-than=30d") == 0
    assert answers(location).keys() == {"good", "last"}


def test_pruned_file_shrinks_and_a_dry_run_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    location = tmp_path / "store.sqlite"
    measure(location, "one", [f"{number} {LONG}" for number in range(300)])
    measure(location, "two", ["a"])
    before = location.stat().st_size, contents(location)
    assert pruned(location, "--run=one", "--dry-run") == 0
    assert (location.stat().st_size, contents(location)) == before
    capsys.readouterr()
    assert pruned(location, "--run=one") == 0
    assert answers(location) == {"two": 2}
    assert location.stat().st_size < before[0] / 5
    sizes = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) bytes", capsys.readouterr().out)]
    assert 300 * 2 * len(LONG) <= sizes[0] < before[0]


def test_runs_within_the_retention_period_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    location = tmp_path / "store.sqlite"
    for run, days in (("ancient", 200), ("old", 100), ("new", 0)):
        measure(location, run, [run], f"model:{run}", grader=False)
        change(location, f"UPDATE runs SET started = started - {days} * 86400 WHERE id = '{run}'")  # noqa: S608 - constants
        change(location, f"UPDATE attempts SET at = at - {days} * 86400 WHERE run = '{run}'")  # noqa: S608 - constants
    (tmp_path / "pyproject.toml").write_text('[tool.pytest-fairness]\nretention = "150d"\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    for conditions in (["--older-than=50d"], ["--run=old"], ["--model=model:old"]):
        assert pruned(location, *conditions, "--dry-run") == 0
        shown = capsys.readouterr().out
        assert shown.startswith("would be removed: 1 run" if "50d" in conditions[0] else "would be removed: 0 runs")
        kept = f"kept: what is younger than 150 days ({tmp_path / 'pyproject.toml'}:2: retention)"
        assert kept in shown.splitlines()
    assert pruned(location, "--older-than=50d") == 0
    assert answers(location).keys() == {"old", "new"}
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nretention = 3\n")
    assert pruned(location, "--older-than=50d") == 0
    assert answers(location).keys() == {"new"}


def test_store_of_another_folder_keeps_its_retention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    measure(folder / "store.sqlite", "one", ["a"], grader=False)
    (folder / "pyproject.toml").write_text('[tool.pytest-fairness]\nretention = "150d"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert pruned(folder / "store.sqlite", "--run=one") == 0
    assert answers(folder / "store.sqlite") == {"one": 1}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('retentoin = "150d"', "[tool.pytest-fairness] has no 'retentoin'; did you mean 'retention'?"),
        ("retention = 150", "retention is 150: write days, hours or weeks"),
    ],
)
def test_misspelled_retention_removes_nothing(
    line: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    location = tmp_path / "store.sqlite"
    measure(location, "one", ["a"], grader=False)
    (tmp_path / "pyproject.toml").write_text(f"[tool.pytest-fairness]\n{line}\n")
    monkeypatch.chdir(tmp_path)
    assert pruned(location, "--run=one") == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"pytest-fairness: {tmp_path / 'pyproject.toml'}:2: ")
    assert error in shown
    assert answers(location) == {"one": 1}


def test_prune_by_model_removes_runs_of_that_model_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    location = tmp_path / "store.sqlite"
    measure(location, "one", ["a"], "gone:x?seed=1", grader=False)
    measure(location, "both", ["a"], "gone:x?seed=1", grader=False)
    measure(location, "both", ["b"], "gone:xy", grader=False)
    measure(location, "latest", ["c"], "gone:x", grader=False)
    assert pruned(location, "--model=gone:z") == 2
    assert "has nothing of a model 'gone:z'; did you mean 'gone:x'" in capsys.readouterr().err
    assert pruned(location, "--model=gone:x") == 0
    # The answer of the first run is held by the second, and the last is `latest`.
    assert capsys.readouterr().out.startswith("removed: 1 run, 0 answers")
    assert pruned(location, "--run=latest", "--model=gone:x") == 0
    assert answers(location) == {"one": 1, "both": 1}


def test_run_that_another_needs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    location = tmp_path / "store.sqlite"
    measure(location, "base", ["a"])
    measure(location, "held", ["b"], baseline="base")
    assert pruned(location, "--run=base") == 2
    assert "run base is the baseline of run held, which stays: name both" in capsys.readouterr().err
    assert pruned(location, "--run=base", "--run=held", "--keep=held") == 2
    assert pruned(location) == 2
    assert "Give --older-than, --run or --model" in capsys.readouterr().err
    assert pruned(location, "--run=none") == 2
    assert "holds no run 'none'" in capsys.readouterr().err
    assert pruned(location, "--run=base", "--run=held") == 0
    assert answers(location) == {}


def test_store_in_use_is_not_pruned(location: StoreLocation, capsys: pytest.CaptureFixture[str]) -> None:
    measure(location, "one", ["a"])
    store = Store(location)
    assert pruned(location, "--run=one") == 2
    assert "is in use: prune it when the other sessions have ended" in capsys.readouterr().err
    store.close()
    assert pruned(location, "--run=one") == 0
    assert answers(location) == {}


def test_questions_of_older_grader_versions_are_kept(tmp_path: Path) -> None:
    location = tmp_path / "store.sqlite"
    measure(location, "old", ["a"])
    measure(location, "new", ["b"], grader=False)
    store = Store(location)
    content = json.loads(zlib.decompress(store._database.scalar("SELECT data FROM samples WHERE run = 'new'")))
    del content["questions"]
    data = zlib.compress(json.dumps(content).encode())
    store._database.execute("UPDATE samples SET data = :data WHERE run = 'new'", data=data)
    store.close()
    assert pruned(location, "--run=old") == 0
    assert answers(location) == {"old": 1, "new": 1}  # of the old run the question, which the newer one may need


KILLED = """
import os, signal, sqlite3, sys
from pytest_fairness.cli.main import main

left = int(sys.argv[1])
connect = sqlite3.connect

def traced(*args, **kwargs):
    connection = connect(*args, **kwargs)
    connection.set_trace_callback(kill)
    return connection

def kill(statement):
    global left
    if statement.startswith(sys.argv[2]):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

sqlite3.connect = traced
main(sys.argv[3:])
"""


def killed(python: str, number: int, statement: str, *command: object) -> None:
    """Run a command in a process that is killed before the statement of this number that begins so."""
    run = [python, "-c", KILLED, str(number), statement, *map(str, command)]
    assert subprocess.run(run, capture_output=True, timeout=120).returncode == -signal.SIGKILL


@pytest.mark.parametrize(("number", "statement"), [(2, "DELETE"), (6, "DELETE"), (1, "VACUUM")])
def test_killed_removal_has_removed_all_or_nothing(
    number: int, statement: str, tmp_path: Path, forked_workers: ForkedWorkers
) -> None:
    location = tmp_path / "store.sqlite"
    measure(location, "one", ["a"])
    measure(location, "two", ["b"])
    killed(forked_workers.server.python, number, statement, "prune", f"--store={location}", "--run=one")
    assert answers(location) == ({"two": 2} if statement == "VACUUM" else {"one": 2, "two": 2})
    assert pruned(location, "--run=one") == 0
    assert answers(location) == {"two": 2}


def test_killed_merge_leaves_no_file(tmp_path: Path, forked_workers: ForkedWorkers) -> None:
    one, two, out = (tmp_path / f"{name}.sqlite" for name in ("one", "two", "new/all"))
    measure(one, "one", ["a"])
    measure(two, "two", ["b"])
    killed(forked_workers.server.python, 3, "INSERT INTO attempts", "merge", one, two, f"--out={out}")
    assert not out.exists()
    assert main.main(["merge", str(one), str(two), f"--out={out}"]) == 0
    assert answers(out) == {"one": 2, "two": 2}
    assert {path.name for path in out.parent.iterdir()} <= {"all.sqlite", "all.sqlite.lock", "all.sqlite.owners"}
