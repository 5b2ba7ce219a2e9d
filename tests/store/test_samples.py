"""Samples in the store: enough to compute every verdict again."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import attempt_key
from pytest_fairness.graders.choice import Choice
from pytest_fairness.stats.measured import Measured
from pytest_fairness.store.samples import PackedSample, StoredSample, grade_from_json, pack, unpack
from pytest_fairness.store.schema import LAYOUT
from pytest_fairness.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "store.sqlite")
    yield store
    store.close()


@pytest.fixture
def clock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save nothing twice within a millisecond: SQLite's clock counts those."""

    def later(method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            time.sleep(0.002)
            return method(*args)

        return called

    for name in ("start", "save_sample"):
        monkeypatch.setattr(store.runs, name, later(getattr(store.runs, name)))


def sample(count: int = 30, *, first: int = 0, repetitions: int = 2) -> StoredSample:
    """Return choices with some refusals; each prompt has its own options."""
    attempts = []
    for number in range(count):
        prompts = [
            Prompt(
                f"Would you hire {group} {number}?",
                groups={"gender": group},
                metadata={"options": ["yes", f"no {number}"], "city": "Łódź"},
            )
            for group in ("woman", "man")
        ]
        item = ProbeItem(f"i{number:03}", prompts, source=f"s{number // 2}", metadata={"field": number % 3})
        for index, prompt in enumerate(prompts):
            for repetition in range(first, first + repetitions):
                lucky = (number * 7 + index * 3 + repetition) % 10
                grade = Grade.none("refusal", "no") if lucky == 9 and number % 4 == 0 else Grade(lucky < 6)
                key = attempt_key("model", prompt.digest, repetition)
                attempts.append(GradedAttempt(item, prompt, Attempt(key, repetition), {"hired": grade}))
    return StoredSample(
        "suites/x.py::test_x", "provider:x?temperature=0.5", "model", attempts, {"confidence": 0.9},
        {"hired": "YesNo v1"}, {"hired": lambda _: (False, True)}, "openai:judge",
    )  # fmt: skip


def test_stored_sample_gives_the_same_verdicts(store: Store) -> None:
    original = sample()
    store.runs.start("run")
    assert store.runs.save_sample("run", original)
    store.save_answers(original, "run")
    stored = store.runs.sample("run", original.probe, original.model_key)
    assert stored is not None
    assert (stored.model, stored.graders, stored.judge, stored.arguments) == (
        original.model, original.graders, original.judge, original.arguments,
    )  # fmt: skip
    assert [attempt.attempt.key for attempt in stored.attempts] == [
        attempt.attempt.key for attempt in original.attempts
    ]
    assert [attempt.prompt.text for attempt in stored.attempts] == [
        attempt.prompt.text for attempt in original.attempts
    ]

    def numbers(of: StoredSample) -> list[object]:
        measured = Measured(of.attempts, extremes=of.extremes, **of.arguments)
        ratio = measured.ratio("hired", by="gender", of="woman", to="man")
        third = measured.where(field="1", city="Łódź").rate("hired")
        return [(e.value, e.low, e.high, e.sources, e.attempts, dict(e.ungraded)) for e in (ratio, third)]

    assert numbers(stored) == numbers(original)


def test_groups_without_a_name_of_earlier_versions_are_left_out() -> None:
    packed = unpack(pack(sample(2)))
    for item in packed.content["items"]:
        for prompt in item[3]:
            prompt[1] |= {"age": "", "religion": None, "class": 0}
    read = packed.sample("probe", "model", "key", {})
    assert {str(graded.prompt.groups) for graded in read.attempts} == {
        f"{{'gender': '{group}', 'class': 0}}" for group in ("woman", "man")
    }


def test_extremes_of_choices_are_stored_for_each_prompt(store: Store) -> None:
    grader = Choice()
    prompts = [
        Prompt("Who?", metadata={"options": AnswerOptions({f"ana {n}": f"Ana {n}", "unknown": "Nobody"})})
        for n in range(3)
    ]
    attempts = [
        GradedAttempt(ProbeItem(f"i{n}", [prompt]), prompt, Attempt(f"k{n}", 0), {"answer": Grade.none("unparsed")})
        for n, prompt in enumerate(prompts)
    ]
    of = {"answer": grader.extremes_for}
    original = StoredSample("p", "m", "key", attempts, extremes=of)
    store.runs.save_sample("run", original)
    store.save_answers(original, "run")
    stored = store.runs.sample("run", "p", "key")
    assert stored is not None
    extremes = [tuple(stored.extremes["answer"](attempt.prompt)) for attempt in stored.attempts]
    assert extremes == [tuple(grader.extremes_for(prompt)) for prompt in prompts]


def test_largest_look_is_kept(store: Store) -> None:
    for count in (10, 30, 20):
        store.runs.save_sample("run", sample(count))
    stored = store.runs.sample("run", "suites/x.py::test_x", "model")
    assert stored is not None
    assert len(stored.attempts) == 120
    assert stored.repetitions == range(2)
    assert store.runs.samples("run") == [("suites/x.py::test_x", "provider:x?temperature=0.5", "model")]


def test_latest_run_and_run_prefix_are_found(store: Store, clock: None) -> None:
    for run in ("aa1", "aa2", "b"):
        store.runs.start(run)
    store.runs.save_sample("aa1", sample(6))
    store.runs.save_sample("aa2", sample(8, first=5))
    assert store.runs.find("latest") == "aa2"
    assert store.runs.find("aa1") == "aa1"
    with pytest.raises(StoreError, match="2 runs begin with 'aa'"):
        store.runs.find("aa")
    with pytest.raises(StoreError, match="holds no judged run 'b'"):
        store.runs.find("b")  # it has judged nothing
    latest = store.runs.latest_sample("suites/x.py::test_x", "model")
    assert latest is not None
    assert latest.repetitions == range(5, 7)
    store.runs.start("aa")
    store.runs.save_sample("aa", sample(6))
    assert store.runs.find("aa") == "aa"  # an id that others begin with


def test_history_of_a_threshold_is_stored(store: Store, clock: None) -> None:
    for run in ("one", "two", "three"):
        store.runs.start(run)
        store.runs.expect_thresholds(run, {"t": {}, "u": {}})
    store.runs.record_thresholds("one", {"t": {"verdict": "fair"}}, "abc")
    store.runs.record_thresholds("two", {"t": {"verdict": "unfair"}, "u": {"verdict": "fair"}})
    history = store.runs.history("t", before="three")
    assert [(row["run"], row["verdict"], row["git"]) for row in history] == [
        ("one", "fair", "abc"),
        ("two", "unfair", None),
    ]
    assert [row["run"] for row in store.runs.history("t", before="two")] == ["one"]


def test_store_of_the_first_layout_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript("""
            CREATE TABLE layout (number INTEGER NOT NULL PRIMARY KEY);
            INSERT INTO layout VALUES (1);
            CREATE TABLE runs (id VARCHAR(32) NOT NULL PRIMARY KEY, started FLOAT NOT NULL,
                               stopped INTEGER NOT NULL, work TEXT);
            INSERT INTO runs VALUES ('old', 1.0, 0, NULL);
            CREATE TABLE thresholds (run VARCHAR(32) NOT NULL, test TEXT NOT NULL, expected TEXT NOT NULL,
                                     result TEXT, PRIMARY KEY (run, test));
            INSERT INTO thresholds VALUES ('old', 't', '{}', '{"verdict": "fair"}');
        """)
    store = Store(path)
    assert [row["verdict"] for row in store.runs.history("t", before="new")] == ["fair"]
    store.runs.save_sample("new", sample(6))
    store.close()
    again = Store(path)
    assert again.runs.samples("new")
    again.close()
    with closing(sqlite3.connect(path)) as mended, mended:
        assert mended.execute("SELECT number FROM layout").fetchall() == [(LAYOUT,)]


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the samples that are unpacked while a test runs."""
    read: list[bytes] = []

    def counted(data: bytes) -> PackedSample:
        read.append(data)
        return unpack(data)

    monkeypatch.setattr("pytest_fairness.store.runs.unpack", counted)
    return read


def test_sample_of_this_process_is_not_read_again(store: Store, clock: None, unpacked: list[bytes]) -> None:
    mine, other = sample(), replace(sample(), probe="other")
    store.runs.start("run")
    for one in (mine, other):
        assert store.runs.save_sample("run", one)
    measured = store.runs.measured("run", {(mine.probe, mine.model_key): mine})
    assert [one.probe for one in measured] == [mine.probe, "other"]
    assert measured[0] is mine
    assert len(unpacked) == 1


def test_part_of_this_process_is_not_read_again(store: Store, clock: None, unpacked: list[bytes]) -> None:
    mine = sample()
    store.runs.start("run")
    for owner in ("first", "other"):
        assert store.runs.save_part("run", owner, mine)
    in_memory: dict[tuple[str, ...], StoredSample] = {(mine.probe, mine.model_key, "first"): mine}
    (measured,) = store.runs.measured("run", in_memory)
    assert len(unpacked) == 1  # the other's
    assert set(map(id, measured.attempts)) == set(map(id, mine.attempts))
    assert len(measured.attempts) == len(mine.attempts)
    whole = replace(mine, attempts=[*mine.attempts, *mine.attempts])
    assert store.runs.save_sample("run", whole)  # by another process, after this one has saved its part
    (measured,) = store.runs.measured("run", in_memory)
    assert len(measured.attempts) == len(whole.attempts)


@pytest.mark.parametrize(
    ("first", "second", "is_shared"),
    [
        (True, True, True),
        ("yes", "yes", True),
        (True, 1, False),
        (1, 1.0, False),
        (None, False, False),
        ([1], [1], False),
    ],
    ids=["true", "text", "true-and-one", "integer-and-float", "none-and-false", "lists"],
)
def test_equal_stored_grades_are_one_object(first: object, second: object, *, is_shared: bool) -> None:
    """Check that immutable grades are shared, as many have few values; mutable ones are not."""
    one, other = grade_from_json(first), grade_from_json(second)
    assert (one is other) is is_shared
    assert (one.value, type(one.value)) == (first, type(first))
    assert (other.value, type(other.value)) == (second, type(second))
