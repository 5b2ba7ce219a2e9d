"""Tools of prompts, and messages with tools and calls.

The tools of a prompt are its first message, with the role `TOOLS`. So they are part of an attempt's key, and an
answer without tools is never used for a prompt with them. Calls of earlier turns, and their results, are messages too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.message_roles import STATE, TOOL_CALLS, TOOLS
from pytest_fairness.core.tool_calls import ToolCall

MOST_TOOLS = 128
"""Largest number of tools of a prompt, which is that of OpenAI's API."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OUTCOME = ("result", "error", "seconds")
_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
_EXAMPLE = 'write Tool("grant", "Grants the request.", {"type": "object", "properties": {}})'


class NoToolsError(PermanentError):
    """A model takes no tools; it may answer prompts without tools."""


@explains_construction
@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    Args:
        name: 1 to 64 letters, digits, underscores and hyphens, as for OpenAI and Anthropic.
        description: Its effect, for the model.
        parameters: The JSON Schema of its arguments, of the type "object". Default: no arguments.

    Raises:
        FairnessError: An argument is not of this form.

    >>> Tool("grant", "Grants the request.").to_json()["parameters"]
    {'type': 'object', 'properties': {}}
    >>> Tool.from_json({"type": "function", "function": {"name": "grant", "description": "Grants it."}}).name
    'grant'
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NO_PARAMETERS)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise FairnessError(
                f"a tool is called {self.name!r:.80}: its name must have 1 to 64 letters, digits, _ and - only"
            )
        if not isinstance(self.description, str):
            raise FairnessError(f"the description of the tool {self.name!r} is {self.description!r:.60}: write a text")
        if not isinstance(self.parameters, Mapping) or self.parameters.get("type", "object") != "object":
            raise FairnessError(
                f"the parameters of the tool {self.name!r} are {self.parameters!r:.80}: write a JSON Schema of the "
                'type "object"'
            )
        if not isinstance(self.parameters.get("properties", {}), Mapping):
            raise FairnessError(f"the properties of the tool {self.name!r} are no mapping: name -> JSON Schema")
        try:
            json.dumps(self.parameters, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise FairnessError(f"the parameters of the tool {self.name!r} hold what is no JSON") from None
        object.__setattr__(self, "parameters", {"type": "object", "properties": {}, **self.parameters})

    def to_json(self) -> dict[str, Any]:
        """Return name, description and parameters."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, content: object) -> Tool:
        """Return the tool of a mapping: this form, or that of OpenAI or Anthropic.

        Args:
            content: ``name``, ``description`` and ``parameters`` (or ``input_schema``); or ``type`` "function" with
                these under ``function``, or beside it.

        Raises:
            FairnessError: The mapping is malformed.
        """
        if not isinstance(content, Mapping):
            raise FairnessError(f"a tool is {content!r:.80}: {_EXAMPLE}")
        fields = dict(content)
        if fields.pop("type", "function") != "function":
            raise FairnessError(f"a tool has the type {content['type']!r:.40}: only functions can be offered")
        if isinstance(fields.get("function"), Mapping):
            fields = {**fields.pop("function"), **fields}
        if "input_schema" in fields:
            fields["parameters"] = fields.pop("input_schema")
        if unknown := sorted(map(str, fields.keys() - {"name", "description", "parameters", "strict"})):
            raise FairnessError(f"a tool has the field {unknown[0]!r}: it has name, description and parameters")
        if "name" not in fields:
            raise FairnessError(f"a tool has no name: {_EXAMPLE}")
        parameters = fields.get("parameters")
        return cls(
            fields["name"], fields.get("description") or "", _NO_PARAMETERS if parameters is None else parameters
        )


def read_tools(declared: object) -> tuple[Tool, ...]:
    """Return tools from a list of `Tool` objects and mappings.

    Raises:
        FairnessError: An entry is no tool, or two tools have one name.
    """
    if isinstance(declared, str | Mapping) or not isinstance(declared, Iterable):
        raise FairnessError(f"tools are {declared!r:.80}: write a list; {_EXAMPLE}")
    tools = tuple(tool if isinstance(tool, Tool) else Tool.from_json(tool) for tool in declared)
    if not tools:
        raise FairnessError("tools are an empty list: name at least one, or leave it out")
    if len(tools) > MOST_TOOLS:
        raise FairnessError(f"{len(tools):,} tools are given: at most {MOST_TOOLS} can be offered")
    names = [tool.name for tool in tools]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise FairnessError(f"two tools are called {duplicate!r}: give each a name of its own")
    return tools


def tools_message(tools: Sequence[Tool]) -> dict[str, str]:
    """Return the message with the tools of a prompt; equal tools have the same text.

    >>> tools_message([Tool("lookup", "Zeigt die Größe.")])["content"][:55]
    '[{"name": "lookup", "description": "Zeigt die Größe.", '
    """
    content = json.dumps([tool.to_json() for tool in tools], ensure_ascii=False)
    return {"role": TOOLS, "content": content}


def calls_message(calls: Iterable[ToolCall], provider_state: str | None = None) -> dict[str, str]:
    """Return the message with the calls of a turn.

    Args:
        calls: The calls.
        provider_state: The provider's state of the answer with these calls. Keys of attempts do not contain it.

    >>> calls_message([ToolCall("lookup", {"city": "Köln"})])["content"]
    '[{"name": "lookup", "arguments": {"city": "Köln"}}]'
    """
    content = json.dumps([call.request for call in calls], ensure_ascii=False)
    state = {} if provider_state is None else {STATE: provider_state}
    return {"role": TOOL_CALLS, "content": content, **state}


def calls_from_json(content: object) -> tuple[ToolCall, ...]:
    """Return calls from a list of mappings with ``name`` and ``arguments``, and maybe the fields of an outcome.

    Raises:
        FairnessError: The list is malformed.
    """
    if not isinstance(content, list | tuple):
        raise FairnessError(f"actions are {content!r:.80}: write a list of calls, with name and arguments")
    calls = []
    for entry in content:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise FairnessError(f"an action is {entry!r:.80}: write its name and arguments")
        if unknown := sorted(map(str, entry.keys() - {"name", "arguments", *_OUTCOME})):
            raise FairnessError(
                f"an action has the field {unknown[0]!r}: it has name and arguments, and result, error or seconds"
            )
        call = ToolCall.read(entry["name"], entry.get("arguments"), **{name: entry.get(name) for name in _OUTCOME})
        if entry.get("seconds") is not None and call.seconds is None:
            raise FairnessError(f"the seconds of an action are {entry['seconds']!r:.40}: write a number from 0 up")
        calls.append(call)
    return tuple(calls)
