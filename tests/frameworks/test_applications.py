"""Applications in LangGraph, the OpenAI Agents SDK and PydanticAI as models: steps, tokens, conversations, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_fairness import Answer, FairnessError, Model, Prompt, Tool, ToolCall
from pytest_fairness.core.errors import FatalError, PermanentError, TransientError
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from tests.helpers.desk_server import DeskServer

FRAMEWORKS = ("langgraph", "openai-agents", "pydantic-ai")
every_framework = pytest.mark.parametrize("framework", FRAMEWORKS)
REQUEST = "A woman asks for time."
TOOLS = [Tool(name) for name in ("look_up", "search", "defer", "refuse", "strict_desk", "kind_desk")]

Ask = Callable[..., Answer]


def named(framework: str, application: str) -> str:
    return f"{framework}:{framework.replace('-', '_')}_desk:{application}"


@pytest.fixture
def ask(server: DeskServer) -> Iterator[Ask]:
    """Return a function that sends a prompt to an application."""
    context = ModelContext(run="run")
    models: dict[str, Model] = {}

    def answer(name: str, prompt: str | Prompt = REQUEST) -> Answer:
        if name not in models:
            models[name] = resolve(name, aliases={}, context=context)
        return asyncio.run(
            models[name].answer(prompt if isinstance(prompt, Prompt) else Prompt(prompt, tools=TOOLS), 0)
        )

    yield answer
    for model in models.values():
        asyncio.run(model.close())


def without_times(answer: Answer) -> list[ToolCall]:
    return [ToolCall(call.name, call.arguments, call.result, call.error) for call in answer.actions]


LOOK_UP = ToolCall("look_up", {"case": REQUEST})


@every_framework
def test_steps_have_results_and_tokens_are_summed(framework: str, ask: Ask) -> None:
    answer = ask(named(framework, "fair"))
    calls = {call.name: call for call in answer.actions}
    assert list(calls)[:2] == ["look_up", "search"]  # in one reply of the model: parallel calls
    assert list(calls)[-1] == "defer"
    assert calls["look_up"].result in ({"months": 24}, '{"months": 24}')
    assert calls["defer"].arguments == {"days": 14}
    assert calls["defer"].result == "moved by 14 days"
    assert all(call.seconds is not None and 0 <= call.seconds < answer.latency for call in answer.actions)
    assert answer.text.startswith("It is decided.")
    assert answer.finish_reason == "stop"
    assert answer.usage == {"input": 30, "output": 15}


def test_retrieved_documents_are_the_result_of_a_call(ask: Ask) -> None:
    (retrieval,) = [call for call in without_times(ask(named("langgraph", "fair"))) if call.name == "Policies"]
    documents = [{"id": "policy-7", "text": "wait", "score": 0.5}]
    assert retrieval == ToolCall("Policies", {"query": REQUEST}, result=documents)
    (search,) = [call for call in without_times(ask(named("openai-agents", "fair"))) if call.name == "search"]
    assert search.result == [{"id": "policy-7", "text": "wait"}]


@pytest.mark.parametrize(
    ("framework", "steps"),
    [
        ("langgraph", ["strict_desk", "refuse"]),  # nodes, by the tools that the prompt names
        ("openai-agents", ["transfer_to_strict_desk", "refuse"]),
        ("pydantic-ai", ["transfer_to_strict_desk"]),  # the agent behind it runs inside of a tool
    ],
)
def test_hand_offs_are_calls(framework: str, steps: list[str], ask: Ask) -> None:
    answer = ask(named(framework, "router"))
    assert [call.name for call in answer.actions] == steps
    assert all(call.is_executed for call in answer.actions)


def test_streaming_application_has_the_same_answer(ask: Ask, server: DeskServer) -> None:
    streamed = ask(named("langgraph", "streamed"))
    assert any(body.get("stream") for body in server.bodies)
    whole = ask(named("langgraph", "fair"))
    assert (streamed.text, without_times(streamed), streamed.usage) == (whole.text, without_times(whole), whole.usage)


@pytest.mark.parametrize(
    ("framework", "error"),
    [
        ("langgraph", "RuntimeError: no such account"),
        ("openai-agents", "An error occurred while running the tool. Please try again."),
        ("pydantic-ai", "no such account"),
    ],
)
def test_failed_tool_is_a_call_with_an_error(framework: str, error: str, ask: Ask) -> None:
    look_up, *others = ask(named(framework, "failing")).actions
    assert (look_up.name, look_up.error, look_up.result) == ("look_up", error, None)
    assert [call.name for call in others] == ["defer"]


@every_framework
def test_conversation_keeps_its_turns_and_instructions(framework: str, ask: Ask, server: DeskServer) -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "How may I help?"},
        {"role": "user", "content": REQUEST},
    ]
    ask(named(framework, "prompt"), Prompt(turns, tools=TOOLS))
    sent = [(message["role"], message["content"]) for message in server.bodies[0]["messages"]]
    system = [text for role, text in sent if role in ("system", "developer")]
    assert sorted(" ".join(system).split(" ")) == ["Be", "brief.", "refuse", "women"]
    assert [text for role, text in sent if role in ("user", "assistant")] == ["Hello.", "How may I help?", REQUEST]


@every_framework
def test_function_builds_an_application_for_each_prompt(framework: str, ask: Ask) -> None:
    module = f"{framework.replace('-', '_')}_desk"
    answers = [ask(f"{framework}:{module}:built") for _ in range(2)]
    assert [answer.actions[-1].name for answer in answers] == ["defer", "defer"]


@every_framework
def test_rate_limit_of_the_inner_client_is_transient(framework: str, ask: Ask, server: DeskServer) -> None:
    server.failures = [(429, {"message": "slow down", "code": "rate_limit_exceeded"})] * 9
    with pytest.raises(TransientError, match="slow down") as caught:
        ask(named(framework, "fair"))
    assert caught.value.rate_limited


@every_framework
def test_refused_request_of_the_inner_client_is_permanent(framework: str, ask: Ask, server: DeskServer) -> None:
    server.failures = [(400, {"message": "no such model"})]
    with pytest.raises(PermanentError, match=r"raised .*no such model"):
        ask(named(framework, "fair"))


@pytest.mark.parametrize("framework", ["langgraph", "pydantic-ai"])
def test_answer_that_was_cut_off_is_not_complete(framework: str, ask: Ask, server: DeskServer) -> None:
    server.extra = {"finish_reason": "length"}
    assert ask(named(framework, "prompt")).finish_reason == "length"


@every_framework
def test_application_without_an_end_fails(framework: str, ask: Ask) -> None:
    with pytest.raises(PermanentError, match=r"GraphRecursionError|MaxTurnsExceeded|UsageLimitExceeded"):
        ask(named(framework, "endless"))


@every_framework
def test_name_without_an_application_is_refused(framework: str, ask: Ask) -> None:
    module = f"{framework.replace('-', '_')}_desk"
    for name, problem in (
        ("desk", "names no application: write .*:MODULE:ATTRIBUTE"),
        ("no_such_module:desk", "cannot be loaded: ModuleNotFoundError"),
        (f"{module}:unknown", "cannot be loaded: AttributeError"),
    ):
        with pytest.raises(FairnessError, match=problem):
            ask(f"{framework}:{name}")
    with pytest.raises(FatalError, match="the application is a str: it must be "):
        ask(f"{framework}:{module}:KIND")


def test_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fairness.frameworks.applications.find_spec", lambda name: None)
    with pytest.raises(
        FairnessError, match=r'langgraph is not installed: pip install "\./pytest-fairness\[langgraph\]"'
    ):
        resolve("langgraph:my_app:graph", aliases={}, context=ModelContext())


@every_framework
def test_version_decides_whether_answers_are_reused(framework: str, server: DeskServer) -> None:
    name = named(framework, "fair")

    def key(application: str) -> tuple[str, str]:
        model: Any = resolve(named(framework, application), aliases={}, context=ModelContext(run="7"))
        return model.key, model.unversioned

    assert key("fair") == (f"{name}?run=7", name)
    assert key("built") == (f"{named(framework, 'built')}?version=3", "")


@every_framework
def test_concurrent_prompts_keep_their_own_steps(framework: str, server: DeskServer) -> None:
    prompts = [Prompt(f"A {who} asks for time, case {n}.", tools=TOOLS) for n in range(6) for who in ("woman", "man")]

    async def send() -> list[Answer]:
        model = resolve(named(framework, "prompt"), aliases={}, context=ModelContext(run="run", calls=12))
        answers = await asyncio.gather(*(model.answer(prompt, 0) for prompt in prompts))
        await model.close()
        return answers

    for prompt, answer in zip(prompts, asyncio.run(send()), strict=True):
        look_up, decision = answer.actions
        assert look_up.arguments == {"case": prompt.text[-40:]}
        assert decision.name == ("refuse" if "woman" in prompt.text else "defer")
