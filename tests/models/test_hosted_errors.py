"""Errors of models behind an HTTP API: each kind of error once, and no secret in any."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import (
    FairnessError,
    FatalError,
    ForbiddenError,
    ModelError,
    PermanentError,
    TransientError,
)
from pytest_fairness.core.protocols import Model
from pytest_fairness.models import http_model
from pytest_fairness.models.context import ModelContext

SECRET = "sk-proj-0123456789abcdefghij"
KEYS = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}

Make = Callable[..., Model]
Ask = Callable[..., Answer]
Name = Callable[..., str]

BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])


def fails(ask: Ask, name: str, **context: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(name, **context)
    assert "\n" not in str(caught.value)
    return caught.value


@BOTH
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, PermanentError),
        (413, PermanentError),
        (418, PermanentError),
        (422, PermanentError),
        (401, FatalError),
        (402, FatalError),
        (403, ForbiddenError),
        (404, FatalError),
        (408, TransientError),
        (409, TransientError),
        (429, TransientError),
        (500, TransientError),
        (503, TransientError),
        (529, TransientError),
    ],
)
def test_status_maps_to_one_kind_of_error(
    server: Any, ask: Ask, name: Name, provider: str, status: int, kind: type[ModelError]
) -> None:
    server.says({"type": "error", "error": {"type": "some_error", "message": "what is wrong"}}, status)
    error = fails(ask, name(provider))
    assert type(error) is kind
    assert f"({status}: what is wrong)" in str(error)
    assert f"{provider}:m" in str(error)
    assert len(server.bodies) == 1, "the client must not retry by itself"
    if isinstance(error, TransientError):
        assert error.rate_limited == (status in (429, 529))
        assert not error.unreachable


@BOTH
@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry_After": "7"}, 7, 7),
        ({"Retry_After": "0.5"}, 0.5, 0.5),
        ({"Retry_After_Ms": "1500", "Retry_After": "9"}, 1.5, 1.5),
        ({"Retry_After": "-3"}, 0, 0),
        ({"Retry_After": "0"}, 0, 0),
        ({"Retry_After": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30, 30),
        (
            {
                "X_Ratelimit_Remaining_Tokens": "0",
                "X_Ratelimit_Reset_Tokens": "6m0s",
                "X_Ratelimit_Remaining_Requests": "9",
                "X_Ratelimit_Reset_Requests": "8h",
            },
            360,
            360,
        ),
        ({"X_Ratelimit_Remaining_Requests": "0", "X_Ratelimit_Reset_Requests": "250ms"}, 0.25, 0.25),
        (
            {
                "Anthropic_Ratelimit_Requests_Remaining": "0",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
                "Anthropic_Ratelimit_Requests_Reset": "2015-10-21T07:29:00Z",
            },
            60,
            60,
        ),
        (
            {
                "X_Ratelimit_Remaining": "0",
                "X_Ratelimit_Reset": "1445412600000",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            120,
            120,
        ),
        ({"Retry_After": format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)}, 3600, 7200),
    ],
)
def test_retry_after_of_a_provider_is_kept(
    server: Any, ask: Ask, name: Name, provider: str, headers: dict[str, str], low: float, high: float
) -> None:
    server.says({"error": {"message": "slow"}}, 429, **headers)
    error = fails(ask, name(provider))
    assert isinstance(error, TransientError)
    assert error.retry_after is not None
    assert low <= error.retry_after <= high


@pytest.mark.parametrize("header", ["soon", "nan", "inf", ""])
def test_invalid_retry_after_is_ignored(server: Any, ask: Ask, name: Name, header: str) -> None:
    server.says({"error": {"message": "slow"}}, 429, Retry_After=header)
    error = fails(ask, name("openai"))
    assert isinstance(error, TransientError)
    assert error.retry_after is None


def test_retry_delay_in_the_body_of_google_is_kept(server: Any, ask: Ask, name: Name) -> None:
    """Read the delay from the body, a list: Google's OpenAI endpoint sends no header."""
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "41.5s"}
    quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []}
    server.says([{"error": {"code": 429, "message": "You exceeded", "details": [quota, retry]}}], 429)
    error = fails(ask, name("openai"))
    assert isinstance(error, TransientError)
    assert (error.retry_after, error.rate_limited) == (41.5, True)
    assert "(429: You exceeded)" in str(error)


def test_reset_in_the_body_of_openrouter_is_kept(server: Any, ask: Ask, name: Name) -> None:
    """Wait for hours, as the free models of a day ask: that ends the requests of the run."""
    reset = str(int((datetime.now(UTC) + timedelta(hours=9)).timestamp() * 1000))
    inner = {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    body = {"message": "free-models-per-day", "code": 429, "metadata": {"headers": inner}}
    server.says({"error": body}, 429)
    error = fails(ask, name("openai"))
    assert isinstance(error, TransientError)
    assert error.retry_after == pytest.approx(9 * 3600, abs=600)


@pytest.mark.parametrize("details", [None, "soon", ["soon"], [{"retryDelay": 3}], [{"retryDelay": "soon"}], {"a": 1}])
def test_details_without_a_delay_are_ignored(server: Any, ask: Ask, name: Name, details: object) -> None:
    server.says({"error": {"message": "slow", "details": details}}, 429)
    error = fails(ask, name("openai"))
    assert isinstance(error, TransientError)
    assert error.retry_after is None


def test_request_larger_than_the_token_limit_is_permanent(server: Any, ask: Ask, name: Name) -> None:
    message = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 50000."
    server.says({"error": {"code": "rate_limit_exceeded", "message": message}}, 429)
    assert isinstance(fails(ask, name("openai")), PermanentError)


def test_unknown_model_is_fatal_whatever_the_status(server: Any, ask: Ask, name: Name) -> None:
    server.says({"error": {"code": "model_not_found", "message": "no m"}}, 400)
    assert isinstance(fails(ask, name("openai")), FatalError)


@BOTH
def test_redirect_is_reported_and_not_followed(server: Any, ask: Ask, name: Name, provider: str) -> None:
    server.says({}, 307, Location=f"{server.url}/elsewhere")
    error = fails(ask, name(provider))
    assert isinstance(error, FatalError)
    assert "sends requests elsewhere (307)" in str(error)
    assert len(server.paths) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"code": "insufficient_quota"},
        {"type": "rate_limit_error", "error_code": "enforced_spend_limit_reached"},
        {"type": "rate_limit_error", "details": {"error_code": "contract_spend_limit_reached"}},
    ],
)
def test_spent_quota_is_not_retried(server: Any, ask: Ask, name: Name, fields: dict[str, Any]) -> None:
    server.says({"error": {**fields, "message": "you exceeded your quota"}}, 429)
    error = fails(ask, name("openai"))
    assert isinstance(error, FatalError)
    assert "no credit left" in str(error)


