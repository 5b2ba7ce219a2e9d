"""The connection to a provider against real servers: proxies, certificates, and what is never followed or kept."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FatalError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.models.http_client import Connection, Reply
from pytest_fairness.models.http_errors import Service, translate

Ask = Callable[..., Answer]
Name = Callable[..., str]

BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])
CONNECTIONS = Path("/proc/net/tcp")
ESTABLISHED = "01"  # the port may have served another connection just before
NOWHERE = "http://api.nowhere.invalid/v1"


def post(url: str, times: int = 1) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        connection = Connection(url, {"X-Own": "yes"}, limit=2, timeout=5.0)
        try:
            return [await connection.post({"text": "Ünïcode"}) for _ in range(times)]
        finally:
            await connection.close()

    return asyncio.run(all_of_them())


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@BOTH
def test_proxy_of_the_environment_gets_its_password(
    server: Any, ask: Ask, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url.replace("http://", "http://me:p%40ss@"))
    server.answers(provider)
    assert ask(f"{provider}:m?base_url={NOWHERE}").text == "Yes."
    assert server.headers[0]["host"] == "api.nowhere.invalid"
    assert server.headers[0]["proxy-authorization"] == "Basic bWU6cEBzcw=="
    assert server.sent_key is None


def test_no_proxy_hosts_are_contacted_directly(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", NOWHERE)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.says({"ok": 1})
    assert post(server.url)[0].body == {"ok": 1}


def test_missing_proxy_is_unreachable(ask: Ask, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "127.0.0.1:9")
    with pytest.raises(TransientError, match=r"cannot be reached.*is the proxy in HTTP_PROXY") as caught:
        ask(f"openai:m?base_url={server.url}")
    assert caught.value.unreachable
    assert server.bodies == []


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", ["socks5h://me:secret@127.0.0.1:9", "http://"])
def test_proxy_of_another_kind_is_refused(
    ask: Ask, server: Any, variable: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: a SOCKS proxy was sent HTTP, and its reply was called that of a broken server."""
    monkeypatch.setenv(variable, proxy)
    with pytest.raises(FatalError, match=f"^{variable.upper()} is .*HTTP proxies only.*NO_PROXY=127.0.0.1$") as caught:
        ask(f"openai:m?base_url={server.url}")
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.answers("openai")
    assert ask(f"openai:m?base_url={server.url}").text == "Yes."


