"""``pydantic-ai:MODULE:ATTRIBUTE``: an agent of PydanticAI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness import Answer, ToolCall
from pytest_fairness.extending import Clock, finish_reasons
from pytest_fairness.frameworks.applications import (
    ApplicationModel,
    Messages,
    Respond,
    StepRecorder,
    TokenCount,
    build,
    carry_settings,
    check_messages,
    output_text,
    plain_value,
    subclass,
)

_FAILURES = ("failed", "denied", "interrupted", "retried")
"""Outcomes of a tool whose content is an error."""


class PydanticAIModel(ApplicationModel):
    """An agent of PydanticAI. A system message of the prompt is added to the agent's instructions."""

    extra, requires = "pydantic-ai", ("pydantic_ai",)

    @classmethod
    def respond_with(cls, target: Any, **parameters: Any) -> Respond:
        return pydantic_ai_application(target, **parameters)


def pydantic_ai_application(target: Any) -> Respond:
    """Return an agent as a function, for the fixture ``model``.

    Args:
        target: An agent, or a function that builds one for each prompt.

    Raises:
        FatalError: On the first call: the target is no agent.
    """

    async def respond(messages: Messages, tools: Sequence[Mapping[str, Any]]) -> Answer:
        from pydantic_ai.agent import AbstractAgent
        from pydantic_ai.capabilities import AbstractCapability, ReinjectSystemPrompt
        from pydantic_ai.exceptions import ContentFilterError

        check_messages(messages)
        agent = await build(target, (AbstractAgent,), "an Agent")
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        *history, last = [message for message in messages if message["role"] != "system"]
        timing = subclass(_Timing, AbstractCapability)()
        started = Clock.perf_counter()
        try:
            result = await agent.run(
                last["content"],
                message_history=_history(history) or None,
                instructions=system or None,
                # Without it an agent leaves its own system prompt out of a conversation with earlier turns.
                capabilities=[timing, ReinjectSystemPrompt()],
            )
        except ContentFilterError:
            return Answer("", finish_reasons.FILTER, latency=Clock.perf_counter() - started)
        return pydantic_ai_answer(result, timing.steps, Clock.perf_counter() - started)

    return carry_settings(target, respond)


def pydantic_ai_answer(result: Any, steps: StepRecorder | None = None, latency: float = 0.0) -> Answer:
    """Return the answer in the result of a run, for a function of your own that calls ``agent.run``.

    Args:
        result: An ``AgentRunResult``.
        steps: The recorded durations of the run's tools.
        latency: Seconds of the run.
    """
    messages = result.new_messages()
    calls = _calls(messages, getattr(result, "_output_tool_name", None), steps or StepRecorder())
    replies = [message for message in messages if message.kind == "response"]
    usage = result.usage
    tokens = TokenCount()
    tokens.add(input=usage.input_tokens, output=usage.output_tokens, reasoning=usage.details.get("reasoning_tokens"))
    reason = finish_reasons.normalize_reason(replies[-1].finish_reason) if replies else finish_reasons.STOP
    finish = reason if reason in finish_reasons.INCOMPLETE else finish_reasons.STOP
    is_whole = all(call.is_executed for call in calls)
    return Answer(
        output_text(result.output) if is_whole else "",
        finish if is_whole else finish_reasons.TOOL_CALLS,
        usage=tokens.totals,
        latency=latency,
        actions=calls,
    )


def _calls(messages: Sequence[Any], output_tool: str | None, steps: StepRecorder) -> list[ToolCall]:
    """Return the calls of a run; that of the tool by which a model writes its output is the answer."""
    parts = [part for message in messages for part in message.parts]
    returns = {part.tool_call_id: part for part in parts if part.part_kind.endswith("tool-return")}
    calls = []
    for part in parts:
        if not part.part_kind.endswith("tool-call") or part.tool_name == output_tool:
            continue
        outcome: dict[str, Any] = {"seconds": steps.seconds(part.tool_call_id)}
        if (reply := returns.get(part.tool_call_id)) is not None:
            name = "error" if reply.outcome in _FAILURES else "result"
            content = "" if reply.content is None else plain_value(reply.content)
            outcome[name] = content or ("error" if name == "error" else content)
        calls.append(ToolCall.read(part.tool_name, part.args, **outcome))
    return calls


def _history(messages: Messages) -> list[Any]:
    """Return earlier turns as messages of PydanticAI."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    return [
        ModelRequest(parts=[UserPromptPart(message["content"])])
        if message["role"] == "user"
        else ModelResponse(parts=[TextPart(message["content"])])
        for message in messages
    ]


class _Timing:
    """A capability of an agent: the durations of tools by the ids of their calls."""

    def __init__(self) -> None:
        self.steps = StepRecorder()

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        self.steps.begin(call.tool_call_id, call.tool_name, args)
        try:
            return await handler(args)
        finally:
            self.steps.end(call.tool_call_id, result="")
