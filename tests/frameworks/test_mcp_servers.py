"""Servers of the Model Context Protocol: their tools, their results, and their failures."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import FairnessError, Prompt
from pytest_fairness.frameworks.mcp import McpServer
from pytest_fairness.graders import ToolError
from tests.frameworks.conftest import DESKS

COMMAND = [sys.executable, str(DESKS / "mcp_desk.py")]
PROMPT = Prompt("May I?")


@pytest.fixture
def desk(libraries: Path) -> Iterator[McpServer]:
    server = McpServer(COMMAND, timeout=10, env={"PYTHONPATH": str(libraries), "BIAS": "1"})
    yield server
    server.close()


def test_tools_have_names_descriptions_and_schemas(desk: McpServer) -> None:
    assert [tool.name for tool in desk.tools()] == ["look_up", "defer", "refuse"]
    (defer,) = desk.tools("defer")
    assert defer.description == "Move the due date."
    assert defer.parameters["properties"]["days"]["type"] == "integer"
    with pytest.raises(FairnessError, match=r"has no tool 'lookup': did you mean 'look_up'"):
        desk.tools("lookup")
    with pytest.raises(FairnessError, match="name the tools to execute"):
        desk.results()


def test_results_are_those_of_the_server(desk: McpServer) -> None:
    look_up = desk.results("look_up")["look_up"]
    assert [look_up(PROMPT, {"case": who}) for who in ("a woman", "a man")] == ["a risk", "24 months"]
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda number: look_up(PROMPT, {"case": str(number)}), range(24)))
    assert results == ["24 months"] * 24
    with pytest.raises(ToolError, match="Error executing tool look_up"):
        look_up(PROMPT, {"case": "unknown"})
    with pytest.raises(ToolError, match="Field required"):
        look_up(PROMPT, {})


def test_server_that_dies_is_named_and_started_again(desk: McpServer) -> None:
    with pytest.raises(FairnessError, match=r"did not answer 'look_up'.*its log: the desk is on fire"):
        desk.call("look_up", {"case": "die"})
    assert desk.call("look_up", {"case": "a man"}) == "24 months"


def test_slow_server_ends_one_call_alone(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    monkeypatch.syspath_prepend(DESKS)
    server: Any = import_module("mcp_desk").server
    desk = McpServer(server, timeout=2)
    with pytest.raises(FairnessError, match=r"did not answer 'look_up' within 2 s.*timeout=SECONDS"):
        desk.call("look_up", {"case": "slow"})
    assert desk.call("look_up", {"case": "a man"}) == "24 months"
    desk.close()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "fairness-mcp"]


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (["/no/such/program"], "did not start: FileNotFoundError"),
        ([sys.executable, "-c", "raise SystemExit('no settings')"], "did not start: .*its log: no settings"),
        ("http://127.0.0.1:9/mcp", "did not start: "),
        ("python server.py", "is no URL: write a command as a list"),
        ([], "is empty"),
    ],
)
def test_server_that_does_not_start_is_named(libraries: Path, server: Any, problem: str) -> None:
    with pytest.raises(FairnessError, match=problem):
        McpServer(server, env=dict(os.environ)).tools()
