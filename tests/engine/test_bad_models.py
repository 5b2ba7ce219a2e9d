"""Whatever a model returns or raises, every wait ends: with an answer, or with the error of its attempt."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.engine import dispatcher
from pytest_fairness.engine import engine as engine_module
from pytest_fairness.engine.answer_checks import LONGEST, check_answer
from pytest_fairness.engine.budget import Budget, Caps
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import BudgetExceededError, RunStoppedError
from pytest_fairness.engine.requests import build_requests
from pytest_fairness.engine.retries import Retries
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.custom_model import as_model
from pytest_fairness.store.store import Store
from tests.engine.conftest import MakeEngine
from tests.helpers.deadlines import wait_until
from tests.helpers.engine_models import CountingModel
from tests.helpers.examples import examples

Does = Callable[[], Any]


class Own(CountingModel):
    """A model class of a user, which returns or raises what it likes."""

    def __init__(self, does: Does, key: str) -> None:
        super().__init__(key=key, name=key)
        self.does = does

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        await asyncio.sleep(0)
        value: Answer = self.does()
        return value


class Text(str):
    """A subclass of `str`, as template engines return."""


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def test_text_of_a_subclass_is_stored_as_plain_text() -> None:
    assert type(check_answer(Answer(Text("Yes")), "own").text) is str


def attempt_of(engine: Engine, model: Any) -> Attempt:
    """Return the attempt, which must come to an end."""
    attempts: list[Attempt] = []
    thread = threading.Thread(
        target=lambda: attempts.extend(engine.attempts(build_requests([Prompt("Who?")], model, 1)))
    )
    thread.start()
    thread.join(30)
    assert attempts, "it hangs, or the engine has ended"
    return attempts[0]


anything = st.one_of(
    st.none(), st.text(st.characters(), max_size=5), st.binary(max_size=3), st.integers(), st.floats(), st.booleans(),
    st.lists(st.integers(), max_size=2), st.just(Text("Yes")), st.just("\ud83d"), st.just(object()),
    st.dictionaries(st.text(max_size=3) | st.integers(), st.integers() | st.floats() | st.none(), max_size=2),
)  # fmt: skip
answers = st.builds(Answer, anything, anything, anything, anything, anything, anything)
nearly = st.one_of(
    *(
        st.builds(lambda name, value: Answer(**{"text": "Yes", name: value}), st.just(field), anything)
        for field in ("text", "finish_reason", "reasoning", "usage", "latency", "served_by")
    )
)
raised = st.one_of(
    st.sampled_from([
        asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), StopIteration("x"),
        StopAsyncIteration(), TimeoutError(), BaseException("base"), UnprintableError(),
        pytest.skip.Exception("no key"),
        pytest.fail.Exception("inside"), MemoryError(), RecursionError(), FatalError("401"), PermanentError("\ud83d"),
        ExceptionGroup("several", [ValueError("one")]), FairnessError("of ours"), BudgetExceededError("of ours"),
    ]),
    st.builds(lambda wait, kind: TransientError("500", retry_after=wait, kind=kind), anything.filter(
        lambda wait: not isinstance(wait, int | float) or not 0.1 < wait <= 600), anything),
)  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    store = Store(tmp_path_factory.mktemp("bad") / "store.sqlite")
    store.runs.start("run")
    engine = Engine(store, "run", retries=Retries(tries=2, first_wait=0.001))
    yield engine
    engine.close()
    store.close()


names = (f"test:{number}" for number in count())


def _raises(error: BaseException) -> Does:
    def does() -> Any:
        raise error

    return does


@examples(150, suppress=HealthCheck.function_scoped_fixture)
@given(
    does=st.one_of(
        *((strategy.map(lambda value: lambda: value)) for strategy in (anything, answers, nearly)), raised.map(_raises)
    )
)
def test_attempt_ends_after_any_model_behavior(engine: Engine, does: Does) -> None:
    attempt = attempt_of(engine, Own(does, next(names)))
    assert (attempt.answer is None) != (attempt.error is None)
    if attempt.answer is not None:
        assert type(attempt.answer.text) is str
        assert all(type(number) is int for number in attempt.answer.usage.values())


@examples(80, suppress=HealthCheck.function_scoped_fixture)
@given(does=st.one_of(*((one.map(lambda value: lambda: value)) for one in (anything, nearly)), raised.map(_raises)),
       is_async=st.booleans())  # fmt: skip
def test_attempt_ends_after_any_application_behavior(engine: Engine, does: Does, *, is_async: bool) -> None:
    async def later(_: str) -> Any:
        return does()

    model = as_model(later if is_async else lambda _: does(), next(names))
    attempt = attempt_of(engine, model)
    assert (attempt.answer is None) != (attempt.error is None)


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (lambda: "Yes", "returned a str: answer() must return an Answer"),
        (lambda: None, "returned a NoneType: answer() must return an Answer"),
        (lambda: Answer(None), "returned an Answer whose text is None: it must be a text"),  # type: ignore[arg-type]
        (lambda: Answer(b"x"), "returned an Answer whose text is b'x': it must be a text"),  # type: ignore[arg-type]
        (lambda: Answer("Yes", reasoning=["a"]), "whose reasoning is ['a']: it must be a text"),  # type: ignore[arg-type]
        (_raises(asyncio.CancelledError()), "raised CancelledError"),
        (_raises(pytest.skip.Exception("no key")), "raised Skipped: no key"),
        (_raises(SystemExit(3)), "raised SystemExit: 3"),
        (_raises(KeyboardInterrupt()), "raised KeyboardInterrupt"),
    ],
)
def test_invalid_answer_is_reported_in_one_line(engine: Engine, does: Does, says: str) -> None:
    assert says in (attempt_of(engine, Own(does, next(names))).error or "")


def test_endless_answer_is_an_error(engine: Engine) -> None:
    """Regression: graders read each of 32 million characters, for minutes."""
    attempt = attempt_of(engine, Own(lambda: Answer("x" * (LONGEST + 1)), "long"))
    assert attempt.error == "long returned 2,000,001 characters: at most 2,000,000 are taken"


def test_invalid_token_counts_do_not_lose_the_answer(engine: Engine) -> None:
    odd = {"input": None, "output": 3, "reasoning": 1.5, 7: 7}
    free = {"input": 0, "output": 0, "reasoning": 0}  # of gateways that count nothing: it would lift a cap on money
    for usage, clean in [(odd, {"output": 3}), (None, {}), (object(), {}), (free, {"reasoning": 0})]:
        answer = attempt_of(engine, Own(lambda usage=usage: Answer("Yes", usage=usage), next(names))).answer  # type: ignore[misc]
        assert answer is not None
        assert answer.usage == clean


def test_task_canceled_by_its_model_ends_the_attempt(engine: Engine) -> None:
    def cancels() -> Answer:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return Answer("Yes")

    class Cancelled(Own):
        async def answer(self, prompt: Prompt, repetition: int) -> Answer:
            answer = self.does()
            await asyncio.sleep(0)
            return answer  # type: ignore[no-any-return]

    assert "canceled the task" in (attempt_of(engine, Cancelled(cancels, next(names))).error or "")
    assert attempt_of(engine, Own(lambda: Answer("Yes"), next(names))).answer


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_background_task_that_ends_the_loop_ends_the_wait(make_engine: MakeEngine, error: BaseException) -> None:
    async def background() -> None:
        raise error

    async def hangs(prompt: Prompt, repetition: int) -> str:
        tasks.append(asyncio.get_running_loop().create_task(background()))
        await asyncio.sleep(60)
        return ""

    tasks: list[asyncio.Task[None]] = []
    engine = make_engine()
    with pytest.raises(FairnessError, match=f"the engine failed: {type(error).__name__}"):
        engine.attempts(build_requests([Prompt("Who?")], CountingModel(hangs), 1))


def test_engine_error_in_a_request_ends_the_wait(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(Budget, "end", broken)
    engine = make_engine()
    with pytest.raises(FairnessError, match="the engine failed: RuntimeError: unexpected"):
        engine.attempts(build_requests([Prompt("Who?")], CountingModel(), 1))


def test_model_that_blocks_the_loop_does_not_delay_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def blocks(prompt: Prompt, repetition: int) -> str:
        begun.set()
        released.wait(30)
        return ""

    begun, released = threading.Event(), threading.Event()
    monkeypatch.setattr(engine_module, "CLOSING", 0.2)
    store = Store(tmp_path / "store.sqlite")
    engine = Engine(store, "run")
    engine.plan(build_requests([Prompt("Who?")], CountingModel(blocks), 1))
    assert begun.wait(10)
    engine.close(at_once=True)
    assert not released.is_set()
    released.set()
    engine._thread.join(10)
    store.close()


def test_all_models_are_closed_when_one_fails_to_close(make_engine: MakeEngine) -> None:
    class Stuck(CountingModel):
        async def close(self) -> None:
            raise OSError("device lost")

    models = [CountingModel(key="a"), Stuck(key="b"), CountingModel(key="c")]
    engine = make_engine()
    engine.attempts([ask for model in models for ask in build_requests([Prompt("Who?")], model, 1)])
    with pytest.raises(FairnessError, match="test:counting could not be closed: device lost"):
        engine.close()
    assert [model.closed for model in models] == [True, False, True]


def test_requests_in_flight_end_soon_after_the_time_cap(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "GRACE", 0.3)
    model = CountingModel(latency=60)
    engine = make_engine(budget=Budget(Caps(minutes=0.05)))
    with pytest.raises(BudgetExceededError, match=r"the cap of 0\.05 minutes was reached"):
        engine.attempts(build_requests([Prompt("Who?")], model, 1))
    engine.close()
    assert (model.requests, model.under_way) == (1, 0)
    assert [(entry.held, entry.errors) for entry in engine.store.spent("run")] == [(0, {"time over": 1})]


def test_blocked_async_application_blocks_itself_only(make_engine: MakeEngine) -> None:
    async def application(_: str) -> str:
        released.wait(30)
        return "Yes"

    released = threading.Event()
    engine, context = make_engine(), ModelContext()
    blocked = build_requests([Prompt("Who?")], as_model(application, "run", context), 1)
    engine.plan(blocked)
    assert engine.attempts(build_requests([Prompt("What?")], CountingModel(), 1))[0].answer
    released.set()
    assert engine.attempts(blocked)[0].answer


def test_requests_in_flight_end_soon_after_another_process_stops(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: a hung request reads nothing from the store, so it once did not see the stop."""
    monkeypatch.setattr(engine_module, "GRACE", 0.1)
    monkeypatch.setattr(engine_module, "STOP_INTERVAL", 0.05)
    model = CountingModel(latency=600)
    engine, other = (make_engine("run", "session") for _ in range(2))
    engine.plan(asks := build_requests([Prompt("Who?")], model, 1))
    wait_until(lambda: model.requests)
    other.stop()
    with pytest.raises(RunStoppedError, match="the run was stopped"):
        engine.attempts(asks)
    engine.close()
    assert (model.requests, model.under_way) == (1, 0)
