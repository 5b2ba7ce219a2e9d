"""Refusals of providers, in the shapes that each of them uses."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FatalError, ForbiddenError, ModelError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.models import http_client as connection

Ask = Callable[..., Answer]
Make = Callable[..., Model]
Name = Callable[..., str]

OPENROUTER = {
    "error": {
        "code": 403,
        "message": "openai/gpt-5-mini requires moderation on OpenAI. Your input was flagged",
        "metadata": {"reasons": ["hate"], "flagged_input": "Should a ...", "provider_name": "OpenAI"},
    }
}
OPENAI_PROMPT = {
    "error": {
        "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_prompt",
    }
}
OPENAI_POLICY = {"error": {"code": "content_policy_violation", "message": "Your request was rejected", "param": None}}
AZURE = {
    "error": {
        "message": "The response was filtered due to the prompt triggering our content management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}},
    }
}
AZURE_INNER = {"error": {"message": "?", "code": "BadRequest", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
DASHSCOPE = {"error": {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}}
DEEPSEEK = {
    "error": {"message": "Content Exists Risk", "type": "invalid_request_error", "code": "invalid_request_error"}
}
ANTHROPIC = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
}
GATEWAY = {"detail": "blocked by the moderation of this gateway"}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (403, OPENROUTER),
        (400, OPENAI_PROMPT),
        (400, OPENAI_POLICY),
        (400, AZURE),
        (400, AZURE_INNER),
        (400, DASHSCOPE),
        (400, DEEPSEEK),
        (403, GATEWAY),
        (200, OPENROUTER),
        (400, [AZURE]),
    ],
)
def test_flagged_content_is_filtered(server: Any, ask: Ask, name: Name, status: int, body: object) -> None:
    server.says(body, status)
    answer = ask(name("openai"))
    assert (answer.text, answer.finish_reason) == ("", "content_filter")


def test_anthropic_filter_is_a_content_filter(server: Any, ask: Ask, name: Name) -> None:
    server.says(ANTHROPIC, 400)
    assert ask(name("anthropic")).finish_reason == "content_filter"


OPENAI_KEY = {"error": {"message": "Incorrect API key provided: sk-a***", "code": "invalid_api_key", "param": None}}
GEMINI_KEY = [
    {
        "error": {
            "code": 400,
            "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT",
            "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
        }
    }
]
LITELLM_KEY = {"error": {"message": "No connected db.", "type": "no_db_connection", "param": None, "code": "400"}}
IAM = {"message": "User is not authorized to perform bedrock:InvokeModel: no identity-based policy allows it"}
NETWORK = {"error": {"message": "Access denied due to Virtual Network/Firewall policy rules."}}


@pytest.mark.parametrize(
    ("status", "body"),
    [(401, OPENAI_KEY), (400, OPENAI_KEY), (400, GEMINI_KEY), (400, LITELLM_KEY)],
)
def test_refused_key_is_fatal_whatever_the_status(server: Any, ask: Ask, name: Name, status: int, body: object) -> None:
    server.says(body, status)
    with pytest.raises(FatalError, match=r"refused the key \(40[01]: .*\): check OPENAI_API_KEY$"):
        ask(name("openai", "key_env=OPENAI_API_KEY"), environment={"OPENAI_API_KEY": "a-key"})


@pytest.mark.parametrize("body", [IAM, NETWORK])
def test_first_403_refuses_the_key_or_the_prompt(server: Any, ask: Ask, name: Name, body: object) -> None:
    server.says(body, 403)
    with pytest.raises(ForbiddenError, match=r"refused the key or the prompt \(403: .*\): check OPENAI_API_KEY$"):
        ask(name("openai", "key_env=OPENAI_API_KEY"), environment={"OPENAI_API_KEY": "a-key"})


def test_late_403_refuses_one_prompt_only(server: Any, make: Make, name: Name) -> None:
    model = make(name("openai"))

    async def refused() -> ModelError:
        server.answers("openai")
        await model.answer(Prompt("q"), 0)
        server.says({"error": {"message": "forbidden"}}, 403)
        try:
            with pytest.raises(ModelError) as caught:
                await model.answer(Prompt("another"), 0)
        finally:
            await model.close()
        return caught.value

    error = asyncio.run(refused())
    assert type(error) is PermanentError
    assert "refused the request (403: forbidden)" in str(error)


def unsupported(param: str | None, code: str | None, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


TEMPERATURE = unsupported(
    "temperature", "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model."
)
MAX_TOKENS = unsupported(
    "max_tokens",
    "unsupported_parameter",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
)
VLLM = {"object": "error", "message": "Unsupported parameter: 'seed'", "type": "BadRequestError", "code": 400}
DEPRECATED = {"type": "error", "error": {"type": "invalid_request_error", "message": "`top_p` is deprecated for it."}}
EXTRA = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "top_x: Extra inputs are not permitted"},
}


@pytest.mark.parametrize(
    ("provider", "tail", "body", "says"),
    [
        ("openai", "temperature=0", TEMPERATURE, "leave temperature out of the model's name, or change it"),
        ("openai", "max_tokens=9", MAX_TOKENS, "write max_completion_tokens in its place"),
        ("openai", "seed=3", VLLM, "leave seed out of the model's name, or change it"),
        ("anthropic", "top_p=1", DEPRECATED, "leave top_p out of the model's name, or change it"),
        ("anthropic", 'extra={"top_x":1}', EXTRA, "leave top_x out of the model's name, or change it"),
    ],
)
def test_refused_parameter_of_the_name_is_fatal(
    server: Any, ask: Ask, name: Name, provider: str, tail: str, body: object, says: str
) -> None:
    server.says(body, 400)
    with pytest.raises(FatalError) as caught:
        ask(name(provider, tail))
    assert str(caught.value).endswith(says)


def test_refused_parameter_outside_the_name_is_permanent(server: Any, ask: Ask, name: Name) -> None:
    server.says(unsupported("messages[0].content", "unsupported_value", "'messages[0].content' is not supported"), 400)
    with pytest.raises(PermanentError, match="refused the request"):
        ask(name("openai", "temperature=0"))


def test_model_of_another_interface_is_reported(server: Any, ask: Ask, name: Name) -> None:
    message = "This model is only supported in v1/responses and not in v1/chat/completions."
    server.says(unsupported("model", None, message), 404)
    with pytest.raises(FatalError, match="write api=responses into its name"):
        ask(name("openai"))


def test_ollama_error_is_reported(server: Any, ask: Ask, name: Name) -> None:
    server.says({"error": "model 'm' not found, try pulling it first"}, 404)
    with pytest.raises(FatalError, match="try pulling it first"):
        ask(name("openai"))


# bodies that are no answer


def body(text: bytes, kind: str = "text/html", **headers: str) -> Callable[[web.Request], Any]:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(body=text, content_type=kind, headers=headers)

    return handler


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"<!doctype html><title>Welcome</title>", "answered with HTML, not JSON: check the base URL"),
        (b"  \n", "answered with an empty body, not JSON: check the base URL"),
        (b'data: {"choices": [{"delta": {}}]}\n\n', "answered with a stream of events, not JSON: check the base URL"),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_reply_that_is_not_json_is_reported(
    server: Any, ask: Ask, name: Name, provider: str, text: bytes, says: str
) -> None:
    server.handler = body(text)
    with pytest.raises(TransientError) as caught:
        ask(name(provider))
    assert str(caught.value).endswith(says)
    assert caught.value.unreachable


def test_endless_compressed_body_is_cut_off(server: Any, ask: Ask, name: Name, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST", 2**20)
    packed = gzip.compress(b" " * 2**24)
    server.handler = body(packed, "application/json", **{"Content-Encoding": "gzip"})
    with pytest.raises(TransientError, match=r"answered with more than \d+ MiB: check the base URL"):
        ask(name("openai"))


def test_request_ends_after_its_total_time(server: Any, ask: Ask, name: Name) -> None:
    async def blanks(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for _ in range(200):
            await response.write(b"\n")
            await asyncio.sleep(0.02)
        return response

    server.handler = blanks
    with pytest.raises(TransientError, match="did not answer in time"):
        ask(name("openai", "timeout=5&timeout_total=0.3"))


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\n\x0b\x02\x80Y",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64",
    ],
    ids=["brotli", "http2"],
)
def test_malformed_http_reply_is_reported_at_once(ask: Ask, answer: bytes) -> None:
    """Stop at once: each further prompt would be paid for, and no answer read."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        with ThreadPoolExecutor(1) as thread:
            thread.submit(serve)
            with pytest.raises(TransientError, match=r"sent a broken answer: .*: check the base URL") as caught:
                ask(f"openai:m?base_url=http://127.0.0.1:{listening.getsockname()[1]}/v1&timeout=5")
    assert caught.value.unreachable


