"""OpenAI's Responses API, for models that have no chat completions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import batches_of
from pytest_fairness.core.errors import FairnessError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import Continuations, NoLikelihoodsError
from pytest_fairness.models.openai import OpenAIModel, ResponsesModel
from tests.models.conftest import Server

Ask = Callable[..., Answer]
Name = Callable[..., str]

REASONING = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Both are fit."}]}


def message(*parts: dict[str, str]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "status": "completed", "content": list(parts)}


def text(content: str) -> dict[str, str]:
    return {"type": "output_text", "text": content}


def reply(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 30}}
    return {"status": status, "model": "o3-pro-2025-06-10", "output": list(output), "usage": usage, **more}


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("o3-pro", ResponsesModel),
        ("gpt-5-pro-2025-10-06", ResponsesModel),
        ("gpt-5.2-codex", ResponsesModel),
        ("codex-mini-latest", ResponsesModel),
        ("o4-mini-deep-research", ResponsesModel),
        ("gpt-5-mini", OpenAIModel),
        ("gpt-5-mini?api=responses", ResponsesModel),
        ("o3-pro?api=chat", OpenAIModel),
        ("gpt-5-proper", OpenAIModel),
        ("llama-3-pro", OpenAIModel),
    ],
)
def test_protocol_follows_the_model_and_its_name(model: str, kind: type[OpenAIModel], make: Callable[..., Any]) -> None:
    assert type(make(f"openai:{model}")) is kind


def test_request_has_the_form_of_the_api(name: Name, ask: Ask, server: Server) -> None:
    server.says(reply(REASONING, message(text("Yes"), text("."))))
    prompt = Prompt(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Fit?"}],
        schema={"type": "object"},
    )
    tail = "api=responses&max_completion_tokens=500&reasoning_effort=low&temperature=1"
    answer = ask(name("openai", tail), prompt)
    assert server.paths == ["/v1/responses"]
    (body,) = server.bodies
    assert body.pop("model")
    assert body == {
        "input": list(prompt.messages),
        "store": False,
        "temperature": 1,
        "max_output_tokens": 500,
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": {"type": "object"}}},
    }
    assert (answer.text, answer.finish_reason, answer.reasoning) == ("Yes.", "stop", "Both are fit.")
    assert answer.usage == {"input": 7, "output": 40, "reasoning": 30}
    assert answer.served_by == "o3-pro-2025-06-10"


def test_commentary_on_the_way_is_no_answer(name: Name, ask: Ask, server: Server) -> None:
    thought = {**message(text("No, wait.")), "phase": "commentary"}
    server.says(reply(thought, {**message(text("Yes.")), "phase": "final_answer"}, message(text("Gladly."))))
    assert ask(name("openai", "api=responses")).text == "Yes.\n\nGladly."
    server.says(reply(thought))
    assert ask(name("openai", "api=responses")).finish_reason == "no_content"


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (reply(message({"type": "refusal", "refusal": "I cannot."})), "I cannot.", "refusal"),
        (
            reply(message(text("Yes, bec")), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "Yes, bec",
            "length",
        ),
        (reply(status="incomplete", incomplete_details={"reason": "content_filter"}), "", "content_filter"),
        (reply(status="incomplete", incomplete_details=None), "", "length"),
        (reply(REASONING), "", "no_content"),
        (reply(message()), "", "stop"),
        (reply(message(text("Yes.")), status="queued"), "Yes.", "queued"),
    ],
    ids=["refusal", "length", "filter", "unknown", "thoughts-only", "empty", "queued"],
)
def test_unfinished_responses_are_no_complete_answers(
    name: Name, ask: Ask, server: Server, body: dict[str, Any], text: str, finish: str
) -> None:
    server.says(body)
    answer = ask(name("openai", "api=responses"))
    assert (answer.text, answer.finish_reason) == (text, finish)


@pytest.mark.parametrize(
    "body",
    [
        reply(status="failed", error={"code": "server_error", "message": "boom"}),
        {"status": "completed"},
        {"status": "completed", "output": [{"type": "message"}]},
        {"choices": [{"message": {"content": "Yes."}}]},
        {"status": "completed", "output": None},
    ],
)
def test_broken_responses_are_asked_again(name: Name, ask: Ask, server: Server, body: dict[str, Any]) -> None:
    server.says(body)
    with pytest.raises(TransientError):
        ask(name("openai", "api=responses"))


def test_parameters_unknown_to_the_api_are_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(FairnessError, match="model openai:o3-pro has no parameter 'seed'"):
        make("openai:o3-pro?seed=1")
    with pytest.raises(FairnessError, match="model groq:x has no parameter 'api'"):
        make("groq:x?api=responses")
    question = Continuations({"yes": ("Yes",), "no": ("No",)})
    with pytest.raises(NoLikelihoodsError, match="the Responses API gives no probabilities of options"):
        asyncio.run(make("openai:o3-pro").likelihoods(Prompt("Fit?"), question))


def test_batches_name_the_same_endpoint(make: Callable[..., Any]) -> None:
    for model, endpoint in (("o3-pro", "/v1/responses"), ("gpt-5-mini", "/v1/chat/completions")):
        batches = batches_of(make(f"openai:{model}"))
        assert batches is not None
        assert batches.request("key", Prompt("Fit?"), 0)["url"] == endpoint
