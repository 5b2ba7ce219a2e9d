"""Errors of failed HTTP requests, for every provider: by HTTP status and exception class names, without any SDK."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FatalError, ForbiddenError, ModelError, PermanentError, TransientError
from pytest_fairness.core.secrets import redacted
from pytest_fairness.models import refusals

_LONGEST_REASON = 300
"""Largest number of characters of a server's own message in ours: some send whole pages of HTML."""

_CONNECTION_FAILURES = {
    # First, since the exception of a dropped connection may be wrapped in one of a failed connection, or of a timeout.
    "dropped connection": {
        *("BrokenPipeError", "ChunkedEncodingError", "ClientPayloadError", "ConnectionAbortedError"),
        *("ConnectionResetError", "ReadError", "RemoteProtocolError", "ServerDisconnectedError"),
        *("WriteError",),
    },
    "no connection": {
        *("ClientConnectorError", "ConnectError", "ConnectTimeout", "ConnectionRefusedError"),
        *("ConnectionTimeoutError", "gaierror"),
    },
    "timeout": {"TimeoutError", "TimeoutException", "APITimeoutError", "Timeout"},
}
"""The names of the exceptions of each kind."""
_BAD_URL = {"UnsupportedProtocol", "InvalidURL"}
_FILTER_STATUSES = (400, 403, 422, 451)
_LIMITED = (429, 529)
"""Statuses of a rate limit; 529 is Anthropic's for an overloaded server."""
_STATUS = ("status_code", "status", "code")
_SPENT = {"insufficient_quota", "billing_error", "enforced_spend_limit_reached", "contract_spend_limit_reached"}
_SPENT_WORDS = ("credit balance is too low", "reached your specified API usage limits", "Out of call volume quota")
"""Two messages of Anthropic, with status 400, and one of Azure, with 403."""
_NO_CAPACITY = 498
"""Groq's status for a tier without free capacity."""
_PROXY_REFUSAL = 407
_TOO_LARGE = "request too large"
"""Beginning of OpenAI's message for a request of more tokens than its limit per minute: status 429, but permanent."""
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_UNITS = (86400, 3600, 60, 1, 0.001)
_EPOCH = 1e9
"""Smallest number that is read as seconds since 1970; from a thousand times it, as milliseconds."""


@dataclass(frozen=True, slots=True)
class Service:
    """The server of a request, for error messages."""

    model: str
    base_url: str
    """The address, without credentials."""
    key_advice: str
    """The way out for a refused key."""
    secrets: tuple[str, ...] = ()
    """Texts that no message may contain."""
    parameters: Collection[str] = ()
    """The names of the parameters in every request."""
    has_answered: bool = False
    """Whether it has answered a request before, so that its key is valid."""
    address: str = "the base URL"
    """The setting of the address, in words."""
    timeout: str = "timeout=SECONDS in the model's name"
    """The setting of the timeout, in words."""
    concurrency: str = "--fairness-concurrency"
    """The setting of the number of requests in flight."""

    def __repr__(self) -> str:
        return f"Service({self.model!r}, {self.base_url!r})"


