"""Messages of chats in the forms in which traces hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fairness.extending import json_text as json
from pytest_fairness.frameworks.traces.spans import entries, first_of, flatten, parsed

_ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_TEXT_FIELDS = ("content", "text", "message_content.text")
_MESSAGE_LISTS = ("messages", "choices", "generations")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call of a tool that a model has requested."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message."""

    role: str
    """``user``, ``assistant``, ``system``, ``tool``, or an unknown one."""
    text: str
    calls: tuple[RequestedCall, ...] = ()
    results: tuple[tuple[str, Any], ...] = ()
    """The results of tools that it holds, each with the id of its call."""
    finish_reason: str = ""


def read_messages(value: Any) -> list[ChatMessage] | None:
    """Return the messages in a value: a list, one message, an object with a list, or JSON of these; None without any.

    >>> [(message.role, message.text) for message in read_messages('[{"role": "user", "content": "Hi"}]')]
    [('user', 'Hi')]
    >>> read_messages({"messages": [{"type": "human", "content": [{"type": "text", "text": "Hi"}]}]})[0].text
    'Hi'
    >>> read_messages("Hi"), read_messages('{"question": "Hi"}')
    (None, None)
    """
    return _messages(parsed(value), 0)


def _messages(value: Any, depth: int) -> list[ChatMessage] | None:
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        parts = [_messages(entry, depth + 1) for entry in value]
        return [message for part in parts if part for message in part] if parts and all(parts) else None
    if not isinstance(value, Mapping):
        return None
    if isinstance(inner := value.get("kwargs"), Mapping) and isinstance(value.get("id"), list):  # of LangChain, dumped
        kind = str(value["id"][-1] if value["id"] else "").removesuffix("Chunk").removesuffix("Message").lower()
        return _messages({"type": kind, **inner}, depth + 1)
    if isinstance(value.get("message"), Mapping):
        reason = value.get("finish_reason")
        return _messages({**value["message"], **({"finish_reason": reason} if reason else {})}, depth + 1)
    for name in _MESSAGE_LISTS:
        if isinstance(value.get(name), list):
            return _messages(value[name], depth + 1)
    if _role(value) and any(name in value for name in ("content", "parts", "tool_calls", "contents")):
        return [_message(value)]
    return None


def indexed_messages(attributes: Mapping[str, Any], name: str) -> list[ChatMessage]:
    """Return messages of which each field is an attribute of its own, as of OpenInference and OpenLLMetry.

    >>> flat = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Hi"}
    >>> indexed_messages(flat, "llm.input_messages")[0].text
    'Hi'
    >>> indexed_messages({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi"}, "gen_ai.prompt")[0].role
    'user'
    """
    return [_message(entry) for entry in map(_without_prefix, entries(attributes, name)) if entry]


def _without_prefix(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("message."): value for name, value in fields.items()}


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role") or message.get("type") or ""
    return _ROLES.get(str(role).lower(), str(message.get("role") or ""))


def _message(message: Mapping[str, Any]) -> ChatMessage:
    texts: list[str] = []
    calls: list[RequestedCall] = []
    results: list[tuple[str, Any]] = []
    content = message.get("parts", message.get("content"))
    content = parsed(content) if isinstance(content, str) and content.startswith("[{") else content
    parts = content if isinstance(content, list) else [content]
    for part in (*parts, *entries(message, "contents")):
        _read_part(part, texts, calls, results)
    listed = message.get("tool_calls")
    flat = listed if isinstance(listed, list) else entries(message, "tool_calls")
    calls += [call for entry in flat if isinstance(entry, Mapping) and (call := _call(entry))]
    if isinstance(legacy := message.get("function_call"), Mapping):
        calls += [call for call in [_call(legacy)] if call]
    role = _role(message)
    text = "\n".join(texts)
    if role == "tool" and not results:
        results.append((str(first_of(message, ("tool_call_id", "id")) or ""), text))
    reason = first_of(message, ("finish_reason", "stop_reason"))
    return ChatMessage(role, text, tuple(calls), tuple(results), str(reason or ""))


def _read_part(part: Any, texts: list[str], calls: list[RequestedCall], results: list[tuple[str, Any]]) -> None:
    """Add what a part of a message holds; reasoning, images and files are no text of it."""
    if isinstance(part, str):
        texts.append(part)
    if not isinstance(part, Mapping):
        return
    kind = str(part.get("type") or part.get("message_content.type") or "text")
    if kind in ("tool_call", "tool_use", "function_call"):
        calls += [call for call in [_call(part)] if call]
    elif kind in ("tool_call_response", "tool_result"):
        result = first_of(part, ("response", "result", "content"))
        results.append((str(first_of(part, ("id", "tool_use_id", "tool_call_id")) or ""), result))
    elif kind in ("text", "input_text", "output_text") and isinstance(text := first_of(part, _TEXT_FIELDS), str):
        texts.append(text)


def _call(fields: Mapping[str, Any]) -> RequestedCall | None:
    """Return a requested call in the forms of providers, of OpenInference and of OpenLLMetry; None without a name."""
    flat = flatten(fields)
    flat = {name.removeprefix("tool_call."): value for name, value in flat.items()}
    name = first_of(flat, ("function.name", "name"))
    if not isinstance(name, str):
        return None
    inner = fields.get("function")
    nested = inner if isinstance(inner, Mapping) else fields
    arguments = next((nested[key] for key in ("arguments", "args", "input") if nested.get(key) not in (None, "")), None)
    if arguments is None:
        arguments = first_of(flat, ("function.arguments", "arguments"))
    return RequestedCall(str(flat.get("id") or ""), name, arguments)


def text_of(value: Any) -> str | None:
    """Return the text of a value that may be one, a message, or an object with one text; JSON of any other.

    >>> text_of("Hi"), text_of('{"output": "Hi"}'), text_of({"a": 1, "b": 2}), text_of(None)
    ('Hi', 'Hi', '{"a": 1, "b": 2}', None)
    >>> text_of([{"role": "assistant", "content": "Hi"}])
    'Hi'
    """
    content = parsed(value)
    if content is None or content == "":
        return None
    if messages := read_messages(content):
        last = messages[-1]
        return last.text or None
    while isinstance(content, Mapping) and len(content) == 1 and isinstance(one := next(iter(content.values())), str):
        content = one
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)


def last_turn(messages: Iterable[ChatMessage]) -> list[dict[str, str]]:
    """Return the messages of the system, the user and the assistant with a text, up to the user's last one.

    >>> last_turn([ChatMessage("user", "Hi"), ChatMessage("assistant", "Yes?"), ChatMessage("tool", "7")])
    [{'role': 'user', 'content': 'Hi'}]
    """
    chat = [{"role": one.role, "content": one.text} for one in _chat(messages)]
    users = [number for number, message in enumerate(chat) if message["role"] == "user"]
    return chat[: users[-1] + 1] if users else []


def _chat(messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    for message in messages:
        if message.role in ("system", "user", "assistant") and message.text.strip():
            yield message
