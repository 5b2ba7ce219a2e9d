"""Prompts with tools in the forms of the protocols, and the calls in their replies.

Calls have no ids of their own: each is numbered by its place in the conversation, in a form that every provider takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pytest_fairness.core.items import Message, Prompt
from pytest_fairness.core.tools import STATE, TOOL, TOOL_CALLS, ToolCall, calls_from_json

_CHAT, _RESPONSES, _MESSAGES = "chat", "responses", "messages"
"""Protocols, by which the state of an answer is kept."""
_EXTRA = "extra_content"
"""The field of a call in which Gemini signs its thoughts."""
_RETURNED = ("reasoning_content", "reasoning_details", _EXTRA)
"""Fields of a message with calls that DeepSeek, OpenRouter and Gemini want back."""


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
            state: tuple[dict[str, Any], list[dict[str, Any] | None]] = _state_of(message, _CHAT) or ({}, [])
            of_message, of_calls = state
            functions = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": _name(call), "arguments": json.dumps(_object(call))},
                    **(extra or {}),
                }
                for (call_id, call), extra in zip_longest(calls, of_calls)
            ]
            if not sent or sent[-1]["role"] != "assistant":
                sent.append({"role": "assistant", "content": None})
            sent[-1] |= {**of_message, "tool_calls": functions}
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
            if items := _state_of(message, _RESPONSES):
                sent[-1:] = [] if sent[-1:] and sent[-1].get("role") == "assistant" else sent[-1:]
                sent += items
                continue
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
            if blocks := _state_of(message, _MESSAGES):
                sent[-1:] = [] if sent[-1:] and sent[-1]["role"] == "assistant" else sent[-1:]
            else:
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


def chat_state(message: Mapping[str, Any]) -> str | None:
    """Return what Gemini, DeepSeek and OpenRouter want back with the calls of a message; None where it has none."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return None
    of_message = {name: message[name] for name in _RETURNED if message.get(name) is not None}
    of_calls = [
        {_EXTRA: call[_EXTRA]} if isinstance(call, Mapping) and call.get(_EXTRA) is not None else None for call in calls
    ]
    return json.dumps({_CHAT: [of_message, of_calls]}) if calls and (of_message or any(of_calls)) else None


def responses_state(output: Sequence[Mapping[str, Any]], *, is_kept: bool) -> str | None:
    """Return the output items of a response with calls of tools and reasoning, which it wants back as they are.

    Args:
        output: The items.
        is_kept: Whether the provider keeps them: else it knows no reasoning by its id alone.
    """
    items = [
        {name: value for name, value in item.items() if value is not None}
        for item in output
        if item.get("type") != "reasoning" or is_kept or item.get("encrypted_content") or item.get("content")
    ]
    kinds = {item.get("type") for item in items}
    return json.dumps({_RESPONSES: items}) if {"reasoning", "function_call"} <= kinds else None


def anthropic_state(blocks: Sequence[Mapping[str, Any]], *, thinks: bool) -> str | None:
    """Return the blocks of a message with calls of tools, which are wanted back unchanged where the model thinks.

    Args:
        blocks: The blocks.
        thinks: Whether the request asked for thinking: a later step of a turn need not have any.
    """
    kinds = {block["type"] for block in blocks}
    if "tool_use" not in kinds or not (thinks or kinds & {"thinking", "redacted_thinking"}):
        return None
    return json.dumps({_MESSAGES: [block for block in blocks if block["type"] != "text" or block["text"].strip()]})


def _state_of(message: Message, protocol: str) -> Any:
    """Return what the provider wants back with the calls of a message; None where nothing of this protocol is kept."""
    return json.loads(message[STATE]).get(protocol) if STATE in message else None


def _numbered(messages: Sequence[Message]) -> Iterator[tuple[Message, list[tuple[str, ToolCall]]]]:
    """Yield each message with the calls that it holds, or the one call that it is the result of, by their ids."""
    count = 0
    waiting: list[tuple[str, ToolCall]] = []
    for message in messages:
        if message["role"] == TOOL_CALLS:
            calls = calls_from_json(json.loads(message["content"]))
            ids = _own_ids(message) or [f"call{count + index:05}" for index in range(len(calls))]  # Mistral takes nine
            waiting = list(zip(ids, calls, strict=True))
            count += len(calls)
            yield message, list(waiting)
        elif message["role"] == TOOL:
            yield message, [waiting.pop(0) if waiting else (f"call{count:05}", ToolCall(""))]
        else:
            yield message, []


def _own_ids(message: Message) -> list[str]:
    """Return the provider's ids of the calls of a message that goes back as it came; else none."""
    parts = _state_of(message, _RESPONSES) or _state_of(message, _MESSAGES) or ()
    return [part.get("call_id") or part["id"] for part in parts if part["type"] in ("function_call", "tool_use")]


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
