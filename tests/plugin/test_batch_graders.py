"""Graders over a batch in a user's project: called for thresholds, kept in the store, closed at the end."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Project, failures, in_one_process, with_workers

GRADER = """
from pathlib import Path

from pytest_fairness import Grade

class Length:
    fingerprint = "Length v1"
    extremes = (0, 10)

    def grade_batch(self, attempts):
        with Path(__file__).with_name("batches.txt").open("a", encoding="utf-8") as file:
            file.write(f"{len(attempts)}\\n")
        return [Grade(len(attempt.attempt.answer.text)) for attempt in attempts]

    def close(self):
        with Path(__file__).with_name("batches.txt").open("a", encoding="utf-8") as file:
            file.write("closed\\n")

"""

PROBE = project_sources.PROBE.replace("YesNo()}", "YesNo(), 'length': Length()}")
SHORT = project_sources.threshold('assert measured.mean("length") <= 4', name="test_short")
SHORT_TOO = project_sources.threshold('assert measured.mean("length") <= 5', name="test_short_too")


def write(project: Project, *tests: str, body: str = "", grader: str = GRADER, probe: str = PROBE) -> None:
    project.write(
        conftest=project_sources.application(version="1", body=body),
        test_hiring=grader + project_sources.suite(*(tests or (SHORT, SHORT_TOO)), count=40, probe=probe),
    )


def batches(project: Project) -> list[str]:
    """Return the calls of the grader since the last time, and the closings by each process."""
    file = project.path / "batches.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


@with_workers
def test_each_attempt_is_graded_once_over_two_runs(project: Project) -> None:
    write(project)
    project.run().assert_outcomes(passed=42)
    first = {row["id"]: row["estimate"] for row in project.rows()}
    log = batches(project)
    assert [line for line in log if line != "closed"] == ["80"]
    assert log[-1] == "closed"
    assert project.results()["run"]["ungraded"] == 0
    assert {row["graders"]["length"] for row in project.rows() if "graders" in row} <= {"Length v1"}
    project.forget_calls()
    project.run(mode=NO_XDIST).assert_outcomes(passed=42)
    assert set(batches(project)) <= {"closed"}
    assert not project.calls()
    assert {row["id"]: row["estimate"] for row in project.rows()} == first


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_threshold_alone_gives_the_same_verdict(project: Project) -> None:
    write(project, SHORT)
    project.run("-m", "threshold")
    alone = project.row()
    assert batches(project)[0] == "80"
    project.run(mode=NO_XDIST).assert_outcomes(passed=41)
    assert (project.row()["estimate"], project.row()["verdict"]) == (alone["estimate"], alone["verdict"])


def test_probe_alone_grades_nothing(project: Project) -> None:
    write(project)
    project.run("-m", "probe").assert_outcomes(passed=40, deselected=2)
    assert batches(project) == []
    assert project.results()["run"]["ungraded"] == 0


def test_ungraded_text_counts_for_its_threshold(project: Project) -> None:
    grader = GRADER.replace(
        "[Grade(len(attempt.attempt.answer.text))",
        "[Grade.none('unparsed') if '007' in attempt.item.id else Grade(len(attempt.attempt.answer.text))",
    )
    write(project, SHORT, grader=grader)
    project.run()
    assert project.row()["ungraded"] == {"all": 2}
    # Either end of the grader's extremes might have been.
    assert project.row()["low"] < 3 < 3.9 < project.row()["high"]


@in_one_process
def test_grader_mistake_is_reported_in_one_line(project: Project) -> None:
    write(project, SHORT, grader=GRADER.replace("for attempt in attempts]", "for attempt in attempts[1:]]"))
    project.run().assert_outcomes(passed=40, failed=1)
    ((name, lines),) = failures(project.run(mode=project.mode)).items()
    assert name == "test_short"
    message = (
        "the grader of 'length' failed on its batch: "
        "it returned a list of 79 for 80 attempts: it must hold one Grade for each"
    )
    assert lines == [message]
    assert project.verdicts() == {"test_short": "invalid"}


def test_verdict_is_verified_from_the_store_alone(project: Project) -> None:
    write(project)
    project.run()
    batches(project)
    assert project.bare_run("--fairness-verify=results.json").ret == 0
    assert set(batches(project)) <= {"closed"}
