"""Requests of an engine: what is requested, how often, and how many at a time."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count

import pytest

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.errors import FatalError, ForbiddenError, PermanentError, TransientError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.engine import request_runner
from pytest_fairness.engine.budget import Budget, Caps
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.engine.probe_sample import ProbeSample
from pytest_fairness.engine.requests import Request, build_requests
from pytest_fairness.engine.retries import Retries
from pytest_fairness.engine.scheduler import Priority, RequestScheduler
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.custom_model import as_model
from tests.engine.conftest import MakeEngine
from tests.helpers.engine_models import CountingModel, prompts


def test_work_planned_twice_is_requested_at_its_first_position(make_engine: MakeEngine) -> None:
    """Regression: a probe's tests and its threshold list the same requests; the second listing once set their order."""
    asks = build_requests(prompts(1400), CountingModel(), 1)
    queues = RequestScheduler(lookahead=256)
    queues.plan([*asks, *asks])
    while batch := queues.to_look_up():
        queues.add(*batch)
        queues.demand(asks[:2])  # a test that waits from the first moment
    assert list(queues.take({asks[0].model.key: 2}, lambda _: False)) == [ask.key for ask in asks[:2]]
    engine = make_engine(concurrency=4)
    engine.plan([*asks, *asks])
    assert len(engine.attempts(asks)) == 1400


def test_only_request_ahead_is_taken_when_a_test_waits_for_it() -> None:
    (ask,) = build_requests(prompts(1), CountingModel(), 1)
    queues = RequestScheduler(lookahead=256)
    queues.plan([ask])
    batch = queues.to_look_up()
    assert batch is not None
    queues.add(*batch)
    queues.demand([ask])
    assert list(queues.take({ask.model.key: 1}, lambda _: False)) == [ask.key]


def test_work_list_continues_where_the_tests_of_this_process_are() -> None:
    """Regression: each worker once requested the prompts of the others first, while its own block waited."""
    asks = build_requests(prompts(600), CountingModel(), 1)
    queues = RequestScheduler(lookahead=256)
    queues.plan(asks)
    queues.add(queues.to_look_up()[0], Priority.AHEAD)  # type: ignore[index]
    queues.reached = 200
    endpoint, waiting = asks[0].model.key, [ask.key for ask in asks]

    def take(count: int) -> list[str]:
        return list(queues.take({endpoint: count}, lambda _: False))

    assert take(2) == waiting[:2]
    queues.demand(asks[200:204])
    assert take(6) == waiting[200:206]
    queues.demand(asks[206:600])  # all of a sample: its first is the next, so nothing changes
    assert take(2) == waiting[206:208]
    queues.demand(asks[100:101])
    assert take(102) == [*waiting[100:200], *waiting[208:210]]
    assert take(600) == waiting[210:457], "no further ahead than is asked ahead"
    queues.reached = 599
    assert take(600) == [*waiting[457:], *waiting[2:100]]


def test_shared_requests_are_looked_up_while_little_is_ahead() -> None:
    asks = build_requests(prompts(700), CountingModel(), 1)
    queues = RequestScheduler(lookahead=256)
    queues.plan(asks[300:600], shared=True)
    queues.plan(asks[:300])
    assert queues.to_look_up() == (asks[:300], Priority.AHEAD)
    assert queues.to_look_up() is None
    queues.reached = 260
    assert queues.to_look_up() is None, "they are looked up together, not one by one"
    queues.reached = 290
    assert queues.to_look_up() == (asks[300:354], Priority.AHEAD)
    queues.plan(asks[600:])
    assert queues.to_look_up() == (asks[600:], Priority.AHEAD)
    assert queues.to_look_up() is None


class AccountModel(CountingModel):
    """A model whose endpoint is that of other models."""

    endpoint = "account"


def test_drained_requests_are_those_of_one_model() -> None:
    models = AccountModel(), AccountModel(key="test:other")
    asks = [request for model in models for request in build_requests(prompts(2), model, 1)]
    queues = RequestScheduler(lookahead=256)
    queues.plan(asks)
    queues.add(*queues.to_look_up())  # type: ignore[misc]
    assert queues.drain(models[0]) == asks[:2]
    assert list(queues.take({"account": 4}, lambda _: False).values()) == asks[2:]


