"""The shipped suites beside packages of others with the same names, such as `agents` of the OpenAI Agents SDK."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["importlib", "prepend"])
def test_suite_is_collected_despite_a_package_of_the_same_name(tmp_path: Path, mode: str) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").touch()
    (tmp_path / "early.py").write_text("import agents\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "early", f"--import-mode={mode}"]
    command += [
        "-p",
        "no:cacheprovider",
        f"--rootdir={ROOT}",
        f"--config-file={tmp_path / 'none.ini'}",
        "suites/agents",
    ]
    (tmp_path / "none.ini").write_text("[pytest]\n", encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "test_agents.py" in result.stdout
