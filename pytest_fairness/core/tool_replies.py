"""Tool calls in replies, in the forms of the providers' protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_fairness.core.tool_calls import ToolCall

_MESSAGE_TYPES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
"""Roles by the types of LangChain's messages."""
_CALL_ITEMS = ("function_call", "function_call_output", "mcp_call", "file_search_call")
"""Types of output items of OpenAI's Responses API that are calls, or the results of calls."""
_TEXTS = ("text", "input_text", "output_text")
"""Types of parts of a message that are text."""


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
    if call.get("type") == "file_search_call":
        return _file_search(call)
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    arguments = next((inner[name] for name in ("arguments", "input", "parameters", "args") if name in inner), None)
    name = inner.get("name") or inner.get("tool") or (function if isinstance(function, str) else "")
    outcome = {**inner, **call}
    return ToolCall.read(
        name,
        arguments,
        result=outcome.get("result", outcome.get("output")),
        error=outcome.get("error"),
        seconds=outcome.get("seconds"),
    )


def application_calls(steps: Sequence[object]) -> tuple[ToolCall, ...]:
    """Return the calls among the steps of an application: calls, messages of a chat, or output items of a response.

    Results are found by the id of their call. Of messages, those after the last one of the user count: earlier ones
    are of earlier turns.

    >>> asks = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "lookup", "arguments": "{}"}}]}
    >>> application_calls([asks, {"role": "tool", "tool_call_id": "c1", "content": "7 May"}])
    (ToolCall(name='lookup', arguments={}, result='7 May'),)
    >>> application_calls([{"tool": "lookup", "output": "7 May"}])[0].result
    '7 May'
    """
    calls: list[ToolCall] = []
    indices: dict[str, int] = {}
    for step in steps:
        fields = step if isinstance(step, Mapping) else {}
        role = fields.get("role") or ("content" in fields and _MESSAGE_TYPES.get(str(fields.get("type"))))
        if role == "tool" or fields.get("type") == "function_call_output":
            outcome = _outcome(fields)
            index = indices.get(str(fields.get("tool_call_id") or fields.get("call_id")))
            if index is None:  # its call is not reported: counted all the same
                calls.append(ToolCall.read(fields.get("name") or "", None, **outcome))
            else:
                calls[index] = replace(calls[index], **outcome)
        elif role == "user":
            calls.clear()
            indices.clear()
        else:
            for entry in _calls_of_message(fields) if role else [step]:
                if isinstance(entry, Mapping) and (identity := entry.get("call_id") or entry.get("id")):
                    indices[str(identity)] = len(calls)
                calls.append(_chat_call(entry))
    return tuple(calls)


def _calls_of_message(message: Mapping[str, Any]) -> list[object]:
    """Return the entries for calls in a message of an assistant."""
    entries = [message.get("tool_calls") or [], message.get("invalid_tool_calls") or []]
    return [entry for own in entries for entry in (own if isinstance(own, list) else [own])]


def _outcome(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a call, or its error, in the message or the item with it."""
    content = _text(message.get("content", message.get("output")))
    is_error = message.get("status") == "error" or message.get("is_error") is True
    return {"error": str(content) or "error"} if is_error else {"result": content}


def _file_search(call: Mapping[str, Any]) -> ToolCall:
    """Return the retrieval in an output item of OpenAI's Responses API."""
    documents = [
        {"id": entry.get("file_id"), "text": entry.get("text"), "score": entry.get("score")}
        for entry in call.get("results") or ()
        if isinstance(entry, Mapping)
    ]
    return ToolCall.read("file_search", {"queries": call.get("queries")}, result=documents)


def _text(content: object) -> object:
    """Return the text of a message's content, which may be a list of parts; other values as they are."""
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(part, Mapping) and part.get("type") in _TEXTS for part in content):
        return "".join(str(part.get("text", "")) for part in content)
    return content


def responses_calls(output: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return the calls among the output items of a response, with the results of those that the service has executed.

    A search in files counts where the response has its results (``include=["file_search_call.results"]``).
    """
    return application_calls(
        [
            entry
            for entry in output
            if entry.get("type") in _CALL_ITEMS and (entry["type"] != "file_search_call" or entry.get("results"))
        ]
    )


def anthropic_calls(blocks: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return the calls among the blocks of a message."""
    return tuple(
        ToolCall.read(block.get("name", ""), block.get("input")) for block in blocks if block.get("type") == "tool_use"
    )
