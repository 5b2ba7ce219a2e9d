"""The wheel, built from this tree and installed where nothing else is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.shared_folder import shared_folder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def installed(request: pytest.FixtureRequest) -> Path:
    """Return the folder of commands of an environment that holds only the wheel and its requirements."""
    return shared_folder(request, "wheel", install_wheel) / "environment" / "bin"


def install_wheel(folder: Path) -> None:
    """Build the wheel, unless a release has built it, and install it into an environment in the folder."""
    if built := os.environ.get("PYTEST_FAIRNESS_WHEEL"):
        wheel = ROOT / built
    else:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    python = environment / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():  # many times as fast as pip
        steps = [
            [uv, "venv", "--python", sys.executable, environment],
            [uv, "pip", "install", "--python", python, wheel],
        ]
    else:
        steps = [[sys.executable, "-m", "venv", environment], [python, "-m", "pip", "install", "--quiet", wheel]]
    for step in steps:
        process = subprocess.run(list(map(str, step)), capture_output=True, text=True)
        if process.returncode:
            missing = f"the wheel could not be installed: {process.stderr.strip().splitlines()[-1:]}"
            if "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
                pytest.fail(missing)
            pytest.skip(missing)


@pytest.fixture
def newcomer(installed: Path, tmp_path: Path) -> Newcomer:
    """Return a newcomer in an empty folder who has installed the wheel."""
    return Newcomer(installed, tmp_path)


class Newcomer:
    """Runner of commands as the README has them."""

    def __init__(self, commands: Path, folder: Path) -> None:
        self.commands, self.folder = commands, folder

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a line of a shell, with the commands of the environment first on the path."""
        inherited = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        path = os.pathsep.join([str(self.commands), os.environ["PATH"]])
        shell = shutil.which("bash") or "sh"
        return subprocess.run(
            [shell, "-euc", command],
            cwd=self.folder,
            env={**inherited, "PATH": path, "COLUMNS": "100", **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
