"""Operations of spans by the conventions that name their attributes: OpenTelemetry's, OpenInference's, Langfuse's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.extending import is_number
from pytest_fairness.frameworks.traces.messages import ChatMessage, indexed_messages, read_messages, text_of
from pytest_fairness.frameworks.traces.spans import Attributes, Span, entries, first_of, flatten, parsed

MODEL, AGENT, TOOL, RETRIEVER, CHAIN = "model", "agent", "tool", "retriever", "chain"
ASIDE = "aside"
"""The kind of what is no part of the answer: evaluators, guardrails, embeddings, prompts."""
UNKNOWN = ""
_KINDS = {
    **dict.fromkeys(("llm", "generation", "chat", "text_completion", "generate_content", "completion"), MODEL),
    **dict.fromkeys(("agent", "invoke_agent", "workflow", "invoke_workflow"), AGENT),
    **dict.fromkeys(("tool", "execute_tool"), TOOL),
    **dict.fromkeys(("retriever", "retrieval"), RETRIEVER),
    **dict.fromkeys(("chain", "task", "span"), CHAIN),
    **dict.fromkeys(
        ("embedding", "embeddings", "guardrail", "evaluator", "reranker", "prompt", "event", "create_agent"), ASIDE
    ),
}
_KIND_NAMES = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "traceloop.span.kind",
    "langfuse.observation.type",
    "llm.request.type",
)
_INPUTS = ("input.value", "langfuse.observation.input", "traceloop.entity.input", "langfuse.trace.input")
_OUTPUTS = ("output.value", "langfuse.observation.output", "traceloop.entity.output", "langfuse.trace.output")
_REQUESTED = ("gen_ai.request.model",)
_SERVED = ("gen_ai.response.model", "llm.model_name", "langfuse.observation.model.name")
_PARAMETERS = "llm.invocation_parameters"
_TOKENS = {
    "input": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
}
_NUMBER = re.compile(r"\d{1,15}(?:\.\d+)?")
_USAGE = "langfuse.observation.usage_details"
_REDACTED = "__REDACTED__"
"""The text that OpenInference writes in place of a hidden value."""
_MESSAGE_EVENTS = ("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message")


@dataclass(slots=True)
class Step:
    """The operation of one span."""

    span: Span
    kind: str
    messages: list[ChatMessage] = field(default_factory=list)
    """The request, where it is a chat."""
    request: str | None = None
    """The request as a text."""
    replies: list[ChatMessage] = field(default_factory=list)
    text: str | None = None
    """The output as a text."""
    is_cut: bool = False
    """Whether a value in it is cut off."""
    is_redacted: bool = False

    @property
    def served_by(self) -> str:
        """The model that answered, as the provider reports it; empty where it is not recorded."""
        return str(first_of(self.span.attributes, _SERVED) or "")

    @property
    def model(self) -> str:
        """The model that was requested, or else the one that answered; empty where neither is recorded."""
        parameters = parsed(self.span.attributes.get(_PARAMETERS))
        listed = parameters if isinstance(parameters, Mapping) else {}
        requested = first_of(self.span.attributes, _REQUESTED) or listed.get("model")
        return str(requested or self.served_by)

    @property
    def finish_reason(self) -> str:
        """The word of the provider; empty where it is not recorded."""
        reasons = parsed(first_of(self.span.attributes, ("gen_ai.response.finish_reasons", "llm.finish_reason")))
        reason = reasons[-1] if isinstance(reasons, list) and reasons else reasons
        return str(reason or next((reply.finish_reason for reply in reversed(self.replies)), ""))

    def tokens(self, direction: str) -> int | None:
        """Return the tokens of its ``input`` or ``output``; None where they are not recorded."""
        attributes = self.span.attributes
        usage = parsed(attributes.get(_USAGE))
        listed = usage if isinstance(usage, Mapping) else {}
        count = first_of({**listed, **attributes}, (*_TOKENS[direction], direction, f"{_USAGE}.{direction}"))
        count = float(count) if isinstance(count, str) and _NUMBER.fullmatch(count) else count  # of CSV
        return int(count) if is_number(count) and count >= 0 else None

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The documents that a retriever has returned, with ``id``, ``text`` and ``score`` where these are known."""
        listed = entries(self.span.attributes, "retrieval.documents")
        if not listed and isinstance(value := parsed(self.span.attributes.get("gen_ai.retrieval.documents")), list):
            listed = [flatten(entry) for entry in value if isinstance(entry, Mapping)]
        names = {
            "id": ("document.id", "id"),
            "text": ("document.content", "content"),
            "score": ("document.score", "score"),
        }
        documents = ({name: first_of(entry, keys) for name, keys in names.items()} for entry in listed)
        return [{name: value for name, value in document.items() if value is not None} for document in documents]


