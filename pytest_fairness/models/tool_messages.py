"""Prompts with tools in the forms of the protocols, and the calls in their replies.

Calls have no ids of their own: each is numbered by its place in the conversation, in a form that every provider takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_fairness.core.items import Message, Prompt
from pytest_fairness.core.tools import TOOL, TOOL_CALLS, ToolCall, calls_from_json


def chat_tools(prompt: Prompt) -> dict[str, Any]:
    """Return the tools of a prompt as a chat completion has them; empty for a prompt without."""
    tools = [{"type": "function", "function": tool.to_json()} for tool in prompt.tools]
    return {"tools": tools} if tools else {}


def responses_tools(prompt: Prompt) -> dict[str, Any]:
    """Return the tools of a prompt as the Responses API has them, without the strict mode that is its default."""
    tools = [{"type": "function", **tool.to_json(), "strict": False} for tool in prompt.tools]
    return {"tools": tools} if tools else {}


def anthropic_tools(prompt: Prompt) -> dict[str, Any]:
    """Return the tools of a prompt as the messages API has them."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
        for tool in prompt.tools
    ]
    return {"tools": tools} if tools else {}


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as a chat completion has it: calls belong to the message of the assistant."""
    sent: list[dict[str, Any]] = []
    for message, calls in _numbered(messages):
        if message["role"] == TOOL_CALLS:
            functions = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": _name(call), "arguments": json.dumps(_object(call))},
                }
                for call_id, call in calls
            ]
            if not sent or sent[-1]["role"] != "assistant":
                sent.append({"role": "assistant", "content": None})
            sent[-1]["tool_calls"] = functions
        elif message["role"] == TOOL:
            sent.append({"role": "tool", "tool_call_id": calls[0][0], "content": message["content"]})
        else:
            sent.append(dict(message))
    return sent


def responses_items(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as the Responses API has it: calls and results are items of their own."""
    sent: list[dict[str, Any]] = []
    for message, calls in _numbered(messages):
        if message["role"] == TOOL_CALLS:
            sent += [
                {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": _name(call),
                    "arguments": json.dumps(_object(call)),
                }
                for call_id, call in calls
            ]
        elif message["role"] == TOOL:
            sent.append({"type": "function_call_output", "call_id": calls[0][0], "output": message["content"]})
        else:
            sent.append(dict(message))
    return sent


def anthropic_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as the messages API has it: calls and results are blocks, results of the user."""
    sent: list[dict[str, Any]] = []
    for message, calls in _numbered(messages):
        if message["role"] == TOOL_CALLS:
            blocks = [
                {"type": "tool_use", "id": call_id, "name": _name(call), "input": _object(call)}
                for call_id, call in calls
            ]
            _add_blocks(sent, "assistant", blocks)
        elif message["role"] == TOOL:
            result = {"type": "tool_result", "tool_use_id": calls[0][0], "content": message["content"]}
            _add_blocks(sent, "user", [result])
        elif sent and sent[-1]["role"] == message["role"] and not isinstance(sent[-1]["content"], str):
            _add_blocks(sent, message["role"], [{"type": "text", "text": message["content"]}])
        else:
            sent.append(dict(message))
    return sent


def chat_calls(calls: object) -> tuple[ToolCall, ...]:
    """Return the calls of a message of a chat completion, in the forms that servers send them."""
    return tuple(_chat_call(call) for call in calls) if isinstance(calls, list) else ()


def _chat_call(call: object) -> ToolCall:
    if not isinstance(call, Mapping):
        return ToolCall.read(call, None)
    inner = call["function"] if isinstance(call.get("function"), Mapping) else call
    given = next((inner[name] for name in ("arguments", "input", "parameters", "args") if name in inner), None)
    return ToolCall.read(inner.get("name") or inner.get("tool") or "", given)


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


def _numbered(messages: Sequence[Message]) -> Iterator[tuple[Message, list[tuple[str, ToolCall]]]]:
    """Yield each message with the calls that it holds, or the one call that it is the result of, by their ids."""
    count = 0
    waiting: list[tuple[str, ToolCall]] = []
    for message in messages:
        if message["role"] == TOOL_CALLS:
            calls = calls_from_json(json.loads(message["content"]))
            waiting = [(f"call{count + index:05}", call) for index, call in enumerate(calls)]  # Mistral takes nine
            count += len(calls)
            yield message, list(waiting)
        elif message["role"] == TOOL:
            yield message, [waiting.pop(0) if waiting else (f"call{count:05}", ToolCall(""))]
        else:
            yield message, []


def _add_blocks(sent: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the last message where that is of this role, else as a message of their own."""
    if not sent or sent[-1]["role"] != role:
        sent.append({"role": role, "content": []})
    content = sent[-1]["content"]
    before = [{"type": "text", "text": content}] if isinstance(content, str) else content
    sent[-1]["content"] = [*before, *blocks]


def _object(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of an earlier call. Servers refuse what is no object: malformed ones stand under a name."""
    return {"malformed": call.arguments} if isinstance(call.arguments, str) else dict(call.arguments)


def _name(call: ToolCall) -> str:
    """Return the name of an earlier call, in the letters that servers take."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unnamed"
