"""Properties of a JUnit file: of the whole run, and of each test, whatever texts are in them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_fairness.report.ci.junit import suite_properties
from tests.helpers import report_views

TEST = """\
import pytest

@pytest.fixture(scope="session")
def whole(record_testsuite_property):
    for name, value in {suite!r}:
        record_testsuite_property(name, value)

def test_one(whole, request):
    request.node.user_properties += {test!r}
"""


def write_xml(pytester: pytest.Pytester, suite: object, test: object) -> ElementTree.Element:
    pytester.makepyfile(TEST.format(suite=suite, test=test))
    pytester.runpytest_inprocess("-p", "no:fairness", "-p", "no:randomly", "--junitxml=junit.xml").assert_outcomes(
        passed=1
    )
    return ElementTree.fromstring(Path(pytester.path / "junit.xml").read_bytes())  # noqa: S314 - our own


def properties(parent: ElementTree.Element | None) -> dict[str, str]:
    assert parent is not None
    return {node.attrib["name"]: node.attrib["value"] for node in parent.findall("properties/property")}


def test_junit_file_holds_release_and_marks(pytester: pytest.Pytester) -> None:
    view = report_views.view([report_views.row("fair"), report_views.row("undecided", id="2", model="other")])
    root = write_xml(pytester, suite_properties(view.results), [])
    by_name = properties(root.find("testsuite"))
    assert by_name["fairness_run"] == "0123456789abcdef"
    assert by_name["fairness_verdict"] == "undecided"
    assert json.loads(by_name["fairness_release"]) == [line.to_json() for line in view.results.release]
    assert json.loads(by_name["fairness_marks"]) == [line.to_json() for line in view.results.marks]


def test_run_without_thresholds_has_no_verdict() -> None:
    assert dict(suite_properties(report_views.view([]).results)).keys() == {
        "fairness_run",
        "fairness_release",
        "fairness_marks",
    }


def test_hostile_texts_leave_the_file_readable(pytester: pytest.Pytester) -> None:
    hostile = "".join(report_views.HOSTILE)
    view = report_views.view([report_views.row("unfair", model=hostile, suite=hostile, harm=hostile, message=hostile)])
    whole = properties(write_xml(pytester, suite_properties(view.results), []).find("testsuite"))
    assert json.loads(whole["fairness_release"])[0]["model"] == hostile
    (row,) = (json.loads(value) for name, value in whole.items() if name.startswith("fairness_threshold "))
    assert row["message"] == hostile
