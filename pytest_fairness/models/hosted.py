"""What the models behind an HTTP API share: key, base URL, connections, and the call itself."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from time import perf_counter
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.submissions import BatchInterface
from pytest_fairness.models import parameters
from pytest_fairness.models.connection import CONNECT, Connection, basic
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.http_errors import Service, status_error, translate
from pytest_fairness.models.names import ModelName, Scalar
from pytest_fairness.models.secrets import secrets_in, without_credentials

_TIMEOUT = 300.0
"""Seconds without a byte from the server: a reasoning model can think for minutes."""

_SCHEMA_REFUSED = re.compile(r"response_format|json.?schema|output_config|output_format|structured", re.IGNORECASE)
"""What a server of HTTP 400 or 422 names where it knows no structured output, or not for this model."""

_TRANSPORT: Mapping[str, parameters.Kind] = {
    "base_url": parameters.text,
    "key_env": parameters.text,
    "timeout": parameters.number(0.001),
    "rpm": parameters.number(0.001),
    "tpm": parameters.number(0.001),
}


class HostedModel(ABC):
    """A model asked through its provider's own client. Construction opens nothing and reads no key.

    Use one from one event loop: its connections belong to the loop of the first answer.
    """

    local = False

    sdk: ClassVar[str]
    """The SDK's module; also the extra that installs it."""
    client: ClassVar[str]
    path: ClassVar[str]
    default_url: ClassVar[str]
    url_variable: ClassVar[str]
    key_variable: ClassVar[str]
    decoding: ClassVar[Mapping[str, parameters.Kind]]
    """The parameters that decide what is answered; only these are part of the key."""

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        self._given = parameters.read(name, {**self.decoding, **_TRANSPORT})
        self._asked_name, self._context = name.name, context
        self._url = self._base_url(name)
        self._key_variable: str = self._given.get("key_env", self.key_variable)
        self.name = name.text
        self.key = self._key(name)
        self._client: Any = None
        self._connection: Connection | None = None
        self._has_schemas = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def endpoint(self) -> str:
        """What shares its rate limits and its place in line: the model at its address, whatever the decoding."""
        return f"{self.sdk}:{self._asked_name} at {self._shown_url}"

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """Requests and tokens a minute, as the parameters ``rpm`` and ``tpm`` say."""
        return self._given.get("rpm"), self._given.get("tpm")

    @property
    def billed(self) -> tuple[str, str]:
        """What a list of prices knows it by: the provider's name of the model, and the address."""
        return self._asked_name, self._shown_url

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Answer one prompt. Raises `TransientError`, `PermanentError` or `FatalError`.

        A prompt's schema is sent as the provider's structured output; a server that knows none is asked without.
        """
        if self._connection is None:
            self._connection = self._connect()
        asks_schema = prompt.schema is not None and self._has_schemas
        body = self.request(prompt, repetition)
        started = perf_counter()
        try:
            reply = await self._connection.post(body)
        except Exception as error:  # noqa: BLE001  # of any library below; each is translated
            raise translate(error, self._service()) from None
        if asks_schema and _refuses_schema(reply.status, reply.body):
            self._has_schemas = False
            return await self.answer(prompt, repetition)
        outcome = self._outcome(*reply, perf_counter() - started)
        if isinstance(outcome, Answer):
            return outcome
        raise outcome

    def request(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        """The JSON that asks one prompt, with its schema where the server knows any."""
        body = self._body(prompt, repetition)
        if prompt.schema is None or not self._has_schemas:
            return body
        return self._structured(prompt.schema, body)

    @property
    def batches(self) -> BatchInterface:
        """The provider's batches of this model."""
        return self._batches()

    @asynccontextmanager
    async def client_of_batches(self) -> AsyncIterator[Any]:
        """The provider's client, opened; what its calls raise comes as a `ModelError`."""
        if self._client is None:
            self._client = self._open()
        try:
            yield self._client
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001  # of any library below the SDK; each is translated
            raise translate(error, self._service()) from None

    def outcome(self, status: int, body: object) -> Answer | ModelError:
        """What came of a request in a batch, by the HTTP status that it would have had by itself."""
        outcome = self._outcome(status, {}, body, 0.0)
        if isinstance(outcome, ModelError) and _refuses_schema(status, body):
            self._has_schemas = False
            return TransientError(str(outcome), kind=outcome.kind)
        return outcome

    async def close(self) -> None:
        """Close the connections. A model asked again afterwards opens new ones."""
        opened, self._client, self._connection = (self._client, self._connection), None, None
        for each in opened:
            if each is not None:
                await each.close()

    @abstractmethod
    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        """The JSON of one request."""

    @abstractmethod
    def _read(self, reply: Mapping[str, Any], latency: float) -> Answer:
        """Read the JSON of a reply; may raise KeyError, IndexError, TypeError or AttributeError."""

    @abstractmethod
    def _structured(self, schema: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """The request with the schema of its answer, in the provider's form."""

    @abstractmethod
    def _batches(self) -> BatchInterface:
        """The batches of the provider."""

    def _defaults(self) -> Mapping[str, Scalar]:
        """Decoding parameters that are sent, and so are part of the key, though the name lacks them."""
        return {}

    def _client_options(self) -> dict[str, Any]:
        return {}

    def _outcome(self, status: int, headers: Mapping[str, str], body: object, latency: float) -> Answer | ModelError:
        if 200 <= status < 300:
            try:
                return self._checked(body, latency)
            except ModelError as unreadable:
                return unreadable
        said = body.get("error") if isinstance(body, Mapping) else None
        if isinstance(said, Mapping) and said.get("code") == "content_filter":  # Azure's way: HTTP 400
            return Answer("", "content_filter", latency=latency)
        return status_error(status, body, self._service(), headers)

    def _checked(self, reply: object, latency: float) -> Answer:
        if isinstance(reply, Mapping) and reply.get("error"):  # some gateways send errors as HTTP 200
            error = reply["error"]
            code = error.get("code") if isinstance(error, Mapping) else None
            raise status_error(code if isinstance(code, int) else 500, error, self._service())
        try:
            return self._read(reply, latency)  # type: ignore[arg-type]
        except (KeyError, IndexError, TypeError, AttributeError):
            raise TransientError(  # of a proxy's page now and then; a server of another kind shows at once
                f"{self.name}: {self._shown_url} did not answer in the form of {self.sdk}'s {self.path}: "
                f"{str(reply)[:200]!r}; check the base URL",
                unreachable=True,
                kind="broken answer",
            ) from None

    def _base_url(self, name: ModelName) -> str:
        url: str = self._given.get("base_url") or self._context.environment.get(self.url_variable) or self.default_url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = without_credentials(url)
            raise FairnessError(f"model {name}: base URL {shown!r} is none: write http://host:port/path")
        return url.rstrip("/")

    @property
    def _shown_url(self) -> str:
        return without_credentials(self._url)

    def _key(self, name: ModelName) -> str:
        """The canonical name with what decides the answers: not the timeout, but the server asked."""
        decoding = {key: value for key, value in name.parameters.items() if key in self.decoding}
        server = {} if self._url == self.default_url else {"base_url": self._url}
        return name.with_parameters({**self._defaults(), **decoding, **server})

    def _service(self) -> Service:
        environment = self._context.environment
        own = (environment.get(self._key_variable), unquote(urlsplit(self._url).password or ""))
        secrets = (*(secret for secret in own if secret), *secrets_in(environment))
        return Service(self.name, self._shown_url, self._key_variable, secrets)

    def _api_key(self) -> str:
        api_key = self._context.environment.get(self._key_variable)
        if api_key:
            return api_key
        if self._url != self.default_url and "key_env" not in self._given:
            return "none"  # a server of one's own mostly asks for no key, the client insists on one
        raise FatalError(
            f"{self.name}: no API key: set {self._key_variable} in the environment, "
            "or in a file named by --fairness-env-file"
        )

    def _connect(self) -> Connection:
        if self._client is None:
            self._client = self._open()
        told = {**self._client.auth_headers, **self._client.default_headers}
        headers = {name: value for name, value in told.items() if isinstance(value, str)}  # others: left out
        timeout = self._given.get("timeout", _TIMEOUT)
        return Connection(self._shown_url + self.path, headers, most=max(self._context.concurrency, 1), timeout=timeout)

    def _open(self) -> Any:
        if self._context.offline:
            raise FatalError(f"{self.name}: it needs a connection, and this run is offline")
        api_key = self._api_key()
        try:
            sdk, *_ = map(import_module, (self.sdk, "aiohttp", "certifi"))
        except ImportError as missing:
            raise FatalError(
                f'{self.name}: {missing.name} is not installed: pip install "pytest-fairness[{self.sdk}]"'
            ) from None
        timeout = self._given.get("timeout", _TIMEOUT)
        options = self._client_options()
        if self._shown_url != self._url:
            options["default_headers"] = {"Authorization": basic(self._url)}
        return getattr(sdk, self.client)(
            api_key=api_key,
            base_url=self._shown_url,
            max_retries=0,  # the engine retries, and counts
            timeout=sdk.Timeout(timeout, connect=min(timeout, CONNECT)),
            # Prompts and keys go to the named server only, not to where it may redirect them.
            http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False),
            **options,
        )


def _refuses_schema(status: int, said: object) -> bool:
    return status in (400, 422) and _SCHEMA_REFUSED.search(str(said)) is not None
