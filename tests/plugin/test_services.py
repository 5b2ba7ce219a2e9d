"""Deployed services in a whole run: the page's example, kept answers, and broken services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.http_server import serving
from tests.helpers.project import NO_XDIST, Project, unwrapped

PAGE = Path(__file__).parents[2] / "docs" / "services.md"


@dataclass
class Service:
    """An assistant behind HTTP that answers yes, in the form of the page's example."""

    url: str = ""
    broken: str = ""
    calls: bool = False
    """Whether it escalates half of the requests by a tool; its other replies have no list of calls."""
    texts: list[str] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert request.headers["Authorization"] == "Bearer t0ken"
        self.texts.append(body["messages"][-1]["content"])
        if self.broken == "html":
            return web.Response(text="<html><body>Maintenance</body></html>", content_type="text/html")
        if self.broken == "half":
            response = web.StreamResponse(headers={"Content-Length": "100"})
            await response.prepare(request)
            await response.write(b'{"choices"')
            assert request.transport is not None
            request.transport.close()
            return response
        if self.broken == "sometimes" and len(self.texts) % 5 == 0:
            return web.json_response({"error": "busy"}, status=500, headers={"Retry-After": "0.01"})
        called = self.calls and len(self.texts[-1].encode()) % 2
        more = {"tool_calls": [{"function": {"name": "escalate", "arguments": "{}"}}]} if called else {}
        return web.json_response({"choices": [{"message": {"content": "Yes.", **more}}]})


@pytest.fixture
def service() -> Iterator[Service]:
    """Yield the service, on loopback."""
    local = Service()
    with serving(local.serve) as local.url:
        yield local


@pytest.fixture
def project_of_page(project: Project, service: Service, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project with the page's definition of the local service."""
    ((name, text),) = re.findall(r"```\w+ file=(\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (project.path / name).write_text(text.replace("https://assistant.example.org", service.url), encoding="utf-8")
    monkeypatch.setenv("ASSISTANT_TOKEN", "t0ken")
    monkeypatch.setenv("ASSISTANT_VERSION", "1")
    project.write(test_hiring=project_sources.suite(count=30))
    return project


MODEL = ("--fairness-model", "http:assistant.toml")


def test_page_example_is_measured_once_for_each_version(
    project_of_page: Project, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_of_page.run(*MODEL)
    assert project_of_page.row()["verdict"] == "fair"
    assert len(service.texts) == len(set(service.texts)) == 60
    project_of_page.run(*MODEL)
    assert len(service.texts) == 60
    monkeypatch.setenv("ASSISTANT_VERSION", "2")
    project_of_page.run(*MODEL)
    assert len(service.texts) == 120
    text = project_of_page.store.read_bytes()
    assert b"t0ken" not in text


def test_service_of_pyproject_is_measured(project_of_page: Project) -> None:
    table = "[tool.pytest-fairness.services.assistant"
    definition = (project_of_page.path / "assistant.toml").read_text(encoding="utf-8").replace("[", f"{table}.")
    (project_of_page.path / "pyproject.toml").write_text(f"{table}]\n{definition}", encoding="utf-8")
    project_of_page.run("--fairness-model=http:assistant")
    assert project_of_page.row()["verdict"] == "fair"


def test_service_without_a_version_is_asked_in_every_run(
    project_of_page: Project, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_VERSION", "")
    file = project_of_page.path / "assistant.toml"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("version")]
    file.write_text("\n".join(lines), encoding="utf-8")
    project_of_page.run(*MODEL)
    project_of_page.run(*MODEL)
    assert len(service.texts) == 120
    assert project_of_page.row()["looks"]["unversioned"] is True


@pytest.mark.slow
def test_failures_that_pass_lose_nothing(project_of_page: Project, service: Service) -> None:
    service.broken = "sometimes"
    project_of_page.run(*MODEL)
    row = project_of_page.row()
    assert row["verdict"] == "fair"
    assert row["attempts"] == 60
    assert not any(row["ungraded"].values())


ESCALATIONS = """\
from pytest_fairness import Tool
from pytest_fairness.graders import CalledTool

@pytest.mark.probe(items=people, tools=[Tool("escalate"), Tool("refuse")], grade={"action": CalledTool()})
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""
GAP = 'measured.difference("action", by="gender", of="woman", to="man", equals="escalate")'


@pytest.mark.parametrize(
    ("actions", "verdict", "words"),
    [
        ("tool_calls", "fair", ""),
        ("toolcalls", "invalid", "without 'choices.0.message.toolcalls'"),
        ("did", "invalid", "none of 120 answers of http:assistant.toml calls a tool: no reply had"),
    ],
    ids=["right", "misspelt", "another-name"],
)
def test_misspelt_path_of_actions_is_no_verdict(
    project_of_page: Project, service: Service, actions: str, verdict: str, words: str
) -> None:
    service.calls = True
    file = project_of_page.path / "assistant.toml"
    path = f'actions = "choices.0.message.{actions}"\nactions_optional = true\nversion'
    file.write_text(file.read_text(encoding="utf-8").replace("version", path, 1), encoding="utf-8")
    threshold = project_sources.threshold(f"assert abs({GAP}) <= 0.2")
    project_of_page.write(test_hiring=project_sources.suite(threshold, probe=ESCALATIONS))
    result = project_of_page.run(*MODEL)
    assert project_of_page.row()["verdict"] == verdict
    assert words in unwrapped(result)


@pytest.mark.parametrize("mode", [NO_XDIST], ids=["no-xdist"], indirect=True)
@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("html", "answered with HTML, not JSON: check url and answer"),
        pytest.param("half", "dropped the connection", marks=pytest.mark.slow),
    ],
)
def test_service_without_a_whole_reply_is_one_line_and_no_verdict(
    project_of_page: Project, service: Service, broken: str, words: str
) -> None:
    service.broken = broken
    result = project_of_page.run(*MODEL)
    assert project_of_page.row()["verdict"] == "invalid"
    assert result.ret == INVALID_CODE
    text = unwrapped(result)
    assert words in text
    assert result.parseoutcomes().get("skipped", 0) >= 25, "one test fails with the reason, the others refer to it"
    assert len(service.texts) < 30