def kind_of(span: Span) -> str:
    """Return the kind of a span; `UNKNOWN` where no convention names it.

    >>> kind_of(Span("t", "s", attributes={"openinference.span.kind": "LLM"})), kind_of(Span("t", "s", name="GET /"))
    ('model', '')
    """
    attributes = span.attributes
    for name in _KIND_NAMES:
        if (kind := _KINDS.get(str(attributes.get(name, "")).lower())) is not None:
            return kind
    if "gen_ai.tool.name" in attributes:
        return TOOL
    is_model = any(name in attributes for name in ("gen_ai.request.model", "llm.model_name", "gen_ai.output.messages"))
    return MODEL if is_model else UNKNOWN


def read_step(span: Span) -> Step:
    """Return what a span did: of every convention the values that it has."""
    step = Step(span, kind_of(span))
    if step.kind in (ASIDE, TOOL):
        return step
    attributes = span.attributes
    step.messages = _chat(step, "gen_ai.input.messages", ("llm.input_messages", "gen_ai.prompt", "llm.prompts"))
    step.replies = _chat(
        step, "gen_ai.output.messages", ("llm.output_messages", "gen_ai.completion", "llm.completions")
    )
    if system := _system(attributes):
        step.messages.insert(0, ChatMessage("system", system))
    _read_events(step)
    request, output = first_of(attributes, _INPUTS), first_of(attributes, _OUTPUTS)
    step.is_redacted = _REDACTED in (request, output)
    if request not in (None, _REDACTED):
        step.messages = step.messages or read_messages(request) or []
        step.request = None if step.messages else text_of(request)
    if output not in (None, _REDACTED):
        step.replies = step.replies or read_messages(output) or []
        step.text = None if step.replies else text_of(output)
    if step.replies:
        text = step.replies[-1].text
        step.text = text if text.strip() else None
    return step


def _chat(step: Step, name: str, indexed: tuple[str, ...]) -> list[ChatMessage]:
    """Return the messages in an attribute, or in one attribute for each of their fields."""
    attributes = step.span.attributes
    if (value := attributes.get(name)) is not None:
        if (messages := read_messages(value)) is not None:
            return messages
        step.is_cut |= isinstance(content := parsed(value), str) and content.lstrip().startswith("[")
    return next((messages for prefix in indexed if (messages := indexed_messages(attributes, prefix))), [])


def _system(attributes: Attributes) -> str:
    instructions = parsed(attributes.get("gen_ai.system_instructions"))
    if not isinstance(instructions, list):
        return ""
    texts = [part["content"] for part in instructions if isinstance(part, Mapping) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _read_events(step: Step) -> None:
    """Read the messages that older conventions have in events of a span, or in logs."""
    for name, fields in step.span.events:
        if name == "gen_ai.client.inference.operation.details":
            step.messages = step.messages or read_messages(fields.get("gen_ai.input.messages")) or []
            step.replies = step.replies or read_messages(fields.get("gen_ai.output.messages")) or []
        elif name in _MESSAGE_EVENTS:
            role = name.removeprefix("gen_ai.").removesuffix(".message")
            step.messages += read_messages({"content": "", "role": role, **_body(fields)}) or []
        elif name == "gen_ai.choice":
            step.replies += read_messages(_choice(_body(fields))) or []
        elif name == "gen_ai.content.prompt":
            step.messages = step.messages or read_messages(fields.get("gen_ai.prompt")) or []
        elif name == "gen_ai.content.completion":
            step.replies = step.replies or read_messages(fields.get("gen_ai.completion")) or []


def _choice(body: Mapping[str, Any]) -> dict[str, Any]:
    message = parsed(body.get("message"))
    inner = message if isinstance(message, Mapping) else {"content": message}
    return {"message": {"role": "assistant", "content": "", **inner}, "finish_reason": body.get("finish_reason")}


def _body(fields: Attributes) -> dict[str, Any]:
    """Return the fields of an event, which the body of a log holds under ``body``."""
    body = fields.get("body")
    return {**fields, **body} if isinstance(body, Mapping) else dict(fields)


def tool_fields(span: Span) -> Iterator[tuple[str, Any]]:
    """Yield ``name``, ``id``, ``arguments`` and ``result`` of the call that a span of a tool executes."""
    attributes = span.attributes
    yield "name", first_of(attributes, ("gen_ai.tool.name", "tool.name", "traceloop.entity.name")) or span.name
    yield "id", str(first_of(attributes, ("gen_ai.tool.call.id", "tool_call.id", "tool.id")) or "")
    arguments = first_of(attributes, ("gen_ai.tool.call.arguments", "tool_call.function.arguments", *_INPUTS))
    yield "arguments", parsed(arguments)
    yield "result", parsed(first_of(attributes, ("gen_ai.tool.call.result", *_OUTPUTS)))
