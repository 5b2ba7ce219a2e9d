"""What earlier runs said of a threshold, and what follows from it for one that is marked as flaky."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from . import sources
from .project import NO_XDIST, Project, every_mode, in_one_process, shown

RATES = {"woman": 0.7, "man": 0.95}
FLAKY = f"@pytest.mark.flaky_threshold(reason='new model', until='{sources.LATER}', max_flip=0.4)"


def write(project: Project) -> None:
    project.write(
        conftest=sources.application(RATES, version="1"),
        test_hiring=sources.suite(sources.threshold(f"assert {sources.RATIO} >= 0.8", marks=FLAKY)),
    )


def remember(project: Project, *values: float, **changed: Any) -> None:
    """Let earlier runs have said so; of this suite's only threshold, as its own row has it."""
    row = project.row() | changed
    row["sample"] = {"fairness_attempts": 120, "fairness_from_store": 0, "fairness_ungraded": 0}
    with sqlite3.connect(project.store) as store:
        for number, value in enumerate(values):
            run = f"earlier{number:025}"
            store.execute("INSERT INTO runs (id, started, stopped) VALUES (?, ?, 0)", (run, float(number)))
            store.execute(
                "INSERT INTO thresholds (run, test, expected, result) VALUES (?, ?, '{}', ?)",
                (run, row["id"], json.dumps(row | {"estimate": value})),
            )


@every_mode
def test_a_history_outside_the_bounds_breaks_a_flaky_threshold(project: Project) -> None:
    write(project)
    assert project.run(mode=NO_XDIST).ret == 0
    assert project.row()["history"] == {"runs": 1, "outside": 0}
    remember(project, *[0.7] * 7, 0.9)
    result = project.run()
    assert result.ret == 1
    assert "it lay outside in 7 of 9 runs, over the 40% of its flaky mark (new model)" in shown(result).replace(
        "\n", " "
    )
    assert project.row()["outcome"] == "failed"


@in_one_process
def test_a_history_inside_them_does_not(project: Project) -> None:
    write(project)
    project.run()
    remember(project, *[0.9] * 7, 0.7)
    assert project.run().ret == 0
    assert project.row()["history"] == {"runs": 9, "outside": 1}


@in_one_process
def test_another_question_has_another_history(project: Project) -> None:
    write(project)
    project.run()
    remember(project, *[0.7] * 9, comparisons=[{"op": ">=", "bound": 0.9, "decision": "false"}])
    assert project.run().ret == 0
    assert project.row()["history"] == {"runs": 1, "outside": 0}


@in_one_process
def test_answers_from_the_store_are_no_new_evidence(project: Project) -> None:
    write(project)
    for _ in range(3):
        project.run()
    assert project.row()["history"] == {"runs": 1, "outside": 0}


def test_where_a_rerun_would_lie_outside(project: Project) -> None:
    """A point beyond the bound: a rerun's would lie there more often than not."""
    project.write(
        conftest=sources.application({"woman": 0.62, "man": 0.95}),
        test_hiring=sources.suite(sources.threshold(f"assert {sources.RATIO} >= 0.8", marks=FLAKY)),
    )
    result = project.run("-m", "threshold")
    row = project.row()
    assert row["verdict"] == "undecided"
    assert row["estimate"] < 0.8
    assert row["outside_probability"] > 0.5 > row["flip_probability"]
    assert result.ret == 1
    assert "a rerun would lie outside" in shown(result).replace("\n", " ")