@pytest.mark.parametrize("user", ["", "me:wrong@"])
def test_proxy_of_an_encrypted_connection_gets_no_key(user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the key was sent to the proxy, in clear: as its password, or in a header of the provider's own."""
    heads: list[str] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def post_through_proxy() -> None:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
            monkeypatch.setenv("https_proxy", f"http://{user}127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
            headers = {"Authorization": "Bearer sk-secret", "X-Api-Key": "sk-secret"}
            connection = Connection("https://api.nowhere.invalid/v1", headers, limit=1, timeout=5.0)
            try:
                await connection.post({})
            finally:
                await connection.close()

    with pytest.raises(aiohttp.ClientHttpProxyError) as caught:
        asyncio.run(post_through_proxy())
    (head,) = heads
    assert head.startswith("CONNECT api.nowhere.invalid:443 ")
    assert "sk-secret" not in head
    assert ("Proxy-Authorization: Basic" in head) == bool(user)
    error = translate(caught.value, Service("openai:m", "https://api.nowhere.invalid/v1", "set a key"))
    assert isinstance(error, FatalError)
    assert "the proxy on the way to https://api.nowhere.invalid/v1 refused its user or password (407)" in str(error)


def test_refusal_by_a_proxy_names_the_proxy(ask: Ask, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.says({}, 407)
    with pytest.raises(FatalError, match=r"the proxy on the way .* refused .*USER:PASSWORD@HOST:PORT"):
        ask(f"openai:m?base_url={NOWHERE}")


def test_headers_and_json_are_sent_without_cookies(server: Any) -> None:
    async def sets_a_cookie(_: web.Request) -> web.StreamResponse:
        response = web.json_response({"ok": True})
        response.set_cookie("tracked", "1")
        return response

    server.handler = sets_a_cookie
    assert [reply.status for reply in post(server.url, 2)] == [200, 200]
    assert server.bodies == [{"text": "Ünïcode"}] * 2
    assert [(headers["x-own"], "cookie" in headers) for headers in server.headers] == [("yes", False)] * 2


def test_body_that_is_not_json_is_kept_as_bytes(server: Any) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(status=502, text="<h1>Bad gateway</h1>")

    server.handler = page
    assert post(server.url)[0][::2] == (502, b"<h1>Bad gateway</h1>")


@pytest.mark.parametrize("charset", ["ISO-8859-1", "utf-16", "UTF-8", "unheard-of"])
def test_body_is_read_in_its_character_set(server: Any, charset: str) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        body = '{"answer": "S\u00ed"}'.encode("utf-8" if charset == "unheard-of" else charset)
        return web.Response(body=body, headers={"Content-Type": f"application/json; charset={charset}"})

    server.handler = page
    assert post(server.url)[0].body == {"answer": "S\u00ed"}


@pytest.mark.parametrize("text", ["half a pair: \ud83d", "whole"])
def test_body_without_a_json_form_is_refused_before_sending(server: Any, ask: Ask, name: Name, text: str) -> None:
    with pytest.raises(PermanentError, match=r"ValueError: Out of range float|surrogates not allowed"):
        ask(name("openai", "" if "half" in text else 'extra={"top_k":NaN}'), text)
    assert server.bodies == []


def test_redirect_is_returned_and_not_followed(server: Any) -> None:
    server.says({}, 307, Location=f"{server.url}/elsewhere")
    assert post(server.url)[0].status == 307
    assert server.paths == ["/"]


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="Linux tells what a connection waits for")
def test_silent_connection_is_kept_for_minutes(server: Any) -> None:
    timers: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        await asyncio.sleep(0.2)  # until what was sent has been acknowledged
        assert request.transport is not None
        timers.append(timer(request.transport.get_extra_info("peername")[1]))
        return web.json_response({})

    server.handler = handler
    post(server.url)
    what, _, left = timers[0].partition(":")
    assert what == "02", "no sign of life is due"
    assert 0 < int(left, 16) <= 60_00


def timer(port: int) -> str:
    """Return the timer of the connection that begins at this port, and its hundredths of a second."""
    rows = (line.split() for line in CONNECTIONS.read_text("ascii").splitlines()[1:])
    (timers,) = (row[5] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == ESTABLISHED)
    return timers


def test_certificate_is_checked_against_a_named_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response({"ok": True})

    async def fetch() -> Reply:
        app = web.Application()
        app.router.add_post("/", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "localhost", 0, ssl_context=context).start()
        connection = Connection(f"https://localhost:{runner.addresses[0][1]}/", {}, limit=1, timeout=5.0)
        try:
            return await connection.post({})
        finally:
            await connection.close()
            await runner.cleanup()

    with pytest.raises(aiohttp.ClientConnectorCertificateError) as caught:
        asyncio.run(fetch())
    advice = "is not trusted .*: name the certificate of its authority in SSL_CERT_FILE"
    assert re.search(advice, str(translate(caught.value, Service("openai:m", "https://localhost", ""))))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(FatalError, match=r"missing\.pem: No such file"):
        asyncio.run(fetch())
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    assert asyncio.run(fetch()).status == 200


@BOTH
def test_batches_trust_the_same_certificates(
    make: Callable[..., Any], name: Name, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "missing.pem")

    async def open_client() -> None:
        async with make(name(provider)).batch_client():
            raise AssertionError("it has no certificates")

    with pytest.raises(FatalError, match=r"SSL_CERT_FILE is missing\.pem: No such file"):
        asyncio.run(open_client())


@BOTH
def test_closed_model_connects_again(server: Any, make: Callable[..., Any], name: Name, provider: str) -> None:
    server.answers(provider)

    async def twice() -> list[str]:
        model = make(name(provider))
        texts = []
        for _ in range(2):
            texts.append((await model.answer(Prompt("Yes?"), 0)).text)
            await model.close()
        return texts

    assert asyncio.run(twice()) == ["Yes.", "Yes."]
