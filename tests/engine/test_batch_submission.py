"""Batch submission: each prompt is in one batch, whatever fails, ends early, or dies in between."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.batch_api import batches_of
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine import batch_submission
from pytest_fairness.engine.budget import Budget, Caps
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.engine.requests import build_requests
from pytest_fairness.models.anthropic import AnthropicBatches
from pytest_fairness.models.batch_openai import OpenAIBatches
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from tests.engine.conftest import MakeEngine
from tests.helpers.fake_batch_server import INPUT, OUTPUT, PROVIDERS, Batches, serving

PROMPTS = [Prompt(f"prompt {number}") for number in range(12)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"_GATHER": 0.05, "_FIRST_POLL": 0.05, "_POLL_AGAIN": 0.05, "_GRACE": 0.5}.items():
        monkeypatch.setattr(batch_submission, name, seconds)


@pytest.fixture
def server() -> Iterator[Batches]:
    with serving() as server:
        yield server


@pytest.fixture(params=PROVIDERS)
def model(request: pytest.FixtureRequest, server: Batches) -> Model:
    return resolve(server.model(request.param), aliases={}, context=ModelContext())


both_providers = pytest.mark.parametrize("model", PROVIDERS, indirect=True)
one_provider = pytest.mark.parametrize("model", PROVIDERS[:1], indirect=True)


def attempts_of(
    engine: Engine, model: Model, prompts: Sequence[Prompt] = PROMPTS, repetitions: int = 1
) -> list[Attempt]:
    asks = build_requests(prompts, model, repetitions)
    engine.plan(asks)
    return engine.attempts(asks)


def submit(make_engine: MakeEngine, model: Model, prompts: Sequence[Prompt] = PROMPTS) -> None:
    """Submit prompts in a run of its own, which ends."""
    first = make_engine("one", batch="submit")
    with pytest.raises(BudgetExceededError):
        attempts_of(first, model, prompts)
    first.close()


def texts(attempts: Sequence[Attempt]) -> list[str | None]:
    return [None if attempt.answer is None else attempt.answer.text for attempt in attempts]


@both_providers
def test_later_run_fetches_the_submitted_batch(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    first = make_engine("one", batch="submit")
    with pytest.raises(BudgetExceededError, match=r"in batch batch_1 of .*: run again for its answers"):
        attempts_of(first, model, repetitions=2)
    first.close()
    server.end()
    later = make_engine("two", batch="submit")
    attempts = attempts_of(later, model, repetitions=2)
    assert texts(attempts) == ["Yes."] * 24
    assert attempts[0].answer is not None
    assert attempts[0].answer.usage == {"input": INPUT, "output": OUTPUT}
    assert set(server.calls().values()) == {2}
    assert (len(server.batches), server.singly) == (1, [])
    later.close()
    assert [attempt.from_store for attempt in attempts_of(make_engine("three"), model)] == [True] * 12


@one_provider
def test_run_of_a_part_leaves_the_rest_of_a_batch(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    submit(make_engine, model)
    server.end()
    second = make_engine("two", batch="submit")
    for prompts in (PROMPTS[:8], PROMPTS):
        assert texts(attempts_of(second, model, prompts)) == ["Yes."] * len(prompts)
    assert len(server.batches) == 1


@both_providers
def test_failed_requests_are_resubmitted_or_reported(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once = True

    def answers(text: str) -> str | int:
        if text == "prompt 3":
            return 400
        return 500 if text == "prompt 5" or (text == "prompt 7" and len(server.batches) == 1) else "Yes."

    server.answers = answers
    attempts = attempts_of(make_engine(batch="wait"), model)
    errors = {index: attempt.error for index, attempt in enumerate(attempts) if attempt.error}
    assert list(errors) == [3, 5]
    assert "refused the request (400: no)" in errors[3]
    assert "failed for now (500: no)" in errors[5]
    assert server.calls() == Counter({prompt.text: 1 for prompt in PROMPTS}) | {"prompt 5": 3, "prompt 7": 2}


@both_providers
def test_line_separators_in_answers_do_not_end_a_result(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once = True
    answer = "Yes.\u2028Or\x85no\x0b, \u2029perhaps."
    server.answers = lambda text: answer if text == "prompt 5" else "Yes."
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 5 + [answer] + ["Yes."] * 6
    assert max(server.calls().values()) == 1


@pytest.mark.parametrize("odd", [{"response": None}, {"error": "boom"}, {"custom_id": []}, 5])
@one_provider
def test_result_in_another_form_costs_no_other(
    make_engine: MakeEngine, server: Batches, model: Model, odd: dict[str, Any] | int
) -> None:
    server.at_once = True
    changed: list[object] = []

    def change(line: dict[str, Any]) -> object:
        if changed:
            return line
        changed.append(line)
        return line | odd if isinstance(odd, dict) else odd

    server.change = change
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 12
    assert sum(server.calls().values()) == 13


@one_provider
def test_answer_that_broke_off_costs_none_of_those_after_it(
    make_engine: MakeEngine, server: Batches, model: Model
) -> None:
    server.at_once = True
    server.answers = lambda text: "Yes, b..." if text == "prompt 5" and len(server.batches) == 1 else "Yes."
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 12
    assert server.calls() == Counter({prompt.text: 1 for prompt in PROMPTS}) | {"prompt 5": 2}


@pytest.mark.parametrize("status", ["expired", "cancelled", "failed"])
@one_provider
def test_requests_left_by_an_ended_batch_are_submitted_again(
    make_engine: MakeEngine, server: Batches, model: Model, status: str
) -> None:
    submit(make_engine, model)
    server.end(status, lambda text: text < "prompt 5")
    answered = 0 if status == "failed" else sum(prompt.text < "prompt 5" for prompt in PROMPTS)
    second = make_engine("two", batch="submit")
    with pytest.raises(BudgetExceededError, match=rf"in batch batch_2 of .* after batch batch_1 \({status}"):
        attempts_of(second, model)
    (spent,) = second.store.spent("two")
    second.close()
    assert sum(spent.errors.values()) == 12 - answered
    server.end()
    assert texts(attempts_of(make_engine("three", batch="submit"), model)) == ["Yes."] * 12
    assert sum(server.calls().values()) == 12 + 12 - answered


@one_provider
def test_batches_that_always_fail_are_reported(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.on_create = lambda: server.end("failed")
    errors = {attempt.error for attempt in attempts_of(make_engine(batch="wait"), model)}
    assert len(server.batches) == 3
    assert len(errors) == 1
    assert "batch batch_3: failed: the file is no good" in str(errors)


@both_providers
def test_lost_reply_submits_nothing_twice(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once = True

    def cut() -> None:
        if len(server.batches) == 1:
            server.end()
            raise ConnectionResetError

    server.on_create = cut
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 12
    assert len(server.batches) == 1


@one_provider
def test_list_of_batches_without_pages_is_searched_once(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once = server.has_more = True

    def lose() -> None:
        server.on_create = lambda: None
        del server.batches["batch_2"]
        raise ConnectionResetError

    server.create("another's", [])
    server.on_create = lose
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 12


@both_providers
def test_truncated_results_are_fetched_again(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once, server.truncated = True, 1
    engine = make_engine(batch="wait")
    assert texts(attempts_of(engine, model)) == ["Yes."] * 12
    assert server.fetched == 2
    (spent,) = engine.store.spent("run")
    assert (spent.calls, spent.requests, spent.output) == (12, 12, 12 * OUTPUT)


@one_provider
def test_server_that_fails_temporarily_is_retried(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once, server.failing = True, [503, 429]
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 12
    assert len(server.batches) == 1


@one_provider
def test_refused_key_is_an_error_of_every_attempt(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.failing = [401]
    attempts = attempts_of(make_engine(batch="wait"), model)
    assert all("refused the key (401" in str(attempt.error) for attempt in attempts)
    assert not server.batches


@one_provider
def test_refused_key_does_not_lose_a_submitted_batch(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    submit(make_engine, model)
    server.end()
    server.failing = [401]
    second = make_engine("two")
    assert all("refused the key (401" in str(attempt.error) for attempt in attempts_of(second, model))
    second.close()
    assert texts(attempts_of(make_engine("three"), model)) == ["Yes."] * 12
    assert len(server.batches) == 1


@one_provider
def test_batch_lost_by_its_provider_is_submitted_again(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    submit(make_engine, model)
    lost = server.batches.pop("batch_1")
    server.batches["other"] = lost
    with pytest.raises(BudgetExceededError, match=r"after batch batch_1 \(is not known there any more\)"):
        attempts_of(make_engine("two", batch="submit"), model)
    assert len(server.batches) == 2


@pytest.mark.slow
@both_providers
def test_batch_of_a_dead_submitter_is_found_by_the_next(
    make_engine: MakeEngine, server: Batches, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulate a kill after the batch was created and before its name was stored."""
    first = make_engine("one", batch="submit")
    monkeypatch.setattr(first.store.submissions, "name", lambda *_: 1 / 0)
    with pytest.raises(Exception, match="a batch failed: ZeroDivisionError"):
        attempts_of(first, model)
    first.close()
    first.store.close()
    server.end()
    later = make_engine("two", batch="submit")
    assert texts(attempts_of(later, model)) == ["Yes."] * 12
    assert len(server.batches) == 1


