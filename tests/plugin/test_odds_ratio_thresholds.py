"""Thresholds on odds ratios: the rate of each group stands beside every verdict, and plans know their scale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fairness.planning import predictions
from tests.helpers import project_sources
from tests.helpers.fork_server import set_constants
from tests.helpers.project import Project, unwrapped

ODDS = 'measured.odds_ratio("hired", by="gender", of="woman", to="man")'
INSIDE = project_sources.threshold(f"assert 2 / 3 <= {ODDS} <= 3 / 2", name="test_alike")
FAIR = project_sources.threshold(f"assert 0.05 <= {ODDS} <= 20", name="test_wide")


def test_rates_stand_under_fair_and_unfair_odds_ratios(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a fair ratio of 0.84 told nothing of 16% of women and 1% of men who were rejected."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    conftest = project_sources.application({"woman": 0.55, "man": 0.9}, version="1")
    project.write_suite(INSIDE, FAIR, conftest=conftest, count=120)
    printed = unwrapped(project.run("-m", "threshold"))
    rows = {row["threshold"]: row for row in project.rows()}
    assert {name: row["verdict"] for name, row in rows.items()} == {"alike": "unfair", "wide": "fair"}
    assert {row["kind"] for row in rows.values()} == {"odds_ratio"}
    assert rows["alike"]["metric"] == "odds_ratio(hired; gender: woman/man)"
    tallies = r"\d+ of 120 \(\d+\.\d%\) for woman against \d+ of 120 \(\d+\.\d%\) for man"
    finding = r"\d+ of 100 for woman against \d+ of 100 for man: odds ratio of hired, woman to man, 0.\d+; 2/3 to"
    assert re.search(finding, printed)
    assert len(re.findall(tallies, printed)) >= 2  # the failure, and a line below the fair verdict
    assert re.search(rf"wide.*CI.*required 0.05 to 20.*{tallies}", Path("summary.md").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_plan_of_an_odds_ratio_simulates_a_gap_in_odds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expect odds of half the others' (three quarters of the bound): two thirds as many at a base rate of one half."""
    set_constants(monkeypatch, predictions, DRAWS=40, FEWEST_DRAWS=20, SECONDS=600.0)
    conftest = project_sources.application({"woman": 0.7, "man": 0.7}, version="1")
    probe = project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions=5")
    project.write_suite(INSIDE, conftest=conftest, count=150, probe=probe)
    project.run("--fairness-plan")
    (row,) = project.results()["plan"]["thresholds"]
    parity, gap = row["scenarios"]
    assert re.fullmatch(r"woman at 0\.6[3-9] times|woman at 0\.7 times", gap["truth"])
    assert parity["fair"] > 0.85
    assert gap["unfair"] > 0.4
    assert 0.35 < row["detectable"]["below"] < 0.55
    assert row["detectable"]["below"] * row["detectable"]["above"] == pytest.approx(1, rel=0.15)
