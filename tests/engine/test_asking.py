"""What an engine asks, how often, and how many at a time."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from pytest_fairness.core.errors import FatalError, PermanentError, TransientError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.engine.asks import Ask, asks_of
from pytest_fairness.engine.budget import Budget, Caps
from pytest_fairness.engine.errors import SpentError
from pytest_fairness.engine.queues import Queues, Rank
from pytest_fairness.engine.sample import Sample
from tests.engine.conftest import MakeEngine
from tests.engine.models import CountingModel


def prompts(count: int) -> list[Prompt]:
    return [Prompt(f"prompt {number}") for number in range(count)]


def test_what_is_planned_twice_is_asked_at_its_first_place(make_engine: MakeEngine) -> None:
    """A probe's tests and its threshold list the same asks; the second listing was once taken for their place."""
    asks = asks_of(prompts(1400), CountingModel(), 1)
    queues = Queues(ask_ahead=256)
    queues.plan([*asks, *asks])
    while batch := queues.to_look_up():
        queues.add(*batch)
        queues.demand(asks[:2])  # a test that waits from the first moment
    assert list(queues.take({asks[0].model.key: 2}, lambda _: False)) == [ask.key for ask in asks[:2]]
    engine = make_engine(concurrency=4)
    engine.plan([*asks, *asks])
    assert len(engine.attempts(asks)) == 1400


def test_the_work_list_goes_on_where_the_tests_of_this_process_are() -> None:
    """Workers are given blocks of tests; each once asked for the others' first, while its own waited."""
    asks = asks_of(prompts(600), CountingModel(), 1)
    queues = Queues(ask_ahead=256)
    queues.plan(asks)
    queues.add(queues.to_look_up()[0], Rank.AHEAD)  # type: ignore[index]
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


def test_every_repetition_of_every_prompt_is_asked_once(make_engine: MakeEngine) -> None:
    model = CountingModel()
    engine = make_engine()
    asks = asks_of(prompts(5), model, repetitions=3)
    attempts = engine.attempts(asks)
    assert [a.answer and a.answer.text for a in attempts] == [f"prompt {p}/{r}" for p in range(5) for r in range(3)]
    assert set(model.asked.values()) == {1}
    engine.attempts(asks)
    assert model.requests == 15


def test_equal_prompts_of_two_items_are_one_request(make_engine: MakeEngine) -> None:
    model = CountingModel()
    same = [Prompt("same", groups={"gender": "female"}), Prompt("same", groups={"gender": "male"})]
    first, second = make_engine().attempts(asks_of(same, model, 1))
    assert first is second
    assert model.requests == 1


def test_a_later_run_finds_the_answers_in_the_store(make_engine: MakeEngine) -> None:
    model = CountingModel()
    asks = asks_of(prompts(4), model, 2)
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
    make_engine(concurrency=7).attempts(asks_of(prompts(60), model, 1))
    assert model.most_under_way == 7


def test_transient_errors_are_asked_again(make_engine: MakeEngine) -> None:
    async def fails_twice(prompt: Prompt, repetition: int) -> str:
        if model.asked[prompt.text, repetition] < 3:
            raise TransientError("try again")
        return "at last"

    model = CountingModel(fails_twice)
    (attempt,) = make_engine().attempts(asks_of(prompts(1), model, 1))
    assert attempt.answer is not None
    assert attempt.answer.text == "at last"


def test_retries_have_a_ceiling_and_the_error_is_told(make_engine: MakeEngine) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise TransientError("HTTP 500")

    model = CountingModel(fails)
    (attempt,) = make_engine().attempts(asks_of(prompts(1), model, 1))
    assert attempt.error == "HTTP 500 (asked 3 times)"
    assert model.requests == 3


