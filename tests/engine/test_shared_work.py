"""Engines on one store share one work list; one that stops, pauses or dies keeps nobody waiting."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.errors import FairnessError, StoreError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import RunStoppedError
from pytest_fairness.engine.requests import Request, build_requests
from pytest_fairness.store.store import Store, SyncResult
from tests.engine.conftest import MakeEngine
from tests.helpers.deadlines import wait_until
from tests.helpers.engine_models import CountingModel, prompts


def settled(count: Callable[[], int]) -> int:
    """Return a count once it has stood still for half a second."""
    last = -1
    while last != (last := count()):
        time.sleep(0.5)
    return last


def test_work_list_is_requested_ahead_within_bounds(make_engine: MakeEngine) -> None:
    model = CountingModel()
    engine = make_engine(concurrency=4)
    asks = build_requests(prompts(3000), model, 1)
    engine.plan(asks)
    engine.attempts(asks[:1])
    wait_until(lambda: model.requests >= 256)
    time.sleep(0.2)
    assert 256 <= model.requests <= 262
    engine.attempts(asks[200:201])
    wait_until(lambda: model.requests >= 450)
    assert 450 <= model.requests <= 462


@pytest.mark.parametrize("stored", [True, False])
def test_request_far_ahead_in_the_work_list_is_answered(make_engine: MakeEngine, *, stored: bool) -> None:
    model = CountingModel()
    model.stored = stored  # type: ignore[attr-defined]
    for pause in (0.0, 0.001, 0.01, 0.1):
        engine = make_engine(f"run {pause}", concurrency=4)
        asks = build_requests([Prompt(f"{pause} {number}") for number in range(300)], model, 1)
        engine.plan(asks)
        time.sleep(pause)
        assert len(engine.attempts(asks)) == 300
        engine.attempts(asks[:1])
    assert model.requests == 4 * 300


def test_tests_far_behind_in_the_work_list_are_requested_ahead(make_engine: MakeEngine) -> None:
    """Regression: the first test of the second worker of a large suite was once answered one prompt at a time."""
    model = CountingModel(latency=0.1)
    engine = make_engine(concurrency=32)
    asks = build_requests(prompts(9000), model, 1)
    engine.plan(asks)
    for ask in asks[7000:7100]:
        engine.attempts([ask])
    wait_until(lambda: model.most_under_way == 32)
    time.sleep(0.5)  # the last of them may have ended a round of requests
    last = max(number for number in range(9000) if (f"prompt {number}", 0) in model.calls)
    assert last > 7100
    assert sum((f"prompt {number}", 0) in model.calls for number in range(7000, last)) > 100 + 0.8 * (last - 7100)


def test_request_outside_a_large_work_list_is_answered_first(make_engine: MakeEngine) -> None:
    model, read = CountingModel(), 0

    def large() -> Iterator[Request]:
        nonlocal read
        for ask in build_requests(prompts(20_000), model, 1):
            read += 1
            yield ask

    engine = make_engine(concurrency=4)
    engine.plan(large())
    (attempt,) = engine.attempts(build_requests([Prompt("of a search")], model, 1))
    assert attempt.answer
    assert read < 20_000


def test_two_engines_request_nothing_twice(make_engine: MakeEngine) -> None:
    model = CountingModel(latency=0.005)
    asks = build_requests(prompts(300), model, 1)
    engines = [make_engine(), make_engine()]
    for engine in engines:
        engine.plan(asks)
    answers: list[list[str]] = []

    def take(engine: Engine) -> None:
        answers.append([a.answer.text for ask in asks for a in engine.attempts([ask]) if a.answer])

    threads = [threading.Thread(target=take, args=(engine,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[0] == answers[1] == [f"prompt {number}/0" for number in range(300)]
    assert model.requests == 300


def test_request_of_another_engine_is_claimed_once(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: it was once claimed again at each look, in slots that new requests needed."""
    wanted: Counter[str] = Counter()
    sync = Store.sync

    def counting(self: Store, run: str, **what: Any) -> SyncResult:
        if self.owner.id == second:
            wanted.update(what["wanted"])
        return sync(self, run, **what)

    monkeypatch.setattr(Store, "sync", counting)
    model = CountingModel(latency=0.5)
    asks = build_requests(prompts(20), model, 1)
    engines = [make_engine(concurrency=64) for _ in range(2)]  # room for both
    second = engines[1].store.owner.id
    engines[0].plan(asks)
    wait_until(lambda: model.requests == 20)
    attempts = engines[1].attempts(build_requests(prompts(20), model, 1))
    assert [attempt.key for attempt in attempts] == [ask.key for ask in asks]
    assert set(wanted.values()) == {1}
    assert model.requests == 20


