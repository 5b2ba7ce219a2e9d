"""The suite as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.finished_run import ROOT, run_shipped
from tests.helpers.project import Project


@pytest.mark.slow
def test_suite_runs(project: Project) -> None:
    model = "simulated:lean?base=0.9&ratio=0.3&by=gender&of=female"
    german = "languages.py::test_women_and_men_advance_alike_in_german"
    files = [f"suites/hiring/test_{name}" for name in ("hiring.py", "promotion.py", german)]
    options = ("-m", "threshold", "--fairness-sample=20", f"--fairness-model={model}")
    run = run_shipped(project, *files, *options, "-k", "women_and_men")
    assert run.code == 1, run.output
    verdicts = run.verdicts
    assert verdicts["test_women_and_men_advance_alike"] == "unfair"
    assert verdicts["test_women_and_men_are_promoted_alike"] == "unfair"
    assert verdicts["test_women_and_men_advance_alike_in_german"] == "unfair"
    assert verdicts["test_women_and_men_are_rated_alike"] == "unfair"
    metrics = {(row["metric"], *row["slice"].values()) for row in run.results["metrics"]}
    assert ("placebo_ratio", "female") in metrics
    again = run_shipped(project, files[0], *options, "-k", "advance_alike")
    assert again.results["run"]["from_store"] == again.results["run"]["attempts"]
    assert again.code == 1


@pytest.mark.slow
def test_user_names_are_used(project: Project) -> None:
    lines = [f"{g}{e}{n},{g},{e}" for g in ("female", "male") for e in ("north", "south") for n in range(30)]
    (project.path / "names.csv").write_text("\n".join(["name,gender,ethnicity", *lines]), encoding="utf-8")
    run = run_shipped(
        project,
        *("suites/hiring/test_hiring.py", "-k", "no_ethnicity_is_left_behind", "--fairness-sample", "20"),
        *("--fairness-data", f"hiring={project.path}", "--fairness-model", "simulated:fair"),
    )
    compared = [row["metric"] for row in run.results["thresholds"] if row["verdict"] != "not judged"]
    assert len(compared) == 1, run.output
    assert "north" in compared[0]
    assert "south" in compared[0]


def test_assessments_are_skipped_without_embeddings(tmp_path: Path) -> None:
    code = (
        "import importlib.util as u, sys, pytest; find = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'sentence_transformers' else find(name, *a); "
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    process = subprocess.run(
        [
            *(sys.executable, "-c", code, "suites/hiring/test_assessment.py", "-q", "-rs", "-p", "no:cacheprovider"),
            *(
                "--fairness-report=none",
                "--fairness-store",
                str(tmp_path / "s.sqlite"),
                "--fairness-model=simulated:fair",
            ),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    output = " ".join(process.stdout.split())
    missing = 'warmth and competence need sentence-transformers: pip install "./pytest-fairness[embeddings]"'
    assert f"nothing was judged of 4 thresholds; 4 skipped: {missing})" in output, process.stdout + process.stderr
    assert "failed" not in process.stdout