def translate(error: Exception, service: Service) -> ModelError:
    """Return the model's error for an exception of an HTTP library or an SDK; its text never contains a key."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status_error(status, getattr(error, "body", None) or str(error), service, _headers(error))
    names = {cls.__name__ for link in _chain(error) for cls in type(link).__mro__}
    reason = _one_line(list(_chain(error))[-1], service)
    at = f"{service.model}: {service.base_url}"
    if names & _BAD_URL:
        return FatalError(f"{at} is no URL that can be asked ({reason}): write http://host:port/path")
    if "ClientHttpProxyError" in names and getattr(error, "status", None) == _PROXY_REFUSAL:
        return _proxy_refusal(service)
    if "ClientConnectorCertificateError" in names:
        return FatalError(f"{at} is not trusted ({reason}): name the certificate of its authority in SSL_CERT_FILE")
    blocker = "proxy in HTTP_PROXY or HTTPS_PROXY" if "ClientProxyConnectionError" in names else "server"
    messages = {
        "dropped connection": f"dropped the connection: {reason}",
        "no connection": f"cannot be reached: {reason}; is the {blocker} running?",
        "timeout": f"did not answer in time: {service.timeout} allows more, {service.concurrency} sends fewer at once",
    }
    if failure := _connection_failure(names, {kind: f"{at} {message}" for kind, message in messages.items()}):
        return failure
    if "ClientResponseError" in names:  # another version of HTTP, or another compression than was offered
        return TransientError(
            f"{at} sent a broken answer: {reason}: check {service.address}",
            sent=True,
            unreachable=True,
            kind="broken answer",
        )
    if "APIConnectionError" in names:
        return TransientError(f"{at} could not be asked: {reason}", kind="no connection")
    if names & {"JSONDecodeError", "UnicodeDecodeError"}:
        return TransientError(f"{at} sent a broken answer: {reason}", sent=True, kind="broken answer")
    return PermanentError(f"{at} failed: {type(error).__name__}: {reason}")


def transient_error(error: BaseException, message: str) -> TransientError | None:
    """Return the error of an application in which a request failed temporarily; None for any other exception.

    The request may be any library's: the status and the class names of the exception and its causes decide.
    """
    chain = list(_chain(error))
    for link in chain:
        sources = (link, getattr(link, "response", None))
        codes = (getattr(source, name, None) for source in sources for name in _STATUS)
        status = next((code for code in codes if isinstance(code, int) and 400 <= code < 600), None)
        if status in _LIMITED and not _code(getattr(link, "body", None)) & _SPENT:
            wait = retry_after(_headers(link), getattr(link, "body", None))
            return TransientError(message, retry_after=wait, rate_limited=True, kind=str(status))
        if status is not None:
            return (
                TransientError(message, kind=str(status)) if _is_transient(status) and status not in _LIMITED else None
            )
    names = {cls.__name__ for link in chain for cls in type(link).__mro__}
    return _connection_failure(names, dict.fromkeys(_CONNECTION_FAILURES, message))


def _connection_failure(names: set[str], messages: Mapping[str, str]) -> TransientError | None:
    for kind, classes in _CONNECTION_FAILURES.items():
        if names & classes:
            is_unreachable = kind == "no connection"
            return TransientError(messages[kind], sent=not is_unreachable, unreachable=is_unreachable, kind=kind)
    return None


def status_error(status: int, body: object, service: Service, headers: Mapping[str, str] | None) -> ModelError:
    """Return the error of an HTTP status: transient, permanent for this prompt, or fatal for the model."""
    if isinstance(body, bytes):
        body = body.decode(errors="replace")
    reason = _one_line(_message(body), service)
    at = f"{service.model}: {service.base_url}"
    kind = str(status)
    codes, message = _code(body), str(_message(body))
    if status == _PROXY_REFUSAL:
        return _proxy_refusal(service)
    refuses_key = status == 400 and refusals.is_key_refusal(codes, message)
    if status == 402 or codes & _SPENT or any(words in message for words in _SPENT_WORDS):
        return FatalError(f"{at} has no credit left ({status}: {reason})", kind=kind)
    if status == 401 or refuses_key:
        return FatalError(f"{at} refused the key ({status}: {reason}): {service.key_advice}", kind=kind)
    # A gateway may refuse one prompt by 403: a server that has answered before has accepted the key.
    if status == 403 and not service.has_answered:
        return ForbiddenError(
            f"{at} refused the key or the prompt ({status}: {reason}): {service.key_advice}", kind=kind
        )
    if 300 <= status < 400:
        return FatalError(
            f"{at} sends requests elsewhere ({status}): name the final address as {service.address}", kind=kind
        )
    if status == 404 or "model_not_found" in codes:
        way = (
            "write api=responses into its name"
            if "v1/responses" in message
            else f"check the name and {service.address}"
        )
        return FatalError(f"{at} knows no such model or path ({status}: {reason}): {way}", kind=kind)
    if _is_transient(status):
        limited = status in _LIMITED
        if limited and reason.lower().startswith(_TOO_LARGE):
            return PermanentError(f"{at} refused the request ({status}: {reason})", kind=kind)
        failure = "limits the rate" if limited else "failed for now"
        wait = retry_after(headers or {}, body)
        return TransientError(f"{at} {failure} ({status}: {reason})", retry_after=wait, rate_limited=limited, kind=kind)
    if status in (400, 422) and (
        refusal := refusals.refused_parameter(codes, message, _error(body), service.parameters)
    ):
        parameter, way = refusal
        return FatalError(f"{at} takes no such {parameter} ({status}: {reason}): {way}", kind=kind)
    return PermanentError(f"{at} refused the request ({status}: {reason})", kind=kind)


def _proxy_refusal(service: Service) -> FatalError:
    return FatalError(
        f"{service.model}: the proxy on the way to {service.base_url} refused its user or password (407): write them "
        "before the host in HTTP_PROXY or HTTPS_PROXY, as USER:PASSWORD@HOST:PORT",
        kind=str(_PROXY_REFUSAL),
    )


def stated_status(error: object) -> int:
    """Return the HTTP status in the code of an error that was sent with status 200; 500 where it has none.

    >>> stated_status({"code": "429"}), stated_status({"type": "rate_limit_error"}), stated_status("boom")
    (429, 429, 500)
    """
    codes = _code(error)
    status = next((int(code) for code in sorted(codes) if code.isdigit() and 400 <= int(code) < 600), 500)
    return 429 if any("rate_limit" in code for code in codes) else status


def is_filtered(status: int, body: object) -> bool:
    """Return whether a filter of the provider, or of a gateway, refused this prompt for its content."""
    message = str(_message(body))
    is_page = message.lstrip().startswith("<")  # a firewall's page is not about the prompt
    return (
        status in _FILTER_STATUSES and not is_page and refusals.is_content_refusal(_code(body), message, _error(body))
    )


def retry_after(headers: Mapping[str, str], body: object = None) -> float | None:
    """Return the seconds to wait by the headers of a response, else by Google's ``RetryInfo`` in the body.

    Where the headers only have the resets of several limits, the longest wait of those that are used up.

    >>> retry_after({"retry-after": "3"})
    3.0
    >>> retry_after({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s"})
    90.0
    """
    lowered = {name.lower(): value for name, value in {**_inner_headers(body), **headers}.items()}
    now = _moment(lowered.get("date")) or Clock.now()  # by the server's clock, if it sends the date
    waits = [_seconds(lowered.get("retry-after-ms"), now, 0.001), _seconds(lowered.get("retry-after"), now)]
    waits += [_seconds(detail.get("retryDelay"), now) for detail in _details(body)]
    wait = next((wait for wait in waits if wait is not None), None)
    if wait is not None:
        return wait
    resets = [
        _seconds(value, now)
        for name, value in lowered.items()
        if "ratelimit" in name and "reset" in name and lowered.get(name.replace("reset", "remaining")) == "0"
    ]
    return max((wait for wait in resets if wait is not None), default=None)


def _seconds(text: object, now: datetime, unit: float = 1.0) -> float | None:
    """Return the seconds from now to a number, a duration (``1m30.5s``), a time since 1970 or a date; else None."""
    if not isinstance(text, str):
        return None
    try:
        number = float(text)
    except ValueError:
        if (moment := _moment(text)) is not None:
            return max(0.0, (moment - now).total_seconds())
        match = _DURATION.fullmatch(text.strip())
        parts = [float(part or 0) * size for part, size in zip(match.groups(), _UNITS, strict=True)] if match else []
        return sum(parts) if match and match.group() else None
    if number > _EPOCH:
        number = number / (1000 if number > 1000 * _EPOCH else 1) - now.timestamp()
    return max(0.0, number * unit) if math.isfinite(number) else None


def _moment(text: str | None) -> datetime | None:
    """Return the time of a date in the format of HTTP or ISO 8601."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(ValueError, TypeError):
            moment = read(text or "")
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _inner_headers(body: object) -> Mapping[str, Any]:
    """Return the headers of the provider behind OpenRouter, which are in its error."""
    headers = _inner(body)
    for name in ("metadata", "headers"):
        headers = headers.get(name) if isinstance(headers, Mapping) else None
    return headers if isinstance(headers, Mapping) else {}


def _details(body: object) -> list[Mapping[str, Any]]:
    """Return the details that Google adds to an error."""
    inner = _inner(body)
    details = inner.get("details") if isinstance(inner, Mapping) else None
    return [detail for detail in details if isinstance(detail, Mapping)] if isinstance(details, list) else []


def _is_transient(status: int) -> bool:
    return status in (408, 409, 425, 429, _NO_CAPACITY) or status >= 500


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _inner(body: object) -> Any:
    """Return the error in a reply: OpenAI's SDK extracts it, Anthropic's does not, Gemini's is in a list."""
    while isinstance(body, list) and body:
        body = body[0]
    return body.get("error", body) if isinstance(body, Mapping) else body


def _error(body: object) -> Mapping[str, Any]:
    inner = _inner(body)
    return inner if isinstance(inner, Mapping) else {}


def _message(body: object) -> object:
    inner = _inner(body)
    if not isinstance(inner, Mapping):
        return inner
    return inner.get("message") or inner.get("detail") or inner


def _code(body: object) -> set[str]:
    error = _error(body)
    details = error.get("details")
    codes = [*map(error.get, ("code", "type", "status", "error_code"))]
    codes.append(details.get("error_code") if isinstance(details, Mapping) else None)
    return {str(code) for code in codes if code is not None}


def _one_line(reason: object, service: Service) -> str:
    text = " ".join(str(reason).split()) or ("no reason" if isinstance(reason, str) else type(reason).__name__)
    text = redacted(text, service.secrets)  # before it is cut: half a key would not be recognized
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."
