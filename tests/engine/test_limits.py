"""Several engines on one store keep to one limit of requests under way and to one rate, retries included."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.errors import TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.engine.asking import Retries
from pytest_fairness.engine.asks import asks_of
from pytest_fairness.engine.engine import Engine
from pytest_fairness.store.pace import Rates
from tests.engine.conftest import MakeEngine
from tests.engine.models import CountingModel
from tests.engine.test_asking import prompts
from tests.engine.test_pace import most


@dataclass
class Endpoint:
    """What the models of several engines ask; it counts over all of them."""

    latency: float = 0.02
    refuses: int = 0
    """So many of its first requests get HTTP 429."""
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
    """Each engine's attempts at all prompts, taken one after another at the same time."""
    found: list[list[Attempt]] = [[] for _ in engines]

    def take(number: int) -> None:
        asks = asks_of(prompts(count), CountingModel(endpoint.answer), 1)
        engines[number].plan(asks)
        found[number] = [attempt for ask in asks for attempt in engines[number].attempts([ask])]

    threads = [threading.Thread(target=take, args=(number,)) for number in range(len(engines))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_the_requests_under_way_are_those_of_all_processes_together(make_engine: MakeEngine) -> None:
    endpoint = Endpoint()
    found = take_all([make_engine(concurrency=12) for _ in range(4)], endpoint, 400)
    assert all(attempt.answer for attempts in found for attempt in attempts)
    assert len(endpoint.times) == 400
    assert 8 <= endpoint.most_under_way <= 12


def test_the_requests_of_all_processes_keep_to_one_rate(make_engine: MakeEngine) -> None:
    endpoint = Endpoint(refuses=30)
    retries = Retries(tries=31, first_wait=0.01)
    engines = [make_engine(rates=Rates(requests=6000), retries=retries) for _ in range(4)]
    found = take_all(engines, endpoint, 250)
    assert all(attempt.answer for attempts in found for attempt in attempts)
    assert len(endpoint.times) == 250 + 30
    assert most(endpoint.times, 1.0) <= 100
    assert endpoint.times[-1] - endpoint.times[0] < 4 * 280 / 100, "not much slower, on a busy machine either"


def test_tokens_are_held_to_their_rate_by_what_answers_have_cost(make_engine: MakeEngine) -> None:
    """Each answer has 3 tokens; 9,000 a minute are 50 answers a second."""
    endpoint = Endpoint()
    engines = [make_engine(rates=Rates(tokens=9000)) for _ in range(2)]
    take_all(engines, endpoint, 120)
    assert len(endpoint.times) == 120
    assert most(endpoint.times, 1.0) <= 50
    assert endpoint.times[-1] - endpoint.times[0] < 4 * 120 / 50


def test_models_of_one_endpoint_share_its_places(make_engine: MakeEngine) -> None:
    endpoint = Endpoint()
    engine = make_engine(concurrency=5)
    models = [CountingModel(endpoint.answer, key=f"test:one?temperature={n}") for n in range(3)]
    for model in models:
        model.endpoint = "one"  # type: ignore[attr-defined]
    engine.attempts([ask for model in models for ask in asks_of(prompts(30), model, 1)])
    assert len(endpoint.times) == 90
    assert endpoint.most_under_way == 5


def test_a_model_may_name_rates_of_its_own(make_engine: MakeEngine) -> None:
    endpoint = Endpoint(latency=0.0)
    model = CountingModel(endpoint.answer)
    model.rates = (3000, None)  # type: ignore[attr-defined]
    make_engine(rates=Rates(requests=60_000)).attempts(asks_of(prompts(60), model, 1))
    assert most(endpoint.times, 1.0) <= 50


def test_the_places_of_a_process_that_has_gone_are_free_again(make_engine: MakeEngine) -> None:
    hanging, endpoint = CountingModel(latency=60), Endpoint()
    first = make_engine(concurrency=4)
    first.plan(asks_of([Prompt(f"hanging {n}") for n in range(4)], hanging, 1))
    while hanging.requests < 4:
        time.sleep(0.01)
    first.close()
    first._store.close()
    started = time.monotonic()
    assert len(make_engine(concurrency=4).attempts(asks_of(prompts(8), CountingModel(endpoint.answer), 1))) == 8
    assert time.monotonic() - started < 5


def test_a_local_model_is_one_of_each_process(make_engine: MakeEngine) -> None:
    engines = [make_engine(concurrency=3, rates=Rates(requests=60)) for _ in range(2)]
    models = [CountingModel(latency=0.05, local=True) for _ in engines]
    for number, engine in enumerate(engines):
        engine.plan(asks_of([Prompt(f"{number}, {n}") for n in range(30)], models[number], 1))
    for number, engine in enumerate(engines):
        engine.attempts(asks_of([Prompt(f"{number}, {n}") for n in range(30)], models[number], 1))
    assert [model.most_under_way for model in models] == [3, 3]
