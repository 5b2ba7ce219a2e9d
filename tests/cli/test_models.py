"""`pytest-fairness models`: what is installed, configured and reachable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aiohttp import web

from pytest_fairness.cli.main import main
from pytest_fairness.core.extensions import MODELS
from tests.helpers.http_server import serving


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """Return the line of each provider, with the lines below it, and single spaces."""
    assert main(["models", *arguments]) == 0
    listed: list[str] = []
    for line in filter(str.strip, capsys.readouterr().out.splitlines()):
        words = " ".join(line.split())
        if line.startswith("    "):
            listed[-1] += f" {words}"
        else:
            listed.append(words)
    return {line.split()[0]: line for line in listed}


def test_lines_fit_a_terminal_of_80_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "down.toml").write_text('url = "http://127.0.0.1:9/answers/of/the/assistant"\n', encoding="utf-8")
    assert main(["models", "http:down.toml", "--check"]) == 0
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    assert re.search(r"\n {10,}https://api\.openai\.com/v1\n", output)


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the keys and addresses of this machine."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GROQ_API_KEY", "OLLAMA_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_every_provider_is_listed_with_its_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest-fairness.models]\nprod = "openai:gpt-5-mini"\n', encoding="utf-8"
    )
    monkeypatch.setenv("GROQ_API_KEY", "s3cret")
    listed = rows(capsys)
    assert {*MODELS.names()} <= listed.keys()
    assert listed["openai"].split(maxsplit=2)[2].startswith("OPENAI_API_KEY is not set")
    assert listed["groq"].split()[1:3] == ["yes", "GROQ_API_KEY"]
    assert "not needed" in listed["ollama"]
    assert "set AZURE_OPENAI_ENDPOINT" in listed["azure"]
    assert listed["prod"].split()[1] == "openai:gpt-5-mini"
    assert "s3cret" not in str(listed)


def test_long_alias_stands_above_its_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    long = "assistant-for-customers-in-europe-with-the-new-prompt"
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.pytest-fairness.models]\nprod = "openai:a"\n{long} = "openai:b"\n', encoding="utf-8"
    )
    assert main(["models"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == ["  prod  openai:a", f"  {long}", "        openai:b"]


def test_missing_library_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fairness.cli.models.find_spec", lambda name: None if name == "torch" else object())
    assert "no: torch" in rows(capsys)["transformers"]


def test_check_asks_each_configured_server(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []

    async def serve(request: web.Request) -> web.StreamResponse:
        requests.append(f"{request.method} {request.path} {request.headers.get('Authorization')}")
        if request.path.startswith("/groq"):
            return web.json_response({"error": {"message": "Invalid API Key"}}, status=401)
        if request.path.startswith("/openai"):
            return web.Response(text="<html>login</html>", content_type="text/html")
        return web.json_response({"object": "list", "data": [{"id": name} for name in "dcba"]})

    with serving(serve) as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("GROQ_API_KEY", "s3cret")
        monkeypatch.setenv("GROQ_BASE_URL", f"{url}/groq")
        monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/openai")
        listed = rows(capsys, "--check")
    assert sorted(requests) == [
        "GET /groq/models Bearer s3cret",
        "GET /openai/models Bearer s3cret",
        "GET /v1/models None",
    ]
    assert listed["ollama"].endswith(f"{url}/v1: reachable, 4 models (a, b, c, ...)")
    assert "refused the key (401: Invalid API Key): check GROQ_API_KEY" in listed["groq"]
    assert "answered without a list of models" in listed["openai"]
    assert "cannot be reached" in listed["vllm"]
    assert "s3cret" not in str(listed)


SERVICE = """\
url = "{url}/{path}"
answer = "reply"
[headers]
Authorization = "Bearer ${{SERVICE_TOKEN}}"
[body]
text = "{{prompt}}"
"""


def test_check_reaches_each_service(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    requests: list[str] = []

    async def serve(request: web.Request) -> web.StreamResponse:
        requests.append(f"{request.method} {request.path} {request.headers['Authorization']}")
        statuses = {"/post": 405, "/closed": 401, "/moved": 308, "/broken": 503, "/open": 200}
        return web.Response(status=statuses[request.path], text="s3cret <html>")

    with serving(serve) as url:
        for path in ("post", "closed", "moved", "broken", "down"):
            address = "http://127.0.0.1:9" if path == "down" else url
            (tmp_path / f"{path}.toml").write_text(SERVICE.format(url=address, path=path), encoding="utf-8")
        (tmp_path / "pyproject.toml").write_text(
            '[tool.pytest-fairness.models]\nprod = "http:closed.toml"\n'
            "[tool.pytest-fairness.services.desk]\n"
            + SERVICE.format(url=url, path="open").replace("[", "[tool.pytest-fairness.services.desk."),
            encoding="utf-8",
        )
        names = [f"http:{name}.toml" for name in ("post", "moved", "broken", "down", "absent")]
        unset = rows(capsys, *names, "--check")
        assert not requests
        assert "set SERVICE_TOKEN in the environment" in unset["http:post.toml"]
        monkeypatch.setenv("SERVICE_TOKEN", "s3cret")
        listed = rows(capsys, *names, "openai:m", "--check")
        ready = rows(capsys, *names)
        assert len(requests) == 5, "nothing is sent without --check"
    assert set(requests) == {f"GET /{path} Bearer s3cret" for path in ("post", "closed", "moved", "broken", "open")}
    assert listed["http:post.toml"].endswith("/post reachable (405 without a prompt)")
    assert listed["http:desk"].endswith("/open reachable (200 without a prompt)")
    assert "refused the key (401: " in listed["http:closed.toml"]
    assert "(308): name the final address as url in its definition" in listed["http:moved.toml"]
    assert "failed for now (503: " in listed["http:broken.toml"]
    assert "cannot be reached" in listed["http:down.toml"]
    assert "cannot be read: No such file" in listed["http:absent.toml"]
    assert "is no service" in listed["openai:m"]
    assert ready["http:post.toml"].split()[1:] == [f"{url}/post", "ready"]
    assert "s3cret" not in str([listed, unset, ready])
