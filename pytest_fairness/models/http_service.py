"""``http:FILE.toml``: a deployed service in any language, which is sent the requests of its callers over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any, ClassVar

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, FatalError, TransientError, install
from pytest_fairness.core.finish_reasons import ERROR, FILTER, LENGTH, REFUSAL, STOP, TOOL_CALLS, normalize_reason
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.reply_evidence import with_evidence
from pytest_fairness.core.secrets import redacted, secrets_in
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tool_replies import application_calls
from pytest_fairness.core.tools import NoToolsError
from pytest_fairness.models import parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.http_client import LARGEST, Connection, Reply, TooLargeError
from pytest_fairness.models.http_errors import Service, is_filtered, retry_after, stated_status, status_error, translate
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.service_definition import ServiceDefinition, expand_variables, is_url, value_at

_ERROR_EVENT = re.compile(r"^event: ?error\s*$", re.MULTILINE)
_FINISH_FIELDS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
"""The names of the finish reason at OpenAI, Gemini, Anthropic, Bedrock and Ollama."""
_PROVIDER_OBJECTS = ("response", "chat.completion", "chat.completion.chunk")
"""The kinds of replies at OpenAI, and at servers that speak its protocol."""
_UNFINISHED = (LENGTH, FILTER, REFUSAL, ERROR)
_OPTIONAL_ADVICE = "which a reply without calls may leave out with actions_optional = true alone"
_EXCERPT = 160
"""Largest number of characters of a reply in a message."""


class HttpService:
    """A service behind a URL. Its construction opens no connection.

    Stored answers are used by their own run only, since nothing shows whether a service has changed. Those of a service
    with a ``version`` in its definition are used until that changes.

    Args:
        name: The name of the model: ``http:`` and the definition.
        context: The run's settings for models.

    Raises:
        FairnessError: The definition is missing or malformed.
    """

    local = False
    calls_tools = True
    requires: ClassVar[tuple[str, ...]] = ("aiohttp", "certifi")

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        parameters.read(name, {})
        self.name = name.text
        self._context = context
        try:
            self._definition = ServiceDefinition.read(name.name, context.root)
        except FairnessError as error:
            raise FairnessError(f"model {name}: {error}") from None
        identity = f"{self.name}?definition={self._definition.fingerprint(context.environment)}"
        is_versioned = bool(expand_variables(self._definition.version, context.environment))
        self.key = identity if is_versioned else f"{identity}&run={context.run}"
        self.unversioned = "" if is_versioned else identity
        """The name of a service without a version, the same in every run; empty for one with a version."""
        self.endpoint = f"http:{self._definition.public_url}"
        self.in_flight = self._definition.concurrency
        self.rates = (self._definition.rpm, None)
        self._connection: Connection | None = None
        self._has_answered = False

    def __repr__(self) -> str:
        return f"HttpService({self.name!r})"

    @property
    def base_url(self) -> str:
        """The address of the service, without credentials and without a query."""
        return self._definition.public_url

    @property
    def hides_calls(self) -> str:
        """The reason that answers without a single call prove nothing; empty where its replies always list calls."""
        definition = self._definition
        if not definition.actions_optional:
            return ""
        return f"no reply had {definition.actions!r}, which actions_optional lets it leave out: check actions"

    def preflight(self) -> None:
        """Check the environment and the libraries.

        Raises:
            FatalError: A variable or library is missing, or the URL is none.
        """
        if self._context.offline:
            return
        values = {name: self._context.environment.get(name, "").strip() for name in self._definition.variables}
        if missing := [name for name, value in values.items() if not value]:
            raise FatalError(
                f"{self.name}: set {' and '.join(missing)} in the environment, or in a file named by "
                "--fairness-env-file: the definition of the service takes it from there"
            )
        if broken := [name for name, value in values.items() if not value.isprintable()]:
            raise FatalError(f"{self.name}: {broken[0]} holds a line break or another control character: set it again")
        if not is_url(expand_variables(self._definition.url, self._context.environment)):
            raise FatalError(
                f"{self.name}: {self._definition.public_url} is no URL with the variables of this environment"
            )
        try:
            import aiohttp
            import certifi
        except ImportError as error:
            raise FatalError(f"{self.name}: {error.name} is not installed: {install('http')}") from None
        _ = aiohttp, certifi

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer to one prompt.

        Raises:
            TransientError: The request may succeed if it is sent again.
            PermanentError: It has no answer to this prompt.
            FatalError: It has no answer to any prompt.
        """
        if prompt.tools and not self._definition.actions:
            raise NoToolsError(
                f"{self.name}: its definition has no actions, which this probe is about: write the path to the list of "
                'tool calls in its replies, such as actions = "choices.0.message.tool_calls"'
            )
        if unsent := self._definition.unsent(tuple(prompt.conversation)):
            raise FatalError(
                f"{self.name}: the body of its definition leaves out {unsent} of a prompt: put "
                '"{messages}", "{prompt}" or "{system}" where the service reads it'
            )
        if self._connection is None:
            self._connection = self._connect()
        started = Clock.perf_counter()
        try:
            reply = await self._connection.post(self._definition.request(prompt, repetition))
        except TooLargeError:
            raise self._broken_answer(f"with more than {LARGEST >> 20} MiB") from None
        except Exception as error:  # noqa: BLE001  # of any library below; each is translated
            failure = translate(error, self._service())
            if isinstance(failure, TransientError) and failure.kind == "dropped connection":
                failure.unreachable = True  # a server that never sends a whole reply counts as unreachable
            raise failure from None
        answer = self._read(reply, Clock.perf_counter() - started, offers_tools=bool(prompt.tools))
        self._has_answered = True
        return answer

    async def reach(self, seconds: float) -> str:
        """Return the outcome of a request without a prompt, which many services answer with an error.

        Args:
            seconds: The timeout.

        Raises:
            ModelError: The service cannot be reached, redirects, is unavailable, or refuses access.
        """
        connection = self._connect(seconds)
        try:
            reply = await connection.get()
        except TooLargeError:
            return "reachable"
        except Exception as error:  # noqa: BLE001  # of any library below; each is translated
            raise translate(error, self._service()) from None
        finally:
            await connection.close()
        status, headers, body = reply
        if status in (401, 403, 429) or 300 <= status < 400 or (status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED):
            raise status_error(status, body, self._service(), headers)
        return f"reachable ({status} without a prompt)"

    async def close(self) -> None:
        """Close the connection. The next request opens a new one."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    def _connect(self, timeout: float | None = None) -> Connection:
        timeout = timeout or self._definition.timeout
        if self._context.offline:
            raise FatalError(f"{self.name}: it needs a connection, and this run is offline")
        self.preflight()
        headers = {
            "Accept": "text/event-stream" if self._definition.stream else "application/json, text/plain",
            "Content-Type": "application/json",
            "User-Agent": "pytest-fairness",
        }
        environment = self._context.environment
        own = {name: expand_variables(text, environment) for name, text in self._definition.headers.items()}
        own_names = {name.casefold() for name in own}
        return Connection(
            expand_variables(self._definition.url, environment),
            {name: text for name, text in headers.items() if name.casefold() not in own_names} | own,
            limit=self._definition.concurrency,
            timeout=timeout,
            timeout_total=timeout,
        )

    def _read(self, reply: Reply, latency: float, *, offers_tools: bool) -> Answer:
        """Return the answer in a reply; raises as `answer` does."""
        status, headers, body = reply
        if status in self._definition.refusal_status:
            return Answer("", REFUSAL, latency=latency)
        if status in self._definition.retry_status:
            raise TransientError(
                f"{self.name}: {self._definition.public_url} failed for now ({status})",
                retry_after=retry_after(headers, body),
                kind=str(status),
            )
        if 200 <= status < 300 and isinstance(body, dict) and self._is_error(body):
            status = stated_status(body["error"])  # some gateways send errors as HTTP 200
        if not 200 <= status < 300:
            if is_filtered(status, body):
                return Answer("", "content_filter", latency=latency)
            raise status_error(status, body, self._service(), headers)
        answer = self._answer_in(body, latency, offers_tools=offers_tools)
        passed_on = next(iter(self._provider_replies(body)), None)
        served_by = passed_on.get("model") if passed_on is not None else None
        answer = replace(answer, served_by=served_by if isinstance(served_by, str) and served_by else None)
        return with_evidence(answer, headers, passed_on)

    def _answer_in(self, body: object, latency: float, *, offers_tools: bool) -> Answer:
        """Return the answer in the body of a reply."""
        calls = self._calls(body) if offers_tools else ()
        finish = self._finish(body)
        if not calls:
            return Answer(self._text(body), finish, latency=latency)
        try:
            text = value_at(body, self._definition.answer) if self._definition.answer else None
        except LookupError:
            text = None
        finish = TOOL_CALLS if finish == STOP and not all(call.is_executed for call in calls) else finish
        return Answer(text if isinstance(text, str) else "", finish, latency=latency, actions=calls)

    def _finish(self, body: object) -> str:
        """Return a provider's finish reason beside the answer, where that is not whole; else `STOP`.

        A service may pass on a provider's reply, and with it that the answer was cut off, or filtered.
        """
        reasons = (
            normalize_reason(reason)
            for reply in self._parts(body)
            for reason in _finish_reasons(reply, self._definition.answer)
        )
        return next((reason for reason in reasons if reason in _UNFINISHED), STOP)

    def _parts(self, body: object) -> list[object]:
        """Return the body of a reply; of a stream, its events."""
        if self._definition.stream and isinstance(body, bytes):
            return [_json(event) for event in _events(body.decode(errors="replace"))]
        return [body]

    def _provider_replies(self, body: object) -> Iterator[Mapping[str, Any]]:
        """Yield the replies of a provider that a service passes on whole: other ids may be those of a session."""
        for part in self._parts(body):
            if isinstance(part, Mapping) and ("choices" in part or part.get("object") in _PROVIDER_OBJECTS):
                yield part

    def _calls(self, body: object) -> tuple[ToolCall, ...]:
        """Return the tool calls of a reply.

        A missing list does not show that no tool was called: it is an error, unless the definition allows it. Even
        then it is one where a key of nearly that name is there.
        """
        path = self._definition.actions
        if isinstance(body, bytes):
            raise self._broken_answer(f"with {self._describe(body.decode(errors='replace').strip())}, not JSON")
        parent_path, _, key = path.rpartition(".")
        try:
            parent = value_at(body, parent_path)
            is_omitted = self._definition.actions_optional and isinstance(parent, Mapping) and parent.get(key) is None
            calls = [] if is_omitted and not get_close_matches(key, parent.keys() - {key}) else value_at(parent, key)
            if calls is None:
                raise LookupError(path)
        except LookupError:
            raise self._broken_answer(
                f"without {path!r}, {_OPTIONAL_ADVICE}: {self._json_excerpt(body)}", "actions"
            ) from None
        entries = [calls] if isinstance(calls, Mapping) else calls
        tool_calls = application_calls(entries) if isinstance(entries, list) else ()
        if not isinstance(entries, list) or not all(call.name for call in tool_calls):
            raise self._broken_answer(f"with {self._json_excerpt(calls)} in place of a list of named calls at {path!r}")
        return tool_calls

    def _is_error(self, body: Mapping[str, object]) -> bool:
        """Return whether a reply has an error, next to an answer or in place of it."""
        return self._definition.answer.split(".")[0] != "error" and bool(body.get("error"))

    def _text(self, body: object) -> str:
        """Return the text of an answer."""
        if self._definition.stream:
            return "".join(self._stream_chunks(body))
        path = self._definition.answer
        if isinstance(body, bytes):
            text = body.decode(errors="replace").strip()
            if path or not text or text.startswith("<"):
                raise self._broken_answer(f"with {self._describe(text)}, not JSON")
            return text
        try:
            value = value_at(body, path)
        except LookupError:
            raise self._broken_answer(f"without {path!r}: {self._json_excerpt(body)}") from None
        if isinstance(value, str):
            return value
        if value is None or isinstance(value, dict | list):
            raise self._broken_answer(f"with {self._json_excerpt(value)} in place of a text at {path!r}")
        return json.dumps(value)

    def _stream_chunks(self, body: object) -> Iterator[str]:
        """Yield the texts in a stream of events, or of lines of JSON.

        Raises:
            TransientError: The stream is cut off, has an error, or holds no text.
        """
        text = body.decode(errors="replace") if isinstance(body, bytes) else json.dumps(body)
        if text.lstrip().startswith("<"):
            raise self._broken_answer(f"with {self._describe(text.lstrip())}, not a stream of events")
        if error := _ERROR_EVENT.search(text):
            raise self._stream_error(text[error.start() :])
        has_ended, has_chunk = not self._definition.end, False
        for data in _events(text):
            if data == self._definition.end or data == "[DONE]":
                has_ended = True
                break
            try:
                event = json.loads(data) if self._definition.answer else data
                chunk = value_at(event, self._definition.answer)
            except ValueError:
                raise self._broken_answer(f"with an event that is no JSON: {self._excerpt(data)!r}") from None
            except LookupError:  # events of other kinds: roles, usage
                chunk = None
            if not chunk and isinstance(event, dict) and event.get("error"):
                raise self._stream_error(data)
            if isinstance(chunk, str):
                has_chunk = True
                yield chunk
        if not has_ended:
            raise TransientError(
                f"{self.name}: {self._definition.public_url} cut its stream off before {self._definition.end!r}: where "
                'its streams end otherwise, write that as end, or end = "" for no such event',
                unreachable=True,
                sent=True,
                kind="broken answer",
            )
        if not has_chunk:
            raise self._broken_answer(f"with a stream without {self._definition.answer!r}: {self._excerpt(text)!r}")

    def _stream_error(self, event: str) -> TransientError:
        """Return the error of a stream with an error event: its text is not whole, even if the end follows."""
        return self._broken_answer(f"with an error in its stream: {self._excerpt(event)!r}")

    def _broken_answer(self, how: str, path: str = "answer") -> TransientError:
        """Return the error of a reply that cannot be read; it is transient, since proxies send some now and then."""
        return TransientError(
            f"{self.name}: {self._definition.public_url} answered {how}: check url and {path}",
            unreachable=True,
            sent=True,
            kind="broken answer",
        )

    def _describe(self, text: str) -> str:
        return "HTML" if text.startswith("<") else f"{self._excerpt(text)!r}" if text else "an empty body"

    def _excerpt(self, text: str) -> str:
        """Return the beginning of a reply without secrets: it may repeat the headers of its request."""
        return redacted(text[: 100 * _EXCERPT], self._secrets())[:_EXCERPT]

    def _json_excerpt(self, content: object) -> str:
        return self._excerpt(json.dumps(content, ensure_ascii=False))

    def _secrets(self) -> tuple[str, ...]:
        environment = self._context.environment
        own = tuple(filter(None, (environment.get(name, "").strip() for name in self._definition.variables)))
        return (*own, *secrets_in(environment))

    def _service(self) -> Service:
        return Service(
            self.name,
            self._definition.public_url,
            "check the headers of its definition",
            self._secrets(),
            has_answered=self._has_answered,
            address="url in its definition",
            timeout="timeout in its definition",
            concurrency="concurrency there",
        )


def _finish_reasons(reply: object, path: str) -> Iterator[str]:
    """Yield the finish reasons in a reply, in the objects on the path to the text."""
    for key in (*path.split("."), ""):
        if isinstance(reply, Mapping):
            yield from (reason for name in _FINISH_FIELDS if isinstance(reason := reply.get(name), str))
        try:
            reply = value_at(reply, key)
        except LookupError:
            return


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _events(text: str) -> Iterator[str]:
    """Yield the data of server-sent events; of a stream of JSON lines, its lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not any(line.startswith("data:") for line in lines):
        yield from (line for line in lines if line.strip() and not line.startswith(":"))
        return
    data: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
