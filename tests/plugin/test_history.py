"""History of a threshold over earlier runs, and its effect on flaky ones."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.plugin.output.outcomes import INVALID_CODE, UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Project, in_one_process, shown

RATES = {"woman": 0.7, "man": 0.95}
FLAKY = f"@pytest.mark.flaky_threshold(reason='new model', by='Ada', until='{project_sources.LATER}', max_flip=0.4)"


def write(project: Project) -> None:
    project.write_suite(
        project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", marks=FLAKY),
        conftest=project_sources.application(RATES, version="1"),
    )


def remember(project: Project, *values: float, **changed: Any) -> None:
    """Let earlier runs have said so; of this suite's only threshold, as its own row has it."""
    row = project.row() | changed
    row["sample"] = {"fairness_attempts": 120, "fairness_from_store": 0, "fairness_ungraded": 0}
    with closing(sqlite3.connect(project.store)) as store, store:
        for number, value in enumerate(values):
            run = f"earlier{number:025}"
            store.execute("INSERT INTO runs (id, started, stopped) VALUES (?, ?, 0)", (run, float(number)))
            store.execute(
                "INSERT INTO thresholds (run, test, expected, result) VALUES (?, ?, '{}', ?)",
                (run, row["id"], json.dumps(row | {"estimate": value})),
            )


def test_history_outside_the_bounds_fails_a_flaky_threshold(project: Project) -> None:
    write(project)
    assert project.run(mode=NO_XDIST).ret == 0
    assert {"runs": 1, "outside": 0}.items() <= project.row()["history"].items()
    remember(project, *[0.7] * 7, 0.9)
    result = project.run()
    assert result.ret == UNDECIDED_CODE
    assert "it lay outside in 7 of 9 runs, over the 40% of its flaky mark" in shown(result).replace("\n", " ")
    assert project.row()["outcome"] == "failed"


@in_one_process
def test_history_inside_the_bounds_does_not_fail_it(project: Project) -> None:
    write(project)
    project.run()
    remember(project, *[0.9] * 7, 0.7)
    assert project.run().ret == 0
    assert {"runs": 9, "outside": 1}.items() <= project.row()["history"].items()


@in_one_process
def test_finding_has_the_verdict_before_and_its_owner(project: Project) -> None:
    """Expect under each finding since when it is so, and above all the turns since the last run."""
    owner = '[tool.pytest-fairness.owners]\nhiring = "Ada Bell, people team"\n'
    (project.path / "pyproject.toml").write_text(owner, encoding="utf-8")
    suite = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8")
    day = datetime.now(UTC).date().isoformat()
    texts = []
    for version, woman in enumerate((0.95, 0.4, 0.4)):
        rates = {"woman": woman, "man": 0.95}
        project.write_suite(suite, conftest=project_sources.application(rates, version=str(version)))
        texts.append(" ".join(shown(project.run()).split()))
    assert "last run" not in texts[0]
    assert "worse than in the last run: threshold (fair to unfair)" in texts[1]
    assert re.search(rf"fair \(mark ., [01]\.\d+\) in the last run, of {day}; changed since: served by", texts[1])
    assert "owner: Ada Bell, people team" in texts[1]
    assert "no verdict has changed since the last run" in texts[2]
    assert re.search(rf"unfair since {day} \(2 runs\), 0\.\d+ in the last one, before that fair \(mark", texts[2])
    assert project.row()["owner"] == "Ada Bell, people team"


@in_one_process
def test_another_comparison_has_another_history(project: Project) -> None:
    write(project)
    project.run()
    remember(project, *[0.7] * 9, comparisons=[{"op": ">=", "bound": 0.9, "decision": "false"}])
    assert project.run().ret == 0
    assert {"runs": 1, "outside": 0}.items() <= project.row()["history"].items()


@in_one_process
def test_stored_answers_are_no_new_evidence(project: Project) -> None:
    write(project)
    for _ in range(3):
        project.run()
    assert {"runs": 1, "outside": 0, "alike": 1}.items() <= project.row()["history"].items()


def test_point_beyond_the_bound_predicts_a_failing_rerun(project: Project) -> None:
    """Predict a rerun beyond the bound, where the point estimate lies beyond it."""
    project.write_suite(
        project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", marks=FLAKY),
        conftest=project_sources.application({"woman": 0.62, "man": 0.95}),
    )
    result = project.run("-m", "threshold")
    row = project.row()
    assert row["verdict"] == "undecided"
    assert row["estimate"] < 0.8
    assert row["outside_probability"] > 0.5 > row["flip_probability"]
    assert result.ret == UNDECIDED_CODE
    assert "a rerun would lie outside" in shown(result).replace("\n", " ")


def test_runs_of_version_0_1_are_counted_by_the_name_of_their_model(project: Project) -> None:
    write(project)
    project.run()
    remember(project, 0.9, 0.9, looks=None)
    project.write(conftest=project_sources.application({"woman": 0.72, "man": 0.95}, version="1"))
    project.run("--fairness-fresh")
    assert project.row()["looks"]["run"] == 4


def test_version_of_an_application_is_in_its_history(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for version in ("1.0", "1.1"):
        project.write(
            conftest=project_sources.application(RATES, version=version), test_hiring=project_sources.suite(count=20)
        )
        project.run()
        assert project.row()["served_by"] == [version]
    main(["history", f"--store={project.store}"])
    assert "served by 1.1 (before: 1.0)" in capsys.readouterr().out


def test_refused_run_is_not_in_the_history(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project)
    project.run()
    project.write(test_other="def test_other(): pass")
    assert project.run("--fairness-where=nothing=here").ret == INVALID_CODE
    monkeypatch.chdir(project.path)
    for arguments in ([], ["results.json"]):
        capsys.readouterr()
        assert main(["history", *arguments]) == 0
        output = capsys.readouterr().out
        assert output.startswith("0 runs, 0 thresholds" if arguments else "1 run, 1 threshold\n")
        assert "no model" not in output
