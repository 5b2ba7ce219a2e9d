"""Posts JSON to one address, over connections that are kept: the way of every prompt to its provider."""

from __future__ import annotations

import base64
import json
import socket
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    import aiohttp

CONNECT = 10.0
"""Seconds to connect at most."""
LARGEST = 32 * 2**20
"""Bytes of a body, unpacked: no answer of a model comes near."""
_KEEP_ALIVE = 60
"""Seconds without a byte after which the other end is asked whether it is there."""


class Reply(NamedTuple):
    """The answer of a server."""

    status: int
    headers: Mapping[str, str]
    body: object
    """The JSON; bytes where it is none."""


class TooLargeError(Exception):
    """A body is larger than `LARGEST`."""


class Connection:
    """Connection that posts JSON to one URL. It opens nothing before the first post; use it from one event loop.

    The SDKs build and check a dozen objects at each call: over the same aiohttp that takes nearly six times the CPU
    time (``tests/benchmarks/clients.py``), and a run makes thousands of the same call. So the few headers of the
    protocol are sent from here. Nothing is sent again, and no redirect is followed: prompts and keys go to the named
    server only. The proxies of the environment are used (``HTTPS_PROXY``, ``NO_PROXY``).

    Args:
        url: The address.
        headers: Sent with every request.
        most: Connections at once.
        timeout: Seconds without a byte from the server.
        timeout_total: Seconds of a request in all: some servers send blanks while it waits.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, most: int, timeout: float, timeout_total: float | None = None
    ) -> None:
        import aiohttp

        self._url, self._headers, self._most = url, headers, most
        self._timeout = aiohttp.ClientTimeout(
            total=timeout_total, sock_connect=min(timeout, CONNECT), sock_read=timeout
        )
        self._session: aiohttp.ClientSession | None = None
        self._by_proxy = _proxy(url)

    async def post(self, body: Mapping[str, Any]) -> Reply:
        """Return the reply to one request.

        Raises aiohttp's errors, `TooLargeError`, and ValueError for a body that is no JSON.
        """
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return await self._request("POST", data)

    async def get(self) -> Reply:
        """Return the reply to a request without a body. Raises as `post` does."""
        return await self._request("GET", None)

    async def _request(self, method: str, data: bytes | None) -> Reply:
        if self._session is None:
            self._session = self._open()
        sent = self._session.request(method, self._url, data=data, allow_redirects=False, **self._by_proxy)
        async with sent as response:
            content = await _read(response)
        return Reply(response.status, response.headers, _json(content))

    def send(self, headers: Mapping[str, str]) -> None:
        """Send these headers from now on."""
        self._headers = headers
        if self._session is not None:
            self._session.headers.update(headers)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        trusted = _trusted() if self._url.startswith("https:") else True
        connector = aiohttp.TCPConnector(limit=self._most, ssl=trusted, socket_factory=_kept_alive)
        return aiohttp.ClientSession(
            connector=connector, headers=self._headers, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar()
        )


def _kept_alive(address: tuple[Any, ...]) -> socket.socket:
    """Open a socket that sends signs of life: networks drop what is silent, and a model thinks long."""
    opened = socket.socket(*address[:3])
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for seconds in ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL"):  # a system has two of them
        if hasattr(socket, seconds):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, seconds), _KEEP_ALIVE)
    return opened


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Return the body, unpacked piece by piece: a few packed kilobytes can hold gigabytes."""
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            response.close()
            raise TooLargeError
    return b"".join(pieces)


def _json(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return content


def _trusted() -> ssl.SSLContext:
    """Trust what the system trusts, or ``SSL_CERT_FILE``, and Mozilla's list: some Pythons find no system's."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def basic(url: str) -> str:
    """Return the header for a user and password in a URL."""
    parts = urlsplit(url)
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _proxy(url: str) -> dict[str, Any]:
    """Our own, as aiohttp's way also looks for a password in a file, at each request."""
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return {}
    named = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    shown = named._replace(netloc=named.netloc.rpartition("@")[2]).geturl()
    return {"proxy": shown, "proxy_headers": {"Authorization": basic(named.geturl())} if named.username else None}