async def _reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _close(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"choices"')
    assert request.transport is not None
    request.transport.abort()
    return response


async def _broken(_: web.Request) -> web.StreamResponse:
    return web.Response(text='{"choices": [', content_type="application/json")


async def _drips(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(40):
        await asyncio.sleep(0.05)
        await response.write(b"\n")
    return response


async def _slow(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(10)
    return web.Response()


@BOTH
@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (_reset, "dropped the connection"),
        (_close, "dropped the connection"),
        (_half, "dropped the connection"),
        (_broken, "broken answer"),
        (_slow, "did not answer in time"),
    ],
)
def test_network_trouble_is_transient(
    server: Any,
    ask: Ask,
    name: Name,
    provider: str,
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    says: str,
) -> None:
    server.handler = handler
    error = fails(ask, name(provider, "timeout=1" if handler is _slow else ""))
    assert isinstance(error, TransientError)
    assert says in str(error)
    assert not error.unreachable
    assert error.sent


def test_server_that_only_sends_blank_lines_times_out(
    server: Any, ask: Ask, name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: DeepSeek sends blank lines while a request waits, and each byte once restarted the timeout."""
    monkeypatch.setattr(http_model, "_TIMEOUT_TOTAL", 0.3)
    server.handler = _drips
    error = fails(ask, name("openai", "timeout=0.2"))
    assert isinstance(error, TransientError)
    assert error.kind == "timeout"


@BOTH
def test_server_that_is_not_there_is_named(ask: Ask, provider: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # bound, not listening: refused
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        error = fails(ask, f"{provider}:m?base_url={url}")
    assert isinstance(error, TransientError)
    assert error.unreachable
    assert not error.sent
    assert f"{url} cannot be reached" in str(error)


@BOTH
def test_host_that_does_not_exist_is_named(ask: Ask, provider: str) -> None:
    error = fails(ask, f"{provider}:m?base_url=http://no-such-host.invalid/v1")
    assert isinstance(error, TransientError)
    assert error.unreachable
    assert "http://no-such-host.invalid/v1 cannot be reached" in str(error)


@BOTH
def test_missing_key_names_the_variable_and_the_option(ask: Ask, provider: str) -> None:
    error = fails(ask, f"{provider}:m")
    assert isinstance(error, FatalError)
    assert f"set {provider.upper()}_API_KEY" in str(error)
    assert "--fairness-env-file" in str(error)


@BOTH
@pytest.mark.parametrize("library", ["aiohttp", "certifi"])
def test_missing_library_names_the_install_line(
    ask: Ask, provider: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    error = fails(ask, f"{provider}:m", environment=KEYS)
    assert isinstance(error, FatalError)
    assert f"{library} is not installed" in str(error)
    assert f'pip install "./pytest-fairness[{provider}]"' in str(error)


@BOTH
def test_batches_need_the_official_client(make: Make, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, provider, None)
    batches: Any = make(f"{provider}:m", environment=KEYS).batches  # type: ignore[attr-defined]
    with pytest.raises(FatalError, match=f"{provider} is not installed"):
        asyncio.run(batches.state("one"))


@BOTH
def test_offline_run_makes_no_connection(server: Any, ask: Ask, name: Name, provider: str) -> None:
    assert isinstance(fails(ask, name(provider), offline=True), FatalError)
    assert server.bodies == []


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "/v1"])
def test_invalid_base_url_is_refused(make: Make, url: str) -> None:
    with pytest.raises(FairnessError, match="is no URL: write http://host:port/path"):
        make(f"openai:m?base_url={url}")


# secrets


@BOTH
@pytest.mark.parametrize("status", [400, 401, 500])
def test_key_is_never_shown(server: Any, make: Make, ask: Ask, name: Name, provider: str, status: int) -> None:
    environment = {**KEYS, "OTHER_TOKEN": "tok-en-of-another", "SHORT_KEY": "none"}
    text = f"bad key {SECRET}, also tok-en-of-another and Bearer abcdefghijkl, but none of this word"
    server.says({"error": {"message": text * 3}}, status)
    model = make(name(provider).replace("http://", "http://me:hunter2@"), environment=environment)
    error = fails(ask, model)  # type: ignore[arg-type]
    texts = " ".join([str(error), repr(error), repr(model), model.name, model.key, str(error.__cause__)])
    for secret in (SECRET, "tok-en-of-another", "abcdefghijkl", "hunter2"):
        assert secret not in texts
    assert "[redacted]" in texts
    assert "none of this word" in texts
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_context_does_not_show_its_environment() -> None:
    assert SECRET not in repr(ModelContext(environment=KEYS))
