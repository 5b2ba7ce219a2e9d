"""Starts of the plugin: at the first test of its own, with the same outcome as at once, and not without one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from pytest_fairness.plugin.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, first_in_every_mode, shown

MOST_MODULES = 10
"""The modules that the plugin may import in a project that does not use it: each costs a millisecond or more."""
SUITE = project_sources.suite(project_sources.THRESHOLD, count=20)
APPLICATION = project_sources.application()
FUNCTION_SCOPE = APPLICATION.replace('@pytest.fixture(scope="session")', "@pytest.fixture")
PLAIN = "import pytest\n\nclass TestPlain:\n    def test_plain(self): pass\n"
DECLARED = """
template: "Should a {{ who }} of profile {{ number }} be hired?"
vary:
  gender:
    woman: [{who: woman}]
    man: [{who: man}]
items: [{id: first, number: one}, {id: second, number: two}]
grade: {hired: yes-no}
thresholds:
  women and men are hired alike: ratio(hired, by=gender, of=woman, to=man) >= 0.8
"""
MISNAMED = PLAIN + "\nclass Hiring:\n    @pytest.mark.threshold(probe=None)\n    def test_alike(self, measured): pass\n"
INHERITED = (
    "from test_hiring import test_hiring\nimport pytest\n\n"
    "class Base:\n    @pytest.mark.threshold(probe=test_hiring)\n"
    '    def test_rate(self, measured): assert measured.rate("hired") >= 0.1\n\nclass TestRate(Base): pass\n'
)
PROJECTS: dict[str, dict[str, str]] = {
    "judged": {"conftest": APPLICATION, "test_a": PLAIN, "test_hiring": SUITE, "test_z": PLAIN},
    "unread": {
        "conftest": APPLICATION,
        "test_a": f"import no_such_module\n{SUITE}",
        "test_b": f"import pytest\npytest.skip('no data', allow_module_level=True)\n{SUITE}",
        "test_hiring": SUITE,
    },
    "function-scope": {"conftest": FUNCTION_SCOPE, "test_hiring": SUITE, "test_z": PLAIN},
    "misnamed": {"test_hiring": MISNAMED},
    "inherited": {
        "conftest": APPLICATION,
        "test_hiring": SUITE,
        "test_rate": INHERITED,
    },
    "declared": {"conftest": APPLICATION, "test_a": PLAIN, "pay.probe.yaml": DECLARED},
    "broken": {"conftest": APPLICATION, "test_a": PLAIN, "pay.probe.yaml": "template: 7\n"},
}


@pytest.fixture(autouse=True)
def _without_options(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS")


def lines_of_run(project: Project, *args: str, key: str = "") -> list[str]:
    """Return what a first run of a project shows, without its id, its duration and the order of its workers."""
    shutil.rmtree(project.path / ".fairness", ignore_errors=True)
    shutil.rmtree(project.path / "reports", ignore_errors=True)
    project.pytester.makeini(f"[pytest]\n{key}\n")
    text = shown(project.bare_run("-p", "no:cacheprovider", *args))
    text = re.sub(r"\b[0-9a-f]{8,32}\b|in \d+\.\d+s( \(.+?\))?|==+|\[gw\d\]", "", text)
    return [line for line in text.splitlines() if not re.fullmatch(r"[.FEs]+ +\[ *\d+%\]", line)]


@first_in_every_mode("kind", PROJECTS)
def test_late_start_changes_nothing(project: Project, kind: str) -> None:
    files = dict(PROJECTS[kind])
    if declared := files.pop("pay.probe.yaml", ""):
        (project.path / "pay.probe.yaml").write_text(declared, encoding="utf-8")
    project.write(**files)
    late = lines_of_run(project)
    assert late == lines_of_run(project, key="fairness_seed = 0")
    assert any("fairness" in line or "threshold" in line for line in late)


@pytest.mark.slow
def test_unrelated_projects_import_ten_modules_at_most(project: Project) -> None:
    look = """
import pathlib, sys

def pytest_unconfigure():
    pathlib.Path("imported.txt").write_text(" ".join(sys.modules), encoding="utf-8")
"""
    project.write(
        conftest=look, test_plain=PLAIN + "\n\n@pytest.fixture\ndef model(): pass\n\ndef test_it(model): pass\n"
    )
    imported = []
    for plugin in ((), ("-p", "fairness")):
        command = [sys.executable, "-m", "pytest", "-q", "--disable-plugin-autoload", *plugin]
        subprocess.run(command, cwd=project.path, check=True, capture_output=True)
        imported.append(set((project.path / "imported.txt").read_text(encoding="utf-8").split()))
    assert "pytest_fairness.plugin" in imported[1]
    assert len(imported[1] - imported[0]) <= MOST_MODULES, sorted(imported[1] - imported[0])


@every_mode
def test_model_of_an_unmarked_test_starts_the_plugin(project: Project) -> None:
    test = """
import pytest

@pytest.mark.parametrize("model_name", ["simulated:a", "simulated:b"], indirect=True)
def test_named(model, model_name):
    assert model.name == model_name

def test_unnamed(model): pass
"""
    project.write(test_plain=test)
    result = project.bare_run()
    result.assert_outcomes(passed=2, errors=1)
    assert "no model is named" in shown(result)


def test_stored_results_are_read_without_a_start(project: Project) -> None:
    report = """
def pytest_terminal_summary(terminalreporter, config):
    from pytest_fairness import stored_results
    terminalreporter.write_line(f"runs: {len(stored_results(config))}")
"""
    project.write(conftest=APPLICATION + report, test_hiring=SUITE, test_plain=PLAIN)
    assert "runs: 1" in shown(project.bare_run())
    assert "runs: 1" in shown(project.bare_run("test_plain.py"))


def test_threshold_without_a_model_fails_without_options(project: Project) -> None:
    project.write(test_hiring=SUITE, test_plain=PLAIN)
    result = project.bare_run()
    assert result.ret == INVALID_CODE
    assert "no model is named" in shown(result)
