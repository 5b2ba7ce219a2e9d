"""Tool calls in replies, in the forms of the providers' protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.core.tool_calls import ToolCall


def chat_calls(calls: object) -> tuple[ToolCall, ...]:
    """Return the calls of a message of a chat completion, in the forms that servers send them.

    Raises:
        TypeError: The value cannot be read: it may hold calls, so it must not count as none.
    """
    if not calls:
        return ()
    if not isinstance(calls, list | Mapping):
        raise TypeError
    return tuple(map(_chat_call, [calls] if isinstance(calls, Mapping) else calls))


def _chat_call(call: object) -> ToolCall:
    if not isinstance(call, Mapping):
        return ToolCall.read(call, None)
    inner = call["function"] if isinstance(call.get("function"), Mapping) else call
    arguments = next((inner[name] for name in ("arguments", "input", "parameters", "args") if name in inner), None)
    return ToolCall.read(inner.get("name") or inner.get("tool") or "", arguments)


def responses_calls(output: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return the calls among the output items of a response."""
    return tuple(
        ToolCall.read(entry.get("name", ""), entry.get("arguments"))
        for entry in output
        if entry.get("type") == "function_call"
    )


def anthropic_calls(blocks: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return the calls among the blocks of a message."""
    return tuple(
        ToolCall.read(block.get("name", ""), block.get("input")) for block in blocks if block.get("type") == "tool_use"
    )
