"""Tool calls of local weights: the forms that chat templates teach, and how calls are read from the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pytest_fairness import ToolCall
from pytest_fairness.extending import Message, chat_messages, message_roles
from pytest_fairness.extending import json_text as json

CallReader = Callable[[str], tuple[str, tuple[ToolCall, ...]]]
"""Returns the text of an answer without its calls, and the calls."""
_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_MISTRAL = "[TOOL_CALLS]"
_ARGUMENTS = "[ARGS]"
_PYTHON_TAG = "<|python_tag|>"


def call_reader(template: object) -> CallReader | None:
    """Return how calls are read from answers under a chat template; None where it offers no tools in a known form.

    Known are ``<tool_call>`` with JSON in it (Qwen, Hermes and others), ``[TOOL_CALLS]`` (Mistral), and a JSON object
    of name and parameters (Llama).

    Args:
        template: The text of the template, or by name where a tokenizer has several.
    """
    text = str(template.get("tool_use", "")) if isinstance(template, dict) else str(template or "")
    if "tools" not in text or "<function=" in text:
        return None
    if "<tool_call>" in text:
        return read_tagged
    if _MISTRAL in text:
        return read_mistral
    return read_llama if _PYTHON_TAG in text or '"parameters"' in text else None


def template_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as chat templates take it: the arguments of calls are mappings."""
    sent = chat_messages([message for message in messages if message["role"] != message_roles.TOOLS])
    for message in sent:
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        message["content"] = message["content"] or ""
    return sent


def read_tagged(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Read calls that stand in ``<tool_call>`` tags; what stands there and is no JSON is kept as text.

    >>> read_tagged('Fine.\\n<tool_call>\\n{"name": "grant", "arguments": {"days": 3}}\\n</tool_call>')
    ('Fine.', (ToolCall(name='grant', arguments={'days': 3}),))
    """
    return _TAGGED.sub("", text).strip(), tuple(_call(body) for body in _TAGGED.findall(text))


def read_mistral(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Read calls after ``[TOOL_CALLS]``: a JSON list, or a name, ``[ARGS]`` and JSON.

    >>> read_mistral('[TOOL_CALLS][{"name": "grant", "arguments": {"days": 3}}]')[1]
    (ToolCall(name='grant', arguments={'days': 3}),)
    >>> read_mistral('[TOOL_CALLS]grant[ARGS]{"days": 3}')[1]
    (ToolCall(name='grant', arguments={'days': 3}),)
    """
    before, *bodies = text.split(_MISTRAL)
    calls: list[ToolCall] = []
    for body in filter(None, map(str.strip, bodies)):
        name, separator, arguments = body.partition(_ARGUMENTS)
        listed = _json(body)
        if separator:
            calls.append(ToolCall.read(name.strip(), arguments.strip()))
        elif isinstance(listed, list):
            calls += [_call(json.dumps(entry)) for entry in listed]
        else:
            calls.append(_call(body))
    return before.strip(), tuple(calls)


def read_llama(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Read a call that is the whole text: a JSON object of name and parameters, several divided by semicolons.

    >>> read_llama('{"name": "grant", "parameters": {"days": 3}}')[1]
    (ToolCall(name='grant', arguments={'days': 3}),)
    >>> read_llama("I cannot do that.")
    ('I cannot do that.', ())
    """
    body = text.replace(_PYTHON_TAG, "").strip()
    if not body.startswith("{") or '"name"' not in body:
        return text.replace(_PYTHON_TAG, "").strip(), ()
    parts = [body] if isinstance(_json(body), dict) else re.split(r"\}\s*;\s*(?=\{)", body)
    whole = [*(part + "}" for part in parts[:-1]), parts[-1]]
    return "", tuple(map(_call, whole))


def _call(body: str) -> ToolCall:
    """Return the call that JSON holds; of a text that is none, a call without a name."""
    content = _json(body)
    if not isinstance(content, dict):
        name = re.search(r'"name"\s*:\s*"([^"]*)"', body)
        return ToolCall(name[1] if name else "", body)
    return ToolCall.read(content.get("name", ""), content.get("arguments", content.get("parameters")))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
