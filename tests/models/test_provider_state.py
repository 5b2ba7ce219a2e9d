"""State that providers require with the results of tools: encrypted reasoning, signed thoughts, thinking blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tools import Tool, calls_message
from tests.models.conftest import Server

Ask = Callable[..., Answer]
Name = Callable[..., str]

QUESTION = Prompt("May I pay later?", tools=[Tool("look_up"), Tool("defer")])
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_9", "name": "look_up", "arguments": "{}"}
SPOKEN = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}
BLOCKS = [
    {"type": "thinking", "thinking": "Who is it?", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "ZGF0YQ"},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "toolu_9", "name": "look_up", "input": {}},
]
SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}


def chat_call(**more: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}, **more}


def chat(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "I look.", "tool_calls": list(calls), **more}
    return {"choices": [{"finish_reason": "tool_calls", "message": message}]}


def after(answer: Answer) -> Prompt:
    """Return the prompt of the next round."""
    results = [{"role": "tool", "content": "paid"}] * len(answer.actions)
    messages = [{"role": "assistant", "content": answer.text}, calls_message(answer.actions, answer.provider_state)]
    return Prompt([*QUESTION.messages, *messages, *results])


def responses(*output: dict[str, Any]) -> dict[str, Any]:
    return {"status": "completed", "output": list(output), "model": "m"}


PROTOCOLS: dict[str, tuple[tuple[str, str], dict[str, Any], Callable[[Any], Any], Any]] = {
    "responses": (
        ("openai", "api=responses"),
        responses(REASONING, SPOKEN, CALL),
        lambda body: body["input"][1:],
        [REASONING, SPOKEN, CALL, {"type": "function_call_output", "call_id": "call_9", "output": "paid"}],
    ),
    "thinking": (
        ("anthropic", "thinking=1024"),
        {"content": BLOCKS, "stop_reason": "tool_use"},
        lambda body: body["messages"][1:],
        [
            {"role": "assistant", "content": BLOCKS},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_9", "content": "paid"}]},
        ],
    ),
    "signatures": (
        ("openai", ""),
        chat(chat_call(extra_content=SIGNED), chat_call()),
        lambda body: [call.get("extra_content") for call in body["messages"][1]["tool_calls"]],
        [SIGNED, None],
    ),
    "reasoning": (
        ("openai", ""),
        chat(chat_call(), reasoning_content="", reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}]),
        lambda body: [body["messages"][1][name] for name in ("content", "reasoning_content", "reasoning_details")],
        ["I look.", "", [{"type": "reasoning.encrypted", "data": "x"}]],
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_next_round_sends_back_what_came_with_the_calls(server: Server, ask: Ask, name: Name, protocol: str) -> None:
    model, reply, sent_back, expected = PROTOCOLS[protocol]
    server.says(reply)
    answer = ask(name(*model), QUESTION)
    assert answer.text == "I look."
    assert {call.name for call in answer.actions} == {"look_up"}
    following = after(answer)
    ask(name(*model), following)
    assert sent_back(server.bodies[1]) == expected
    # It is in no text that a grader sees, and in no key.
    plain = after(Answer(answer.text, actions=answer.actions))
    assert following.digest == plain.digest
    assert "provider_state" not in f"{answer!r} {answer.transcript}"


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        (("openai", ""), chat(chat_call())),
        (("openai", "api=responses"), responses(SPOKEN, CALL)),
        # Known by its id alone, and nothing is kept at the provider.
        (("openai", "api=responses"), responses({**REASONING, "encrypted_content": None}, CALL)),
        (("anthropic", ""), {"content": BLOCKS[2:], "stop_reason": "tool_use"}),
        (("openai", "api=responses"), responses(REASONING, SPOKEN)),
    ],
    ids=["chat", "responses", "reasoning-by-id", "anthropic", "no-calls"],
)
def test_answers_without_it_keep_nothing(server: Server, ask: Ask, name: Name, model: Any, reply: Any) -> None:
    server.says(reply)
    assert ask(name(*model), QUESTION).provider_state is None


def test_reasoning_that_the_provider_keeps_is_named_by_its_id(server: Server, ask: Ask, name: Name) -> None:
    reasoning = {**REASONING, "encrypted_content": None}
    server.says(responses(reasoning, CALL))
    model = name("openai", 'api=responses&extra={"store": true}')
    ask(model, after(ask(model, QUESTION)))
    assert server.bodies[1]["input"][1:3] == [{"type": "reasoning", "id": "rs_1", "summary": []}, CALL]


def test_model_without_encrypted_reasoning_is_asked_without(server: Server, ask: Ask, name: Name) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if "include" not in await request.json():
            return web.json_response(responses(SPOKEN, CALL))
        error = {"message": "Encrypted content is not supported with this model.", "param": "include"}
        return web.json_response({"error": error}, status=400)

    server.handler = handler
    assert ask(name("openai", "api=responses"), QUESTION).actions == (ToolCall("look_up"),)
    assert [body.get("include") for body in server.bodies] == [["reasoning.encrypted_content"], None]


def test_without_tools_no_reasoning_is_asked_for(server: Server, ask: Ask, name: Name) -> None:
    server.says(responses(SPOKEN))
    ask(name("openai", "api=responses"), Prompt("Hello"))
    assert "include" not in server.bodies[0]
