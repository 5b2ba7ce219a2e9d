"""``--fairness-anytime``: a sample may grow, and be judged again, however often."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_fairness.stats.sequential import anytime_tail, run_tail
from tests.helpers import project_sources
from tests.helpers.project import Project, unwrapped

RATE = project_sources.threshold('assert measured.rate("hired") >= 0.1', name="test_rate")
SIMULATED = ("--fairness-model=simulated:even", "--fairness-anytime", "-m", "threshold")


def write(project: Project, ini: str = "") -> None:
    project.write(test_hiring=project_sources.suite(RATE, count=400))
    if ini:
        project.path.joinpath("pytest.ini").write_text(f"[pytest]\n{ini}\n")


def judged(project: Project, *more: str) -> dict[str, Any]:
    project.run(*SIMULATED, *more)
    row: dict[str, Any] = project.row()
    return row


def confidence(items: int, run: int = 1) -> float:
    return 1 - 2 * anytime_tail(items, 400, run_tail(run, 0.025))


def test_growing_sample_is_one_run(project: Project) -> None:
    write(project)
    for items in (60, 61, 200, 400):
        row = judged(project, f"--fairness-sample={items}")
        assert row["items"] == items
        assert (row["looks"]["run"], row["looks"]["anytime"]) == (1, 400)
        assert row["confidence"] == pytest.approx(confidence(items))
        assert row["verdict"] == "fair"  # a small one as well: it is one of those that were declared


@pytest.mark.slow
def test_slice_or_other_seed_is_a_separate_run(project: Project) -> None:
    write(project)
    runs = [
        judged(project, *more)["looks"]["run"]
        for more in (
            ("--fairness-sample=40",),
            ("--fairness-sample=20",),  # some of the same answers
            ("--fairness-sample=40", "--fairness-seed=1"),
            ("--fairness-sample=40", "--fairness-fresh"),
            ("--fairness-sample=40", "--fairness-repetitions=2"),
        )
    ]
    assert runs == [1, 2, 3, 4, 5]
    row = judged(project, "--fairness-sample=60")  # it holds the answers of the first two: it has the later's share
    assert row["looks"]["run"] == 2
    assert row["confidence"] == pytest.approx(confidence(60, 2))


def test_looks_of_one_run_measure_new_items_only(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(RATE.replace("0.1", "0.5"), count=100))
    row = judged(project, "--fairness-sample=40", "--fairness-resolve")
    assert [size[:2] for size in row["looks"]["plan"]] == [[40, 1], [80, 1], [100, 1]]
    assert row["confidence"] == pytest.approx(1 - 2 * anytime_tail(row["items"], 100, run_tail(1, 0.025)))


def test_anytime_interval_is_named_in_the_output(project: Project) -> None:
    write(project, "fairness_anytime = true")
    result = project.run("--fairness-model=simulated:even", "-m", "threshold", "--fairness-report=page.html")
    assert project.row()["looks"]["anytime"] == 400
    level = project.row()["confidence"] * 100
    assert f"anytime-valid {level:.4g}% interval: the sample may grow" in unwrapped(result)
    assert math.isclose(level, 100 * confidence(400), rel_tol=1e-9)
    assert "Anytime-valid" in project.path.joinpath("page.html").read_text()
