"""``http:FILE.toml``: a deployed service in any language, asked over HTTP as its callers ask it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from http import HTTPStatus
from time import perf_counter
from typing import ClassVar

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, TransientError, install
from pytest_fairness.core.finish_reasons import ERROR, FILTER, LENGTH, REFUSAL, STOP, TOOL_CALLS, normalized
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.secrets import redacted, secrets_in
from pytest_fairness.core.tool_replies import chat_calls
from pytest_fairness.core.tools import NoToolsError, ToolCall
from pytest_fairness.models import parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.http_client import LARGEST, Connection, Reply, TooLargeError
from pytest_fairness.models.http_errors import Service, is_filtered, retry_after, stated_status, status_error, translate
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.service_definition import ServiceDefinition, at_path, filled, is_url

_ERROR_EVENT = re.compile(r"^event: ?error\s*$", re.MULTILINE)
_FINISH = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
"""Fields for it of OpenAI, Gemini, Anthropic, Bedrock and Ollama."""
_UNFINISHED = (LENGTH, FILTER, REFUSAL, ERROR)
_ABSENT = "which a reply without calls may leave out with actions_optional = true alone"
_SHOWN = 160
"""Characters of a reply that are shown."""


class HttpService:
    """A service behind a URL. Construction opens nothing.

    Its answers belong to the run that made them, since nothing shows whether a service has changed; a ``version`` in
    its definition keeps them until that changes.
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
        is_versioned = bool(filled(self._definition.version, context.environment))
        self.key = identity if is_versioned else f"{identity}&run={context.run}"
        self.unversioned = "" if is_versioned else identity
        """The name of a service without a version, the same in every run; empty for one with a version."""
        self.endpoint = f"http:{self._definition.shown_url}"
        self.in_flight = self._definition.concurrency
        self.rates = (self._definition.rpm, None)
        self._connection: Connection | None = None
        self._has_answered = False

    def __repr__(self) -> str:
        return f"HttpService({self.name!r})"

    @property
    def base_url(self) -> str:
        """The address of the service, without credentials and without a query."""
        return self._definition.shown_url

    @property
    def hides_calls(self) -> str:
        """The reason that answers without a single call prove nothing; empty where its replies state every list."""
        definition = self._definition
        if not definition.actions_optional:
            return ""
        return f"no reply had {definition.actions!r}, which actions_optional lets it leave out: check actions"

    def preflight(self) -> None:
        """Raise `FatalError` for a missing variable or library."""
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
        if not is_url(filled(self._definition.url, self._context.environment)):
            raise FatalError(
                f"{self.name}: {self._definition.shown_url} is no URL with the variables of this environment"
            )
        try:
            import aiohttp
            import certifi
        except ImportError as error:
            raise FatalError(f"{self.name}: {error.name} is not installed: {install('http')}") from None
        _ = aiohttp, certifi

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Answer one prompt. Raises `TransientError`, `PermanentError` or `FatalError`."""
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
        started = perf_counter()
        try:
            reply = await self._connection.post(self._definition.request(prompt, repetition))
        except TooLargeError:
            raise self._unreadable(f"with more than {LARGEST >> 20} MiB") from None
        except Exception as error:  # noqa: BLE001  # of any library below; each is translated
            failure = translate(error, self._service())
            if isinstance(failure, TransientError) and failure.kind == "dropped connection":
                failure.unreachable = True  # one that never sends a whole reply is none
            raise failure from None
        answer = self._read(reply, perf_counter() - started, offers_tools=bool(prompt.tools))
        self._has_answered = True
        return answer

    async def reach(self, seconds: float) -> str:
        """Return how the service answers a request without a prompt, to which many have no good answer.

        Args:
            seconds: How long to wait for it.

        Raises:
            ModelError: It cannot be reached, or what guards it refuses the request.
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
        """Close the connection. A service asked again afterwards opens a new one."""
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
        own = {name: filled(text, self._context.environment) for name, text in self._definition.headers.items()}
        replaced = {name.casefold() for name in own}
        return Connection(
            filled(self._definition.url, self._context.environment),
            {name: text for name, text in headers.items() if name.casefold() not in replaced} | own,
            most=self._definition.concurrency,
            timeout=timeout,
            timeout_total=timeout,
        )

    def _read(self, reply: Reply, latency: float, *, offers_tools: bool) -> Answer:
        status, headers, body = reply
        if status in self._definition.refusal_status:
            return Answer("", REFUSAL, latency=latency)
        if status in self._definition.retry_status:
            raise TransientError(
                f"{self.name}: {self._definition.shown_url} failed for now ({status})",
                retry_after=retry_after(headers, body),
                kind=str(status),
            )
        if 200 <= status < 300 and self._states_error(body):
            assert isinstance(body, dict)  # noqa: S101 - it states an error
            status = stated_status(body["error"])  # some gateways send errors as HTTP 200
        if not 200 <= status < 300:
            if is_filtered(status, body):
                return Answer("", "content_filter", latency=latency)
            raise status_error(status, body, self._service(), headers)
        calls = self._calls(body) if offers_tools else ()
        finish = self._finish(body)
        if not calls:
            return Answer(self._text(body), finish, latency=latency)
        try:
            text = at_path(body, self._definition.answer) if self._definition.answer else None
        except LookupError:
            text = None
        finish = TOOL_CALLS if finish == STOP else finish
        return Answer(text if isinstance(text, str) else "", finish, latency=latency, actions=calls)

    def _finish(self, body: object) -> str:
        """Return why the answer is not whole, where a field beside it has a provider's word for that; else `STOP`.

        A service that passes on what a provider sent passes on that it was cut off, or filtered.
        """
        replies: list[object] = [body]
        if self._definition.stream and isinstance(body, bytes):
            replies = [_json(event) for event in _events(body.decode(errors="replace"))]
        words = (normalized(word) for reply in replies for word in _finish_words(reply, self._definition.answer))
        return next((word for word in words if word in _UNFINISHED), STOP)

    def _calls(self, body: object) -> tuple[ToolCall, ...]:
        """Return the tool calls of a reply: a list that is not there is no proof that nothing was called."""
        path = self._definition.actions
        if isinstance(body, bytes):
            raise self._unreadable(f"with {self._form(body.decode(errors='replace').strip())}, not JSON")
        holder, _, last = path.rpartition(".")
        try:
            held = at_path(body, holder)
            is_left_out = self._definition.actions_optional and isinstance(held, Mapping) and held.get(last) is None
            calls = [] if is_left_out and not get_close_matches(last, held.keys() - {last}) else at_path(held, last)
            if calls is None:
                raise LookupError(path)
        except LookupError:
            shown = self._shown(json.dumps(body, ensure_ascii=False))
            raise self._unreadable(f"without {path!r}, {_ABSENT}: {shown}", "actions") from None
        listed = [calls] if isinstance(calls, Mapping) else calls
        read = chat_calls(listed) if isinstance(listed, list) else ()
        if not isinstance(listed, list) or not all(call.name for call in read):
            shown = self._shown(json.dumps(calls, ensure_ascii=False))
            raise self._unreadable(f"with {shown} in place of a list of named calls at {path!r}")
        return read

    def _states_error(self, body: object) -> bool:
        """Return whether a reply holds an error, beside or in place of an answer."""
        is_answer = self._definition.answer.split(".")[0] == "error"
        return isinstance(body, dict) and not is_answer and bool(body.get("error"))

    def _text(self, body: object) -> str:
        if self._definition.stream:
            return "".join(self._pieces(body))
        path = self._definition.answer
        if isinstance(body, bytes):
            text = body.decode(errors="replace").strip()
            if path or not text or text.startswith("<"):
                raise self._unreadable(f"with {self._form(text)}, not JSON")
            return text
        try:
            value = at_path(body, path)
        except LookupError:
            raise self._unreadable(f"without {path!r}: {self._shown(json.dumps(body, ensure_ascii=False))}") from None
        if isinstance(value, str):
            return value
        if value is None or isinstance(value, dict | list):
            raise self._unreadable(
                f"with {self._shown(json.dumps(value, ensure_ascii=False))} in place of a text at {path!r}"
            )
        return json.dumps(value)

    def _pieces(self, body: object) -> Iterator[str]:
        """Yield the pieces of a stream of events, or of lines of JSON. Raises `TransientError` for one cut off."""
        text = body.decode(errors="replace") if isinstance(body, bytes) else json.dumps(body)
        if text.lstrip().startswith("<"):
            raise self._unreadable(f"with {self._form(text.lstrip())}, not a stream of events")
        if error := _ERROR_EVENT.search(text):
            raise self._failed_midway(text[error.start() :])
        has_ended, has_piece = not self._definition.end, False
        for data in _events(text):
            if data == self._definition.end or data == "[DONE]":
                has_ended = True
                break
            try:
                event = json.loads(data) if self._definition.answer else data
                piece = at_path(event, self._definition.answer)
            except ValueError:
                raise self._unreadable(f"with an event that is no JSON: {self._shown(data)!r}") from None
            except LookupError:  # events of other kinds: roles, usage
                piece = None
            if not piece and isinstance(event, dict) and event.get("error"):
                raise self._failed_midway(data)
            if isinstance(piece, str):
                has_piece = True
                yield piece
        if not has_ended:
            raise TransientError(
                f"{self.name}: {self._definition.shown_url} cut its stream off before {self._definition.end!r}: where "
                'its streams end otherwise, write that as end, or end = "" for no such event',
                unreachable=True,
                sent=True,
                kind="broken answer",
            )
        if not has_piece:
            raise self._unreadable(f"with a stream without {self._definition.answer!r}: {self._shown(text)!r}")

    def _failed_midway(self, event: str) -> TransientError:
        # What came before it is a part of an answer, even where the end of the stream follows.
        return self._unreadable(f"with an error in its stream: {self._shown(event)!r}")

    def _unreadable(self, how: str, path: str = "answer") -> TransientError:
        # Of a proxy now and then; a wrong path or URL shows at once.
        return TransientError(
            f"{self.name}: {self._definition.shown_url} answered {how}: check url and {path}",
            unreachable=True,
            sent=True,
            kind="broken answer",
        )

    def _form(self, text: str) -> str:
        return "HTML" if text.startswith("<") else f"{self._shown(text)!r}" if text else "an empty body"

    def _shown(self, text: str) -> str:
        """Return the beginning of a reply, which may repeat the headers that it was sent."""
        return redacted(text[: 100 * _SHOWN], self._secrets())[:_SHOWN]

    def _secrets(self) -> tuple[str, ...]:
        environment = self._context.environment
        own = tuple(filter(None, (environment.get(name, "").strip() for name in self._definition.variables)))
        return (*own, *secrets_in(environment))

    def _service(self) -> Service:
        return Service(
            self.name,
            self._definition.shown_url,
            "check the headers of its definition",
            self._secrets(),
            has_answered=self._has_answered,
            address="url in its definition",
            timeout="timeout in its definition",
        )


def _finish_words(reply: object, path: str) -> Iterator[str]:
    """Yield the words for why an answer ended that stand in a reply, on the way to the text."""
    for part in (*path.split("."), ""):
        if isinstance(reply, Mapping):
            yield from (word for name in _FINISH if isinstance(word := reply.get(name), str))
        try:
            reply = at_path(reply, part)
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
