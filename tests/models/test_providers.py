"""Providers as they are: what each of them says in each situation, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FatalError, ForbiddenError, ModelError, PermanentError, TransientError

Ask = Callable[..., Answer]
Name = Callable[..., str]


class Says(NamedTuple):
    """A reply of a provider, with the name's parameters for which it is sent."""

    status: int
    body: Any
    tail: str = ""
    headers: dict[str, str] = {}  # noqa: RUF012


def openai(message: str, code: object = None, kind: str = "invalid_request_error", param: str | None = None) -> Any:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def google(status: int, word: str, message: str, **detail: object) -> Any:
    return [{"error": {"code": status, "message": message, "status": word, "details": [detail] if detail else []}}]


def anthropic(kind: str, message: str) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def vllm(status: int, message: str, kind: str) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": status}}


def openrouter(status: int, message: str, **metadata: object) -> Any:
    return {"error": {"code": status, "message": message, "metadata": metadata}, "user_id": "user_1"}


def chat(finish: str | None, **message: object) -> Any:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": {"prompt_tokens": 5}}


NO_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
)

FILTERED: dict[str, Says] = {
    "OpenAI": Says(400, openai("Invalid prompt: we've limited access to this content.", "invalid_prompt")),
    "Azure": Says(
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management "
                "policy.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            }
        },
    ),
    "Azure, its answer": Says(200, chat("content_filter")),
    "OpenRouter": Says(
        403,
        openrouter(
            403, 'm requires moderation. Your input was flagged for "hate".', reasons=["hate"], flagged_input="?"
        ),
    ),
    "Gemini": Says(200, {"id": "g", "choices": [], "model": "m", "usage": {"prompt_tokens": 9, "total_tokens": 9}}),
    "Gemini, its answer": Says(200, chat("content_filter: PROHIBITED_CONTENT")),
    "Anthropic": Says(400, anthropic("invalid_request_error", "Output blocked by content filtering policy")),
}

REFUSED: dict[str, Says] = {
    "OpenAI, in a part": Says(200, chat("stop", content=[{"type": "refusal", "refusal": "I can't help with that."}])),
    "OpenAI": Says(200, chat("stop", refusal="I can't help with that.")),
    "OpenRouter": Says(200, chat("stop", refusal="I can't help with that.")),
    "Anthropic": Says(200, {"content": [], "stop_reason": "refusal", "usage": {"input_tokens": 5, "output_tokens": 0}}),
}

BAD_KEY: dict[str, Says] = {
    "OpenAI": Says(401, openai("Incorrect API key provided: sk-a***.", "invalid_api_key")),
    "Azure": Says(401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}}),
    "OpenRouter": Says(401, openrouter(401, "No auth credentials found")),
    "Gemini": Says(
        400,
        google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason="API_KEY_INVALID"),
    ),
    "vLLM": Says(401, {"error": "Unauthorized"}),
    "Gemini, elsewhere": Says(400, google(400, "FAILED_PRECONDITION", "User location is not supported.")),
    "Anthropic": Says(401, anthropic("authentication_error", "invalid x-api-key")),
    "Anthropic, disabled": Says(400, anthropic("invalid_request_error", "This organization has been disabled.")),
}

FORBIDDEN: dict[str, Says] = {
    "Cloudflare": Says(403, "<html>Attention Required! | Security policy</html>"),
    "Gemini": Says(403, google(403, "PERMISSION_DENIED", "Permission denied: Consumer has been suspended.")),
    "Anthropic": Says(403, anthropic("permission_error", "Your API key does not have permission to use m.")),
}

BAD_PARAMETER: dict[str, Says] = {
    "OpenAI": Says(400, openai(NO_TEMPERATURE, "unsupported_value", param="temperature"), "temperature=0"),
    "OpenAI, its value": Says(
        400, openai("Invalid value: 'low'.", "invalid_value", param="reasoning_effort"), "reasoning_effort=low"
    ),
    "OpenAI, too large": Says(
        400, openai("max_tokens is too large: 99999.", "invalid_value", param="max_tokens"), "max_tokens=99999"
    ),
    "Ollama": Says(400, {"error": {"message": '"m" does not support thinking'}}, "reasoning_effort=low"),
    "Azure": Says(400, openai(NO_TEMPERATURE, "unsupported_value", param="temperature"), "temperature=0"),
    "OpenRouter": Says(400, openrouter(400, "Provider returned error: Unsupported parameter: 'seed'"), "seed=1"),
    "Gemini": Says(
        400,
        google(400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'),
        "seed=1",
    ),
    "vLLM": Says(400, vllm(400, "Unsupported parameter: 'seed'", "BadRequestError"), "seed=1"),
    "Anthropic": Says(400, anthropic("invalid_request_error", "`top_p` is deprecated for this model."), "top_p=1"),
}

NO_MODEL: dict[str, Says] = {
    "OpenAI": Says(404, openai("The model `m` does not exist or you do not have access to it.", "model_not_found")),
    "Azure": Says(404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}}),
    "OpenRouter": Says(404, openrouter(404, "No endpoints found for m.")),
    "Gemini": Says(404, google(404, "NOT_FOUND", "models/m is not found for API version v1main")),
    "vLLM": Says(404, vllm(404, "The model `m` does not exist.", "NotFoundError")),
    "Ollama": Says(404, {"error": {"message": "model 'm' not found", "type": "not_found_error", "param": None}}),
    "Anthropic": Says(404, anthropic("not_found_error", "model: m")),
}

