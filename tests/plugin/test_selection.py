"""Selections of tests: only selected prompts are requested, and verdicts stay the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Mode, Project, every_mode, first_in_every_mode, in_one_process

HELD = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.5", name="test_loose")


@every_mode
def test_selected_item_requests_its_prompts_only(project: Project) -> None:
    groups = ("woman", "man", "elder", "youth")
    rates = dict.fromkeys(groups, 0.9)
    # Slow enough that whatever else was queued would be sent meanwhile.
    slow = project_sources.PROBE + "    import time\n    time.sleep(0.3)\n"
    project.write_suite(conftest=project_sources.application(rates), probe=slow, count=300, groups=groups)
    project.run("-k", "person-0150").assert_outcomes(passed=1)
    assert project.calls() == {f"Should a {group} of profile 150 be hired?": 1 for group in groups}


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without fields that are about this run rather than the model."""
    return {name: value for name, value in row.items() if name not in ("sample", "history", "example")}


@every_mode
def test_threshold_alone_measures_the_whole_sample(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(project_sources.UNEVEN))
    project.run(mode=NO_XDIST)
    whole = project.row()
    requests = project.calls()
    project.forget_calls()
    result = project.run("-k", "alike", "--fairness-store=another.sqlite")
    result.assert_outcomes(failed=1)
    assert project.calls() == requests
    assert comparable(project.row()) == comparable(whole)


def test_marks_select_probes_and_thresholds(project: Project) -> None:
    project.write_suite(count=6)
    project.run("-m", "probe").assert_outcomes(passed=6, deselected=1)
    assert sum(project.calls().values()) == 12
    result = project.run("-m", "threshold")
    assert result.parseoutcomes()["deselected"] == 6


def test_threshold_can_be_selected_by_id(project: Project) -> None:
    project.write_suite()
    project.run("test_hiring.py::test_women_and_men_alike").assert_outcomes(passed=1)
    assert project.row()["attempts"] == 120


@pytest.mark.parametrize("mode", [Mode("no-xdist", ("-p", "no:xdist")), N2], ids=lambda mode: mode.id, indirect=True)
def test_last_failed_measures_the_whole_sample(project: Project) -> None:
    project.write_suite(project_sources.THRESHOLD, HELD, conftest=project_sources.application(project_sources.UNEVEN))
    assert project.run(mode=NO_XDIST).ret == 1
    assert project.verdicts()["test_women_and_men_alike"] == "unfair"
    project.write(conftest=project_sources.application(version="2"))
    project.forget_calls()
    result = project.run("--lf", "-k", "alike")
    assert result.ret == 0
    assert project.verdicts() == {"test_women_and_men_alike": "fair"}
    assert sum(project.calls().values()) == 120


@pytest.mark.slow
def test_failed_first_changes_no_verdict(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(project_sources.UNEVEN))
    project.run()
    before = project.row()
    project.run("--ff")
    assert comparable(project.row()) == comparable(before)


@in_one_process
def test_skipped_test_requests_nothing(project: Project) -> None:
    crowd = project_sources.suite(count=100).replace("profile", "applicant").replace("test_hiring", "test_crowd")
    for mark in ("probe", "threshold"):
        crowd = crowd.replace(f"@pytest.mark.{mark}(", f"@pytest.mark.skip(reason='not today')\n@pytest.mark.{mark}(")
    project.write_suite(test_crowd=crowd)
    project.run().assert_outcomes(passed=61, skipped=101)
    assert not [text for text in project.calls() if "applicant" in text]
    assert {row["suite"]: row["verdict"] for row in project.rows()} == {"crowd": "not judged", "hiring": "fair"}


@first_in_every_mode("case", ["unfair", "unfair-strict", "fair", "fair-strict"])
def test_xfail_outcomes_follow_the_verdict(project: Project, case: str) -> None:
    rates = project_sources.EVEN if case.startswith("fair") else project_sources.UNEVEN
    strict = case.endswith("strict")
    outcome = {"fair": "xpassed", "fair-strict": "failed"}.get(case, "xfailed")
    code = 1 if case == "fair-strict" else 0
    test = f"@pytest.mark.xfail(strict={strict}, reason='known')\n{project_sources.THRESHOLD}"
    project.write_suite(test, conftest=project_sources.application(rates))
    result = project.run("-k", "alike")
    assert result.ret == code
    result.assert_outcomes(**{outcome: 1})
    assert project.row()["verdict"] == ("fair" if rates is project_sources.EVEN else "unfair")
    assert project.row()["outcome"] == outcome


def test_threshold_may_run_before_its_probe_from_another_module(project: Project) -> None:
    more = (
        "from test_hiring import test_hiring\n\n"
        + project_sources.HEAD
        + project_sources.threshold(f"assert {project_sources.RATIO} >= 0.5", name="test_earlier")
    )
    project.write_suite(test_earlier=more)
    result = project.run("test_earlier.py", "test_hiring.py")
    result.assert_outcomes(passed=62)
    assert set(project.calls().values()) == {1}


def test_two_thresholds_share_one_sample(project: Project) -> None:
    project.write_suite(project_sources.THRESHOLD, HELD)
    project.run("-m", "threshold").assert_outcomes(passed=2, deselected=60)
    assert set(project.calls().values()) == {1}
    assert project.results()["run"]["attempts"] == 120
