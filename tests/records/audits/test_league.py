"""The page of all public records: every section by its command, and nothing of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.league import keep, page
from tests.helpers.project import Project
from tests.helpers.project_sources import ONE_THRESHOLD
from tests.helpers.recorded_data import recorded_path


def decisions(folder: Path) -> None:
    """Write decisions on 20 files, three of which depend on the group."""
    folder.mkdir(parents=True)
    lines = [
        {"model": "m<1>", "domain": "rent", "scaffold": "C0", "profile_id": f"file-{number}", "group": group}
        | {"decision": {"grant": group == "a" or number > 2, "score": number}}
        for number in range(20)
        for group in "ab"
    ]
    (folder / "m.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("folder", ["agentfairbench", "evidence/agentfairbench", "AgentFairBench"])
def test_a_page_has_the_records_that_are_there(folder: str, tmp_path: Path) -> None:
    decisions(tmp_path / folder)
    html = page(tmp_path, tmp_path / "none")
    assert "m&lt;1&gt;, rent, C0" in html
    assert "<m<1>" not in html
    assert "0.150" in html
    assert f"pytest-fairness audit agentfairbench DATA/{folder}" in html
    missing = ", ".join(name for name in AUDITS if name != "agentfairbench")
    assert f"Not here, for want of their folder: {missing}." in html
    assert "None: no run was kept." in html


def test_figure_that_differs_is_marked(tmp_path: Path) -> None:
    decisions(tmp_path / "agentfairbench")
    cell = {"model": "m<1>", "domain": "rent", "scaffold": "C0", "CFR": {"CFR": 0.2}, "MASD": {"MASD": 0.0}}
    report = {"cells": {"rent|C0|m": {**cell, "rate_disparity": {"disparity": 0.15}}}}
    (tmp_path / "agentfairbench/report.json").write_text(json.dumps(report), encoding="utf-8")
    html = page(tmp_path, tmp_path / "none")
    assert '<span class="differs">differs</span>' in html
    assert "0 of 1 figures, 1 of 1 spreads of scores, 1 of 1 gaps of rates" in html


def test_folder_without_records_makes_no_page(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="has none of the folders bloomberg, open-bbq"):
        page(tmp_path)


def test_measured_model_is_kept_without_its_answers(project: Project, tmp_path: Path) -> None:
    source = ONE_THRESHOLD.replace("(probe=test_case)", "(probe=test_case, title='A <claim>')")
    project.write(test_cases=source)
    project.run("--fairness-model=simulated:demo?bias=0.5")
    path = keep(project.path / "results.json", tmp_path / "kept", "make league-model MODEL=simulated:demo")
    assert path.name == "simulated-demo.json"
    (row,) = json.loads(path.read_text(encoding="utf-8"))["thresholds"]
    assert row["bounds"] == "0.5 to 2"
    decisions(tmp_path / "agentfairbench")
    html = page(tmp_path, tmp_path / "kept")
    assert "A &lt;claim&gt;" in html
    assert f'<td class="{row["verdict"]}">{row["verdict"]}</td>' in html
    assert "make league-model MODEL=simulated:demo</code>" in html


def test_recorded_figures_are_those_of_the_publishers() -> None:
    html = page(recorded_path())
    assert all(f'id="{name}"' in html for name in AUDITS)
    for met in (
        "14 of 14 figures, 16 of 16",
        "12 of 12 figures",
        "9 of 9 figures",
        "8 of 8 figures, 16 of 16",
        "32 of 32",
    ):
        assert met in html
    assert 'class="differs"' not in html
