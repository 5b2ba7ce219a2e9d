"""A team's own application as a model."""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model, is_likelihood_model
from pytest_fairness.models.callable_model import FunctionModel
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.custom_model import as_model
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.simulated import SimulatedModel

Ask = Callable[..., Answer]
CHAT = Prompt([{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Hi"}])
LONG = Prompt([*CHAT.messages, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And?"}])


def echo(text: str) -> str:
    return f"<{text}>"


async def async_echo(text: str) -> str:
    await asyncio.sleep(0)
    return f"<{text}>"


class Application:
    def __call__(self, text: str) -> str:
        return f"<{text}>"

    async def chat(self, text: str) -> str:
        return f"<{text}>"


class AsyncApplication:
    async def __call__(self, text: str) -> str:
        return f"<{text}>"


def hands_back_a_coroutine(text: str) -> Any:
    return async_echo(text)


def prefixed(prefix: str, text: str) -> str:
    return prefix + text


@pytest.mark.parametrize(
    "function",
    [
        echo,
        async_echo,
        lambda text: f"<{text}>",
        Application(),
        Application().chat,
        AsyncApplication(),
        hands_back_a_coroutine,
        functools.partial(echo),
        functools.partial(async_echo),
        "<{}>".format,
        lambda *texts: f"<{texts[0]}>",
    ],
)
def test_any_callable_answers(ask: Ask, function: Callable[..., Any]) -> None:
    model = as_model(function, "run-1")
    answer = ask(model, "Hi")
    assert answer.text == "<Hi>"
    assert answer.latency >= 0
    assert isinstance(model, Model)
    assert not model.local


def test_system_message_is_put_before_the_text(ask: Ask) -> None:
    assert ask(as_model(echo, "r"), CHAT).text == "<Be fair.\n\nHi>"


def test_conversation_needs_the_message_form(ask: Ask) -> None:
    with pytest.raises(PermanentError, match=r"conversation \(system, user, assistant, user\): call its first"):
        ask(as_model(echo, "r"), LONG)


def by_name(messages: Any) -> str:
    return f"{len(messages)} {messages[-1]['content']}"


def by_list(messages: list[dict[str, str]]) -> str:
    return by_name(messages)


def by_sequence(messages: Sequence[dict[str, str]]) -> str:
    return by_name(messages)


def by_optional_list(history: list[dict[str, str]] | None = None) -> str:
    return by_name(history or [])


def by_unresolvable(messages: list[OnlyForTypeCheckers]) -> str:  # type: ignore[name-defined]  # noqa: F821
    return by_name(messages)


async def by_async(messages: list[dict[str, str]]) -> str:
    messages.append({"role": "user", "content": "And?"})  # its own copy
    return by_name(messages)


class ByMethod:
    def __call__(self, messages: Any, prefix: str = "") -> str:
        return prefix + by_name(messages)


@pytest.mark.parametrize(
    "function",
    [by_name, by_list, by_sequence, by_optional_list, by_unresolvable, ByMethod(), ByMethod().__call__],
)
def test_callable_may_take_messages(ask: Ask, function: Callable[..., Any]) -> None:
    assert ask(as_model(function, "r"), LONG).text == "4 And?"


def test_messages_are_copies(ask: Ask) -> None:
    assert ask(as_model(by_async, "r"), CHAT).text == "3 And?"
    assert len(CHAT.messages) == 2


def test_answer_object_passes_through(ask: Ask) -> None:
    answer = Answer("No", "length", "Hm.", {"output": 1}, 2.0, "v2")
    assert ask(as_model(lambda _: answer, "r")) is answer


@pytest.mark.parametrize(("value", "kind"), [(None, "NoneType"), (3, "int"), (b"x", "bytes"), (["x"], "list")])
def test_value_that_is_no_text_is_named(ask: Ask, value: object, kind: str) -> None:
    with pytest.raises(PermanentError, match=f"returned a {kind}: it must return a text or an Answer"):
        ask(as_model(lambda _: value, "r"))


def _raises(error: BaseException) -> Callable[[str], str]:
    def application(_: str) -> str:
        raise error

    return application


def _raises_async(error: BaseException) -> Callable[[str], Any]:
    async def application(_: str) -> str:
        raise error

    return application


@pytest.mark.parametrize("application", [_raises, _raises_async])
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("bad\nthing"), "raised ValueError: bad thing"),
        (StopIteration("x"), "raised"),
        (SystemExit(3), "raised SystemExit: 3"),
        (pytest.fail.Exception("inside"), "raised Failed: inside"),
        (RuntimeError("key tok-en-value refused"), r"raised RuntimeError: key \[redacted\] refused"),
    ],
)
def test_exception_is_reported_in_one_line(
    ask: Ask, application: Callable[[BaseException], Callable[[str], Any]], error: BaseException, says: str
) -> None:
    context = ModelContext(environment={"APP_TOKEN": "tok-en-value"})
    with pytest.raises(PermanentError, match=says) as caught:
        ask(as_model(application(error), "r", context))
    assert "\n" not in str(caught.value)


def test_transient_error_of_the_application_is_kept(ask: Ask) -> None:
    with pytest.raises(TransientError, match="later"):
        ask(as_model(_raises(TransientError("later")), "r"))


class RateLimitError(Exception):
    """An exception like that of OpenAI's SDK."""

    status_code = 429

    def __init__(self, code: str = "rate_limit_exceeded") -> None:
        self.body = {"code": code}
        self.response = SimpleNamespace(headers={"Retry-After": "7"})


class HTTPStatusError(Exception):
    """An exception like that of httpx and requests."""

    def __init__(self, status: int) -> None:
        self.response = SimpleNamespace(status_code=status, headers={})


class ReadTimeout(TimeoutError):
    """An exception like that of httpx and requests."""


def _wrapped(cause: Exception) -> Exception:
    """Return the error wrapped, as frameworks do."""
    try:
        try:
            raise cause
        except Exception as error:
            raise RuntimeError("the chain failed") from error
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("error", "kind", "wait"),
    [
        (RateLimitError(), "429", 7.0),
        (_wrapped(RateLimitError()), "429", 7.0),
        (HTTPStatusError(503), "503", None),
        (ReadTimeout("slow"), "timeout", None),
        (_wrapped(ConnectionResetError("peer")), "dropped connection", None),
        (ConnectionRefusedError(111, "refused"), "no connection", None),
    ],
)
def test_temporary_error_inside_an_application_is_transient(
    ask: Ask, error: Exception, kind: str, wait: float | None
) -> None:
    """Regression: a rate limit behind the application was once the error of its item."""
    with pytest.raises(TransientError, match="raised") as caught:
        ask(as_model(_raises(error), "r"))
    assert (caught.value.kind, caught.value.retry_after) == (kind, wait)
    assert caught.value.rate_limited == (kind == "429")


@pytest.mark.parametrize("error", [HTTPStatusError(404), HTTPStatusError(401), RateLimitError("insufficient_quota")])
def test_lasting_error_inside_an_application_is_permanent(ask: Ask, error: Exception) -> None:
    with pytest.raises(PermanentError, match="raised"):
        ask(as_model(_raises(error), "r"))


def test_circular_chain_of_causes_is_read_once(ask: Ask) -> None:
    first, second = ValueError("one"), ValueError("two")
    first.__cause__, second.__cause__ = second, first
    with pytest.raises(PermanentError, match="raised ValueError: one"):
        ask(as_model(_raises(first), "r"))


@pytest.mark.parametrize("is_async", [False, True])
def test_hanging_call_times_out_and_ends_the_model(*, is_async: bool) -> None:
    release = threading.Event()

    async def blocks(text: str) -> str:
        return str(release.wait(30))

    function: Any = blocks if is_async else lambda _: str(release.wait(30))
    function.fairness_timeout = 0.1
    model = as_model(function, "r")

    async def answer_twice() -> None:
        with pytest.raises(
            TransientError, match=r"took longer than 0\.1 s: its attribute `fairness_timeout`"
        ) as caught:
            await model.answer(Prompt("x"), 0)
        assert caught.value.kind == "timeout"
        with pytest.raises(FatalError, match="was not called: calls before it have not ended"):
            await model.answer(Prompt("y"), 0)
        await model.close()

    asyncio.run(answer_twice())
    release.set()


def test_slow_async_call_is_canceled() -> None:
    ended: list[str] = []

    async def slow(text: str) -> str:
        try:
            await asyncio.sleep(0 if text == "fast" else 30)
        finally:
            ended.append(text)
        return text

    model = as_model(slow, "r", ModelContext(timeout=0.2))

    async def answer_twice() -> str:
        with pytest.raises(TransientError, match="took longer"):
            await model.answer(Prompt("slow"), 0)
        answer = await model.answer(Prompt("fast"), 0)
        await model.close()
        return answer.text

    assert asyncio.run(answer_twice()) == "fast"
    assert ended == ["slow", "fast"]


@pytest.mark.parametrize("name", ["fairness_concurrency", "fairness_timeout"])
@pytest.mark.parametrize("value", [0, -1, "8", True, float("nan"), float("inf")])
def test_invalid_attributes_are_refused(name: str, value: object) -> None:
    def application(text: str) -> str:
        return text

    setattr(application, name, value)
    with pytest.raises(FairnessError, match=f"{name} of .*application is {value!r}: it must be a .* above 0"):
        as_model(application, "r")


def test_answers_belong_to_their_run_without_a_version() -> None:
    assert as_model(echo, "run-1").key != as_model(echo, "run-2").key

    def versioned(text: str) -> str:
        return text

    versioned.fairness_version = "2026-01"  # type: ignore[attr-defined]
    first, second = as_model(versioned, "run-1").key, as_model(versioned, "run-2").key
    assert first == second
    versioned.fairness_version = "2026-02"  # type: ignore[attr-defined]
    assert as_model(versioned, "run-1").key != first
    versioned.fairness_version = ""  # type: ignore[attr-defined]  # of a variable that is not set
    assert as_model(versioned, "run-1").key != as_model(versioned, "run-2").key


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (echo, "echo"),
        (lambda text: text, "lambda"),
        (functools.partial(prefixed, "x"), "prefixed"),
        (Application(), "Application"),
        (Application().chat, "Application.chat"),
        (_raises(ValueError()), "_raises.locals.application"),
    ],
)
def test_name_fits_a_test_id(function: Callable[..., Any], name: str) -> None:
    assert as_model(function, "r").name == f"function:{__name__}.{name}"