# oddities beside an answer, which is paid for


@pytest.mark.parametrize(
    "odd",
    [
        {"usage": "9"},
        {"usage": [], "model": {"id": "m"}},
        {"usage": {"prompt_tokens": 1, "completion_tokens_details": [1]}},
        {"message": {"content": "Yes.", "reasoning": {"steps": []}}},
        {"message": {"content": ["Yes."]}},
        {"message": {"content": [{"type": "output_text", "text": "Yes."}, {"type": "text", "text": None}]}},
    ],
)
def test_answer_is_read_despite_odd_fields(server: Any, ask: Ask, name: Name, odd: dict[str, Any]) -> None:
    choice = {"finish_reason": "stop", "message": odd.get("message", {"content": "Yes."})}
    server.says({"choices": [choice], **odd})
    answer = ask(name("openai"))
    assert (answer.text, answer.finish_reason, answer.reasoning, answer.served_by) == ("Yes.", "stop", None, None)


@pytest.mark.parametrize(
    "odd",
    [
        {"usage": [1]},
        {"usage": {"input_tokens": 1, "output_tokens_details": [1]}},
        {"model": 7},
        {"content": "Yes."},
        {"content": [{"text": "Yes."}]},
        {"content": [{"type": "thinking"}, {"type": "text", "text": None}, {"type": "text", "text": "Yes."}]},
    ],
)
def test_message_is_read_despite_odd_fields(server: Any, ask: Ask, name: Name, odd: dict[str, Any]) -> None:
    server.says({"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn", **odd})
    answer = ask(name("anthropic"))
    assert (answer.text, answer.finish_reason, answer.reasoning, answer.served_by) == ("Yes.", "stop", None, None)


