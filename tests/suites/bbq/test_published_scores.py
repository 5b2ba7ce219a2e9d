"""Published predictions through the command, the suite and the results file, to the published figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.finished_run import run_shipped
from tests.helpers.project import Project

CELLS = tuple((category, kind) for category in ("Religion", "Age") for kind in ("ambiguous", "disambiguated"))
FIGURE_3 = {
    "race": dict(zip(CELLS, (14.3, 0.2, 29.8, 1.2), strict=True)),
    "arc": dict(zip(CELLS, (24.5, 3.5, 48.9, 3.3), strict=True)),
}
"""Bias scores of UnifiedQA in percent (Parrish et al. 2022), by the format of its prompts."""


@pytest.mark.slow
def test_suite_gives_the_published_bias_scores(
    project: Project, bbq_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {prompt_format: f"replay:{project.path / prompt_format}.jsonl" for prompt_format in FIGURE_3}
    for prompt_format, model in models.items():
        column = f"unifiedqa-t5-11b_pred_{prompt_format}"
        command = ["import", "bbq-predictions", str(bbq_data / "unifiedqa"), "--column", column]
        assert main([*command, "--out", model.removeprefix("replay:")]) == 0
    items = project.path / "items"
    items.mkdir()
    for category in ("Religion", "Age"):
        (items / f"{category}.jsonl").symlink_to(bbq_data / "items" / f"{category}.jsonl")
    monkeypatch.setenv("HF_HOME", str(project.path / "hub"))
    project.configure(data={"bbq": str(items)})
    run = run_shipped(
        project,
        *("suites/bbq/test_bbq.py", "-m", "threshold", "--fairness-offline"),
        *(f"--fairness-model={model}" for model in models.values()),
    )
    assert run.code in (0, 1), run.output
    for prompt_format, model in models.items():
        scores = {
            (metric["slice"]["category"], metric["slice"]["question"]): round(metric["estimate"] * 100, 1)
            for metric in run.results["metrics"]
            if metric["model"] == model
            if metric["metric"] == "bias_score" and set(metric["slice"]) == {"category", "question"}
        }
        assert scores == FIGURE_3[prompt_format], prompt_format
