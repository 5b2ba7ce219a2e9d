"""The gate without a room upstairs: a copy of the package from which the room and its entry points are deleted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.architecture.test_rooms import PACKAGE, PUBLIC, ROOMS

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

ITEMS = [
    ProbeItem(f"case {n}", [Prompt(f"Is case {n}, a {who}, approved?", {"gender": who}) for who in ("man", "woman")])
    for n in range(40)
]

@pytest.mark.probe(items=ITEMS, grade={"approved": YesNo()})
def test_case(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_case, title="Women are approved as often as men")
def test_alike(measured):
    assert -0.9 <= measured.difference("approved", by="gender", of="woman", to="man") <= 0.9
"""
USE_ALL = """
import importlib, pkgutil, runpy, sys
from pathlib import Path
import pytest
options = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--fairness-model=simulated:yes-no"]
assert pytest.main(options) == 0
import pytest_fairness
assert Path(pytest_fairness.__file__).is_relative_to({root!r}), pytest_fairness.__file__
for module in pkgutil.walk_packages(pytest_fairness.__path__, "pytest_fairness."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for module in {public!r}:
    module = importlib.import_module(module)
    for name in module.__all__:
        getattr(module, name)
sys.argv[1:] = ["--help"]
runpy.run_module("pytest_fairness", run_name="__main__", alter_sys=True)
"""
"""Runs a suite, imports every module and public name, and shows the commands."""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all installed packages except for this one."""
    folder = tmp_path_factory.mktemp("libraries")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "pytest_fairness" not in path.name:
            (folder / path.name).symlink_to(path)
    return folder


def copy_without(room: str, folder: Path) -> None:
    """Write the package without a room, and its metadata without the room's entry points, to a folder."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=lambda path, _: {room} if Path(path) == PACKAGE else set())
    metadata = folder / "pytest_fairness-0.dist-info"
    metadata.mkdir()
    installed = distribution("pytest-fairness")
    (metadata / "METADATA").write_text(installed.read_text("METADATA") or "", encoding="utf-8")
    points = (installed.read_text("entry_points.txt") or "").splitlines()
    kept = [line for line in points if f"= pytest_fairness.{room}." not in line]
    assert len(kept) < len(points)
    (metadata / "entry_points.txt").write_text("\n".join(kept), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_gate_works_without_the_room(room: str, libraries: Path, tmp_path: Path) -> None:
    copy_without(room, tmp_path / "copy")
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_cases.py").write_text(SUITE, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (tmp_path / "copy", libraries)))}
    environment.pop("PYTEST_ADDOPTS", None)

    command = [sys.executable, "-S", "-c", USE_ALL.format(root=str(tmp_path), public=PUBLIC)]
    process = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=280)
    shown = process.stdout
    assert process.returncode == 0, f"{shown}\n{process.stderr}"
    assert "release: fair (1 threshold: 1 fair)" in shown
    assert (project / ".fairness" / "report.html").exists() or "report" in shown
    assert "compare" in shown
