"""The attribute of pytest's reports by which results leave their tests."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from pytest_fairness.plugin import report_data
from tests.helpers import project_sources
from tests.helpers.project import Mode, Project, every_mode

READER = """
import json, pathlib

def pytest_runtest_logreport(report):
    assert not report.user_properties
    if report.when == "call" and hasattr(report, "fairness"):
        with pathlib.Path(__file__).with_name("read.jsonl").open("a") as file:
            file.write(json.dumps([report.nodeid, report.fairness]) + "\\n")
"""


@every_mode
def test_report_carries_verdict_and_sample(project: Project, mode: Mode) -> None:
    """Read the attribute in a hook of the project, as any other plugin can; JUnit's tests have no property."""
    threshold = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", name="test_alike")
    suite = project_sources.suite(threshold, count=30)
    project.write(conftest=project_sources.application() + READER, test_hiring=suite)
    project.bare_run("--junitxml=junit.xml", mode=mode).assert_outcomes(passed=31)
    lines = (project.path / "read.jsonl").read_text(encoding="utf-8").splitlines()
    by_test = dict(map(json.loads, lines))
    row = by_test.pop("test_hiring.py::test_alike")[report_data.THRESHOLD]
    assert row["verdict"] == "fair"
    assert row["estimate"] == pytest.approx(1, abs=0.2)
    assert len(by_test) == 30
    for content in by_test.values():
        assert content[report_data.STATE] == "measured"
        assert content[report_data.SAMPLE]["counts"]["fairness_attempts"] == 2
    root = ElementTree.parse(project.path / "junit.xml").getroot()  # noqa: S314 - our own
    assert root.findall(".//testcase/properties") == []


@every_mode
def test_half_characters_of_causes_are_sent(project: Project, mode: Mode) -> None:
    body = "    raise OSError('half \\ud800')"
    project.write(conftest=project_sources.application(body=body), test_hiring=project_sources.suite(count=30))
    result = project.run(mode=mode)
    result.stdout.fnmatch_lines(["*: not measured*", "*half ? (60 attempts*"])
    assert project.row()["verdict"] == "invalid"
