"""Hosted models: the base class of models behind an HTTP API, with key, base URL, connections and requests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import BatchInterface
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, TransientError, install
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.reply_evidence import with_evidence
from pytest_fairness.core.secrets import secrets_in, without_credentials
from pytest_fairness.models import credentials, parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.http_client import CONNECT, LARGEST, Connection, Reply, TooLargeError, basic, tls_context
from pytest_fairness.models.http_errors import Service, is_filtered, stated_status, status_error, translate
from pytest_fairness.models.names import ModelName, Scalar

_TIMEOUT = 300.0
"""Seconds without a byte from the server: a reasoning model can think for minutes."""
_TIMEOUT_TOTAL = 1800.0
"""Seconds of a whole request, but at least its seconds without a byte."""

_SCHEMA_REFUSED = re.compile(
    r"response_format|(?:json|response).?schema|output_config|output_format|structured", re.IGNORECASE
)
"""Names in the message of HTTP 400 or 422 of a server that has no structured output, or not for this model."""

_TRANSPORT: Mapping[str, parameters.Kind] = {
    **credentials.PARAMETERS,
    "base_url": parameters.text,
    "server": parameters.text,
    "timeout": parameters.number(0.001),
    "timeout_total": parameters.number(0.001),
    "rpm": parameters.number(0.001),
    "tpm": parameters.number(0.001),
}


class HostedModel(ABC):
    """A model behind an HTTP API. Its construction opens no connection.

    Prompts are sent by `Connection`, with the headers of the protocol. The provider's
    SDK is used for batches and their files, in the same version of the protocol.
    A model is used from one event loop: its connections belong to the loop of the first answer.
    """

    local = False
    calls_tools = True

    sdk: ClassVar[str]
    """The SDK's module, for batches; also the extra that installs the modules for prompts."""
    client: ClassVar[str]
    version_headers: ClassVar[Mapping[str, str]] = {}
    """The headers with the version of the protocol, for prompts and for the SDK."""
    path: ClassVar[str]
    models_path: ClassVar[str] = "/models"
    """The path of the list of models, below the base URL."""
    requires: ClassVar[tuple[str, ...]] = ("aiohttp", "certifi")
    """The modules that are needed for prompts."""
    default_url: ClassVar[str]
    url_variable: ClassVar[str]
    key_variable: ClassVar[str]
    decoding: ClassVar[Mapping[str, parameters.Kind]]
    """The parameters that influence the answers; only these are part of the key."""
    transport: ClassVar[Mapping[str, parameters.Kind]] = _TRANSPORT
    """The parameters of requests, such as timeouts."""

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        self._parameters = parameters.read(name, {**self.decoding, **self.transport})
        self._model_name, self._context = name.name, context
        self._url = self._base_url(name)
        self._public_url = without_credentials(self._url)
        self._credentials = credentials.Credentials(
            name, self._parameters, context.environment, self.key_variable, self._server
        )
        self.name = name.text
        self.key = self._key(name)
        self._client: Any = None
        self._connections: dict[str, Connection] = {}
        self._has_schemas = True
        self._has_answered = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def endpoint(self) -> str:
        """The name of its rate limits: models of one name at one address share them, whatever the decoding."""
        return f"{self.sdk}:{self._model_name} at {self._public_url}"

    @property
    def base_url(self) -> str:
        """The address of the server, without credentials."""
        return self._public_url

    async def list_models(self, seconds: float) -> list[str]:
        """Return the names of the models that the server lists.

        Args:
            seconds: The timeout.

        Raises:
            ModelError: The server cannot be reached, refuses the key, or has no list.
        """
        await self._check()
        self._import(*self.requires)
        connection = Connection(
            self._public_url + self.models_path, self._headers(), limit=1, timeout=seconds, timeout_total=seconds
        )
        try:
            reply = await connection.get()
        except Exception as error:  # noqa: BLE001  # of any library below; each is translated
            raise translate(error, self._service()) from None
        finally:
            await connection.close()
        if not 200 <= reply.status < 300:
            raise status_error(reply.status, reply.body, self._service(), reply.headers)
        listed = reply.body.get("data") if isinstance(reply.body, Mapping) else reply.body
        if not isinstance(listed, list):
            raise self._broken_answer("without a list of models")
        return sorted(str(entry.get("id", "")) for entry in listed if isinstance(entry, Mapping))

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """Requests and tokens a minute, by the parameters ``rpm`` and ``tpm``."""
        return self._parameters.get("rpm"), self._parameters.get("tpm")

    @property
    def billed(self) -> tuple[str, str]:
        """Its key in a list of prices: the provider's name of the model, and the address."""
        return self._model_name, self._public_url

    def preflight(self) -> None:
        """Check the key and the libraries before the first prompt.

        Raises:
            FatalError: A key or a library is missing.
        """
        if not self._context.offline:
            self._credentials.check()
            self._import(*self.requires)

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer to one prompt.

        A prompt's schema is sent as the provider's structured output; to a server without it, the prompt is sent again
        without the schema.

        Raises:
            TransientError: The request may succeed if it is sent again.
            PermanentError: There is no answer to this prompt.
            FatalError: There is no answer to any prompt.
        """
        sends_schema = prompt.schema is not None and self._has_schemas
        reply, latency = await self._send(self.request(prompt, repetition))
        if sends_schema and _refuses_schema(reply.status, reply.body):
            self._has_schemas = False
            return await self.answer(prompt, repetition)
        outcome = self._outcome(*reply, latency)
        if isinstance(outcome, Answer):
            return outcome
        raise outcome

    async def _send(self, body: Mapping[str, Any], address: str | None = None) -> tuple[Reply, float]:
        """Return the reply to a request, and its seconds; the default address is that of prompts."""
        await self._check()
        address, key = address or self._address, self._credentials.key
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = self._connect(address)
        started = Clock.perf_counter()
        reply = await self._post(connection, body)
        if reply.status == 401 and await self._credentials.renew(key):
            for opened in self._connections.values():
                opened.set_headers(self._headers())
            started = Clock.perf_counter()
            reply = await self._post(connection, body)
        return reply, Clock.perf_counter() - started

    async def _post(self, connection: Connection, body: Mapping[str, Any]) -> Reply:
        try:
            return await connection.post(body)
        except TooLargeError:
            raise self._broken_answer(f"with more than {LARGEST >> 20} MiB") from None
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001  # of any library below; each is translated
            raise translate(error, self._service()) from None

    def request(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        """Return the JSON of the request for one prompt, with its schema where the server supports one."""
        body = self._body(prompt, repetition)
        if prompt.schema is None or not self._has_schemas:
            return body
        return self._structured(prompt.schema, body)

    @property
    def batches(self) -> BatchInterface:
        """The provider's batches of this model."""
        return self._batches()

    @asynccontextmanager
    async def batch_client(self) -> AsyncIterator[Any]:
        """Return the provider's client; any exception of its calls becomes a `ModelError`."""
        await self._check()
        if self._client is None:
            self._client = self._open()
        key = self._credentials.key
        try:
            yield self._client
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001  # of any library below the SDK; each is translated
            translated = translate(error, self._service())
            if translated.kind == "401" and await self._credentials.renew(key):
                await self.close()
                raise TransientError(str(translated), kind="401") from None
            raise translated from None

    def outcome(self, status: int, body: object) -> Answer | ModelError:
        """Return the outcome of a request in a batch, by the HTTP status that it would have had by itself."""
        outcome = self._outcome(status, {}, body, 0.0)
        if isinstance(outcome, ModelError) and _refuses_schema(status, body):
            self._has_schemas = False
            return TransientError(str(outcome), kind=outcome.kind)
        return outcome

    async def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        opened = [*filter(None, [self._client]), *self._connections.values()]
        self._client, self._connections = None, {}
        for client in opened:
            await client.close()

    @abstractmethod
    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        """Return the JSON of one request."""

    @abstractmethod
    def _read(self, reply: Mapping[str, Any], latency: float) -> Answer:
        """Return the answer in a reply's JSON; may raise ModelError, LookupError, TypeError or AttributeError."""

    @abstractmethod
    def _structured(self, schema: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """Return the request with the schema of its answer, in the provider's form."""

    @abstractmethod
    def _batches(self) -> BatchInterface:
        """Return the batches of the provider."""

    def _defaults(self) -> Mapping[str, Scalar]:
        """Return the decoding parameters that are sent, and so are part of the key, though the name lacks them."""
        return {}

    def _outcome(
        self,
        status: int,
        headers: Mapping[str, str],
        body: object,
        latency: float,
        read: Callable[[Mapping[str, Any], float], Answer] | None = None,
    ) -> Answer | ModelError:
        """Return the answer in a reply, or its error; ``read`` reads its JSON, by default `_read`."""
        if 200 <= status < 300:
            if not isinstance(body, Mapping) or not (error := body.get("error")):
                answer = self._read_checked(body, latency, read or self._read)
                return with_evidence(answer, headers, body) if isinstance(answer, Answer) else answer
            status = stated_status(error)  # some gateways send errors as HTTP 200
        if is_filtered(status, body):
            return Answer("", "content_filter", latency=latency)
        return status_error(status, body, self._service(), headers)

    def _read_checked(
        self, reply: object, latency: float, read: Callable[[Mapping[str, Any], float], Answer]
    ) -> Answer | ModelError:
        """Return the answer in a successful reply; an error where it has another form than the protocol's."""
        if isinstance(reply, bytes):
            start = reply[:200].decode(errors="replace").strip()
            forms = {"<": "HTML", "data:": "a stream of events", "event:": "a stream of events"}
            form = next((form for prefix, form in forms.items() if start.startswith(prefix)), None)
            if not start or form:
                return self._broken_answer(f"with {form or 'an empty body'}, not JSON")
            return TransientError(
                f"{self.name}: {self._public_url} sent a broken answer: {start!r}", sent=True, kind="broken answer"
            )
        try:
            answer = read(reply, latency)  # type: ignore[arg-type]
            for text in (answer.text, answer.finish_reason, answer.reasoning or "", answer.served_by or ""):
                if not isinstance(text, str):
                    raise TypeError
        except ModelError as error:  # in a batch, others' answers follow it
            return error
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            return self._broken_answer(f"in another form than {self.sdk}'s {self.path}: {str(reply)[:200]!r}")
        self._has_answered = True
        return answer

    def _broken_answer(self, how: str) -> TransientError:
        """Return the error of a reply that cannot be read; it is transient, since proxies send some now and then."""
        return TransientError(
            f"{self.name}: {self._public_url} answered {how}: check the base URL",
            unreachable=True,
            kind="broken answer",
        )

    def _base_url(self, name: ModelName) -> str:
        url: str = (
            self._parameters.get("base_url") or self._context.environment.get(self.url_variable) or self.default_url
        )
        parts, model = urlsplit(url), f"{name.provider}:{name.name}"
        if _has_query(url):  # the message does not show it: it may hold a key
            raise FairnessError(
                f"model {model}: its base URL has a query or a fragment, which is no place for a key: leave it out, "
                "name Azure's version by api_version=, and the variable that holds the key by key_env="
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = without_credentials(url)
            raise FairnessError(f"model {model}: base URL {shown!r} is no URL: write http://host:port/path")
        return url.rstrip("/")

    @property
    def _server(self) -> str:
        """The origin of the server's address, which decides what key it is sent: "provider", "variable" or "name"."""
        if self._url == self.default_url:
            return "provider"
        return "name" if "base_url" in self._parameters else "variable"

    @property
    def _address(self) -> str:
        """The URL of prompts."""
        return self._public_url + self.path

    def _key(self, name: ModelName) -> str:
        """Return the canonical name with all that influences the answers: the server, but not the timeout.

        A server that the user has named is that name, at whatever address it listens; two without a name are two.
        """
        decoding = {key: value for key, value in name.parameters.items() if key in self.decoding}
        server = {} if self._url == self.default_url else {"base_url": self._url}
        if "server" in self._parameters:
            server = {"server": self._parameters["server"]}
        return name.with_parameters({**self._defaults(), **decoding, **server})

    def _service(self) -> Service:
        password = unquote(urlsplit(self._url).password or "")
        secrets = (*self._credentials.secrets, *filter(None, [password]), *secrets_in(self._context.environment))
        extra = self._parameters.get("extra", {})
        sent = {*self._defaults(), *extra, *(name for name in self._parameters if name in self.decoding)}
        return Service(self.name, self._public_url, self._credentials.advice, secrets, sent, self._has_answered)

    @abstractmethod
    def _auth(self, key: str) -> dict[str, str]:
        """Return the header with the key."""

    def _headers(self) -> dict[str, str]:
        key, own = self._credentials.key, self._own_headers()
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": "pytest-fairness",
            **self.version_headers,
            **(self._auth(key) if key else {}),
        }
        own_names = {name.casefold() for name in own}
        return {name: value for name, value in headers.items() if name.casefold() not in own_names} | own

    def _own_headers(self) -> dict[str, str]:
        """Return the user's own headers: a password in the URL, and ``headers_env``."""
        password = {"Authorization": basic(self._url)} if self._public_url != self._url else {}
        return {**password, **self._credentials.headers}

    async def _check(self) -> None:
        """Check that requests may be sent, and run the command that prints the key if it has not run yet.

        Raises:
            FatalError: The run is offline, or there is no key.
        """
        if self._connections or self._client is not None:
            return
        if self._context.offline:
            raise FatalError(f"{self.name}: it needs a connection, and this run is offline")
        self._credentials.check()
        if self._credentials.key is None:
            await self._credentials.renew(None)

    def _import(self, *modules: str) -> Any:
        """Return the first module; raise `FatalError` where one is not installed."""
        try:
            first, *_ = map(import_module, modules)
        except ImportError as missing:
            raise FatalError(f"{self.name}: {missing.name} is not installed: {install(self.sdk)}") from None
        return first

    def _connect(self, address: str) -> Connection:
        self._import(*self.requires)
        timeout = self._parameters.get("timeout", _TIMEOUT)
        return Connection(
            address,
            self._headers(),
            limit=max(self._context.concurrency, 1),
            timeout=timeout,
            timeout_total=self._parameters.get("timeout_total", max(_TIMEOUT_TOTAL, timeout)),
        )

    def _open(self) -> Any:
        sdk = self._import(self.sdk)
        timeout = self._parameters.get("timeout", _TIMEOUT)
        return getattr(sdk, self.client)(
            api_key=self._credentials.key or "none",  # the client requires one
            base_url=self._public_url,
            max_retries=0,  # the engine retries, and counts attempts
            timeout=sdk.Timeout(timeout, connect=min(timeout, CONNECT)),
            # Prompts and keys go to the named server only, not to where it may redirect them.
            http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False, verify=tls_context()),
            default_headers={**self.version_headers, **self._own_headers()},
        )


def _has_query(url: str) -> bool:
    """Return whether a URL has a query or a fragment, also where it is escaped, once or repeatedly.

    >>> _has_query("http://host/v1%253Ftoken=x"), _has_query("http://me:pass%3F@host/v1")
    (True, False)
    """
    if "?" in url or "#" in url:
        return True
    decoded = without_credentials(url)  # a password may have such characters, and is shown nowhere
    while decoded != (decoded := unquote(decoded)):
        pass
    return "?" in decoded or "#" in decoded


def _refuses_schema(status: int, body: object) -> bool:
    return status in (400, 422) and _SCHEMA_REFUSED.search(str(body)) is not None
