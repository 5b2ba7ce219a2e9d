"""All the plugins that a team may have at once, folders with any name, and a project that cannot be written to."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.helpers import project_sources
from tests.helpers.project import QUIET, bound_by_rights

ROOT = Path(__file__).parents[2]
OTHERS = ROOT / ".venv-others"
"""Plugins that the other tests do without: ``make others``."""

WITH_OTHERS = """
import asyncio
import pytest

@pytest.mark.asyncio
async def test_asyncio(model):
    assert await asyncio.to_thread(model, "Should a man of profile 1 be hired?") in ("yes", "no")

def test_benchmark(benchmark):
    benchmark(lambda: 1)

@pytest.mark.timeout(20)
def test_timeout(model):
    assert model("Should a man of profile 1 be hired?") in ("yes", "no")
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="folders and rights are those of POSIX here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project whose path has spaces and letters that are not ASCII."""
    folder = tmp_path / "пр ó ject 计划"
    folder.mkdir()
    (folder / "conftest.py").write_text(project_sources.application(), encoding="utf-8")
    (folder / "test_hiring.py").write_text(project_sources.suite(), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n", encoding="utf-8")
    return folder


def run(folder: Path, *args: str, before: tuple[str, ...] = (), path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    hidden = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}", "COLUMNS": "100"}
    command = [*before, sys.executable, "-m", "pytest", *args]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [("-p", "no:xdist"), ("-n2",)], ids=["no-xdist", "n2"])
def test_all_plugins_together_work(folder: Path, mode: tuple[str, ...]) -> None:
    if not OTHERS.is_dir():
        if "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
            pytest.fail("the other plugins are not there: make others")
        pytest.skip("the other plugins are not there: make others")
    (folder / "pytest.ini").write_text(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n", encoding="utf-8"
    )
    (folder / "test_others.py").write_text(WITH_OTHERS, encoding="utf-8")
    options = ("--reruns=1", "--timeout=60", "--cov=.", "--html=page.html", "--self-contained-html")
    files = ("--alluredir=allure", "--junitxml=junit.xml", "--fairness-json=results.json")
    result = run(folder, *mode, *options, *files, path=OTHERS)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "4 passed, 60 measured" in result.stdout
    for plugin in ("allure", "asyncio", "benchmark", "cov", "html", "randomly", "rerunfailures", "timeout"):
        assert f"{plugin}-" in result.stdout  # pytest's line of plugins
    (row,) = json.loads((folder / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert row["verdict"] == "fair"
    written = [file.stat().st_size for file in (folder / "allure").glob("*-result.json")]
    assert len(written) >= 64  # one more for each rerun
    assert max(written) < 5_000
    assert "fairness_verdict" in (folder / "junit.xml").read_text(encoding="utf-8")
    assert (folder / "reports" / "fairness.html").exists()
    charts = [ET.parse(file).getroot() for file in (folder / "allure").glob("*.svg")]  # noqa: S314 - our own
    assert {chart.tag for chart in charts} == {"{http://www.w3.org/2000/svg}svg"}
    verdicts = [file.read_text(encoding="utf-8") for file in (folder / "allure").glob("*-attachment.txt")]
    assert any(": fair. Ratio of hired" in text for text in verdicts)
    page = html.unescape((folder / "page.html").read_text(encoding="utf-8"))
    assert page.count("data:image/svg+xml;base64,") >= 1
    assert ": fair. Ratio of hired" in page


@pytest.mark.slow
def test_read_only_folder_is_supported(folder: Path, tmp_path: Path) -> None:
    bound = bound_by_rights()
    application = project_sources.application().replace('.with_name("asked.txt")', '.parents[1] / "asked.txt"')
    (folder / "conftest.py").write_text(application, encoding="utf-8")
    folder.chmod(0o555)
    try:
        quiet = (*QUIET, "-p", "no:cacheprovider", "-p", "no:randomly")
        refused = run(folder, *quiet, before=bound)
        assert refused.returncode == pytest.ExitCode.USAGE_ERROR
        assert refused.stderr.strip() == (
            f"ERROR: the store {folder}/.fairness/store.sqlite cannot be made: Permission denied; "
            "name another with --fairness-store"
        )
        process = run(folder, *quiet, f"--fairness-store={tmp_path}/store.sqlite", before=bound)
        assert process.returncode == 0, process.stdout + process.stderr
        assert "release: fair" in process.stdout
        assert {file.name for file in folder.iterdir()} == {"conftest.py", "pytest.ini", "test_hiring.py"}
    finally:
        folder.chmod(0o755)