# tokens


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_tokens_are_counted_where_they_are_written_as_fractions(
    server: Any, ask: Ask, name: Name, provider: str
) -> None:
    reply = (
        {"choices": [{"finish_reason": "stop", "message": {"content": "Yes."}}]}
        if provider == "openai"
        else {"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}
    )
    names = ("prompt_tokens", "completion_tokens") if provider == "openai" else ("input_tokens", "output_tokens")
    server.says({**reply, "usage": dict(zip(names, (20.0, 5.0), strict=True))})
    assert ask(name(provider)).usage == {"input": 20, "output": 5}


@pytest.mark.parametrize(
    ("counted", "output", "reasoning"),
    [
        ({"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 553}, 533, 382),
        ({"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 171}, 151, None),
        ({"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 100}, 151, None),
        (
            {
                "prompt_tokens": 2,
                "completion_tokens": 5,
                "total_tokens": 9,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            7,
            4,
        ),
    ],
)
def test_hidden_reasoning_is_counted_as_output(
    server: Any, ask: Ask, name: Name, counted: dict[str, Any], output: int, reasoning: int | None
) -> None:
    message = {"role": "assistant", "content": "Yes."}
    server.says({"choices": [{"finish_reason": "stop", "message": message}], "usage": counted})
    usage = ask(name("openai")).usage
    assert (usage["output"], usage.get("reasoning")) == (output, reasoning)
