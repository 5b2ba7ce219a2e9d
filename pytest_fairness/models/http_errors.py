"""What a failed HTTP request means, the same for every provider. Knows no SDK: it goes by status and class names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pytest_fairness.core.errors import FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.models.secrets import redacted

_SHOWN = 300
"""Characters of a server's own message that are shown: some send whole pages of HTML."""

_UNREACHABLE = {"ConnectError", "ClientConnectorError", "ConnectionTimeoutError", "ConnectionRefusedError", "gaierror"}
_DROPPED = {
    "BrokenPipeError",
    "ClientPayloadError",
    "ConnectionAbortedError",
    "ConnectionResetError",
    "ReadError",
    "RemoteProtocolError",
    "ServerDisconnectedError",
    "WriteError",
}
_TIMEOUT = {"TimeoutError", "TimeoutException", "APITimeoutError"}
_BAD_URL = {"UnsupportedProtocol", "InvalidURL"}
_SPENT = {"insufficient_quota", "billing_error"}


@dataclass(frozen=True, slots=True)
class Service:
    """Who was asked, for the messages of errors."""

    model: str
    base_url: str
    """Without credentials."""
    key_variable: str
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Service({self.model!r}, {self.base_url!r})"


def translate(error: Exception, service: Service) -> ModelError:
    """The error of a model that an SDK's error stands for; its text never holds a key."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status_error(status, getattr(error, "body", None) or str(error), service, _headers(error))
    names = {cls.__name__ for link in _chain(error) for cls in type(link).__mro__}
    reason = _one_line(list(_chain(error))[-1], service)
    at = f"{service.model}: {service.base_url}"
    if names & _BAD_URL:
        return FatalError(f"{at} is no URL that can be asked ({reason}): write http://host:port/path")
    # First of all: what dropped a connection may be wrapped in an error that says it failed, or timed out.
    if names & _DROPPED:
        return TransientError(f"{at} dropped the connection: {reason}", kind="dropped connection")
    if names & _UNREACHABLE:
        return TransientError(
            f"{at} cannot be reached: {reason}; is the server running?", unreachable=True, kind="no connection"
        )
    if names & _TIMEOUT:
        return TransientError(f"{at} did not answer in time", kind="timeout")
    if "APIConnectionError" in names:
        return TransientError(f"{at} could not be asked: {reason}", kind="no connection")
    if names & {"JSONDecodeError", "UnicodeDecodeError"}:
        return TransientError(f"{at} sent a broken answer: {reason}", kind="broken answer")
    return PermanentError(f"{at} failed: {type(error).__name__}: {reason}")


def status_error(status: int, body: object, service: Service, headers: Mapping[str, str] | None = None) -> ModelError:
    """What an HTTP status means for this prompt and for the whole model."""
    reason = _one_line(_message(body), service)
    at = f"{service.model}: {service.base_url}"
    kind = str(status)
    if status in (401, 403):
        return FatalError(f"{at} refused the key ({status}: {reason}): check {service.key_variable}", kind=kind)
    if status == 402 or _code(body) & _SPENT:
        return FatalError(f"{at} has no credit left ({status}: {reason})", kind=kind)
    if 300 <= status < 400:
        return FatalError(
            f"{at} sends requests elsewhere ({status}): name the final address as the base URL", kind=kind
        )
    if status == 404 or "model_not_found" in _code(body):
        return FatalError(
            f"{at} knows no such model or path ({status}: {reason}): check the name and the base URL", kind=kind
        )
    if status in (408, 409, 425, 429) or status >= 500:
        limited = status in (429, 529)  # 529: Anthropic's word for overloaded
        said = "limits the rate" if limited else "failed for now"
        wait = retry_after(headers or {})
        return TransientError(f"{at} {said} ({status}: {reason})", retry_after=wait, rate_limited=limited, kind=kind)
    return PermanentError(f"{at} refused the request ({status}: {reason})", kind=kind)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait that a provider asks for, in seconds: from milliseconds, seconds or a date.

    >>> retry_after({"retry-after": "3"})
    3.0
    """
    milliseconds, seconds = headers.get("retry-after-ms"), headers.get("retry-after")
    wait = math.nan
    try:
        if milliseconds is not None:
            wait = float(milliseconds) / 1000
        elif seconds is not None:
            wait = float(seconds)
    except ValueError:
        wait = _until(seconds)
    return max(0.0, wait) if math.isfinite(wait) else None


def _until(date: str | None) -> float:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()


def _headers(error: Exception) -> Mapping[str, str]:
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    return headers


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _inner(body: object) -> Any:
    """The error object of a reply: OpenAI's SDK has taken it out already, Anthropic's has not."""
    return body.get("error", body) if isinstance(body, Mapping) else body


def _message(body: object) -> object:
    inner = _inner(body)
    if not isinstance(inner, Mapping):
        return inner
    return inner.get("message") or inner.get("detail") or inner


def _code(body: object) -> set[str]:
    inner = _inner(body)
    return {str(inner.get("code")), str(inner.get("type"))} if isinstance(inner, Mapping) else set()


def _one_line(reason: object, service: Service) -> str:
    text = " ".join(str(reason).split()) or type(reason).__name__
    # Redacted before it is cut: half a key would not be found.
    text = redacted(text, service.secrets)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
