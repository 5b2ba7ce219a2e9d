"""Numbers of operations of the engine that cost much: counted, since time depends on the machine."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.pending import PendingResults
from pytest_fairness.engine.probe_sample import ProbeSample
from pytest_fairness.engine.requests import Request
from pytest_fairness.graders.yes_no import YesNo
from pytest_fairness.store.store import Store
from tests.engine.conftest import MakeEngine
from tests.engine.test_item_grading import Oracle
from tests.helpers.engine_models import CountingModel

ITEMS = 600
"""More than twice the look-ahead: what lies behind it waits, answered or not."""


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> Counter[str]:
    """Return a counter of the calls of a method from now on."""
    calls: Counter[str] = Counter()
    original = getattr(owner, name)

    def counted(*arguments: Any, **keywords: Any) -> Any:
        calls[name] += 1
        return original(*arguments, **keywords)

    monkeypatch.setattr(owner, name, counted)
    return calls


def measured(engine: Engine, grader: object) -> ProbeSample:
    """Return a sample, measured item by item as its tests do."""
    sample = ProbeSample([ProbeItem(f"item {n}", [Prompt(f"{n}")]) for n in range(ITEMS)], CountingModel(), 1, engine)
    sample.grade_with({"answer": grader})  # type: ignore[dict-item]
    engine.plan(sample.requests(range(ITEMS)))
    for index in range(ITEMS):
        sample.measure(index)
    return sample


def test_stored_items_are_not_looked_at_by_each_test(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the looks: each item had all that wait within the look-ahead looked at, some 300."""
    measured(make_engine(), Oracle())
    looks = count_calls(monkeypatch, PendingResults, "have")
    measured(make_engine(), Oracle())
    assert 0 < looks["have"] < 40 * ITEMS  # 5 to 15 an item, by how busy the machine is


def test_grades_are_written_together(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """New grades of stored answers make few transactions of their own; none is lost."""
    measured(make_engine(), Oracle())
    exchanges = count_calls(monkeypatch, Store, "sync")
    engine = make_engine()
    keys = [graded.attempt.key for graded in measured(engine, YesNo()).measured()]
    engine.close()
    assert 1 <= exchanges["sync"] <= 4
    assert len(engine.store.load(keys, "run")[1]) == ITEMS


def test_each_request_is_looked_up_once(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the look-ups of a whole sample: what it demanded was read again with the work list."""
    measured(make_engine(), YesNo())
    looked_up: Counter[str] = Counter()
    load = Store.load

    def counted(store: Store, keys: Sequence[str], run: str) -> Any:
        looked_up.update(keys)
        return load(store, keys, run)

    monkeypatch.setattr(Store, "load", counted)
    engine = make_engine()
    sample = ProbeSample([ProbeItem(f"item {n}", [Prompt(f"{n}")]) for n in range(ITEMS)], CountingModel(), 1, engine)
    sample.grade_with({"answer": YesNo()})
    engine.plan(sample.requests(range(ITEMS)))
    sample.measure_all()
    engine.close()
    assert len(looked_up) == ITEMS
    assert max(looked_up.values()) == 1


def test_worker_may_begin_far_ahead_in_the_work_list(make_engine: MakeEngine) -> None:
    """Measure the last item first, as a worker does whose tests are the last: its grading waited without end."""
    engine = make_engine()
    sample = ProbeSample([ProbeItem(f"item {n}", [Prompt(f"{n}")]) for n in range(ITEMS)], CountingModel(), 1, engine)
    sample.grade_with({"answer": Oracle()})

    def work_list() -> Iterator[Request]:
        time.sleep(0.3)  # until the test waits: its item gets a position only then
        yield from sample.requests(range(ITEMS))

    engine.plan(work_list())
    stop = threading.Timer(20, engine.stop)
    stop.start()
    assert [len(sample.measure(index)) for index in (ITEMS - 1, ITEMS - 2, 0)] == [1, 1, 1]
    stop.cancel()
