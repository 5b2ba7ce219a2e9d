"""Keys go to the server that they belong to, and into no name."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from tests.models.conftest import ask_at_once

SECRET = "sk-proj-0123456789abcdefghij"
KEYS = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}

Ask = Callable[..., Answer]
Make = Callable[..., Model]
Name = Callable[..., str]

BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@BOTH
def test_key_is_not_sent_to_a_base_url_in_a_name(server: Any, ask: Ask, name: Name, provider: str) -> None:
    server.answers(provider)
    ask(name(provider), environment={**KEYS, "OPENAI_ORG_ID": "org-1"})
    assert SECRET not in str(server.headers)
    assert "org-1" not in str(server.headers)
    server.says({"error": {"message": "no key"}}, 401)
    with pytest.raises(FatalError) as caught:
        ask(name(provider), environment=KEYS)
    assert "no key was sent: name the variable that holds this server's by key_env=NAME" in str(caught.value)
    assert f"({provider.upper()}_API_KEY is not sent to a base_url in a name)" in str(caught.value)


@BOTH
def test_key_is_sent_to_a_base_url_in_a_variable(server: Any, ask: Ask, provider: str) -> None:
    server.answers(provider)
    ask(f"{provider}:m", environment={**KEYS, f"{provider.upper()}_BASE_URL": server.url})
    assert server.sent_key == SECRET


@BOTH
def test_requests_have_a_protocol_version_and_no_sdk_headers(server: Any, ask: Ask, name: Name, provider: str) -> None:
    server.answers(provider)
    ask(name(provider))
    headers = server.headers[0]
    assert headers.get("anthropic-version") == ("2023-06-01" if provider == "anthropic" else None)
    assert not [header for header in headers if header.startswith("x-stainless")]


@pytest.mark.parametrize(
    "tail",
    ["?api-version=2024-10-21", "?code=SECRET", "#SECRET", "?", "%3Ftoken=SECRET", "%23SECRET", "%25253fk=SECRET"],
)
def test_base_url_with_a_query_is_refused(make: Make, tail: str) -> None:
    with pytest.raises(FairnessError, match="its base URL has a query or a fragment") as caught:
        make(f"openai:m?base_url=http://h/v1{tail}")
    assert "SECRET" not in str(caught.value)
    with pytest.raises(FairnessError, match="its base URL has a query or a fragment"):
        make("openai:m", environment={"OPENAI_BASE_URL": f"http://h/v1{tail}"})


def test_azure_version_and_key_header_are_sent(server: Any, ask: Ask) -> None:
    queries = []

    async def handler(request: web.Request) -> web.StreamResponse:
        queries.append(request.query_string)
        return web.json_response({"choices": [{"finish_reason": "stop", "message": {"content": "Yes."}}]})

    server.handler = handler
    path = "/openai/deployments/mine"
    ask(f"openai:m?base_url={server.url}{path}&api_version=2024-10-21&key_env=AZ", environment={"AZ": SECRET})
    assert (server.paths, queries) == ([f"{path}/chat/completions"], ["api-version=2024-10-21"])
    assert server.headers[0]["api-key"] == SECRET
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    "tail", ["key_command=print%20sk-abcdefghijklmnop", "base_url=http://h/v1?key=abcdefghijkl", "stop=ghp_" + "a" * 20]
)
def test_secret_in_a_name_is_refused(make: Make, tail: str) -> None:
    with pytest.raises(FairnessError, match="a secret belongs into a variable") as caught:
        make(f"openai:m?{tail}")
    assert not [value for value in ("sk-abc", "abcdefghijkl", "ghp_") if value in str(caught.value)]


@pytest.mark.parametrize(
    "extra",
    [
        '{"api_key":"abc"}',
        '{"a":{"Authorization":"Basic x"}}',
        '{"user":"sk-abcdefghijklmnop"}',
        '{"session_token":"x"}',
    ],
)
def test_secret_in_extra_is_refused_and_not_shown(make: Make, extra: str) -> None:
    with pytest.raises(FairnessError, match="a secret belongs into a variable") as caught:
        make(f"openai:m?extra={extra}")
    assert not [value for value in ("abc", "Basic") if value in str(caught.value)]


def test_extra_without_a_secret_is_accepted(make: Make) -> None:
    make('openai:m?extra={"top_k":5,"prompt_cache_key":"suite-1","max_tokens":3,"stop_token_ids":[2],"eos_token":true}')


@BOTH
def test_headers_of_a_variable_are_sent_and_never_shown(server: Any, ask: Ask, name: Name, provider: str) -> None:
    server.answers(provider)
    environment = {"HEADERS": json.dumps({"X-Title": "ours", "api-key": "hidden-value"})}
    ask(name(provider, "headers_env=HEADERS"), environment=environment)
    assert server.headers[0]["x-title"] == "ours"
    assert server.headers[0]["api-key"] == "hidden-value"
    server.says({"error": {"message": "bad hidden-value"}}, 400)
    with pytest.raises(FairnessError) as caught:
        ask(name(provider, "headers_env=HEADERS"), environment=environment)
    assert "hidden-value" not in str(caught.value)


@pytest.mark.parametrize(
    "value", [None, "", "x: secret-one", '["secret-one"]', '{"a": 1}', '{"a": "b\\nc"}', '{"a b": "c"}']
)
def test_invalid_headers_are_refused(make: Make, value: str | None) -> None:
    environment = {} if value is None else {"HEADERS": value}
    model: Any = make("openai:m?base_url=http://h&headers_env=HEADERS", environment=environment)
    with pytest.raises(FatalError, match="the variable HEADERS of headers_env holds no headers") as caught:
        model.preflight()
    assert "secret-one" not in str(caught.value)


@BOTH
def test_own_header_replaces_the_key_header(server: Any, ask: Ask, provider: str) -> None:
    server.answers(provider)
    variable = f"{provider.upper()}_BASE_URL"
    header = {"openai": "authorization", "anthropic": "x-api-key"}[provider]
    environment = {**KEYS, variable: server.url, "HEADERS": json.dumps({header: "mine"})}
    ask(f"{provider}:m?headers_env=HEADERS", environment=environment)
    assert server.sent_key == "mine"
    assert SECRET not in str(server.headers)


def test_line_break_is_no_part_of_a_key(server: Any, ask: Ask) -> None:
    server.answers("openai")
    environment = {"OPENAI_API_KEY": f"{SECRET}\n", "OPENAI_BASE_URL": server.url}
    ask("openai:m", environment=environment)
    assert server.sent_key == SECRET
    server.says({"error": {"message": f"bad {SECRET[8:]}, {SECRET}"}}, 400)
    with pytest.raises(FairnessError) as caught:
        ask("openai:m", environment=environment)
    assert SECRET not in str(caught.value)


def command(tmp_path: Path, body: str) -> str:
    script = tmp_path / "token.py"
    script.write_text(f"from pathlib import Path\nruns = Path({str(tmp_path / 'runs')!r})\n{body}", encoding="utf-8")
    return f"key_command={sys.executable} {script}"


COUNTING = "n = len(runs.read_text()) if runs.exists() else 0\nruns.write_text('x' * (n + 1))\nprint(f'token-{n}')"


@BOTH
def test_expired_token_is_renewed_by_its_command(
    server: Any, make: Make, name: Name, provider: str, tmp_path: Path
) -> None:
    server.answers(provider)
    good = server.handler

    async def expires(request: web.Request) -> web.StreamResponse:
        if request.headers["Authorization"] == "Bearer token-0":
            return web.json_response({"error": {"message": "expired"}}, status=401)
        return await good(request)  # type: ignore[no-any-return]

    server.handler = expires
    model = make(name(provider, command(tmp_path, COUNTING)))

    answers = ask_at_once(model, ((Prompt(f"q{i}"), 0) for i in range(8)))
    assert {answer.text for answer in answers} == {"Yes."}
    assert (tmp_path / "runs").read_text() == "xx"


def test_command_whose_key_is_refused_again_is_fatal(server: Any, ask: Ask, name: Name, tmp_path: Path) -> None:
    server.says({"error": {"message": "no"}}, 401)
    with pytest.raises(FatalError, match="check what its key_command prints"):
        ask(name("openai", command(tmp_path, COUNTING)))
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise SystemExit('log in first')", "exit status 1: log in first"),
        ("", "it printed nothing"),
        ("import sys; sys.stderr.write('key=sk-abcdefghijklmnop'); sys.exit(3)", "exit status 3: key=[redacted]"),
    ],
)
def test_command_without_a_key_is_reported(
    server: Any, ask: Ask, name: Name, tmp_path: Path, body: str, says: str
) -> None:
    with pytest.raises(FatalError) as caught:
        ask(name("openai", command(tmp_path, body)))
    assert str(caught.value).endswith(f"its key_command gave no key: {says}")
    assert server.bodies == []


def test_key_has_one_source(make: Make) -> None:
    with pytest.raises(FairnessError, match="has key_env and key_command: give one of them"):
        make("openai:m?key_env=A&key_command=b")


@BOTH
def test_missing_key_is_reported_before_the_first_prompt(make: Make, provider: str) -> None:
    model: Any = make(f"{provider}:m")
    with pytest.raises(FatalError, match=f"no API key: set {provider.upper()}_API_KEY"):
        model.preflight()
    make(f"{provider}:m", environment=KEYS).preflight()  # type: ignore[attr-defined]
    make(f"{provider}:m", offline=True).preflight()  # type: ignore[attr-defined]
    make(f"{provider}:m?base_url=http://localhost:1").preflight()  # type: ignore[attr-defined]
