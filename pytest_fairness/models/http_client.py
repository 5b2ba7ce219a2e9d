"""HTTP connections that post JSON to one address, for the prompts of all hosted models."""

from __future__ import annotations

import base64
import os
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FatalError

if TYPE_CHECKING:
    import aiohttp

CONNECT = 10.0
"""Timeout for connecting, in seconds."""
LARGEST = 32 * 2**20
"""Largest number of bytes of a decompressed body: answers of models are far smaller."""
_KEEP_ALIVE = 60
"""Seconds without a byte after which a TCP keep-alive probe is sent."""


class Reply(NamedTuple):
    """The response of a server."""

    status: int
    headers: Mapping[str, str]
    body: object
    """The parsed JSON; the bytes of a body that is no JSON, in UTF-8 if its character set is known."""


class TooLargeError(Exception):
    """A body is larger than `LARGEST`."""


class Connection:
    """A pool of connections that post JSON to one URL. The first post opens one; use it from one event loop.

    It is used in place of the SDKs, which build and check a dozen objects at each call: over the same aiohttp they take
    nearly six times the CPU time (``tests/benchmarks/clients.py``). No request is sent again, and no redirect is
    followed: prompts and keys go to the named server only. The proxies of the environment are used (``HTTPS_PROXY``,
    ``NO_PROXY``).

    Args:
        url: The address.
        headers: The headers of every request.
        limit: The largest number of open connections.
        timeout: Seconds without a byte from the server.
        timeout_total: Seconds of a whole request: some servers send blanks while it waits.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, limit: int, timeout: float, timeout_total: float | None = None
    ) -> None:
        import aiohttp

        self._url, self._headers, self._limit = url, headers, limit
        self._timeout = aiohttp.ClientTimeout(
            total=timeout_total, sock_connect=min(timeout, CONNECT), sock_read=timeout
        )
        self._session: aiohttp.ClientSession | None = None
        self._proxy_arguments = _proxy_arguments(url)

    async def post(self, body: Mapping[str, Any]) -> Reply:
        """Return the reply to one request.

        Raises:
            TooLargeError: The body of the reply is too large.
            ValueError: The body of the request is no JSON.
            aiohttp.ClientError: The request failed.
        """
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return await self._request("POST", data)

    async def get(self) -> Reply:
        """Return the reply to a request without a body. Raises as `post` does."""
        return await self._request("GET", None)

    async def _request(self, method: str, data: bytes | None) -> Reply:
        if self._session is None:
            self._session = self._open()
        # The session has no headers: aiohttp would send them, with the key, to the proxy of an encrypted connection.
        request = self._session.request(
            method, self._url, data=data, headers=self._headers, allow_redirects=False, **self._proxy_arguments
        )
        async with request as response:
            content = _as_utf8(await _read(response), response.charset)
        return Reply(response.status, response.headers, _json(content))

    def set_headers(self, headers: Mapping[str, str]) -> None:
        """Replace the headers of later requests."""
        self._headers = headers

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        ssl_context = tls_context() if self._url.startswith("https:") else True
        connector = aiohttp.TCPConnector(limit=self._limit, ssl=ssl_context, socket_factory=_keep_alive_socket)
        return aiohttp.ClientSession(connector=connector, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar())


def _keep_alive_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket with TCP keep-alive: networks drop silent connections, and a model can think for minutes."""
    keep_alive_socket = socket.socket(*address[:3])
    keep_alive_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL"):  # each system has two of them
        if hasattr(socket, option):
            keep_alive_socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), _KEEP_ALIVE)
    return keep_alive_socket


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Return the body, decompressed chunk by chunk: a few compressed kilobytes can hold gigabytes."""
    chunks, size = [], 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST:
            response.close()
            raise TooLargeError
    return b"".join(chunks)


def _as_utf8(content: bytes, charset: str | None) -> bytes:
    """Return a body in UTF-8; one in an unknown character set, or that is not in its own, is unchanged."""
    if charset is None or charset.lower().replace("-", "") == "utf8":
        return content
    try:
        return content.decode(charset).encode()
    except (LookupError, ValueError):
        return content


def _json(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return content


def tls_context() -> ssl.SSLContext:
    """Return the context of all connections: the certificates of the system, or ``SSL_CERT_FILE``, and Mozilla's.

    Some builds of Python do not find those of the system, and Python ignores a file that it cannot read.

    Raises:
        FatalError: ``SSL_CERT_FILE`` cannot be read.
    """
    return _tls_context(os.environ.get("SSL_CERT_FILE"))


@cache
def _tls_context(file: str | None) -> ssl.SSLContext:
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    if file:
        try:
            context.load_verify_locations(file)
        except OSError as error:
            raise FatalError(f"SSL_CERT_FILE is {file}: {error.strerror}: name a file of PEM certificates") from None
    return context


def basic(url: str) -> str:
    """Return the Authorization header for the user and password in a URL."""
    parts = urlsplit(url)
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _proxy_arguments(url: str) -> dict[str, Any]:
    """Return a request's arguments for the proxy of the environment; aiohttp's own would read a file each time.

    Raises:
        FatalError: The proxy is none of HTTP.
    """
    parts, proxies = urlsplit(url), getproxies()
    name = parts.scheme if proxies.get(parts.scheme) else "all"
    proxy = proxies.get(name)
    if not proxy or proxy_bypass(parts.netloc):
        return {}
    split = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    address = split._replace(netloc=split.netloc.rpartition("@")[2]).geturl()
    if split.scheme not in ("http", "https") or not split.hostname:
        raise FatalError(
            f"{name.upper()}_PROXY is {address}, and requests go through HTTP proxies only: write http://HOST:PORT, or "
            f"leave the proxy out for this server by NO_PROXY={parts.hostname}"
        )
    return {"proxy": address, "proxy_headers": {"Authorization": basic(split.geturl())} if split.username else None}
