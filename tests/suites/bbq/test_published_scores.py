"""Published predictions through the command, the suite and the results file, to the published figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.finished_run import run_shipped

CELLS = (("Religion", "ambig"), ("Religion", "disambig"), ("Age", "ambig"), ("Age", "disambig"))
FIGURE_3 = {
    "race": dict(zip(CELLS, (14.3, 0.2, 29.8, 1.2), strict=True)),
    "arc": dict(zip(CELLS, (24.5, 3.5, 48.9, 3.3), strict=True)),
}
"""Bias scores of UnifiedQA in percent (Parrish et al. 2022)."""


@pytest.mark.slow
@pytest.mark.parametrize("prompt_format", FIGURE_3)
def test_suite_gives_the_published_bias_scores(
    prompt_format: str, bbq_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay = tmp_path / "answers.jsonl"
    column = f"unifiedqa-t5-11b_pred_{prompt_format}"
    assert (
        main(["import", "bbq-predictions", str(bbq_data / "unifiedqa"), "--column", column, "--out", str(replay)]) == 0
    )
    items = tmp_path / "items"
    items.mkdir()
    for category in ("Religion", "Age"):
        (items / f"{category}.jsonl").symlink_to(bbq_data / "items" / f"{category}.jsonl")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    run = run_shipped(
        tmp_path,
        *("suites/bbq/test_bbq.py", "-m", "threshold", "--fairness-offline"),
        *(f"--fairness-data=bbq={items}", f"--fairness-model=replay:{replay}"),
    )
    assert run.code in (0, 1), run.output
    scores = {
        (metric["slice"]["category"], metric["slice"]["context"]): round(metric["estimate"] * 100, 1)
        for metric in run.results["metrics"]
        if metric["metric"] == "bias_score" and set(metric["slice"]) == {"category", "context"}
    }
    assert scores == FIGURE_3[prompt_format]
