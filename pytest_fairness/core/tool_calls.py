"""Tool calls of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core import json_text as json


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool.

    Args:
        name: The name in the model's reply, even where the prompt has no such tool.
        arguments: The arguments by name; or the model's text, where that is no JSON object.

    >>> ToolCall.read("refund", '{"amount": 20}')
    ToolCall(name='refund', arguments={'amount': 20})
    >>> ToolCall.read("refund", '{"amount": 20').arguments
    '{"amount": 20'
    >>> str(ToolCall("refund", {"amount": 20, "reason": "late"}))
    'refund(amount=20, reason="late")'
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)

    def __str__(self) -> str:
        if isinstance(self.arguments, str):
            return f"{self.name}({self.arguments})"
        arguments = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items())
        return f"{self.name}({', '.join(arguments)})"

    @classmethod
    def read(cls, name: object, arguments: object) -> ToolCall:
        """Return the call in a reply; arguments that are no JSON object are stored as text.

        Args:
            name: The name of the tool.
            arguments: A mapping, its JSON, or any other value in the reply.
        """
        tool = name if isinstance(name, str) else json.dumps(name, default=str)
        if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
            return cls(tool)
        content = _parse(arguments) if isinstance(arguments, str) else _plain(arguments)
        if isinstance(content, dict):
            return cls(tool, content)
        return cls(tool, arguments if isinstance(arguments, str) else json.dumps(arguments, default=str))

    def to_json(self) -> dict[str, Any]:
        """Return name and arguments."""
        arguments = self.arguments if isinstance(self.arguments, str) else dict(self.arguments)
        return {"name": self.name, "arguments": arguments}

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
