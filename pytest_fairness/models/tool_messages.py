"""Conversations with tools in the forms of the providers' protocols.

Calls have no ids of their own: each is numbered by its position in the conversation, in a form that every provider
accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.items import Message, Prompt
from pytest_fairness.core.message_roles import STATE, TOOL, TOOL_CALLS
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tools import calls_from_json

_CHAT, _RESPONSES, _MESSAGES = "chat", "responses", "messages"
"""The names of the protocols in the stored state of an answer."""
_EXTRA = "extra_content"
"""The field of a call in which Gemini signs its thoughts."""
_RETURNED = ("reasoning_content", "reasoning_details", _EXTRA)
"""Fields of a message with calls that DeepSeek, OpenRouter and Gemini require in the next request."""


def chat_tools(prompt: Prompt) -> dict[str, Any]:
    """Return the tools of a prompt in the form of chat completions; empty for a prompt without tools."""
    tools = [{"type": "function", "function": tool.to_json()} for tool in prompt.tools]
    return {"tools": tools} if tools else {}


def responses_tools(prompt: Prompt) -> dict[str, Any]:
    """Return the tools of a prompt in the form of the Responses API, without the strict mode that is its default."""
    tools = [{"type": "function", **tool.to_json(), "strict": False} for tool in prompt.tools]
    return {"tools": tools} if tools else {}


def anthropic_tools(prompt: Prompt) -> dict[str, Any]:
    """Return the tools of a prompt in the form of the messages API."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
        for tool in prompt.tools
    ]
    return {"tools": tools} if tools else {}


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation in the form of chat completions: calls are part of the assistant's message."""
    sent: list[dict[str, Any]] = []
    for message, calls in _messages_with_calls(messages):
        if message["role"] == TOOL_CALLS:
            state: tuple[dict[str, Any], list[dict[str, Any] | None]] = _state_of(message, _CHAT) or ({}, [])
            message_fields, call_fields = state
            functions = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": _name(call), "arguments": json.dumps(_object(call))},
                    **(extra or {}),
                }
                for (call_id, call), extra in zip_longest(calls, call_fields)
            ]
            if not sent or sent[-1]["role"] != "assistant":
                sent.append({"role": "assistant", "content": None})
            sent[-1] |= {**message_fields, "tool_calls": functions}
        elif message["role"] == TOOL:
            sent.append({"role": "tool", "tool_call_id": calls[0][0], "content": message["content"]})
        else:
            sent.append(dict(message))
    return sent


def responses_items(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation in the form of the Responses API: calls and results are separate items."""
    sent: list[dict[str, Any]] = []
    for message, calls in _messages_with_calls(messages):
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
    """Return a conversation in the form of the messages API: calls and results are blocks, results of the user."""
    sent: list[dict[str, Any]] = []
    for message, calls in _messages_with_calls(messages):
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
    """Return the fields of a message with calls that Gemini, DeepSeek and OpenRouter require back; None without any."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return None
    message_fields = {name: message[name] for name in _RETURNED if message.get(name) is not None}
    call_fields = [
        {_EXTRA: call[_EXTRA]} if isinstance(call, Mapping) and call.get(_EXTRA) is not None else None for call in calls
    ]
    if not calls or not (message_fields or any(call_fields)):
        return None
    return json.dumps({_CHAT: [message_fields, call_fields]})


def responses_state(output: Sequence[Mapping[str, Any]], *, is_kept: bool) -> str | None:
    """Return the output items of a response with tool calls and reasoning, which the next request must repeat.

    Args:
        output: The items.
        is_kept: Whether the provider stores them: else reasoning cannot be sent by its id alone.
    """
    items = [
        {name: value for name, value in item.items() if value is not None}
        for item in output
        if item.get("type") != "reasoning" or is_kept or item.get("encrypted_content") or item.get("content")
    ]
    kinds = {item.get("type") for item in items}
    return json.dumps({_RESPONSES: items}) if {"reasoning", "function_call"} <= kinds else None


def anthropic_state(blocks: Sequence[Mapping[str, Any]], *, thinks: bool) -> str | None:
    """Return the blocks of a message with tool calls, which the next request must repeat if the model thinks.

    Args:
        blocks: The blocks.
        thinks: Whether the request enabled thinking: a later step of a turn need not have any.
    """
    kinds = {block.get("type") for block in blocks}
    if "tool_use" not in kinds or not (thinks or kinds & {"thinking", "redacted_thinking"}):
        return None
    return json.dumps(
        {_MESSAGES: [block for block in blocks if block.get("type") != "text" or (block.get("text") or "").strip()]}
    )


def _state_of(message: Message, protocol: str) -> Any:
    """Return the stored state of a message with calls; None where it has none of this protocol."""
    return json.loads(message[STATE]).get(protocol) if STATE in message else None


def _messages_with_calls(messages: Sequence[Message]) -> Iterator[tuple[Message, list[tuple[str, ToolCall]]]]:
    """Yield each message with the ids and calls that it holds, or with the one call that it is the result of."""
    count = 0
    pending: list[tuple[str, ToolCall]] = []
    for message in messages:
        if message["role"] == TOOL_CALLS:
            calls = calls_from_json(json.loads(message["content"]))
            ids = _own_ids(message) or [f"call{count + index:05}" for index in range(len(calls))]  # Mistral takes nine
            pending = list(zip(ids, calls, strict=True))
            count += len(calls)
            yield message, list(pending)
        elif message["role"] == TOOL:
            yield message, [pending.pop(0) if pending else (f"call{count:05}", ToolCall(""))]
        else:
            yield message, []


def _own_ids(message: Message) -> list[str]:
    """Return the provider's ids of the calls of a message with stored state; else none."""
    parts = _state_of(message, _RESPONSES) or _state_of(message, _MESSAGES) or ()
    return [part.get("call_id") or part["id"] for part in parts if part["type"] in ("function_call", "tool_use")]


def _add_blocks(sent: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the last message if it has this role, else as a new message."""
    if not sent or sent[-1]["role"] != role:
        sent.append({"role": role, "content": []})
    content = sent[-1]["content"]
    before = [{"type": "text", "text": content}] if isinstance(content, str) else content
    sent[-1]["content"] = [*before, *blocks]


def _object(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of an earlier call as an object, which servers require: malformed ones become a field."""
    return {"malformed": call.arguments} if isinstance(call.arguments, str) else dict(call.arguments)


def _name(call: ToolCall) -> str:
    """Return the name of an earlier call, in the characters that servers accept."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unnamed"
