"""``openai-agents:MODULE:ATTRIBUTE``: an agent of the OpenAI Agents SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness import Answer, ToolCall
from pytest_fairness.extending import Clock, finish_reasons, responses_calls
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

_FAILED = "An error occurred while running the tool"
"""The beginning of the output by which the SDK replaces the exception of a tool."""
_GUARDRAILS = ("InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered")
_FUNCTIONS = ("function_call", "mcp_call", "file_search_call")
"""Types of calls that `responses_calls` reads."""


class OpenAIAgentsModel(ApplicationModel):
    """An agent of the OpenAI Agents SDK, with its hand-offs. Runs are not traced, and use no session.

    The SDK does not report that a text of a chat completion was cut off at the limit of its tokens.
    """

    extra, requires = "openai-agents", ("agents",)

    @classmethod
    def respond_with(cls, target: Any, **parameters: Any) -> Respond:
        return openai_agents_application(target, **parameters)


def openai_agents_application(target: Any) -> Respond:
    """Return an agent as a function, for the fixture ``model``.

    Args:
        target: An agent, or a function that builds one for each prompt.

    Raises:
        FatalError: On the first call: the target is no agent.
    """

    async def respond(messages: Messages, tools: Sequence[Mapping[str, Any]]) -> Answer:
        from agents import Agent, RunConfig, RunHooks, Runner
        from agents.exceptions import AgentsException, ModelRefusalError, ModelTimeoutError

        check_messages(messages)
        agent = await build(target, (Agent,), "an Agent")
        hooks = subclass(_Hooks, RunHooks)()
        started = Clock.perf_counter()
        items: Any = [{"role": message["role"], "content": message["content"]} for message in messages]
        try:
            result = await Runner.run(agent, items, hooks=hooks, run_config=RunConfig(tracing_disabled=True))
        except ModelTimeoutError as error:
            raise TimeoutError(str(error)) from error
        except ModelRefusalError as error:
            return Answer(error.refusal, finish_reasons.REFUSAL, latency=Clock.perf_counter() - started)
        except AgentsException as error:
            if type(error).__name__ not in _GUARDRAILS:
                raise
            # A guardrail of the application is its filter.
            return Answer("", finish_reasons.FILTER, latency=Clock.perf_counter() - started, actions=hooks.steps.calls)
        return openai_agents_answer(result, hooks.steps, Clock.perf_counter() - started)

    return carry_settings(target, respond)


def openai_agents_answer(result: Any, steps: StepRecorder | None = None, latency: float = 0.0) -> Answer:
    """Return the answer in the result of a run, for a function of your own that calls ``Runner.run``.

    Args:
        result: A ``RunResult``.
        steps: The recorded durations of the run's tools.
        latency: Seconds of the run.
    """
    calls = _calls(result.new_items, steps or StepRecorder())
    tokens = TokenCount()
    for response in result.raw_responses:
        usage = response.usage
        reasoning = getattr(usage.output_tokens_details, "reasoning_tokens", None)
        tokens.add(input=usage.input_tokens, output=usage.output_tokens, reasoning=reasoning)
    is_whole = all(call.is_executed for call in calls)
    return Answer(
        output_text(result.final_output),
        finish_reasons.STOP if is_whole else finish_reasons.TOOL_CALLS,
        usage=tokens.totals,
        latency=latency,
        actions=calls,
    )


def _calls(new_items: Sequence[Any], steps: StepRecorder) -> tuple[ToolCall, ...]:
    """Return the calls and hand-offs of a run; a hosted tool without results is named by its type."""
    entries = []
    for item in new_items:
        raw = item.raw_item if isinstance(item.raw_item, Mapping) else item.raw_item.model_dump()
        kind = str(raw.get("type"))
        if kind.endswith("_call"):
            entry = dict(raw) if kind in _FUNCTIONS else {**_hosted(raw, kind), "type": "mcp_call"}
            entries.append(entry | {"seconds": steps.seconds(raw.get("call_id"))})
        elif kind.endswith("_call_output"):
            output = plain_value(getattr(item, "output", raw.get("output")))
            failed = isinstance(output, str) and output.startswith(_FAILED)
            entries.append({**raw, "type": "function_call_output", "output": output, "is_error": failed})
    return responses_calls(entries)


def _hosted(raw: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the call of a tool that the provider executes, such as a search in the web."""
    name = raw.get("name") or kind.removesuffix("_call")
    arguments = raw.get("action") or raw.get("arguments") or raw.get("input") or raw.get("code")
    is_done = raw.get("status") == "completed" and "call_id" not in raw
    return {
        "name": name,
        "arguments": arguments,
        "call_id": raw.get("call_id") or raw.get("id"),
        "output": (raw.get("outputs") or "") if is_done else None,
    }


class _Hooks:
    """Hooks of a run: the durations of tools by the ids of their calls."""

    def __init__(self) -> None:
        self.steps = StepRecorder()

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        call = getattr(context, "tool_call_id", None)
        self.steps.begin(call or id(tool), tool.name, getattr(context, "tool_arguments", None))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        self.steps.end(getattr(context, "tool_call_id", None) or id(tool), result=result)
