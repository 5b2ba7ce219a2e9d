"""Fixtures for applications in their frameworks: the frameworks themselves, and the model inside of them."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.helpers import desk_server
from tests.helpers.desk_server import DeskServer

ROOT = Path(__file__).parents[2]
LIBRARIES = ROOT / ".venv-frameworks"
"""The frameworks, which the other tests do without: ``make frameworks``."""
DESKS = ROOT / "tests" / "helpers" / "desks"


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the frameworks on the path, behind all that is installed, and import them.

    The path is as before after the test: on it, runs of pytest in other tests would load a plugin of langsmith.
    """
    if not LIBRARIES.is_dir():
        if "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
            pytest.fail("the frameworks are not there: make frameworks")
        pytest.skip("the frameworks are not there: make frameworks")
    monkeypatch.syspath_prepend(DESKS)  # which keeps the path for the end of the test
    sys.path.append(str(LIBRARIES))
    for name in (
        "langchain_openai",
        "langgraph.prebuilt",
        "agents",
        "pydantic_ai.models.openai",
        "mcp.server.mcpserver",
    ):
        import_module(name)
    return LIBRARIES


@pytest.fixture
def server(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeskServer]:
    """Yield the server to which all frameworks send their requests."""
    with desk_server.serving() as server:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(name, server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, DESKS))))
        yield server
    for name in [name for name in sys.modules if name.endswith("_desk")]:
        del sys.modules[name]  # its clients hold connections to this server
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # no framework closes its clients
        gc.collect()