def test_every_repetition_of_every_prompt_is_requested_once(make_engine: MakeEngine) -> None:
    model = CountingModel()
    engine = make_engine()
    asks = build_requests(prompts(5), model, repetitions=3)
    attempts = engine.attempts(asks)
    assert [a.answer and a.answer.text for a in attempts] == [f"prompt {p}/{r}" for p in range(5) for r in range(3)]
    assert set(model.calls.values()) == {1}
    engine.attempts(asks)
    assert model.requests == 15


def test_equal_prompts_of_two_items_are_one_request(make_engine: MakeEngine) -> None:
    model = CountingModel()
    same = [Prompt("same", groups={"gender": "female"}), Prompt("same", groups={"gender": "male"})]
    first, second = make_engine().attempts(build_requests(same, model, 1))
    assert first is second
    assert model.requests == 1


def test_later_run_finds_the_answers_in_the_store(make_engine: MakeEngine) -> None:
    model = CountingModel()
    asks = build_requests(prompts(4), model, 2)
    first = make_engine("one")
    first.attempts(asks)
    first.close()
    attempts = make_engine("two").attempts(asks)
    assert model.requests == 8
    assert all(attempt.from_store for attempt in attempts)
    assert attempts[0].answer is not None
    assert attempts[0].answer.usage == {"input": 1, "output": 2}


def test_concurrency_is_a_ceiling_and_is_reached(make_engine: MakeEngine) -> None:
    model = CountingModel(latency=0.02)
    make_engine(concurrency=7).attempts(build_requests(prompts(60), model, 1))
    assert model.most_under_way == 7


def test_transient_errors_are_retried(make_engine: MakeEngine) -> None:
    async def fails_twice(prompt: Prompt, repetition: int) -> str:
        if model.calls[prompt.text, repetition] < 3:
            raise TransientError("try again")
        return "at last"

    model = CountingModel(fails_twice)
    (attempt,) = make_engine().attempts(build_requests(prompts(1), model, 1))
    assert attempt.answer is not None
    assert attempt.answer.text == "at last"


def test_retries_are_limited_and_the_error_is_reported(make_engine: MakeEngine) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise TransientError("HTTP 500")

    model = CountingModel(fails)
    (attempt,) = make_engine(retries=Retries(first_wait=0.001)).attempts(build_requests(prompts(1), model, 1))
    assert attempt.error == "HTTP 500 (asked 6 times)"
    assert model.requests == 6


def test_waits_double_and_are_at_least_those_of_the_provider() -> None:
    retries, error = Retries(first_wait=2.0), TransientError("HTTP 500")
    for failures, wait in ((1, 2.0), (2, 4.0), (3, 8.0), (30, 30.0)):
        assert wait <= retries.wait(failures, error) <= wait * 1.25
    assert 50.0 <= retries.wait(1, TransientError("HTTP 429", retry_after=50.0)) <= 51.0


