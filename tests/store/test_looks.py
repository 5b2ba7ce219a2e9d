"""Looks at thresholds: one number for each run that judges, also of runs at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.looks import StoredLook
from pytest_fairness.store.merge import merge
from pytest_fairness.store.store import Store


def look(identity: str, session: str = "s", test: str = "t") -> StoredLook:
    return StoredLook(test=test, probe="p", model="m", identity=identity, run=f"run-{session}", session=session)


def take(store: Store, new: StoredLook, *others: StoredLook, may_be_first: bool = True) -> int:
    return store.looks.take(new, others, is_declared=may_be_first, seen=not may_be_first)[0].number


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_sessions_at_once_have_numbers_of_their_own(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    location: StoreLocation = tmp_path / "store.sqlite"
    if kind == "postgresql":
        location = request.getfixturevalue("postgresql").location()
    stores = [Store(location) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        numbers = list(threads.map(lambda store: take(store, look(store.session, store.session)), stores))
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]
    for store in stores:
        store.close()


def test_same_answers_and_looks_of_a_session_have_one_number(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        assert take(store, look("a", "1")) == 1
        assert take(store, look("b", "1")) == 1  # a rerun, on more answers
        assert take(store, look("c", "2")) == 2
        assert take(store, look("a", "3")) == 1
        assert take(store, look("d", "4")) == 3
        assert take(store, look("d", "4", test="other")) == 1


def test_first_sample_that_nothing_chose_is_the_first_look(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        for number, session in enumerate("12", start=2):
            assert take(store, look(session, session), may_be_first=False) == number
        assert take(store, look("a", "3")) == 1
        assert take(store, look("b", "4")) == 4
        assert take(store, look("1", "5"), may_be_first=False) == 2  # the same answers


def test_look_without_a_verdict_is_forgotten(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        invalid, _ = store.looks.take(look("a", "1"), ())
        store.looks.conclude(invalid, "1", None)
        assert take(store, look("b", "2")) == 1


def test_results_of_older_versions_are_counted(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        older = [replace(look("a", "a"), number=4), replace(look("b", "b"), number=1)]
        assert take(store, look("c", "1"), *older) == 5
        assert take(store, look("b", "2"), *older) == 1


def test_joined_stores_count_the_runs_of_both(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with closing(Store(tmp_path / name)) as store:
            store.runs.start(name)
            assert take(store, look(name, name)) == 1
    merge([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    with closing(Store(tmp_path / "both")) as store:
        assert take(store, look("new", "new")) == 3
