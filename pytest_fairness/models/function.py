"""A team's own application as a model: any callable, sync or async, from text or messages to text."""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, get_origin, get_type_hints

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, ModelError, PermanentError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.secrets import redacted, secrets_in
from pytest_fairness.models.threads import DaemonThreads

_LISTS = (list, tuple, Sequence, Iterable)
_LIST_WORDS = re.compile(r"(?:[\w.]+\.)?(list|List|tuple|Sequence|Iterable)\b")


class FunctionModel:
    """Wraps a callable.

    It is given the text of the prompt, system messages before it by a blank line; or, where its first
    parameter is called ``messages`` or annotated as a list, all messages as a list of dicts.
    It returns a text, or an `Answer`. A sync callable runs in a thread of its own.

    Its answers belong to the run that made them, since nobody can see whether an application changed;
    an attribute ``fairness_version`` on the callable lets them be kept until that version changes.
    ``made_by`` tells callables apart that one function has made; ``title`` is the model that it wraps.
    """

    local = False

    def __init__(
        self,
        function: Callable[..., Any],
        run: str,
        context: ModelContext | None = None,
        *,
        made_by: str = "",
        title: str | None = None,
    ) -> None:
        context = context or ModelContext()
        named = f"function:{_title(function)}"
        self.name = named if title is None else f"{title} through {named}"
        version = getattr(function, "fairness_version", None)
        key = f"{named}?run={run}" if version is None else f"{named}?version={version}"
        self.key = f"{key}&made_by={made_by}" if made_by else key
        self._function = function
        self._wants_messages = _wants_messages(function)
        self._is_async = _is_async(function)
        self._environment = context.environment
        self._threads = DaemonThreads(context.concurrency, "fairness-model")

    def __repr__(self) -> str:
        return f"FunctionModel({self.name!r})"

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:  # noqa: ARG002
        """Call the callable once.

        Raises `PermanentError` for an exception of the callable and for a value that is no text; a
        `TransientError` that the callable itself raises passes through, and is retried.
        """
        given = [dict(message) for message in prompt.messages] if self._wants_messages else self._text(prompt)
        started = perf_counter()
        try:
            if self._is_async:
                value = await self._function(given)
            else:
                value = await self._threads.run(self._function, given)
                if inspect.isawaitable(value):  # a plain function that hands back a coroutine
                    value = await value
        except (ModelError, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # also sys.exit() and pytest.fail() inside of it
            said = redacted(" ".join(str(error).split()), secrets_in(self._environment))
            raise PermanentError(f"{self.name} raised {type(error).__name__}: {said}") from error
        if isinstance(value, Answer):
            return value
        if not isinstance(value, str):
            raise PermanentError(f"{self.name} returned a {type(value).__name__}: it must return a text or an Answer")
        return Answer(value, latency=perf_counter() - started)

    async def close(self) -> None:
        """Let its threads end."""
        self._threads.close()

    def _text(self, prompt: Prompt) -> str:
        if len(prompt.messages) == 1:
            return prompt.text
        *system, last = prompt.messages
        if last["role"] != "user" or any(message["role"] != "system" for message in system):
            roles = ", ".join(message["role"] for message in prompt.messages)
            raise PermanentError(
                f"{self.name} takes a text, and a prompt is a conversation ({roles}): "
                "call its first parameter 'messages' to be given them all"
            )
        return "\n\n".join(message["content"] for message in prompt.messages)


def as_model(
    value: object, run: str, context: ModelContext | None = None, *, made_by: str = "", title: str | None = None
) -> Model:
    """The model that a ``model`` fixture returned: itself, or a wrapped callable.

    Raises `FairnessError` for anything else.
    """
    if isinstance(value, Model) and not isinstance(value, type):
        return value
    if callable(value) and not isinstance(value, type):
        return FunctionModel(value, run, context, made_by=made_by, title=title)
    shown = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
    raise FairnessError(f"the model is {shown}: it must be a callable from text to text, or have answer() and close()")


def _title(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    title = f"{named.__module__}.{named.__qualname__}"
    return re.sub(r"[^\w.]+", "", title, flags=re.ASCII)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _wants_messages(function: Callable[..., Any]) -> bool:
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
    return annotation in _LISTS or get_origin(annotation) in _LISTS