def test_permanent_error_costs_one_request_and_its_attempt_only(make_engine: MakeEngine) -> None:
    async def refuses_one(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "prompt 1":
            raise PermanentError("HTTP 400: too long")
        return "fine"

    model = CountingModel(refuses_one)
    attempts = make_engine().attempts(build_requests(prompts(3), model, 1))
    assert [attempt.error for attempt in attempts] == [None, "HTTP 400: too long", None]
    assert model.requests == 3


def test_lone_surrogate_is_stored_as_a_replacement_character(make_engine: MakeEngine) -> None:
    async def odd(prompt: Prompt, repetition: int) -> str:
        return "half: \ud83d"

    (attempt,) = make_engine().attempts(build_requests(prompts(1), CountingModel(odd), 1))
    assert attempt.answer is not None
    assert attempt.answer.text == "half: \ufffd"


def test_model_exception_is_the_error_of_its_attempt(make_engine: MakeEngine) -> None:
    async def breaks(prompt: Prompt, repetition: int) -> str:
        raise ZeroDivisionError("division by zero")

    (attempt,) = make_engine().attempts(build_requests(prompts(1), CountingModel(breaks), 1))
    assert attempt.error == "test:counting raised ZeroDivisionError: division by zero"


@pytest.mark.parametrize("error", [FatalError("HTTP 401"), TransientError("refused", unreachable=True)])
def test_broken_model_is_not_requested_a_thousand_times(make_engine: MakeEngine, error: Exception) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise error

    model = CountingModel(fails)
    asks = build_requests(prompts(500), model, 1)
    engine = make_engine(concurrency=4)
    (cause,) = {attempt.error for attempt in engine.attempts(asks)}
    assert engine.answers.causes == {cause: model.name}
    assert model.requests <= 4 * 3
    engine.close()
    # Nothing of it is kept: another process of the run sees for itself, and one that has been mended asks.
    model.behavior = None
    assert {attempt.error for attempt in make_engine(concurrency=4).attempts(asks)} == {None}


def test_fatal_error_keeps_answers_in_flight_and_counts_no_unsent_request(make_engine: MakeEngine) -> None:
    """Regression: claimed requests counted as calls, and demanded ones in flight had the error of the others."""

    async def ends(prompt: Prompt, repetition: int) -> str:
        is_answered = next(number) < 300
        await asyncio.sleep(0.02)
        if is_answered:
            return "fine"
        raise FatalError("HTTP 401")

    def measure(name: str) -> list[Attempt]:
        engine = make_engine(concurrency=32)
        asks = build_requests([Prompt(f"{name} {text}") for text in range(500)], model, 1)
        engine.plan(asks)
        attempts = engine.attempts(asks)
        engine.close()
        return attempts

    number = count(1)
    model = CountingModel(ends)
    with ThreadPoolExecutor() as pool:
        attempts = [*chain.from_iterable(pool.map(measure, "ab"))]
    (entry,) = make_engine().store.spent("run")
    assert entry.requests == entry.calls == model.requests
    assert sum(attempt.answer is not None for attempt in attempts) == 299


def test_queued_calls_of_an_application_do_not_count_after_a_fatal_error(make_engine: MakeEngine) -> None:
    """Regression: calls of a fast application, of which several are claimed at a time, counted though none was made."""

    def application(text: str) -> str:
        if next(number) == 100:
            raise FatalError("no license")
        return "fine"

    number = count(1)
    engine = make_engine()
    engine.attempts(build_requests(prompts(500), as_model(application, "run", ModelContext()), 1))
    engine.close()
    (entry,) = make_engine().store.spent("run")
    assert (entry.requests, entry.calls) == (100, 100)


@pytest.mark.parametrize("forbidden", [5, 12, 60])
def test_forbidden_prompts_end_a_model_that_answers_no_other(make_engine: MakeEngine, forbidden: int) -> None:
    """Regression: one prompt that a firewall refuses, the first of a run, ended the model as if for its key."""

    async def forbids(prompt: Prompt, repetition: int) -> str:
        if int(prompt.text.split()[1]) < forbidden:
            raise ForbiddenError("HTTP 403")
        await asyncio.sleep(0.1)  # an answer takes longer than a refusal
        return "fine"

    model = CountingModel(forbids)
    engine = make_engine(concurrency=16)
    asks = build_requests(prompts(60), model, 1)
    engine.plan(asks)
    attempts = [attempt for ask in asks for attempt in engine.attempts([ask])]
    assert sum(attempt.answer is not None for attempt in attempts) == 60 - forbidden
    is_ended = forbidden == 60
    assert model.requests == 60 if not is_ended else model.requests < 40
    assert [re.sub(r"\d+", "N", cause) for cause in engine.answers.causes] == [
        "HTTP N (so were N prompts, and none was answered)"
    ] * is_ended


def test_repetitions_of_one_forbidden_prompt_end_no_model(make_engine: MakeEngine) -> None:
    async def forbids(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "prompt 0":
            raise ForbiddenError("HTTP 403")
        return "fine"

    attempts = make_engine(concurrency=1).attempts(build_requests(prompts(2), CountingModel(forbids), 20))
    assert sum(attempt.answer is not None for attempt in attempts) == 20


@pytest.mark.parametrize("error", [TransientError("refused", unreachable=True), TransientError("HTTP 500")])
def test_model_that_answers_no_more_is_given_up(
    make_engine: MakeEngine, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: each of the requests that were left was sent with all its tries, for hours."""
    monkeypatch.setattr(request_runner, "_LONGEST_OUTAGE", 0.0)

    async def ends(prompt: Prompt, repetition: int) -> str:
        if model.requests > 100:
            raise error
        return "fine"

    model = CountingModel(ends)
    engine = make_engine(concurrency=4)
    attempts = engine.attempts(build_requests(prompts(500), model, 1))
    assert sum(attempt.answer is not None for attempt in attempts) == 100
    assert set(engine.answers.causes.values()) == {model.name}
    assert model.requests <= 100 + (10 + 4) * 6


def test_short_outage_gives_up_no_model(make_engine: MakeEngine) -> None:
    async def fails_for_long(prompt: Prompt, repetition: int) -> str:
        if 20 < model.requests < 120:
            raise TransientError("refused", unreachable=True)
        return "fine"

    model = CountingModel(fails_for_long)
    attempts = make_engine(concurrency=4).attempts(build_requests(prompts(100), model, 1))
    assert 60 <= sum(attempt.answer is not None for attempt in attempts) < 90


def test_short_outage_of_a_slow_model_does_not_give_it_up(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the time since the last answer counted, which of a slow model is long before its first failure."""
    monkeypatch.setattr(request_runner, "_LONGEST_OUTAGE", 1.0)

    async def fails_late(prompt: Prompt, repetition: int) -> str:
        if 12 <= int(prompt.text.split()[1]) < 24:
            await asyncio.sleep(1.2 * (model.calls[prompt.text, repetition] == 1))
            raise TransientError("refused", unreachable=True)
        return "fine"

    model = CountingModel(fails_late)
    attempts = make_engine(concurrency=12).attempts(build_requests(prompts(60), model, 1))
    assert sum(attempt.answer is not None for attempt in attempts) == 48


@pytest.mark.slow
def test_failures_with_answers_in_between_give_up_no_model(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_runner, "_LONGEST_OUTAGE", 0.0)

    async def fails_often(prompt: Prompt, repetition: int) -> str:
        if int(prompt.text.split()[1]) % 10:
            raise TransientError("HTTP 500")
        return "fine"

    attempts = make_engine(concurrency=1).attempts(build_requests(prompts(60), CountingModel(fails_often), 1))
    assert sum(attempt.answer is not None for attempt in attempts) == 6


@pytest.mark.parametrize("first", [0, 20])
def test_kind_of_prompt_that_fails_gives_up_no_model(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Regression: ten failures in a row ended the model, also in each later run, which begins with the failed ones."""
    monkeypatch.setattr(request_runner, "_LONGEST_OUTAGE", 0.0)

    async def fails_for_some(prompt: Prompt, repetition: int) -> str:
        if first <= int(prompt.text.split()[1]) < first + 20:
            raise TransientError("HTTP 500")
        return "fine"

    engine = make_engine(concurrency=1)
    asks = build_requests(prompts(60), CountingModel(fails_for_some), 1)
    engine.plan(asks)
    attempts = [attempt for ask in asks for attempt in engine.attempts([ask])]
    assert sum(attempt.answer is not None for attempt in attempts) == 40
    assert not engine.answers.causes


@pytest.mark.parametrize(("other_failures", "tries"), [(0, 3), (1, 6)])
def test_prompts_that_always_fail_on_a_sound_server_have_few_tries(
    make_engine: MakeEngine, other_failures: int, tries: int
) -> None:
    """Regression: 20 prompts that a server cannot answer were sent twelve times each, for more than three minutes."""

    async def fails_for_some(prompt: Prompt, repetition: int) -> str:
        number = int(prompt.text.split()[1])
        if number == 30 or (number % 2 and model.calls[prompt.text, 0] <= other_failures):
            raise TransientError("HTTP 500")
        return "fine"

    model = CountingModel(fails_for_some, latency=0.01)
    attempts = make_engine(concurrency=4).attempts(build_requests(prompts(90), model, 1))
    assert sum(attempt.answer is not None for attempt in attempts) == 89
    assert model.calls["prompt 30", 0] == tries


def test_first_prompts_in_flight_that_fail_give_up_no_model(make_engine: MakeEngine) -> None:
    """Regression: the first ten requests, which are in flight together, ended a model that answers all others."""

    async def fails_for_some(prompt: Prompt, repetition: int) -> str:
        if int(prompt.text.split()[1]) < 12:
            raise TransientError("HTTP 500")
        await asyncio.sleep(0.1)
        return "fine"

    asks = build_requests(prompts(60), CountingModel(fails_for_some), 1)
    attempts = make_engine(concurrency=12).attempts(asks)
    assert sum(attempt.answer is not None for attempt in attempts) == 48


def test_error_is_retried_by_the_next_session_only(make_engine: MakeEngine) -> None:
    """Regression: a repeated job has the same run id, and once kept the errors of the first time."""

    async def fails_once(prompt: Prompt, repetition: int) -> str:
        if model.requests == 1:
            raise PermanentError("HTTP 400")
        return "fine"

    model = CountingModel(fails_once)
    asks = build_requests(prompts(1), model, 1)
    assert make_engine("one", "session").attempts(asks)[0].error == "HTTP 400"
    assert make_engine("one", "session").attempts(asks)[0].error == "HTTP 400"
    assert model.requests == 1
    other = make_engine("one", "another session")
    assert other.store.unanswered([asks[0].key]) == 1
    assert other.attempts(asks)[0].error is None


def test_rate_limit_lowers_concurrency_and_waits_as_asked(make_engine: MakeEngine) -> None:
    wait = 0.3
    refused_at = answered_first = 0.0

    async def limited(prompt: Prompt, repetition: int) -> str:
        nonlocal refused_at, answered_first
        if not refused_at:
            refused_at = time.monotonic()
            raise TransientError("HTTP 429", retry_after=wait, rate_limited=True)
        if prompt.text == "prompt 0":
            answered_first = time.monotonic()
        return "fine"

    model = CountingModel(limited)
    attempts = make_engine(concurrency=8).attempts(build_requests(prompts(40), model, 1))
    assert all(attempt.answer for attempt in attempts)
    assert answered_first - refused_at >= wait


def test_offline_run_requests_no_remote_model(make_engine: MakeEngine) -> None:
    far, near = CountingModel(), CountingModel(key="test:near", local=True)
    engine = make_engine(offline=True)
    (attempt,) = engine.attempts(build_requests(prompts(1), far, 1))
    assert "--fairness-offline" in (attempt.error or "")
    assert far.requests == 0
    assert engine.attempts(build_requests(prompts(1), near, 1))[0].answer is not None


def test_answers_of_an_unstored_model_are_requested_again(make_engine: MakeEngine) -> None:
    class Recorded(CountingModel):
        stored = False

    model = Recorded()
    asks: list[Request] = build_requests(prompts(3), model, 1)
    assert [a.answer and a.answer.text for a in make_engine().attempts(asks)] == [f"prompt {n}/0" for n in range(3)]
    make_engine().attempts(asks)
    assert model.requests == 6


def test_stored_errors_hold_no_secret(make_engine: MakeEngine) -> None:
    async def leaks(prompt: Prompt, _: int) -> str:
        if prompt.text == "transient":
            raise TransientError("Authorization: Bearer abcdefghijklmnop")
        raise OSError("401 for https://host/v1?key=AIzaSyA0123456789abcdefghijklmnopqrstuvw, of the-runs-own-secret")

    engine = make_engine(secrets=["the-runs-own-secret"])
    asks = build_requests([Prompt("plain"), Prompt("transient")], CountingModel(leaks), 1)
    errors = [attempt.error or "" for attempt in engine.attempts(asks)]
    assert all("[redacted]" in error for error in errors)
    for secret in ("AIza", "the-runs-own-secret", "abcdefghijklmnop"):
        assert not [error for error in errors if secret in error]


def test_request_that_may_be_billed_counts_as_spent(make_engine: MakeEngine) -> None:
    """Regression: each request costs 0.01 USD, all but the first time out; 115 once passed a cap of 0.05 USD."""

    async def silent(prompt: Prompt, repetition: int) -> str:
        if model.requests > 1:
            raise TransientError("did not answer in time", sent=True, kind="timeout")
        return "fine"

    model = CountingModel(silent)
    budget = Budget(Caps(usd=0.05), price=lambda _: (0.0, 5000.0), assumed=2)
    engine = make_engine(budget=budget)
    asks = build_requests(prompts(40), model, 1)
    assert engine.attempts(asks[:1])[0].answer
    with pytest.raises(BudgetExceededError, match=r"the budget of 0\.05 USD was reached"):
        engine.attempts(asks)
    engine.close()
    assert model.requests <= 5
    assert sum(entry.usd or 0 for entry in engine.store.spent("run")) == pytest.approx(0.01 * model.requests)


@pytest.mark.parametrize(("kind", "times"), [("timeout", 2), ("500", 3)])
def test_request_that_times_out_is_sent_at_most_twice(make_engine: MakeEngine, kind: str, times: int) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise TransientError("no answer", kind=kind)

    model = CountingModel(fails)
    (attempt,) = make_engine().attempts(build_requests(prompts(1), model, 1))
    assert attempt.error == f"no answer (asked {times} times)"
    assert model.requests == times


def test_timeout_is_retried_twice_while_others_are_answered(make_engine: MakeEngine) -> None:
    """Regression: a server that dropped a fifth of all requests once lost a twenty-fifth of the answers."""

    async def drops(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "prompt 0" and model.calls["prompt 0", 0] < 3:
            raise TransientError("no answer", sent=True, kind="timeout")
        return "fine"

    model = CountingModel(drops)
    attempts = make_engine().attempts(build_requests(prompts(3), model, 1))
    assert [attempt.error for attempt in attempts] == [None] * 3
    assert model.calls["prompt 0", 0] == 3


def test_request_is_sent_twice_as_often_while_others_are_answered(make_engine: MakeEngine) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "prompt 0" and model.calls["prompt 0", 0] < 6:
            raise TransientError("no answer", kind="500")
        return "fine"

    model = CountingModel(fails)
    attempts = make_engine().attempts(build_requests(prompts(3), model, 1))
    assert [attempt.error for attempt in attempts] == [None] * 3
    assert model.calls["prompt 0", 0] == 6


def test_requests_that_are_left_are_sent_only_on_demand(make_engine: MakeEngine) -> None:
    model = CountingModel(latency=0.01)
    engine = make_engine(concurrency=1)
    asks = build_requests(prompts(60), model, 1)
    engine.plan(asks)
    engine.attempts(asks[:1])
    engine.leave({ask.key for ask in asks})
    engine.attempts(build_requests([Prompt("another")], model, 1))
    engine.attempts(build_requests([Prompt("a third one")], model, 1))
    assert model.requests <= 6
    assert engine.attempts(asks[50:51])[0].answer
    assert model.requests <= 7


def test_concurrent_threads_build_one_sample(make_engine: MakeEngine) -> None:
    """Build requests in two threads: the engine reads its work list while a test measures."""
    items = [ProbeItem(f"item {number}", [Prompt(f"{number}")]) for number in range(300)]
    sample = ProbeSample(items, CountingModel(), 1, make_engine())
    samples: list[list[Request]] = []
    barrier = threading.Barrier(4)

    def make() -> None:
        barrier.wait()
        samples.append(list(sample.requests(range(300))))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert all(first is other for first, *others in zip(*samples, strict=True) for other in others)
