"""Several engines on one store keep to one limit of requests under way and to one rate, retries included."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.errors import TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.engine import request_runner
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.rate_limiter import RateLimiter
from pytest_fairness.engine.requests import build_requests
from pytest_fairness.engine.retries import Retries
from pytest_fairness.store.rates import Rates
from pytest_fairness.store.throttle import SlotGrant
from tests.engine.conftest import MakeEngine
from tests.helpers.deadlines import wait_until
from tests.helpers.engine_models import CountingModel, most_in_window, prompts

BUSY = 1.2
"""Tolerance for a busy machine: delayed arrivals come closer to the ones that follow."""


@dataclass
class Endpoint:
    """An endpoint for the models of several engines; it counts requests over all of them."""

    latency: float = 0.02
    refuses: int = 0
    """Number of first requests that get HTTP 429."""
    times: list[float] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    async def answer(self, prompt: Prompt, _: int) -> str:
        with self.lock:
            self.times.append(time.monotonic())
            refused = len(self.times) <= self.refuses
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(self.latency)
        with self.lock:
            self.under_way -= 1
        if refused:
            raise TransientError("HTTP 429", rate_limited=True)
        return prompt.text


def take_all(engines: Sequence[Engine], endpoint: Endpoint, count: int) -> list[list[Attempt]]:
    """Return the attempts of each engine at all prompts, requested one after another, by all engines at once."""
    by_engine: list[list[Attempt]] = [[] for _ in engines]

    def take(number: int) -> None:
        asks = build_requests(prompts(count), CountingModel(endpoint.answer), 1)
        engines[number].plan(asks)
        by_engine[number] = [attempt for ask in asks for attempt in engines[number].attempts([ask])]

    threads = [threading.Thread(target=take, args=(number,)) for number in range(len(engines))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return by_engine


def test_processes_share_one_limit_of_requests_in_flight(make_engine: MakeEngine) -> None:
    endpoint = Endpoint()
    by_engine = take_all([make_engine(concurrency=12) for _ in range(4)], endpoint, 400)
    assert all(attempt.answer for attempts in by_engine for attempt in attempts)
    assert len(endpoint.times) == 400
    assert 8 <= endpoint.most_under_way <= 12


def test_processes_share_one_request_rate(make_engine: MakeEngine) -> None:
    endpoint = Endpoint(refuses=4)
    engines = [make_engine(rates=Rates(requests=6000)) for _ in range(4)]
    by_engine = take_all(engines, endpoint, 250)
    assert all(attempt.answer for attempts in by_engine for attempt in attempts)
    assert len(endpoint.times) == 250 + 4
    assert most_in_window(endpoint.times, 1.0) <= BUSY * 100
    assert endpoint.times[-1] - endpoint.times[0] < 20 * 254 / 100, (
        "not as slow as one at a time, on a busy machine either"
    )


def test_refused_requests_that_fill_the_limit_are_sent_again(make_engine: MakeEngine) -> None:
    endpoint = Endpoint(refuses=2)
    (attempts,) = take_all([make_engine(concurrency=2)], endpoint, 6)
    assert all(attempt.answer for attempt in attempts)
    assert len(endpoint.times) == 6 + 2
    assert endpoint.most_under_way == 2


def test_token_rate_is_kept_by_the_cost_of_past_answers(make_engine: MakeEngine) -> None:
    """Check the rate: each answer has 3 tokens, so 9,000 a minute are 50 answers a second."""
    endpoint = Endpoint()
    engines = [make_engine(rates=Rates(tokens=9000)) for _ in range(2)]
    take_all(engines, endpoint, 120)
    assert len(endpoint.times) == 120
    assert most_in_window(endpoint.times, 1.0) <= BUSY * 50
    assert endpoint.times[-1] - endpoint.times[0] < 20 * 120 / 50


def test_models_of_one_endpoint_share_its_slots(make_engine: MakeEngine) -> None:
    endpoint = Endpoint()
    engine = make_engine(concurrency=5)
    models = [CountingModel(endpoint.answer, key=f"test:one?temperature={n}") for n in range(3)]
    for model in models:
        model.endpoint = "one"  # type: ignore[attr-defined]
    engine.attempts([ask for model in models for ask in build_requests(prompts(30), model, 1)])
    assert len(endpoint.times) == 90
    assert endpoint.most_under_way == 5


def test_model_may_declare_its_own_rates(make_engine: MakeEngine) -> None:
    endpoint = Endpoint(latency=0.0)
    model = CountingModel(endpoint.answer)
    model.rates = (3000, None)  # type: ignore[attr-defined]
    make_engine(rates=Rates(requests=60_000)).attempts(build_requests(prompts(60), model, 1))
    assert most_in_window(endpoint.times, 1.0) <= BUSY * 50


def test_slots_of_a_closed_process_are_free_again(make_engine: MakeEngine) -> None:
    hanging, endpoint = CountingModel(latency=60), Endpoint()
    first = make_engine(concurrency=4)
    first.plan(build_requests([Prompt(f"hanging {n}") for n in range(4)], hanging, 1))
    wait_until(lambda: hanging.requests >= 4)
    first.close(at_once=True)
    first.store.close()
    started = time.monotonic()
    assert len(make_engine(concurrency=4).attempts(build_requests(prompts(8), CountingModel(endpoint.answer), 1))) == 8
    assert time.monotonic() - started < 40  # the requests that hang would take a minute


def test_process_that_comes_later_gets_its_share(make_engine: MakeEngine) -> None:
    endpoint = Endpoint()
    first, later = make_engine(concurrency=4), make_engine(concurrency=4)
    first.plan(build_requests(prompts(1000), CountingModel(endpoint.answer), 1))
    wait_until(lambda: len(endpoint.times) > 8)
    later.attempts(build_requests([Prompt(f"late {n}") for n in range(8)], CountingModel(endpoint.answer), 1))
    assert len(endpoint.times) < 200  # of 256 that are sent ahead of the first one's tests


HOLDER = """
import sys
from pathlib import Path
from pytest_fairness.store.store import Store
from pytest_fairness.store.throttle import SlotRequest
keys = [f"held {number}" for number in range(6)]
store = Store(Path(sys.argv[1]))
store.sync("run", wanted=keys, slots=[SlotRequest(sys.argv[2], 12, keys=keys)])
print("ready", flush=True)
sys.stdin.read()
"""


def test_slots_of_a_killed_process_are_taken_over(make_engine: MakeEngine) -> None:
    """Take them although the process has its share already, and lacks none."""
    engine, model = make_engine(concurrency=12), CountingModel(latency=0.2)
    command = [sys.executable, "-c", HOLDER, str(engine.store.location), model.key]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        engine.plan(build_requests(prompts(250), model, 1))  # as many as are sent ahead of tests: eight seconds' work
        wait_until(lambda: model.requests > 12)
        assert model.most_under_way == 6
        holder.kill()
    wait_until(lambda: model.most_under_way == 12)


def test_more_slots_are_asked_for_after_a_long_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask after an exchange that began before the time to ask for more, and ended after it."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    limiter = limiter_of()

    def exchange(keys: int, in_flight: int, start: float, end: float) -> None:
        clock[0], limiter.in_flight = end, in_flight
        request = limiter.slot_request([str(key) for key in range(keys)], start)
        assert request is not None
        limiter.apply(request, SlotGrant(keys=min(keys, 6), room=6), min(keys, 6))

    exchange(12, 0, 100.0, 100.0)
    limiter.in_flight = 6
    assert limiter.free(101.0) == 0
    exchange(1, 5, 101.9, 103.0)
    assert limiter.free(103.0) == 7


def limiter_of(*, claims_ahead: bool = False, rate: float | None = None, is_shared: bool = True) -> RateLimiter:
    gate = asyncio.Event()
    gate.set()
    limits = (Rates(rate), lambda: None, gate)
    return RateLimiter("endpoint", 12, 12, *limits, is_shared=is_shared, is_in_process=False, claims_ahead=claims_ahead)


@pytest.mark.parametrize("is_shared", [True, False])
def test_retry_waits_for_a_slot_that_processes_share(*, is_shared: bool) -> None:
    async def permitted_before_the_end() -> bool:
        limiter = limiter_of(is_shared=is_shared)
        retry = asyncio.ensure_future(limiter.permit(0.0))
        for _ in range(5):  # rounds of the loop, in which a wait of no time ends
            await asyncio.sleep(0.001)
        is_permitted = retry.done()
        limiter.end_waits()
        await retry
        return is_permitted

    assert asyncio.run(permitted_before_the_end()) is not is_shared


def test_no_more_is_claimed_at_a_time_than_the_rate_lets_leave() -> None:
    assert [limiter_of(rate=rate).free(time.monotonic()) for rate in (None, 60, 6_000)] == [12, 1, 5]


def test_ended_request_leaves_its_slot_to_a_claimed_one() -> None:
    """Send the next one without an exchange with the store, which counts as many in flight as before."""
    limiter, now = limiter_of(claims_ahead=True), time.monotonic()
    asks = build_requests(prompts(30), CountingModel(), 1)

    def exchange(free: int, granted: int, room: int) -> None:
        assert limiter.free(now) == free
        request = limiter.slot_request([ask.key for ask in asks[:free]], now)
        slots = 0 if request is None else len(request.keys)
        limiter.claimed.extend(asks.pop() for _ in range(granted + free - slots))
        if request is not None:
            limiter.apply(request, SlotGrant(keys=granted, room=room), granted)

    def send() -> int:
        return sum(1 for _ in iter(limiter.next_request, None))

    exchange(free=12, granted=8, room=8)
    assert send() == 8
    exchange(free=4, granted=0, room=8)
    assert send() == 0, "half as many again are claimed, and wait"
    limiter.end()
    assert (send(), limiter.in_flight) == (1, 8), "one that has ended leaves its slot to the next"
    limiter.refused(0.0, 0)
    limiter.end()
    assert (send(), limiter.in_flight) == (0, 7), "not after a refusal"
    exchange(free=1, granted=0, room=6)
    limiter.end()
    assert (send(), limiter.in_flight) == (0, 6), "nor where fewer are allowed by now"
    limiter.end()
    assert (send(), limiter.in_flight) == (1, 6)


@pytest.mark.parametrize("end", [Engine.pause, Engine.close])
def test_claims_of_a_paused_or_closed_process_are_free_again(
    make_engine: MakeEngine, end: Callable[[Engine], None]
) -> None:
    endpoint = Endpoint(latency=0.1)
    engines = [make_engine(concurrency=16) for _ in range(2)]
    asks, same_asks = (build_requests(prompts(250), CountingModel(endpoint.answer), 1) for _ in range(2))
    engines[0].plan(same_asks[:200])
    engines[1].plan(asks[200:])
    wait_until(lambda: len(endpoint.times) > 60)  # both have their shares, and claims beyond these
    end(engines[0])
    assert all(attempt.answer for attempt in engines[1].attempts(asks))
    assert len(endpoint.times) == 250
    assert endpoint.most_under_way <= 16


def test_local_model_has_a_limit_per_process(make_engine: MakeEngine) -> None:
    engines = [make_engine(concurrency=3, rates=Rates(requests=60)) for _ in range(2)]
    models = [CountingModel(latency=0.05, local=True) for _ in engines]
    for number, engine in enumerate(engines):
        engine.plan(build_requests([Prompt(f"{number}, {n}") for n in range(30)], models[number], 1))
    for number, engine in enumerate(engines):
        engine.attempts(build_requests([Prompt(f"{number}, {n}") for n in range(30)], models[number], 1))
    assert [model.most_under_way for model in models] == [3, 3]


@dataclass
class Window:
    """A provider that answers so many requests in each window of time, and says what it likes of the others."""

    answers: int
    seconds: float
    retry_after: float | None = None
    refused: int = 0
    used: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    async def answer(self, prompt: Prompt, _: int) -> str:
        await asyncio.sleep(0.01)
        with self.lock:
            window = int(time.monotonic() / self.seconds)
            self.used[window] += 1
            self.refused += self.used[window] > self.answers
            if self.used[window] > self.answers:
                raise TransientError("HTTP 429", retry_after=self.retry_after, rate_limited=True, kind="429")
        return prompt.text


@pytest.mark.parametrize("retry_after", [None, 0.0, 0.3])
def test_quota_loses_no_answer(make_engine: MakeEngine, retry_after: float | None) -> None:
    """Three tries, and many more refusals than that: they cost none. All repeated requests go through the pace."""
    window = Window(answers=8, seconds=0.7, retry_after=retry_after)
    (attempts, other) = take_all([make_engine(concurrency=16) for _ in range(2)], window, 32)  # type: ignore[arg-type]
    assert [attempt.error for attempt in (*attempts, *other)] == [None] * 64
    assert window.refused < 100


@pytest.mark.parametrize("wait", [601.0, 36_000.0, 1e12])
def test_quota_that_ends_in_hours_ends_the_requests(make_engine: MakeEngine, wait: float) -> None:
    async def spent(prompt: Prompt, repetition: int) -> str:
        raise TransientError("m: limits the rate (429)", retry_after=wait, rate_limited=True)

    model = CountingModel(spent)
    asks = build_requests(prompts(200), model, 1)
    attempts = make_engine(concurrency=8).attempts(asks)
    errors = {attempt.error for attempt in attempts}
    message = r"m: limits the rate \(429\): it asks to wait until .* UTC: run again then; what was answered is kept"
    assert all(re.fullmatch(message, error or "") for error in errors)
    assert model.requests <= 8
    model.behavior = None
    assert all(attempt.answer for attempt in make_engine().attempts(asks)), "the next session goes on"


@pytest.mark.parametrize("wait", [3_600.0, 100_000.0])
def test_long_wait_is_reported_by_the_minute_after_it(make_engine: MakeEngine, wait: float) -> None:
    async def spent(prompt: Prompt, repetition: int) -> str:
        raise TransientError("429", retry_after=wait, rate_limited=True)

    before = datetime.now(UTC)
    (attempt,) = make_engine().attempts(build_requests(prompts(1), CountingModel(spent), 1))
    (day, minute), *_ = re.findall(r"until (\S+ )?(\S+) UTC", attempt.error or "")
    end = datetime.fromisoformat(f"{day or f'{before:%Y-%m-%d} '}{minute}Z")
    assert -1 < (end - before).total_seconds() - wait < 90
    assert bool(day) == (end.date() != before.date())


def test_waiting_requests_end_with_the_others(make_engine: MakeEngine) -> None:
    """Let some requests wait for nine minutes, and one for hours."""

    async def spent(prompt: Prompt, repetition: int) -> str:
        await asyncio.sleep(0.5 if prompt.text == "prompt 0" else 0)
        raise TransientError("429", retry_after=9e4 if prompt.text == "prompt 0" else 540.0, rate_limited=True)

    attempts = make_engine(concurrency=8).attempts(build_requests(prompts(20), CountingModel(spent), 1))
    assert all("it asks to wait until" in (attempt.error or "") for attempt in attempts)


def test_refusals_without_any_answer_end_the_requests(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuses(prompt: Prompt, repetition: int) -> str:
        raise TransientError("HTTP 429", rate_limited=True, kind="429")

    monkeypatch.setattr(request_runner, "LONGEST_QUIET", 1.0)
    model = CountingModel(refuses)
    attempts = make_engine(concurrency=8).attempts(build_requests(prompts(50), model, 1))
    assert {attempt.error for attempt in attempts} == {
        "HTTP 429: it has answered nothing for 0 minutes: run again later; what was answered is kept"
    }
    assert model.requests < 50


def test_request_that_is_always_refused_does_not_block_others(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse one request always, as if it were too long for the tokens of a minute."""

    async def refuses_one(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "prompt 0":
            raise TransientError("HTTP 429", rate_limited=True)
        return "fine"

    monkeypatch.setattr(request_runner, "_MOST_REFUSALS", 4)
    attempts = make_engine().attempts(build_requests(prompts(40), CountingModel(refuses_one), 1))
    assert attempts[0].error == "HTTP 429 (asked 4 times)"
    assert all(attempt.answer for attempt in attempts[1:])


def test_application_has_its_own_concurrency_per_process(make_engine: MakeEngine) -> None:
    models = [CountingModel(latency=0.02) for _ in range(2)]
    engines = [make_engine() for _ in range(2)]
    for number, model in enumerate(models):
        model.in_flight = 2  # type: ignore[attr-defined]
        engines[number].plan(build_requests([Prompt(f"{number}, {n}") for n in range(20)], model, 1))
    for number, model in enumerate(models):
        engines[number].attempts(build_requests([Prompt(f"{number}, {n}") for n in range(20)], model, 1))
    assert [model.most_under_way for model in models] == [2, 2]


@dataclass
class SlowServer:
    """A server that answers few requests at a time, all of them in the end, while its clients have a timeout."""

    at_a_time: int = 1
    latency: float = 0.01
    timeout: float = 0.1
    slots: asyncio.Semaphore | None = None
    requests: int = 0

    async def answer(self, prompt: Prompt, _: int) -> str:
        self.slots = self.slots or asyncio.Semaphore(self.at_a_time)
        self.requests += 1
        work = asyncio.ensure_future(self._work(self.slots))
        try:
            await asyncio.wait_for(asyncio.shield(work), self.timeout)
        except TimeoutError:
            raise TransientError("did not answer in time", sent=True, kind="timeout") from None
        return prompt.text

    async def _work(self, slots: asyncio.Semaphore) -> None:
        async with slots:
            await asyncio.sleep(self.latency)


@pytest.mark.parametrize("at_a_time", [1, 4])
def test_timeouts_lower_the_number_in_flight_to_what_a_server_can_do(make_engine: MakeEngine, at_a_time: int) -> None:
    """Regression: 32 requests at a server that answers one at a time timed out again and again, and were given up."""
    server = SlowServer(at_a_time, latency=0.02, timeout=0.2)
    model = CountingModel(server.answer)
    engine = make_engine(retries=Retries(first_wait=0.01))
    asks = build_requests(prompts(120), model, 1)
    engine.plan(asks)
    attempts = [attempt for ask in asks for attempt in engine.attempts([ask])]
    assert [attempt.error for attempt in attempts if attempt.error] == []
    assert server.requests < 120 + 32 + 16


def test_timeouts_that_others_do_not_cause_lower_nothing(make_engine: MakeEngine, tmp_path: Path) -> None:
    """Let five requests hang, at a server that answers the others at once: the limit is never lowered."""

    async def hangs(prompt: Prompt, _: int) -> str:
        number = int(prompt.text.removeprefix("prompt "))
        if number < 100 and number % 20 == 0 and model.calls[prompt.text, 0] == 1:
            await asyncio.sleep(0.3)
            raise TransientError("did not answer in time", sent=True, kind="timeout")
        return prompt.text

    model = CountingModel(hangs)
    engine = make_engine(concurrency=4, retries=Retries(first_wait=0.01))
    asks = build_requests(prompts(400), model, 1)
    engine.plan(asks)
    assert {attempt.error for ask in asks for attempt in engine.attempts([ask])} == {None}
    assert model.requests == 405
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as store:
        ((state,),) = store.execute("SELECT state FROM paces")
    assert json.loads(state)["allowed"] == 4
