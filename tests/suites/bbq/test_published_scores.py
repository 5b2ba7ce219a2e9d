"""Published predictions through the command, the suite and the results file, to the published figure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_fairness
from pytest_fairness.cli.main import main

ROOT = Path(pytest_fairness.__file__).parents[1]

CELLS = (("Religion", "ambig"), ("Religion", "disambig"), ("Age", "ambig"), ("Age", "disambig"))
FIGURE_3 = {
    "race": dict(zip(CELLS, (14.3, 0.2, 29.8, 1.2), strict=True)),
    "arc": dict(zip(CELLS, (24.5, 3.5, 48.9, 3.3), strict=True)),
}
"""Bias scores of UnifiedQA in percent (Parrish et al. 2022)."""


@pytest.mark.slow
@pytest.mark.parametrize("prompt_format", FIGURE_3)
def test_suite_gives_the_published_bias_scores(prompt_format: str, bbq_data: Path, tmp_path: Path) -> None:
    replay = tmp_path / "answers.jsonl"
    column = f"unifiedqa-t5-11b_pred_{prompt_format}"
    assert (
        main(["import", "bbq-predictions", str(bbq_data / "unifiedqa"), "--column", column, "--out", str(replay)]) == 0
    )
    items = tmp_path / "items"
    items.mkdir()
    for category in ("Religion", "Age"):
        (items / f"{category}.jsonl").symlink_to(bbq_data / "items" / f"{category}.jsonl")
    results = tmp_path / "results.json"
    process = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(ROOT / "suites" / "bbq" / "test_bbq.py"), "-q", "-m", "threshold"),
            *("-p", "no:randomly", "-p", "no:cacheprovider", "--fairness-offline"),
            *("--fairness-data", f"bbq={items}", "--fairness-model", f"replay:{replay}"),
            *("--fairness-store", str(tmp_path / "store.sqlite"), "--fairness-json", str(results)),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "HF_HOME": str(tmp_path / "hub")},
        check=False,
    )
    assert process.returncode in (0, 1), process.stdout + process.stderr
    metrics = json.loads(results.read_text(encoding="utf-8"))["metrics"]
    scores = {
        (metric["slice"]["category"], metric["slice"]["context"]): round(metric["estimate"] * 100, 1)
        for metric in metrics
        if metric["metric"] == "bias_score" and set(metric["slice"]) == {"category", "context"}
    }
    assert scores == FIGURE_3[prompt_format]