NO_MONEY: dict[str, Says] = {
    "OpenAI, as 403": Says(403, openai("You have insufficient quota", "insufficient_quota")),
    "Azure": Says(403, {"error": {"code": "403", "message": "Out of call volume quota. Replenished in 05:13:12."}}),
    "Anthropic, its limit": Says(
        400, anthropic("invalid_request_error", "You have reached your specified API usage limits.")
    ),
    "OpenAI": Says(429, openai("You exceeded your current quota.", "insufficient_quota", "insufficient_quota")),
    "OpenRouter": Says(402, openrouter(402, "Insufficient credits. Add more.")),
    "Anthropic": Says(400, anthropic("invalid_request_error", "Your credit balance is too low to access the API.")),
    "Anthropic, by type": Says(402, anthropic("billing_error", "There is an issue with your billing.")),
}

LIMITED: dict[str, Says] = {
    "OpenAI": Says(429, openai("Rate limit reached", "rate_limit_exceeded", "requests"), "", {"Retry_After": "7"}),
    "Azure": Says(
        429, {"error": {"code": "429", "message": "Please retry after 7 seconds."}}, "", {"Retry_After": "7"}
    ),
    "OpenRouter": Says(429, openrouter(429, "Rate limit exceeded", headers={"Retry-After": "7"})),
    "OpenRouter, as HTTP 200": Says(200, openrouter(429, "Provider returned error", headers={"Retry-After": "7"})),
    "OpenAI, as HTTP 200": Says(200, openai("Rate limit reached", "rate_limit_exceeded"), "", {"Retry_After": "7"}),
    "Gemini": Says(429, google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", retryDelay="7s")),
    "vLLM": Says(429, vllm(429, "Too many requests", "TooManyRequestsError"), "", {"Retry_After": "7"}),
    "Anthropic": Says(429, anthropic("rate_limit_error", "Number of requests exceeded"), "", {"Retry_After": "7"}),
    "Anthropic, overloaded": Says(529, anthropic("overloaded_error", "Overloaded"), "", {"Retry_After": "7"}),
}

DOWN: dict[str, Says] = {
    "Groq": Says(498, openai("Flex tier capacity exceeded", "capacity_exceeded")),
    "OpenAI": Says(500, openai("The server had an error", None, "server_error")),
    "Azure": Says(503, {"error": {"code": "ServiceUnavailable", "message": "The service is temporarily unavailable."}}),
    "OpenRouter": Says(502, openrouter(502, "Provider returned error", raw="upstream", provider_name="P")),
    "OpenRouter, as HTTP 200": Says(200, openrouter(502, "Provider disconnected")),
    "OpenRouter, half way": Says(200, chat("error", content="Yes, I would")),
    "Gemini": Says(503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
    "vLLM": Says(500, vllm(500, "EngineCore encountered an issue.", "InternalServerError")),
    "vLLM, half way": Says(200, chat("abort", content="Yes, I would")),
    "Ollama": Says(503, {"error": "server busy, please try again.  maximum pending requests exceeded"}),
    "Anthropic": Says(500, anthropic("api_error", "Internal server error")),
    "Anthropic, as HTTP 200": Says(200, anthropic("overloaded_error", "Overloaded")),
}

TOO_LONG: dict[str, Says] = {
    "vLLM, with max_tokens": Says(
        400,
        openai("'max_tokens' is too large: 60. This model's maximum context length is 64.", None, "", "max_tokens"),
        "max_tokens=60",
    ),
    "OpenAI": Says(400, openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded")),
    "Gemini": Says(400, google(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens.")),
    "vLLM": Says(400, vllm(400, "This model's maximum context length is 64 tokens.", "BadRequestError")),
    "Anthropic": Says(400, anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")),
}

SITUATIONS: dict[str, tuple[dict[str, Says], str | type[ModelError], str]] = {
    "filtered": (FILTERED, "content_filter", ""),
    "refused": (REFUSED, "refusal", ""),
    "bad key": (BAD_KEY, FatalError, "refused the key"),
    "forbidden": (FORBIDDEN, ForbiddenError, "refused the key or the prompt"),
    "bad parameter": (BAD_PARAMETER, FatalError, "model's name"),
    "no model": (NO_MODEL, FatalError, "check the name"),
    "no money": (NO_MONEY, FatalError, "no credit left"),
    "limited": (LIMITED, TransientError, "limits the rate"),
    "down": (DOWN, TransientError, ""),
    "too long": (TOO_LONG, PermanentError, "refused the request"),
}


@pytest.mark.parametrize(
    ("situation", "provider"),
    [(situation, provider) for situation, (replies, *_) in SITUATIONS.items() for provider in replies],
)
def test_reply_of_a_provider_has_its_expected_outcome(
    server: Any, ask: Ask, name: Name, situation: str, provider: str
) -> None:
    replies, outcome, text = SITUATIONS[situation]
    says = replies[provider]
    server.says(says.body, says.status, **says.headers)
    model = name("anthropic" if provider.startswith("Anthropic") else "openai", says.tail)
    if isinstance(outcome, str):
        answer = ask(model)
        assert answer.finish_reason == outcome
        assert "hire" not in answer.text
        return
    with pytest.raises(ModelError) as caught:
        ask(model)
    assert type(caught.value) is outcome, caught.value
    assert text in str(caught.value)
    if isinstance(caught.value, TransientError):
        assert caught.value.rate_limited == (situation == "limited")
        assert caught.value.retry_after == (7 if situation == "limited" else None)
