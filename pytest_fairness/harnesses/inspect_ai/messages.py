"""Messages of inspect_ai as ours and back; tools are described, called and answered in the text.

Our models are sent texts with the roles system, user and assistant. So tools go the way that inspect_ai itself takes
for models without a tool interface (its handler of Llama 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_fairness import Answer, FairnessError
from pytest_fairness.extending import Message
from pytest_fairness.harnesses.inspect_ai.package import inspect_module, tool_handler

_TEXTS = ("text", "reasoning")
"""The types of content that can be sent, or left out as a model's own reasoning."""


def messages_of(messages: Sequence[Any], tools: Sequence[Any]) -> tuple[Message, ...]:
    """Return the messages that are sent for a conversation of inspect_ai.

    Raises:
        FairnessError: A message holds an image, or anything else that is not text.
    """
    handler = None
    if tools or any(message.role == "tool" or getattr(message, "tool_calls", None) for message in messages):
        handler = tool_handler()
        messages = handler.input_with_tools(list(messages), list(tools)) if tools else messages
    converted: list[Message] = []
    for message in messages:
        content = _content(message, handler)
        if message.role == "system" and converted and converted[-1]["role"] == "system":
            converted[-1] = {"role": "system", "content": f"{converted[-1]['content']}\n\n{content}"}
        else:
            converted.append({"role": "user" if message.role == "tool" else message.role, "content": content})
    return tuple(converted)


def refuse_media(messages: Sequence[Any]) -> None:
    """Raise `FairnessError` where a message holds anything but text."""
    for message in messages:
        for part in message.content if isinstance(message.content, list) else ():
            if part.type not in _TEXTS:
                raise FairnessError(f"a message holds {part.type} content: only text can be sent")


def output_of(answer: Answer, name: str, tools: Sequence[Any]) -> Any:
    """Return an answer as a `ModelOutput` of inspect_ai, with the tool calls that stand in its text."""
    model = inspect_module("model")
    if tools:
        message = tool_handler().parse_assistant_response(answer.text, list(tools))
    else:
        message = model.ChatMessageAssistant(content=answer.text, model=name, source="generate")
    stop_reason = "tool_calls" if message.tool_calls else "stop"
    used, written = answer.usage.get("input", 0), answer.usage.get("output", 0)
    usage = model.ModelUsage(input_tokens=used, output_tokens=written, total_tokens=used + written)
    choice = model.ChatCompletionChoice(message=message, stop_reason=stop_reason)
    return model.ModelOutput(model=name, choices=[choice], usage=usage)


def _content(message: Any, handler: Any) -> str:
    refuse_media([message])
    if handler is not None and message.role == "tool":
        return f"<tool_response>\n{handler.tool_message(message)['content']}\n</tool_response>"
    if handler is not None and message.role == "assistant":
        return str(handler.assistant_message(message)["content"])
    return str(message.text)
