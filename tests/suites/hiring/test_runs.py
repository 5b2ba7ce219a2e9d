"""The suite as a user runs it."""

from __future__ import annotations

import sys

import pytest

from tests.helpers.finished_run import run_shipped
from tests.helpers.project import Project


@pytest.mark.slow
def test_suite_runs(project: Project) -> None:
    model = "simulated:lean?base=0.9&ratio=0.3&by=gender&of=female"
    applications, promotions = (f"suites/hiring/test_{name}.py" for name in ("hiring", "promotion"))
    options = ("-m", "threshold", "--fairness-sample=40", f"--fairness-model={model}")
    run = run_shipped(project, applications, promotions, *options, "-k", "women_and_men")
    assert run.code == 1, run.output
    verdicts = run.verdicts
    assert verdicts["test_women_and_men_advance_alike"] == "unfair"
    assert verdicts["test_women_and_men_are_promoted_alike"] == "unfair"
    assert verdicts["test_women_and_men_are_rated_alike"] == "unfair"
    metrics = {(row["metric"], *row["slice"].values()) for row in run.results["metrics"]}
    assert ("placebo_ratio", "female") in metrics


@pytest.mark.slow
def test_user_names_are_used(project: Project) -> None:
    lines = [f"{g}{e}{n},{g},{e}" for g in ("female", "male") for e in ("north", "south") for n in range(30)]
    (project.path / "names.csv").write_text("\n".join(["name,gender,ethnicity", *lines]), encoding="utf-8")
    project.configure(data={"hiring": str(project.path)})
    run = run_shipped(
        project,
        *("suites/hiring/test_hiring.py", "-k", "no_ethnicity_is_left_behind", "--fairness-sample", "20"),
        *("--fairness-model", "simulated:fair"),
    )
    compared = [row["metric"] for row in run.results["thresholds"] if row["verdict"] != "not judged"]
    assert len(compared) == 1, run.output
    assert "north" in compared[0]
    assert "south" in compared[0]


def test_assessments_are_skipped_without_embeddings(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    run = run_shipped(project, "suites/hiring/test_assessment.py", "-rs", "--fairness-model=simulated:fair")
    output = " ".join(run.output.split())
    missing = 'warmth and competence need sentence-transformers: pip install "./pytest-fairness[embeddings]"'
    assert f"nothing was judged of 4 thresholds; 4 skipped: {missing})" in output, run.output
    assert "failed" not in run.output
