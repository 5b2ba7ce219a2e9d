"""Models that are applications in Python: any callable, sync or async, from a text or messages to a text."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, PermanentError, TransientError, text_of
from pytest_fairness.core.event_loops import timeout
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.secrets import redacted, secrets_in
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.threads import DaemonThreads
from pytest_fairness.models.tool_messages import chat_messages

_KINDS = {int: "a whole number", float: "a number of seconds"}
_LISTS = (list, tuple, Sequence, Iterable)
_LIST_WORDS = re.compile(r"(?:[\w.]+\.)?(list|List|tuple|Sequence|Iterable)\b")


class FunctionModel:
    """A callable as a model.

    Its argument is the text of the prompt, after system messages and a blank line; or, if its first parameter is
    named ``messages`` or annotated as a list, all messages as a list of dicts. It returns a text, or an `Answer`. A
    prompt with tools requires an `Answer`, whose ``actions`` are its tool calls. A parameter named ``tools`` receives
    the tools as a list of dicts; an application with its own tools needs none. It runs in its own threads. An async
    callable runs in an event loop that all of them share, so that it blocks no other model.

    A process makes one call at a time, since the callable may hold state between calls; its attribute
    ``fairness_concurrency``, or the context, allows more. The timeout of a call is its attribute ``fairness_timeout``,
    or that of the context.

    Stored answers are used by their own run or session only, since nothing shows whether an application has changed.
    Those of a callable with an attribute ``fairness_version`` are used until that version changes. An empty text is
    no version.

    Args:
        function: The callable.
        run: The run, or session.
        context: The run's settings for models.
        made_by: A text that distinguishes callables from the same factory function.
        title: The name of the model that it wraps.
        label: A text that distinguishes such callables in their names.

    Raises:
        FairnessError: An attribute is not a number above 0.
    """

    local, in_process = False, True
    calls_tools = True

    def __init__(
        self,
        function: Callable[..., Any],
        run: str,
        context: ModelContext | None,
        *,
        made_by: str = "",
        title: str | None = None,
        label: str = "",
    ) -> None:
        context = context or ModelContext()
        name = f"function:{_title(function)}"
        labeled = f"{name}@{label}" if label and f".{label}." not in name else name
        self.name = labeled if title is None else f"{title} through {labeled}"
        version = getattr(function, "fairness_version", None)
        version = None if version == "" else version  # a variable of CI that is not set
        factory = f"&made_by={made_by}" if made_by else ""
        self.key = (f"{name}?run={run}" if version is None else f"{name}?version={version}") + factory
        self.unversioned = f"{name}{factory}" if version is None else ""
        """The name of an application without a version, the same in every run; empty for one with a version."""
        self._version = None if version is None else str(version)
        self.in_flight: int = _number(function, "fairness_concurrency", int) or context.calls
        self._timeout: float = _number(function, "fairness_timeout", float) or context.timeout
        self._function = function
        self._takes_messages = _takes_messages(function)
        self._takes_tools = _takes_tools(function)
        self._is_async = _is_async(function)
        self._environment = context.environment
        self._threads, self._loop = DaemonThreads(self.in_flight, "fairness-model"), context.loop

    def __repr__(self) -> str:
        return f"FunctionModel({self.name!r})"

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:  # noqa: ARG002
        """Return the answer to one prompt, by one call.

        Raises:
            PermanentError: The callable raised an exception, or returned no text.
            TransientError: It timed out, or a request of its own met a rate limit or no server.
            FatalError: Earlier calls have not ended.
            ModelError: The callable itself raised it.
        """
        argument = chat_messages(prompt.conversation) if self._takes_messages else self._text(prompt)
        tools = {"tools": [tool.to_json() for tool in prompt.tools]} if self._takes_tools else {}
        started = Clock.perf_counter()
        call = _Call(functools.partial(self._function, argument, **tools))
        try:
            async with timeout(self._timeout):
                if not self._is_async:
                    await self._threads.run(call.begin)
                if self._is_async or inspect.isawaitable(call.value):  # a plain function may return a coroutine
                    await self._loop.run(call.finish)
        except TimeoutError:
            if not call.is_begun:
                raise FatalError(
                    f"{self.name} was not called: calls before it have not ended, after more than {self._timeout:g} s; "
                    "give its own requests a timeout"
                ) from None
            raise TransientError(
                f"{self.name} took longer than {self._timeout:g} s: its attribute `fairness_timeout` allows more",
                sent=True,
                kind="timeout",
            ) from None
        if call.error is not None:
            raise self._failure(call.error)
        value = call.value
        if isinstance(value, Answer):
            return value if value.served_by is not None else replace(value, served_by=self._version)
        if not isinstance(value, str):
            raise PermanentError(f"{self.name} returned a {type(value).__name__}: it must return a text or an Answer")
        if prompt.tools:  # no calls would count as a decision, of an application that cannot report any
            raise PermanentError(
                f"{self.name} returned a text, and the probe is about calls of tools: return "
                "Answer(text, actions=[ToolCall(name, arguments)]), with an empty list where there is none"
            )
        return Answer(value, latency=Clock.perf_counter() - started, served_by=self._version)

    async def close(self) -> None:
        """End its threads after their current calls."""
        self._threads.close()
        self._loop.close()

    def _failure(self, error: BaseException) -> ModelError:
        """Return the model's error for any exception of the application, even one that would end the process."""
        if isinstance(error, ModelError):
            return error
        from pytest_fairness.models.http_errors import transient_error

        reason = redacted(" ".join(text_of(error).split()), secrets_in(self._environment))
        message = f"{self.name} raised {type(error).__name__}: {reason}".rstrip(": ")
        return transient_error(error, message) or PermanentError(message)

    def _text(self, prompt: Prompt) -> str:
        if len(prompt.conversation) == 1:
            return prompt.text
        *system, last = prompt.conversation
        if last["role"] != "user" or any(message["role"] != "system" for message in system):
            roles = ", ".join(message["role"] for message in prompt.conversation)
            raise PermanentError(
                f"{self.name} takes a text, and a prompt is a conversation ({roles}): "
                "call its first parameter 'messages' to be given them all"
            )
        return "\n\n".join(message["content"] for message in prompt.conversation)