@both_providers
def test_batch_that_was_never_submitted_is_submitted(
    make_engine: MakeEngine, server: Batches, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_engine("one", batch="submit")
    with monkeypatch.context() as patched:
        patched.setattr(type(batches_of(model)), "submit", lambda *_: 1 / 0)
        with pytest.raises(Exception, match="a batch failed: ZeroDivisionError"):
            attempts_of(first, model)
        first.close()
        first.store.close()
    server.at_once = True
    assert texts(attempts_of(make_engine("two", batch="wait"), model)) == ["Yes."] * 12
    assert len(server.batches) == 1


@one_provider
def test_processes_share_one_submission(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    server.at_once = True
    sharing = []
    for _ in range(3):  # a model is one of each process
        own = resolve(model.name, aliases={}, context=ModelContext())
        sharing.append((make_engine("run", batch="wait"), build_requests(PROMPTS, own, 1)))
        sharing[-1][0].plan(sharing[-1][1])
    for engine, asks in sharing:
        assert texts(engine.attempts(asks)) == ["Yes."] * 12
    assert set(server.calls().values()) == {1}


@one_provider
def test_closed_engine_claims_no_batch(
    make_engine: MakeEngine, server: Batches, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: requests that were not submitted stayed claimed until the store was closed."""
    monkeypatch.setattr(batch_submission, "_GATHER", 60.0)
    monkeypatch.setattr(batch_submission, "SUBMITTING", 0.05)
    first, asks = make_engine("one", batch="submit"), build_requests(PROMPTS, model, 1)
    first.plan(asks)
    other = make_engine("two", batch="submit")
    keys = [ask.key for ask in asks]
    while len(other.store.foreign_claims(keys, "two")[1]) < len(keys):
        time.sleep(0.01)
    first.close(at_once=True)
    assert other.store.foreign_claims(keys, "two")[1] == {}


@pytest.mark.parametrize(
    ("model", "limits"), [("openai", {"most_requests": 5}), ("anthropic", {"most_bytes": 700})], indirect=["model"]
)
def test_batches_keep_to_the_limits_of_the_provider(
    make_engine: MakeEngine,
    server: Batches,
    model: Model,
    limits: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (OpenAIBatches.most_requests, OpenAIBatches.most_bytes) == (50_000, 200_000_000)
    assert (AnthropicBatches.most_requests, AnthropicBatches.most_bytes) == (100_000, 256_000_000)
    for name, most in limits.items():
        monkeypatch.setattr(type(batches_of(model)), name, most)
    server.at_once = True
    assert texts(attempts_of(make_engine(batch="wait"), model)) == ["Yes."] * 12
    assert set(server.calls().values()) == {1}
    for batch in server.batches.values():
        assert len(batch.requests) <= limits.get("most_requests", 12)
        assert sum(len(json.dumps(request)) + 1 for request in batch.requests) <= limits.get("most_bytes", 10_000)
    assert len(server.batches) >= 3


@one_provider
def test_run_without_batch_mode_leaves_batched_requests_alone(
    make_engine: MakeEngine, server: Batches, model: Model
) -> None:
    submit(make_engine, model, PROMPTS[:8])
    second = make_engine("two")
    with pytest.raises(BudgetExceededError, match="in batch batch_1"):
        attempts_of(second, model, PROMPTS[:8])
    second.close()
    server.end()
    assert texts(attempts_of(make_engine("three"), model)) == ["Yes."] * 12
    assert sorted(server.singly) == sorted(prompt.text for prompt in PROMPTS[8:])


@pytest.mark.slow
@one_provider
def test_time_cap_ends_the_wait_for_a_batch(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    budget = Budget(Caps(minutes=0.01))
    engine = make_engine(batch="wait", budget=budget)
    with pytest.raises(
        BudgetExceededError, match=r"in batch batch_1 of .*: the cap of 0.01 minutes was reached, run again"
    ):
        attempts_of(engine, model)
    assert len(server.batches) == 1


@pytest.mark.parametrize("caps", [Caps(requests=5), Caps(usd=5 * (20 + 2 * OUTPUT) / 1e6)])
@one_provider
def test_caps_hold_for_batches(make_engine: MakeEngine, server: Batches, model: Model, caps: Caps) -> None:
    prompts = [Prompt(f"{'x' * 74} {number:04}") for number in range(12)]  # 20 tokens of input
    budget = Budget(caps, price=lambda _: (1.0, 2.0), longest=lambda _: OUTPUT)
    engine = make_engine(batch="submit", budget=budget)
    with pytest.raises(BudgetExceededError, match=r"the (cap|budget) of .* was reached"):
        attempts_of(engine, model, prompts)
    with pytest.raises(BudgetExceededError, match="in batch batch_1"):
        attempts_of(engine, model, prompts[:5])
    assert [len(batch.requests) for batch in server.batches.values()] == [5]


@pytest.mark.parametrize("model", PROVIDERS[1:], indirect=True)
def test_results_on_another_host_are_not_fetched(make_engine: MakeEngine, server: Batches, model: Model) -> None:
    """Check that the key is not sent to another host."""
    server.at_once, server.results_host = True, "http://elsewhere.test"
    (error,) = {attempt.error for attempt in attempts_of(make_engine(batch="wait"), model)}
    results = "http://elsewhere.test/v1/messages/batches/batch_1/results"
    assert f"are at {results}, which is not the server that was named" in str(error)
