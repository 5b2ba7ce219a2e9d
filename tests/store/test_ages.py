"""Ages of answers, by the store's clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.formatting import DAY
from pytest_fairness.store.store import CompletedAttempt, Store

MESSAGES = [{"role": "user", "content": "Who?"}]


def attempt(prompt: str, repetition: int, model: str = "m", error: str | None = None) -> CompletedAttempt:
    key = f"{model}{prompt}{repetition}"
    answer = None if error else Answer("yes")
    return CompletedAttempt(Attempt(key, repetition, answer, error), model, prompt, MESSAGES)


@pytest.mark.parametrize("kind", ["file", "server"])
def test_outdated_repetitions_end_with_the_last_old_answer(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    store = Store(tmp_path / "s.sqlite" if kind == "file" else request.getfixturevalue("postgresql").location())
    days = {"ma0": 40, "ma1": 31, "ma2": 29, "mb0": 5, "mc0": -2, "md0": 50, "na4": 40}
    completed = [attempt(prompt, number) for prompt, number in (("a", 0), ("a", 1), ("a", 2), ("b", 0), ("c", 0))]
    completed += [attempt("d", 0, error="HTTP 500"), attempt("a", 4, model="n")]
    store.runs.start("old")
    store.sync("old", completed=completed)
    for key, age in days.items():
        change = "UPDATE attempts SET at = unix_time() - :age WHERE key = :key"
        store._database.execute(change, key=key, age=age * DAY)
    store.runs.start("new")
    assert store.runs.outdated("new", "m", 30 * DAY) == {"a": 2, "c": 1}
    assert store.runs.outdated("new", "n", 30 * DAY) == {"a": 5}
    # A run of a fixed id that began long ago counts from today.
    store._database.execute("UPDATE runs SET started = unix_time() - :age WHERE id = 'new'", age=100 * DAY)
    assert store.runs.outdated("new", "m", 30 * DAY) == {"a": 2, "c": 1}
    loaded, _ = store.load(["ma2", "mb0"], "new")
    times = [loaded[key].at for key in ("ma2", "mb0")]
    assert times[0] is not None
    assert times[1] is not None
    assert times[1] - times[0] == pytest.approx(24 * DAY, abs=600)
    assert store.load(["ma2"], "old")[0]["ma2"].at is None  # its own are not of an earlier run
    store.close()
