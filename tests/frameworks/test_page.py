"""The page on frameworks: its applications run as they are written, on a local model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.frameworks.test_runs import CONFTEST
from tests.helpers.desk_server import DeskServer
from tests.helpers.project import Project, shown

PAGE = (Path(__file__).parents[2] / "docs" / "frameworks.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```python file=(\S+)\n(.*?)```", PAGE, re.DOTALL))
TOOLS = '''
def look_up(case: str) -> str:
    """Return the account."""
    return "24 months"


def defer(days: int) -> str:
    """Move the due date."""
    return f"moved by {days} days"


def refuse() -> str:
    """Refuse the request."""
    return "refused"


TOOLS = [look_up, defer, refuse]
'''
LOCAL = """
import agents
from openai import AsyncOpenAI

agents.set_default_openai_api("chat_completions")
agents.set_default_openai_client(AsyncOpenAI(max_retries=0), use_for_tracing=False)
"""
SERVER = """
from desk_tools import TOOLS
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk")
for tool in TOOLS:
    server.tool()(tool)
server.run()
"""


def write(project: Project, *names: str, conftest: str = "") -> None:
    for name in names:
        (project.path / name).write_text(FILES[name], encoding="utf-8")
    project.write(conftest=CONFTEST + conftest, desk_tools=TOOLS, desk_server=SERVER)


@pytest.mark.parametrize(
    ("application", "name"),
    [
        ("graph_app.py", "langgraph:graph_app:graph"),
        ("agents_app.py", "openai-agents:agents_app:agent"),
        ("pydantic_app.py", "pydantic-ai:pydantic_app:agent"),
    ],
)
def test_application_of_the_page_is_measured(application: str, name: str, project: Project, server: DeskServer) -> None:
    assert f"--fairness-model {name}\n" in PAGE
    assert len(FILES[application].splitlines()) <= 14
    write(project, "test_desk.py", application, conftest=LOCAL if "agents" in application else "")
    hand_off = 'Tool("transfer_to_kind_desk"), ' if "agents" in application else ""
    suite = FILES["test_desk.py"].replace("TOOLS = [", f"TOOLS = [{hand_off}")
    (project.path / "test_desk.py").write_text(suite, encoding="utf-8")
    result = project.run("test_desk.py", f"--fairness-model={name}")
    assert [row["verdict"] for row in project.rows()] == ["fair"], shown(result)


@pytest.mark.slow
def test_function_of_the_page_is_measured(project: Project, server: DeskServer) -> None:
    write(project, "test_desk.py", "pydantic_app.py", conftest=FILES["conftest.py"])
    result = project.run("test_desk.py")
    assert [row["verdict"] for row in project.rows()] == ["fair"], shown(result)


@pytest.mark.slow
def test_tools_of_an_mcp_server_are_offered_to_a_model(
    project: Project, server: DeskServer, libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "test_mcp.py")
    passed_on = f'env={{"PYTHONPATH": {str(libraries)!r}}}'
    suite = FILES["test_mcp.py"].replace('"desk_server.py"])', f'"desk_server.py"], {passed_on})')
    (project.path / "test_mcp.py").write_text(suite, encoding="utf-8")
    monkeypatch.chdir(project.path)
    result = project.run("test_mcp.py", "--fairness-model=openai:m?base_url=" + server.url)
    assert [row["verdict"] for row in project.rows()] == ["fair"], shown(result)
    tools = [message for body in server.bodies for message in body["messages"] if message["role"] == "tool"]
    assert {message["content"] for message in tools} == {"24 months"}