def test_permanent_errors_cost_one_request_and_their_attempt_only(make_engine: MakeEngine) -> None:
    async def refuses_one(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "prompt 1":
            raise PermanentError("HTTP 400: too long")
        return "fine"

    model = CountingModel(refuses_one)
    attempts = make_engine().attempts(asks_of(prompts(3), model, 1))
    assert [attempt.error for attempt in attempts] == [None, "HTTP 400: too long", None]
    assert model.requests == 3


def test_half_a_surrogate_pair_is_kept_as_a_replacement_character(make_engine: MakeEngine) -> None:
    async def odd(prompt: Prompt, repetition: int) -> str:
        return "half: \ud83d"

    (attempt,) = make_engine().attempts(asks_of(prompts(1), CountingModel(odd), 1))
    assert attempt.answer is not None
    assert attempt.answer.text == "half: \ufffd"


def test_any_exception_of_a_model_is_the_error_of_its_attempt(make_engine: MakeEngine) -> None:
    async def breaks(prompt: Prompt, repetition: int) -> str:
        raise ZeroDivisionError("division by zero")

    (attempt,) = make_engine().attempts(asks_of(prompts(1), CountingModel(breaks), 1))
    assert attempt.error == "test:counting raised ZeroDivisionError: division by zero"


@pytest.mark.parametrize("error", [FatalError("HTTP 401"), TransientError("refused", unreachable=True)])
def test_a_model_that_can_answer_nothing_is_not_asked_a_thousand_times(
    make_engine: MakeEngine, error: Exception
) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise error

    model = CountingModel(fails)
    asks = asks_of(prompts(500), model, 1)
    engine = make_engine(concurrency=4)
    (cause,) = {attempt.error for attempt in engine.attempts(asks)}
    assert engine.answers.causes == {cause: model.name}
    assert model.requests <= 4 * 3
    engine.close()
    # Nothing of it is kept: another process of the run sees for itself, and one that has been mended asks.
    model.behaviour = None
    assert {attempt.error for attempt in make_engine(concurrency=4).attempts(asks)} == {None}


def test_an_error_is_asked_again_by_the_next_session_only(make_engine: MakeEngine) -> None:
    """A job that is repeated has the same run, and once kept the errors of the first time."""

    async def fails_once(prompt: Prompt, repetition: int) -> str:
        if model.requests == 1:
            raise PermanentError("HTTP 400")
        return "fine"

    model = CountingModel(fails_once)
    asks = asks_of(prompts(1), model, 1)
    assert make_engine("one", "session").attempts(asks)[0].error == "HTTP 400"
    assert make_engine("one", "session").attempts(asks)[0].error == "HTTP 400"
    assert model.requests == 1
    other = make_engine("one", "another session")
    assert other._store.unanswered([asks[0].key]) == 1
    assert other.attempts(asks)[0].error is None


def test_a_rate_limit_lowers_what_is_under_way_and_waits_as_told(make_engine: MakeEngine) -> None:
    told = 0.3
    refused_at = answered_first = 0.0

    async def limited(prompt: Prompt, repetition: int) -> str:
        nonlocal refused_at, answered_first
        if not refused_at:
            refused_at = time.monotonic()
            raise TransientError("HTTP 429", retry_after=told, rate_limited=True)
        if prompt.text == "prompt 0":
            answered_first = time.monotonic()
        return "fine"

    model = CountingModel(limited)
    attempts = make_engine(concurrency=8).attempts(asks_of(prompts(40), model, 1))
    assert all(attempt.answer for attempt in attempts)
    assert answered_first - refused_at >= told


def test_offline_asks_no_model_that_needs_a_connection(make_engine: MakeEngine) -> None:
    far, near = CountingModel(), CountingModel(key="test:near", local=True)
    engine = make_engine(offline=True)
    (attempt,) = engine.attempts(asks_of(prompts(1), far, 1))
    assert "--fairness-offline" in (attempt.error or "")
    assert far.requests == 0
    assert engine.attempts(asks_of(prompts(1), near, 1))[0].answer is not None


def test_answers_of_a_model_that_is_not_stored_are_asked_anew(make_engine: MakeEngine) -> None:
    class Recorded(CountingModel):
        stored = False

    model = Recorded()
    asks: list[Ask] = asks_of(prompts(3), model, 1)
    assert [a.answer and a.answer.text for a in make_engine().attempts(asks)] == [f"prompt {n}/0" for n in range(3)]
    make_engine().attempts(asks)
    assert model.requests == 6


def test_no_error_that_is_kept_holds_a_secret(make_engine: MakeEngine) -> None:
    async def leaks(prompt: Prompt, _: int) -> str:
        if prompt.text == "transient":
            raise TransientError("Authorization: Bearer abcdefghijklmnop")
        raise OSError("401 for https://host/v1?key=AIzaSyA0123456789abcdefghijklmnopqrstuvw, of the-runs-own-secret")

    engine = make_engine(secrets=["the-runs-own-secret"])
    asks = asks_of([Prompt("plain"), Prompt("transient")], CountingModel(leaks), 1)
    errors = [attempt.error or "" for attempt in engine.attempts(asks)]
    assert all("[redacted]" in error for error in errors)
    for secret in ("AIza", "the-runs-own-secret", "abcdefghijklmnop"):
        assert not [error for error in errors if secret in error]


def test_a_request_that_may_be_billed_counts_as_spent(make_engine: MakeEngine) -> None:
    """Each costs 0.01 USD, and all but the first time out: 115 of them once passed a cap of 0.05 USD."""

    async def silent(prompt: Prompt, repetition: int) -> str:
        if model.requests > 1:
            raise TransientError("did not answer in time", sent=True, kind="timeout")
        return "fine"

    model = CountingModel(silent)
    budget = Budget(Caps(usd=0.05), price=lambda _: (0.0, 5000.0), assumed=2)
    engine = make_engine(budget=budget)
    asks = asks_of(prompts(40), model, 1)
    assert engine.attempts(asks[:1])[0].answer
    with pytest.raises(SpentError, match=r"the budget of 0\.05 USD was reached"):
        engine.attempts(asks)
    engine.close()
    assert model.requests <= 5
    assert sum(entry.usd or 0 for entry in engine._store.spent("run")) == pytest.approx(0.01 * model.requests)


@pytest.mark.parametrize(("kind", "times"), [("timeout", 2), ("500", 3)])
def test_a_request_that_is_not_answered_in_time_is_sent_twice_at_most(
    make_engine: MakeEngine, kind: str, times: int
) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise TransientError("no answer", kind=kind)

    model = CountingModel(fails)
    (attempt,) = make_engine().attempts(asks_of(prompts(1), model, 1))
    assert attempt.error == f"no answer (asked {times} times)"
    assert model.requests == times


def test_two_threads_that_meet_make_one_sample(make_engine: MakeEngine) -> None:
    """The engine makes asks while it reads its work list, a test while it measures: it must be the same asks."""
    items = [ProbeItem(f"item {number}", [Prompt(f"{number}")]) for number in range(300)]
    sample = Sample(items, CountingModel(), 1, make_engine())
    made: list[list[Ask]] = []
    barrier = threading.Barrier(4)

    def make() -> None:
        barrier.wait()
        made.append(list(sample.asks(range(300))))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert all(first is other for first, *others in zip(*made, strict=True) for other in others)
