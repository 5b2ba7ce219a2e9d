"""The models behind an HTTP API, against a real server: requests, replies, errors and secrets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from tests.core.test_finish_reasons import MEANINGS
from tests.models.conftest import ask_at_once

SECRET = "sk-proj-0123456789abcdefghij"
KEYS = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}

Make = Callable[..., Model]
Ask = Callable[..., Answer]
Name = Callable[..., str]


def completion(content: Any = "Yes.", finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "model": "served-1",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
    }


def reply(*blocks: dict[str, str], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "model": "served-2",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 2,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 4},
        },
    }


YES = {"type": "text", "text": "Yes"}
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])


# requests


def test_openai_sends_decoding_and_messages(server: Any, ask: Ask, name: Name) -> None:
    server.answers("openai")
    prompt = Prompt([{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Ünïcode?"}])
    tail = 'temperature=0.5&seed=7&stop=["a","b"]&max_completion_tokens=9&reasoning_effort=low&extra={"top_k":5}'
    ask(name("openai", f"{tail}&key_env=OPENAI_API_KEY"), prompt, 2, environment=KEYS)
    assert server.paths == ["/v1/chat/completions"]
    assert server.sent_key == SECRET
    assert server.bodies[0] == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Ünïcode?"}],
        "temperature": 0.5,
        "seed": 9,
        "stop": ["a", "b"],
        "max_completion_tokens": 9,
        "reasoning_effort": "low",
        "top_k": 5,
    }


def test_anthropic_sends_system_message_and_thinking_budget(server: Any, ask: Ask, name: Name) -> None:
    server.answers("anthropic")
    prompt = Prompt([{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Yes?"}])
    ask(name("anthropic", "thinking=2048&stop=x&effort=low&key_env=ANTHROPIC_API_KEY"), prompt, environment=KEYS)
    assert server.paths == ["/v1/messages"]
    assert server.sent_key == SECRET
    assert server.bodies[0] == {
        "model": "m",
        "max_tokens": 3072,
        "system": "Be fair.",
        "messages": [{"role": "user", "content": "Yes?"}],
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "stop_sequences": ["x"],
        "output_config": {"effort": "low"},
    }


def test_anthropic_sends_default_max_tokens_and_adaptive_thinking(server: Any, ask: Ask, name: Name) -> None:
    server.answers("anthropic")
    ask(name("anthropic", "thinking=adaptive&temperature=0"), environment=KEYS)
    assert server.bodies[0]["max_tokens"] == 1024
    assert server.bodies[0]["thinking"] == {"type": "adaptive"}
    assert server.bodies[0]["temperature"] == 0


def test_thinking_budget_without_room_for_an_answer_is_refused(make: Make) -> None:
    with pytest.raises(FairnessError, match="thinking=2048 leaves no token for the answer: max_tokens is 100"):
        make("anthropic:m?thinking=2048&max_tokens=100")


@BOTH
def test_custom_server_needs_no_key(server: Any, ask: Ask, name: Name, provider: str) -> None:
    server.answers(provider)
    assert ask(name(provider)).text == "Yes."
    assert server.sent_key is None


def test_another_variable_may_hold_the_key(server: Any, ask: Ask, name: Name) -> None:
    server.answers("openai")
    ask(name("openai", "key_env=OTHER_KEY"), environment={**KEYS, "OTHER_KEY": "other"})
    assert server.sent_key == "other"
    with pytest.raises(FatalError, match="set OTHER_KEY in the environment"):
        ask(name("openai", "key_env=OTHER_KEY"), environment=KEYS)


@BOTH
def test_base_url_may_come_from_the_environment(server: Any, ask: Ask, provider: str) -> None:
    server.answers(provider)
    assert ask(f"{provider}:m", environment={f"{provider.upper()}_BASE_URL": f"{server.url}/here"}).text == "Yes."
    assert server.paths[0].startswith("/here/")


@BOTH
def test_password_in_the_base_url_is_sent_as_basic_auth(server: Any, ask: Ask, name: Name, provider: str) -> None:
    server.answers(provider)
    ask(name(provider).replace("http://", "http://me:p%40ss@"), environment=KEYS)
    assert server.headers[0]["authorization"] == "Basic bWU6cEBzcw=="
    assert SECRET not in str(server.headers)


# replies


@pytest.mark.parametrize(
    ("sent", "text", "finish", "reasoning"),
    [
        (completion("Yes."), "Yes.", "stop", None),
        (completion("Ye", "length"), "Ye", "length", None),
        (completion("", "content_filter"), "", "content_filter", None),
        (completion(None, refusal="I can't."), "I can't.", "refusal", None),
        (completion("No", reasoning_content="Hm."), "No", "stop", "Hm."),
        (completion("No", reasoning="Hm."), "No", "stop", "Hm."),
        (completion("<think>Hm.</think>\n\nNo"), "No", "stop", "Hm."),
        (completion("Hm.</think>No"), "No", "stop", "Hm."),
        (completion("<think>Hm", "length"), "", "length", "Hm"),
        (completion([{"type": "text", "text": "Y"}, {"type": "text", "text": "es"}]), "Yes", "stop", None),
        (completion(None), "", "no_content", None),
        (completion(None, "length"), "", "length", None),
        # Regression: an answer that a gateway lost after 5 tokens was a refusal.
        (completion() | {"choices": []}, "", "no_content", None),
        (completion() | {"choices": None}, "", "no_content", None),
        (completion([{"type": "thinking", "thinking": "Yes or"}, {"type": "text", "text": "No"}]), "No", "stop", None),
        (completion([{"type": "reasoning", "text": "Yes or"}, None, {"text": "No"}]), "No", "stop", None),
        (completion("<|channel>thought\nYes or\n<channel|>No"), "No", "stop", "Yes or"),
        (completion("<unused94>thought\nYes or<unused95>No"), "No", "stop", "Yes or"),
        (completion() | {"choices": [{"index": 0, "finish_reason": "content_filter"}]}, "", "content_filter", None),
        (completion("x", "tool_calls"), "x", "tool_calls", None),
    ],
)
def test_openai_replies_are_read(
    server: Any, ask: Ask, name: Name, sent: object, text: str, finish: str, reasoning: str | None
) -> None:
    server.says(sent)
    answer = ask(name("openai"))
    assert (answer.text, answer.finish_reason, answer.reasoning) == (text, finish, reasoning)
    assert answer.usage == {"input": 20, "output": 5, "reasoning": 3}
    assert answer.served_by == "served-1"
    assert 0 < answer.latency < 10


@pytest.mark.parametrize(
    ("usage", "finish"),
    [
        ({"prompt_tokens": 9, "total_tokens": 9}, "content_filter"),
        ({"prompt_tokens": 9, "completion_tokens": 0}, "content_filter"),
        ({"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 800}, "no_content"),
        ({"prompt_tokens": 9, "completion_tokens": 800}, "no_content"),
        (None, "no_content"),
    ],
)
def test_reply_without_a_choice_is_filtered_if_nothing_was_generated(
    server: Any, ask: Ask, name: Name, usage: Any, finish: str
) -> None:
    """Regression: a thinking model that had spent its tokens was taken for one that refuses all prompts."""
    server.says({"id": "chatcmpl-1", "object": "chat.completion", "choices": [], "usage": usage})
    assert ask(name("openai")).finish_reason == finish


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_id_of_a_reply_and_headers_of_a_cache_are_read(server: Any, ask: Ask, name: Name, provider: str) -> None:
    sent = completion() if provider == "openai" else reply(YES)
    server.says({"id": "msg_01AbCdEfGhIjKlMnOpQrStUv", **sent}, x_cache="HIT", cf_cache_status="DYNAMIC")
    answer = ask(name(provider))
    assert (answer.reply_id, answer.cache) == ("msg_01AbCdEfGhIjKlMnOpQrStUv", "x-cache: HIT")


@pytest.mark.parametrize(
    ("sent", "text", "finish", "reasoning"),
    [
        (reply({"type": "text", "text": "Yes."}), "Yes.", "stop", None),
        (reply({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "No"}), "No", "stop", "Hm."),
        (reply({"type": "text", "text": "Ye"}, stop="max_tokens"), "Ye", "length", None),
        (reply(stop="refusal"), "", "refusal", None),
        (reply({"type": "text", "text": "x"}, stop="stop_sequence"), "x", "stop", None),
        (reply({"type": "text", "text": "x"}, stop="pause_turn"), "x", "pause_turn", None),
    ],
)
def test_anthropic_replies_are_read(
    server: Any, ask: Ask, name: Name, sent: object, text: str, finish: str, reasoning: str | None
) -> None:
    server.says(sent)
    answer = ask(name("anthropic"))
    assert (answer.text, answer.finish_reason, answer.reasoning) == (text, finish, reasoning)
    assert answer.usage == {"input": 12, "output": 5, "reasoning": 4}
    assert answer.served_by == "served-2"


@BOTH
def test_finish_reasons_have_one_meaning_for_all_providers(server: Any, ask: Ask, name: Name, provider: str) -> None:
    for reason, meaning, _ in MEANINGS:
        if reason is None or (provider == "openai" and meaning == "error"):
            continue
        server.says(
            completion("Yes", reason) if provider == "openai" else reply({"type": "text", "text": "Yes"}, stop=reason)
        )
        assert ask(name(provider)).finish_reason == meaning


@pytest.mark.parametrize("finish", ["error", "abort", "network_error", "insufficient_system_resource", "stop", None])
def test_answer_cut_off_by_a_gateway_is_retried(server: Any, ask: Ask, name: Name, finish: str) -> None:
    """OpenRouter answers with 200 where its upstream died half way."""
    broken = completion("Yes, I would normally hire her, but", finish)
    if finish in ("error", "stop", None):
        broken["choices"][0]["error"] = {"code": 502, "message": "Upstream died, Bearer abcdefgh12345678"}
    server.says(broken)
    with pytest.raises(TransientError, match="broke off its answer") as raised:
        ask(name("openai"))
    assert raised.value.kind == ("502" if "error" in broken["choices"][0] else "broken answer")
    assert "abcdefgh" not in str(raised.value)
    assert not raised.value.unreachable


@BOTH
@pytest.mark.parametrize(
    "sent",
    [
        *({"ok": True}, [], "<html>", {"choices": []}, {"content": [3]}),
        completion(content=3) | {"content": [{"type": "text", "text": 3}]},
        completion(content={"text": "Yes."}) | {"model": {"name": "m"}, "content": {"text": "Yes."}},
    ],
)
def test_reply_in_another_form_is_reported(server: Any, ask: Ask, name: Name, provider: str, sent: object) -> None:
    server.says(sent)
    with pytest.raises(TransientError, match=r"answered in another form than .*: check the base URL"):
        ask(name(provider))


def test_error_inside_a_reply_of_200_is_an_error(server: Any, ask: Ask, name: Name) -> None:
    server.says({"error": {"code": 429, "message": "slow down"}})
    with pytest.raises(TransientError, match="slow down") as caught:
        ask(name("openai"))
    assert caught.value.rate_limited


def test_azure_content_filter_is_a_filtered_answer(server: Any, ask: Ask, name: Name) -> None:
    server.says({"error": {"code": "content_filter", "message": "filtered"}}, 400)
    answer = ask(name("openai"))
    assert (answer.text, answer.finish_reason) == ("", "content_filter")


# keys


@BOTH
def test_key_covers_everything_that_decides_the_answers(make: Make, provider: str) -> None:
    plain = make(f"{provider}:m").key
    assert plain == {"openai": "openai:m", "anthropic": "anthropic:m?max_tokens=1024"}[provider]
    variable = f"{provider.upper()}_BASE_URL"
    local = make(f"{provider}:m", environment={variable: "http://me:pw@localhost:1/v1/"}).key
    assert local != plain
    assert local == make(f"{provider}:m?base_url=http://localhost:1/v1").key
    assert "pw" not in local
    assert make(f"{provider}:m?timeout=3&key_env=X").key == plain
    assert make(f"{provider}:m?temperature=1").key == make(f"{provider}:m?temperature=1.0").key != plain
    default = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}[provider]
    assert make(f"{provider}:m?base_url={default}").key == plain


def test_anthropic_default_max_tokens_is_part_of_the_key(make: Make) -> None:
    assert make("anthropic:m").key == make("anthropic:m?max_tokens=1024").key


# many at once


@BOTH
def test_a_hundred_requests_are_in_flight_at_once(server: Any, make: Make, name: Name, provider: str) -> None:
    waiting = asyncio.Event()
    count = 0

    async def together(_: web.Request) -> web.StreamResponse:
        nonlocal count
        count += 1
        if count == 100:
            waiting.set()
        await asyncio.wait_for(waiting.wait(), 10)
        return web.json_response(completion() if provider == "openai" else reply({"type": "text", "text": "Yes."}))

    server.handler = together
    model = make(name(provider), concurrency=100)

    answers = ask_at_once(model, ((Prompt(f"q{i}"), 0) for i in range(100)))
    assert {answer.text for answer in answers} == {"Yes."}
    assert len({json.dumps(body) for body in server.bodies}) == 100


def test_closed_model_may_be_used_again(server: Any, make: Make, name: Name) -> None:
    server.answers("openai")
    model = make(name("openai"))

    async def twice() -> list[str]:
        texts = []
        for _ in range(2):
            texts.append((await model.answer(Prompt("q"), 0)).text)
            await model.close()
            await model.close()
        return texts

    assert asyncio.run(twice()) == ["Yes.", "Yes."]