def test_claims_of_a_closed_engine_are_taken_over(make_engine: MakeEngine) -> None:
    hanging, model = CountingModel(latency=60), CountingModel()
    first, second = make_engine(), make_engine()
    asks = build_requests(prompts(3), hanging, 1)
    first.plan(asks)
    wait_until(lambda: hanging.requests)
    first.close(at_once=True)
    started = time.monotonic()
    first.store.close()
    assert len(second.attempts(build_requests(prompts(3), model, 1))) == 3
    assert time.monotonic() - started < 40  # the requests that hang would take a minute


def test_no_engine_sends_anything_after_a_stop(make_engine: MakeEngine) -> None:
    model = CountingModel(latency=0.01)
    asks = build_requests(prompts(1000), model, 1)
    engines = [make_engine("run", "session", concurrency=4) for _ in range(2)]
    for engine in engines:
        engine.plan(asks)
        engine.attempts(asks[:1])
    engines[0].stop()
    for engine in engines:
        with pytest.raises(RunStoppedError):
            engine.attempts(asks)
    requests = settled(lambda: model.requests)
    for engine in engines:
        with pytest.raises(RunStoppedError):
            engine.attempts(asks)
    assert settled(lambda: model.requests) == requests < 600


def test_no_retry_is_awaited_after_a_stop(make_engine: MakeEngine) -> None:
    """Stop a retry that a provider delays for minutes."""

    async def fails(prompt: Prompt, repetition: int) -> str:
        raise TransientError("HTTP 503", retry_after=500)

    model = CountingModel(fails)
    engines = [make_engine("run", "session") for _ in range(2)]
    engines[1].plan(build_requests(prompts(1), model, 1))
    wait_until(lambda: model.requests)
    engines[0].stop()
    with pytest.raises(RunStoppedError, match="the run was stopped"):
        engines[1].attempts(build_requests(prompts(2), model, 1))
    assert model.requests == 1


def test_paused_engine_sends_nothing_until_resumed(make_engine: MakeEngine) -> None:
    model = CountingModel()
    engine = make_engine()
    asks = build_requests(prompts(50), model, 1)
    engine.pause()
    engine.plan(asks)
    time.sleep(0.2)
    assert model.requests == 0
    engine.resume()
    assert len(engine.attempts(asks)) == 50


def test_closing_cancels_requests_and_keeps_answers(make_engine: MakeEngine) -> None:
    async def hangs(prompt: Prompt, repetition: int) -> str:
        if prompt.text != "prompt 0":
            await never.wait()
        return "answered"

    import asyncio

    never = asyncio.Event()
    model = CountingModel(hangs)
    engine = make_engine("one")
    asks = build_requests(prompts(5), model, 1)
    engine.plan(asks)
    engine.attempts(asks[:1])
    engine.close(at_once=True)  # without waiting for the others
    assert model.closed
    attempts, _ = make_engine("two").store.load([ask.key for ask in asks], "two")
    assert list(attempts) == [asks[0].key]


def test_store_failure_ends_the_wait_with_one_line(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine()

    def full(*args: object, **kwargs: object) -> None:
        raise StoreError("the store failed: database or disk is full")

    monkeypatch.setattr(engine.store, "sync", full)
    with pytest.raises(StoreError, match="disk is full"):
        engine.attempts(build_requests(prompts(3), CountingModel(), 1))


def test_engine_error_is_reported_at_once(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine()

    def broken(*args: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(engine.store, "load", broken)
    with pytest.raises(FairnessError, match="the engine failed: RuntimeError: unexpected"):
        engine.attempts(build_requests(prompts(1), CountingModel(), 1))


def test_grades_are_stored_with_their_attempts(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine()
    (ask,) = build_requests(prompts(1), CountingModel(), 1)
    engine.attempts([ask])
    engine.sync.save_grades([(ask.key, "grader one", Grade("B")), (ask.key, "grader two", Grade.none("refusal", "no"))])
    engine.close()
    store = Store(tmp_path / "store.sqlite")
    _, grades = store.load([ask.key], "later")
    store.close()
    assert grades == {
        (ask.key, "grader one"): Grade("B"),
        (ask.key, "grader two"): Grade.none("refusal", "no"),
    }
