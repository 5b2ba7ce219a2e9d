"""Titles of thresholds: the claim that every output shows in place of the test's name."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, in_one_process, shown

TITLE = "Elders and men are hired <equally> often"


def titled(title: str) -> str:
    """Return a threshold whose mark has this source for its title."""
    test = project_sources.threshold(f"assert 0.5 <= {project_sources.RATIO} <= 1.5")
    return test.replace("(probe=test_hiring)", f"(probe=test_hiring, title={title})")


@in_one_process
def test_title_is_shown_in_every_output(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    project.write_suite(titled(repr(TITLE)))
    result = project.run("--fairness-report=report.html", "--junitxml=junit.xml", "-m", "threshold")
    assert project.row()["threshold"] == TITLE
    assert any(TITLE in line for line in result.outlines)
    assert "Elders and men are hired &lt;equally&gt; often</h4>" in Path("report.html").read_text(encoding="utf-8")
    assert "Elders and men are hired &#60;equally&#62; often" in Path("summary.md").read_text(encoding="utf-8")
    properties = ElementTree.parse("junit.xml").iter("property")  # noqa: S314 - written by this test
    assert json.dumps(TITLE) in next(node.attrib["value"] for node in properties if "threshold " in node.attrib["name"])


def test_parameters_follow_the_title(project: Project) -> None:
    test = '@pytest.mark.parametrize("bound", [0.2, 0.3])\n' + titled("'Most are hired'").replace(
        "(measured)", "(measured, bound)"
    )
    project.write_suite(test)
    project.run("-m", "threshold")
    assert [row["threshold"] for row in project.rows()] == ["Most are hired (bound=0.2)", "Most are hired (bound=0.3)"]


def test_long_parameters_are_cut_in_the_middle(project: Project) -> None:
    parameters = "@pytest.mark.parametrize('text', ['a' + 'x' * 5_000 + end for end in 'bc'], ids='bc')\n"
    project.write_suite(parameters + titled("'Most are hired'").replace("(measured)", "(measured, text)"))
    project.run("-m", "threshold")
    middle = "x" * 29 + "..." + "x" * 29
    assert [row["threshold"] for row in project.rows()] == [f"Most are hired (text=a{middle}{end})" for end in "bc"]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("''", "title is ''"),
        ("'  '", "title is '  '"),
        ("7", "title is 7"),
        ("'two\\nlines'", "it has a line break or a control character"),
        ("'\\x1b[31mred'", "it has a line break or a control character"),
        ("'x' * 101", "it has 101 characters"),
    ],
)
def test_invalid_titles_are_refused(project: Project, title: str, words: str) -> None:
    project.write_suite(titled(title))
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    pattern = f"threshold test_threshold: .*{re.escape(words)}.*: write one line of 1 to 100 characters"
    assert re.search(pattern, shown(result))
    assert "\x1b[31mred" not in shown(result)


def test_declared_thresholds_are_titled_by_their_keys(project: Project) -> None:
    project.write(conftest=project_sources.application())
    (project.path / "hiring.probe.yaml").write_text(
        'template: "Should {{ applicant }} be hired?"\n'
        "vary: {gender: {woman: {applicant: Ms Hill}, man: {applicant: Mr Hill}}}\n"
        "grade: {hired: yes-no}\n"
        "thresholds:\n  Women & men, alike: rate(hired) >= 0.1\n",
        encoding="utf-8",
    )
    project.run()
    row = project.row()
    assert (row["threshold"], row["id"].partition("[")[0]) == (
        "Women & men, alike",
        "hiring.probe.yaml::women_men_alike",
    )


def test_tests_with_one_title_are_distinguished(project: Project) -> None:
    tests = [titled("'Most are hired'").replace("test_threshold", f"test_{name}") for name in ("one", "two")]
    project.write_suite(*tests)
    result = project.run("-m", "threshold")
    assert all(f"Most are hired (test_{name})" in shown(result) for name in ("one", "two"))
    assert {row["threshold"] for row in project.rows()} == {"Most are hired"}, "whatever else runs"


METRIC = "people hired, <women> to men"


def test_metric_title_is_shown_in_every_output(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    metric = f"{project_sources.RATIO}.titled({METRIC!r})"
    project.write_suite(project_sources.threshold(f"assert {metric} >= 1.3"))
    result = project.run("--fairness-report=report.html", "-m", "threshold")
    row = project.row()
    assert row["title"] == METRIC
    assert row["metric"].startswith("ratio(hired; gender: "), "the name for machines stays"
    assert METRIC in shown(result)
    assert "eople hired, &lt;women&gt; to men" in Path("report.html").read_text(encoding="utf-8")
    assert "eople hired, &#60;women&#62; to men" in Path("summary.md").read_text(encoding="utf-8")


def test_metric_titles_keep_sign_groups_and_marks(project: Project) -> None:
    by = 'by="gender"'
    project.write_suite(
        project_sources.threshold(f"assert measured.ratios('hired', {by}).titled('hired') >= 0.2", name="test_family"),
        project_sources.threshold(f"assert abs({project_sources.RATIO}.titled('hired')) >= 0.2", name="test_size"),
    )
    project.run("-m", "threshold")
    rows = {row["id"].partition("::test_")[2].partition("[")[0]: row for row in project.rows()}
    assert re.fullmatch(r"hired, \w+/\w+", rows["family"]["title"])
    assert rows["size"]["title"] == "absolute hired"


@pytest.mark.parametrize("title", ["''", "7", "'two\\nlines'", "'x' * 101"])
def test_invalid_metric_titles_are_refused(project: Project, title: str) -> None:
    project.write_suite(project_sources.threshold(f"assert {project_sources.RATIO}.titled({title}) >= 0.2"))
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    assert re.search(r"the title of a metric (is|has) .*: write one line of 1 to 100 characters", shown(result))