class _Call:
    """One call of an application, in a thread for it, with its value or its error."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.is_begun = False
        self.value: Any = None
        self.error: BaseException | None = None

    def begin(self) -> None:
        """Call the function."""
        self.is_begun = True
        try:
            self.value = self._function()
        except BaseException as error:  # noqa: BLE001 - also sys.exit() and pytest.fail() inside of it
            self.error = error

    async def finish(self) -> None:
        """Await the value, after calling the function if `begin` has not."""
        if not self.is_begun:
            self.begin()
        try:
            if inspect.isawaitable(self.value):
                self.value = await self.value
        except BaseException as error:  # noqa: BLE001 - also its own cancellation
            self.error = error


def _number(function: Callable[..., Any], name: str, kind: type) -> Any:
    """Return an attribute of the callable that is a number above 0; None where it has none."""
    value = getattr(function, name, None)
    if value is not None and not (type(value) in (int, kind) and 0 < value < math.inf):
        raise FairnessError(f"{name} of {_title(function)} is {value!r:.60}: it must be {_KINDS[kind]} above 0")
    return value


def _title(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    definition = function if hasattr(function, "__qualname__") else type(function)
    title = f"{definition.__module__}.{definition.__qualname__}"
    return re.sub(r"[^\w.]+", "", title, flags=re.ASCII)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _takes_tools(function: Callable[..., Any]) -> bool:
    try:
        return "tools" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin without a signature
        return False


def _takes_messages(function: Callable[..., Any]) -> bool:
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):  # a builtin without a signature
        return False
    if first is None:
        return False
    if first.name == "messages":
        return True
    annotation = first.annotation
    if isinstance(annotation, str):
        try:
            annotation = get_type_hints(function)[first.name]
        except Exception:  # noqa: BLE001  # a name that exists for type checkers only
            return _LIST_WORDS.match(first.annotation) is not None
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return str not in kinds and any(kind in _LISTS or get_origin(kind) in _LISTS for kind in kinds)
