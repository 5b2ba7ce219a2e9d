"""Editors that list the tests, and reporters that write down all that a test has."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from tests.helpers import project_sources
from tests.helpers.editor_listing import listing
from tests.helpers.project import Project

VSCODE = os.environ.get("PYTEST_FAIRNESS_VSCODE", "")
"""The folder `python_files` of a checkout of microsoft/vscode-python, where its own plugin lies."""

YAML = """
template: "Should a {{ who }} of profile {{ number }} be hired?"
vary:
  gender:
    woman: [{who: woman}]
    man: [{who: man}]
items:
  - {id: médiathèque, number: one}
  - {id: archive, number: two}
grade: {hired: yes-no}
thresholds:
  women and men are hired alike: ratio(hired, by=gender, of=woman, to=man) >= 0.8
"""
BROKEN = "template: 7\n"
MORE = """
class TestMore:
    @pytest.mark.threshold(probe=test_hiring)
    def test_rate(self, measured):
        assert measured.rate("hired") >= 0.1

def test_search(flips): pass

def test_plain(model): pass
"""


@pytest.fixture
def suites(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project with a suite in Python, one in YAML, and one that is broken."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--fairness-report=none")
    project.write(test_hiring=project_sources.suite(project_sources.THRESHOLD, MORE, count=2))
    (project.path / "visit.probe.yaml").write_text(YAML, encoding="utf-8")
    (project.path / "broken.probe.yaml").write_text(BROKEN, encoding="utf-8")
    return project


def test_editors_list_every_test(suites: Project) -> None:
    bare = listing(suites)
    assert set(bare) == {
        "broken.probe.yaml::declaration",
        "test_hiring.py::test_hiring[person-0000]",
        "test_hiring.py::test_hiring[person-0001]",
        "test_hiring.py::test_women_and_men_alike",
        "test_hiring.py::TestMore::test_rate",
        "test_hiring.py::test_search",
        "test_hiring.py::test_plain",
        "visit.probe.yaml::visit[archive]",
        "visit.probe.yaml::visit[m_diath_que~f9f0f1173710]",
        "visit.probe.yaml::women_and_men_are_hired_alike",
    }
    listed = listing(suites, "--fairness-model=simulated:a", "--fairness-model=simulated:a?seed=1")
    assert len(listed) == 2 * len(bare) - 2  # neither the broken file nor the plain test asks each model
    # Where a test is called, it has its parameters.
    suites.write(conftest=project_sources.application())
    (suites.path / "broken.probe.yaml").unlink()
    outcomes = suites.bare_run("-k", "not search", "--fairness-sample=2").parseoutcomes()
    assert outcomes["passed"] >= 5


@pytest.mark.skipif(not VSCODE, reason="names no checkout of vscode-python: PYTEST_FAIRNESS_VSCODE")
def test_vscode_plugin_lists_every_test(suites: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = set(listing(suites))
    pipe = suites.path / "pipe"
    pipe.touch()
    monkeypatch.setenv("TEST_RUN_PIPE", str(pipe))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([VSCODE, *filter(None, sys.path)]))
    suites.pytester.runpytest_subprocess("-p", "vscode_pytest", f"--rootdir={suites.path}", "--collect-only", "-q")
    message = json.loads(pipe.read_bytes().partition(b"\r\n\r\n")[2])["params"]
    assert message["status"] == "success", message["error"]

    def tests(node: dict[str, Any]) -> set[str]:
        if node["type_"] == "test":
            return {str(node["runID"]).removeprefix(f"{suites.path}{os.sep}")}
        return {test for child in node["children"] for test in tests(child)}

    assert tests(message["tests"]) == expected


REPORTER = """
import json, pathlib, pytest

SIZES = {}

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    report_data = {
        "parameters": [repr(value) for value in parameters.values()],
        "arguments": [repr(value) for value in item.funcargs.values()],
        "properties": [repr(entry) for entry in report.user_properties],
        "sections": [repr(entry) for entry in report.sections],
        "failure": [report.longreprtext],
    }
    for name, texts in report_data.items():
        SIZES[name] = max(SIZES.get(name, 0), *(len(text) for text in texts), 0)
    return report

def pytest_sessionfinish():
    pathlib.Path("sizes.json").write_text(json.dumps(SIZES))
"""


def test_reported_properties_stay_small(project: Project) -> None:
    filler = "A long text. " * 200
    suite = project_sources.suite(
        project_sources.threshold(f"assert {project_sources.RATIO} >= 2"),
        project_sources.threshold("assert measured.rate('hired') >= 0.1\nbaseline", name="test_baseline").replace(
            "(measured)", "(measured, baseline)"
        ),
        count=40,
    ).replace("be hired?", f"be hired? {filler}")
    project.write(conftest=project_sources.application(), reporter=REPORTER, test_hiring=suite)
    project.pytester.syspathinsert()
    project.run("-p", "reporter", "--showlocals").assert_outcomes(passed=41, failed=1)
    sizes = json.loads((project.path / "sizes.json").read_text(encoding="utf-8"))
    assert sizes["parameters"] < 200
    assert sizes["arguments"] < 300
    assert sizes["failure"] < 3_000
    assert sizes["properties"] < 20_000, sizes
    assert sizes["sections"] < 1_000
