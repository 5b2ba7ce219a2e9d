"""Applications in their frameworks as models: loading, building, and the steps of a run."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import new_class
from typing import Any, ClassVar

from pytest_fairness import Answer, FairnessError, ToolCall
from pytest_fairness.extending import (
    Clock,
    FatalError,
    FunctionModel,
    ModelContext,
    ModelName,
    PermanentError,
    describe_error,
    install,
    json_text,
    model_parameters,
)

Messages = Sequence[Mapping[str, Any]]
Respond = Callable[[Messages, Sequence[Mapping[str, Any]]], Awaitable[Answer]]
"""A function from the messages of a prompt and its tools to the answer of an application."""
_SETTINGS = ("fairness_version", "fairness_concurrency", "fairness_timeout")


class ApplicationModel(FunctionModel):
    """A model that is an application in a framework: ``PROVIDER:MODULE:ATTRIBUTE``.

    The attribute is the application, or a function that builds it, which is called for each prompt. The module is
    imported as it is in a test, or from the rootdir. Attributes ``fairness_version``, ``fairness_concurrency`` and
    ``fairness_timeout`` of it are those of a callable.

    Args:
        name: The name of the model.
        context: The run's settings for models.

    Raises:
        FairnessError: The framework is not installed, or the name leads to no application.
    """

    extra: ClassVar[str]
    """The extra that installs the framework."""
    requires: ClassVar[tuple[str, ...]]
    """The modules of the framework."""
    parameters: ClassVar[Mapping[str, Any]] = {}
    """The parameters of the name, with their kinds."""

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        parameters = model_parameters.read(name, self.parameters)
        if missing := [library for library in self.requires if find_spec(library) is None]:
            raise FairnessError(f"model {name}: {missing[0]} is not installed: {install(self.extra)}")
        target = _load(name, context.root)
        respond = self.respond_with(target, **parameters)
        super().__init__(respond, context.run, context)
        function, self.name = self.name, name.text
        joint = "&" if name.parameters else "?"
        self.key = self.key.replace(f"{function}?", f"{name.text}{joint}", 1)
        self.unversioned = name.text if self.unversioned else ""

    @classmethod
    @abstractmethod
    def respond_with(cls, target: Any, **parameters: Any) -> Respond:
        """Return the application as a function; the result has the attributes of `carry_settings`."""


def carry_settings(target: object, respond: Respond) -> Respond:
    """Return the function with the version, the concurrency and the timeout that the application declares."""
    for setting in _SETTINGS:
        if (value := getattr(target, setting, None)) is not None:
            setattr(respond, setting, value)
    return respond


async def build(target: Any, kinds: tuple[type, ...], noun: str) -> Any:
    """Return the application: the target itself, or what it builds.

    Args:
        target: An object of the framework, or a function that returns one, sync or async.
        kinds: The classes of the framework's objects.
        noun: What they are, for messages: "a compiled graph".

    Raises:
        FatalError: It is neither.
    """
    value = target
    if not isinstance(target, kinds) and callable(target):
        value = target()
        if inspect.isawaitable(value):
            value = await value
    if not isinstance(value, kinds):
        made = "" if value is target else " built"
        raise FatalError(
            f"the application{made} is a {type(value).__name__}: it must be {noun}, or a function that returns one"
        )
    return value


def check_messages(messages: Messages) -> None:
    """Raise `PermanentError` for messages with results of tools: an application executes its own."""
    if any(message["role"] == "tool" or message.get("tool_calls") for message in messages):
        raise PermanentError("an application executes its tools itself: leave results= out of the conversation")


class StepRecorder:
    """The steps of one run of an application as calls, in the order in which they begin.

    >>> steps = StepRecorder()
    >>> steps.begin("a", "look_up", {"id": 7})
    >>> steps.begin("b", "refuse", {})
    >>> steps.end("a", result="two months")
    >>> [(call.name, call.result, call.is_executed) for call in steps.calls]
    [('look_up', 'two months', True), ('refuse', None, False)]
    """

    def __init__(self) -> None:
        self._calls: dict[Hashable, ToolCall] = {}
        self._started: dict[Hashable, float] = {}

    def begin(self, key: Hashable, name: object, arguments: object) -> None:
        """Add a step under a key of its own."""
        self._calls[key] = ToolCall.read(name, arguments)
        self._started[key] = Clock.perf_counter()

    def end(self, key: Hashable, *, result: object = None, error: object = None) -> None:
        """Add the result of a step, or its error."""
        if key in self._calls:
            call = self._calls[key]
            seconds = Clock.perf_counter() - self._started[key]
            result = "" if result is None and error is None else plain_value(result)
            self._calls[key] = ToolCall.read(call.name, call.arguments, result=result, error=error, seconds=seconds)

    def seconds(self, key: Hashable) -> float | None:
        """Return the duration of a step; None for one that has not ended."""
        return self._calls[key].seconds if key in self._calls else None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The steps."""
        return tuple(self._calls.values())


class TokenCount:
    """The tokens of all replies of models in a run. A reply without a count leaves the sums unknown."""

    def __init__(self) -> None:
        self._totals: dict[str, int] | None = {}

    def add(self, **tokens: object) -> None:
        """Add the tokens of a reply: "input", "output" and, where known, "reasoning"."""
        counts = {name: count for name, count in tokens.items() if isinstance(count, int)}
        if self._totals is None or not {"input", "output"} <= counts.keys() or not any(counts.values()):
            self._totals = None
            return
        for name, count in counts.items():
            self._totals[name] = self._totals.get(name, 0) + count

    @property
    def totals(self) -> dict[str, int]:
        """The sums; empty where one is unknown."""
        return {name: count for name, count in (self._totals or {}).items() if count or name != "reasoning"}


@cache
def subclass(own: type, base: Any) -> Any:
    """Return a class of this package as a subclass of one of a framework, which may not be installed here."""
    return new_class(own.__name__, (own, base))


def plain_value(value: Any) -> Any:
    """Return a value of an application as text or a value of JSON.

    >>> plain_value({"at": (1, 2)}), plain_value(b"x")
    ({'at': [1, 2]}, "b'x'")
    """
    if value is None or isinstance(value, str):
        return value
    return json_text.loads(json_text.dumps(value, default=_plain_object))


def output_text(output: Any) -> str:
    """Return the final output of an application as text: an object is written as JSON.

    >>> output_text({"granted": True})
    '{"granted": true}'
    """
    if output is None or isinstance(output, str):
        return output or ""
    return json_text.dumps(plain_value(output), ensure_ascii=False)


def _plain_object(value: Any) -> Any:
    if callable(dump := getattr(value, "model_dump", None)):  # pydantic
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
    return str(value)


def _load(name: ModelName, root: Path) -> Any:
    """Return the attribute of a module that a name leads to."""
    module, colon, attribute = name.name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        raise FairnessError(
            f"model {name} names no application: write {name.provider}:MODULE:ATTRIBUTE, such as "
            f"{name.provider}:my_app:agent"
        )
    if str(root.resolve()) not in sys.path:
        sys.path.append(str(root.resolve()))  # last, so that it hides nothing that is installed
    try:
        target: Any = import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except Exception as error:
        raise FairnessError(f"model {name} cannot be loaded: {describe_error(error)}") from error
    return target
