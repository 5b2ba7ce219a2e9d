"""Tool calls of models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.json_objects import is_number


@dataclass(frozen=True, slots=True, repr=False)
class ToolCall:
    """A model's call of a tool, or another step of an application: a retrieval, a hand-off to another agent.

    A call with a result or an error was executed by the application. The call of a retriever has the query as argument
    and the documents as result: a list of mappings with ``id``, and ``text`` and ``score`` where they are known.

    Args:
        name: The name in the model's reply, even where the prompt has no such tool.
        arguments: The arguments by name; or the model's text, where that is no JSON object.
        result: What the tool returned to the application: a text or a JSON value. None: not reported.
        error: Why the tool failed. None: it did not, or that is not reported.
        seconds: The duration of the execution, 0 or more. None: not reported.

    >>> ToolCall.read("refund", '{"amount": 20}')
    ToolCall(name='refund', arguments={'amount': 20})
    >>> ToolCall.read("refund", '{"amount": 20').arguments
    '{"amount": 20'
    >>> str(ToolCall("refund", {"amount": 20, "reason": "late"}))
    'refund(amount=20, reason="late")'
    >>> ToolCall("search", {"query": "rent"}, result=[{"id": "policy-7", "score": 0.8}]).summary
    'search(query="rent") = [{"id": "policy-7", "score": 0.8}]'
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    result: Any = None
    error: str | None = None
    seconds: float | None = None

    def __repr__(self) -> str:
        return f"ToolCall({', '.join(f'{name}={value!r}' for name, value in self.to_json().items())})"

    def __str__(self) -> str:
        if isinstance(self.arguments, str):
            return f"{self.name}({self.arguments})"
        arguments = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items())
        return f"{self.name}({', '.join(arguments)})"

    @classmethod
    def read(
        cls, name: object, arguments: object, *, result: object = None, error: object = None, seconds: object = None
    ) -> ToolCall:
        """Return the call in a reply; arguments that are no JSON object are stored as text.

        Args:
            name: The name of the tool.
            arguments: A mapping, its JSON, or any other value in the reply.
            result: Its result, if any; a value that JSON cannot hold is stored as text.
            error: Its error, if any: a text or any other value; false and empty ones are none.
            seconds: Its duration, if any; what is no number from 0 up is none.
        """
        tool = name if isinstance(name, str) else json.dumps(name, default=str)
        failure = None if not error else error if isinstance(error, str) else json.dumps(error, default=str)
        outcome: dict[str, Any] = {
            "result": result if result is None or isinstance(result, str) else _storable_value(result),
            "error": failure,
            "seconds": float(seconds) if is_number(seconds) and 0 <= seconds < math.inf else None,
        }
        if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
            return cls(tool, **outcome)
        content = _parse(arguments) if isinstance(arguments, str) else _plain(arguments)
        if isinstance(content, dict):
            return cls(tool, content, **outcome)
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
        return cls(tool, text, **outcome)

    @property
    def is_executed(self) -> bool:
        """Whether the application has executed the call: its result or its error is there."""
        return self.result is not None or self.error is not None

    @property
    def summary(self) -> str:
        """The call with its result or its error, as text.

        >>> ToolCall("refund", {"amount": 20}, error="no such order").summary
        'refund(amount=20) failed: no such order'
        """
        if self.error is not None:
            return f"{self} failed: {self.error}"
        if self.result is None:
            return str(self)
        result = self.result if isinstance(self.result, str) else json.dumps(self.result, ensure_ascii=False)
        return f"{self} = {result}"

    @property
    def request(self) -> dict[str, Any]:
        """Name and arguments: the part of the call that a model has written, and that is sent back to it."""
        arguments = self.arguments if isinstance(self.arguments, str) else dict(self.arguments)
        return {"name": self.name, "arguments": arguments}

    def to_json(self) -> dict[str, Any]:
        """Return name and arguments, and result, error and seconds where they are reported."""
        outcome = {"result": self.result, "error": self.error, "seconds": self.seconds}
        return self.request | {name: value for name, value in outcome.items() if value is not None}

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON; the model's text, where that is no JSON.

        >>> ToolCall("greet", {"name": "Zoë"}).arguments_text
        '{"name": "Zoë"}'
        """
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


def _parse(text: str) -> object:
    """Return the value of a JSON text; None where it is not JSON, or holds NaN."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _storable_value(value: object) -> object:
    """Return a copy of a value in the types of JSON; its text, where JSON cannot hold it."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _plain(arguments: object) -> object:
    """Return a copy of a mapping in the types of JSON; None for any other value."""
    if not isinstance(arguments, Mapping):
        return None
    try:
        return json.loads(json.dumps(dict(arguments), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