def test_model_passes_through_and_other_objects_are_refused() -> None:
    model = as_model(echo, "r")
    assert as_model(model, "r") is model
    for wrong, says in [("gpt", "a str"), (None, "a NoneType"), (Application, "the class Application")]:
        with pytest.raises(FairnessError, match=f"the model is {says}: it must be a callable"):
            as_model(wrong, "r")
    with pytest.raises(FairnessError, match=r"the model has the name <Mock .*: give it texts"):
        as_model(Mock(), "r")


def test_wrapper_that_delegates_is_a_model() -> None:
    """Wrap a model by ``__getattr__``, which `isinstance` of a protocol overlooks from Python 3.12 on."""

    class Logged:
        def __init__(self, model: object) -> None:
            self.model = model

        def __getattr__(self, name: str) -> Any:
            return getattr(self.model, name)

    logged = Logged(SimulatedModel(ModelName.parse("simulated:x"), ModelContext()))
    assert as_model(logged, "r") is logged
    assert is_likelihood_model(logged)
    assert not is_likelihood_model(as_model(echo, "r"))


@pytest.mark.parametrize(("calls", "attribute", "bound"), [(1, None, 1), (4, None, 4), (1, 3, 3)])
def test_sync_calls_run_concurrently_up_to_the_bound(calls: int, attribute: int | None, bound: int) -> None:
    """Allow one call at a time by default: an application may keep its conversation on itself."""
    active = most = 0
    lock = threading.Lock()

    def slow(text: str) -> str:
        nonlocal active, most
        with lock:
            active += 1
            most = max(most, active)
        time.sleep(0.05)
        with lock:
            active -= 1
        return text

    slow.fairness_concurrency = attribute  # type: ignore[attr-defined]
    model = FunctionModel(slow, "r", ModelContext(concurrency=32, calls=calls))
    assert model.in_flight == bound

    async def all_at_once() -> list[str]:
        answers = await asyncio.gather(*[model.answer(Prompt(str(i)), 0) for i in range(12)])
        await model.close()
        return [answer.text for answer in answers]

    assert asyncio.run(all_at_once()) == [str(i) for i in range(12)]
    assert most == bound


def test_hanging_call_does_not_delay_a_canceled_run() -> None:
    release = threading.Event()
    model = as_model(lambda _: str(release.wait(30)), "r")

    async def cancelled() -> float:
        started = time.perf_counter()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.answer(Prompt("x"), 0), 0.05)
        await model.close()
        return time.perf_counter() - started

    assert asyncio.run(cancelled()) < 25
    release.set()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_process_ends_although_a_call_hangs() -> None:
    import subprocess

    code = (
        "import asyncio, time\n"
        "from pytest_fairness.models.custom_model import as_model\n"
        "from pytest_fairness.core.items import Prompt\n"
        "model = as_model(lambda text: time.sleep(60), 'r')\n"
        "async def main():\n"
        "    await asyncio.wait_for(model.answer(Prompt('x'), 0), 0.1)\n"
        "try:\n    asyncio.run(main())\nexcept TimeoutError:\n    print('left')\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert process.stdout.strip() == "left"
