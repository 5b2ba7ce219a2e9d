"""Samples that are adjusted by the answers of earlier runs' models to all items."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.planning import adjusted_samples, predictions
from tests.helpers import project_sources
from tests.helpers.fork_server import set_constants
from tests.helpers.project import NO_XDIST, Project, every_mode, shown, unwrapped

RATE = project_sources.threshold('assert 0.2 <= measured.rate("hired") <= 0.8', name="test_rate")
PROFILES = """\
    number = int(text.split()[5])
    hired = share(f"profile {number}") < 0.5
    if share(f"{MODEL} {number}") < 0.1:
        hired = not hired
    return "yes" if hired else "no"
"""
CLOSE = project_sources.threshold('assert 0.35 <= measured.rate("hired") <= 0.65', name="test_close")
ADJUSTED = "(adjusted by 300 earlier answers)"


def write(project: Project, model: str, *tests: str, count: int = 150) -> None:
    """Write a project whose models answer alike to nine in ten profiles."""
    body = PROFILES.replace("MODEL", "version")
    application = project_sources.application(version=model, body=f"    version = {model!r}\n{body}")
    project.write_suite(*(tests or (RATE,)), conftest=application, count=count)


def ship(project: Project, model: str = "old", *tests: str, **options: int) -> str:
    """Measure a model on all items; the id of that run."""
    write(project, model, *tests, **options)
    project.run("-m", "threshold", mode=NO_XDIST)
    run: str = project.results()["run"]["id"]
    return run


@every_mode
def test_sample_is_adjusted_by_an_earlier_run(project: Project) -> None:
    run = ship(project)
    write(project, "new")
    project.run("-m", "threshold", "--fairness-sample=60", mode=NO_XDIST)
    plain = project.row()
    project.forget_calls()
    project.run("-m", "threshold", "--fairness-sample=60", f"--fairness-adjust={run[:12]}", "--fairness-fresh")
    row = project.row()
    assert ADJUSTED in row["title"]
    assert ADJUSTED not in plain["title"]
    assert row["estimate"] != plain["estimate"]
    assert sum(project.calls().values()) == 120
    assert f"--fairness-adjust={run}" in project.results()["run"]["command"]


@pytest.mark.slow
def test_verify_makes_an_adjusted_verdict_again(project: Project) -> None:
    run = ship(project)
    write(project, "new")
    project.run("-m", "threshold", "--fairness-sample=60", f"--fairness-adjust={run}")
    assert ADJUSTED in project.row()["title"]
    result = project.bare_run("--fairness-verify=results.json")
    assert result.ret == 0, shown(result)


@pytest.mark.slow
def test_other_history_of_the_same_answers_is_a_look(project: Project) -> None:
    runs = [ship(project), ship(project, "other")]
    write(project, "new")
    for run in runs:
        project.run("-m", "threshold", "--fairness-sample=60", f"--fairness-adjust={run}")
    assert project.row()["looks"]["run"] == 2


@pytest.mark.parametrize(
    ("options", "arguments", "line"),
    [
        ({}, (), "not used, test_hiring is measured whole"),
        ({"count": 125}, ("--fairness-sample=60",), "lacks 25 of its items"),
    ],
    ids=["whole", "items"],
)
def test_unused_adjustment_is_reported(
    project: Project, options: dict[str, Any], arguments: tuple[str, ...], line: str
) -> None:
    run = ship(project, **options)
    write(project, "new")
    (project.path / "pytest.ini").write_text(f"[pytest]\nfairness_adjust = {run}\n", encoding="utf-8")
    result = project.run("-m", "threshold", *arguments)
    assert line in unwrapped(result)
    assert "adjusted" not in project.row()["title"]


def test_own_answers_are_no_history(project: Project) -> None:
    run = ship(project)
    project.run("-m", "threshold", "--fairness-sample=60", f"--fairness-adjust={run}")
    assert "adjusted" not in project.row()["title"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--fairness-sample=9", "--fairness-adjust=latest"), "name earlier runs by their ids"),
        (("--fairness-sample=9", "--fairness-adjust=0123"), "holds no judged run '0123'"),
        (("--fairness-adjust=0123",), "--fairness-adjust needs --fairness-sample"),
    ],
    ids=["latest", "unknown", "whole"],
)
def test_invalid_history_is_refused(project: Project, arguments: tuple[str, ...], line: str) -> None:
    ship(project, count=60)
    project.forget_calls()
    result = project.run("-m", "threshold", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert line in shown(result)
    assert not project.calls()


@pytest.mark.slow
def test_plan_says_what_earlier_models_save(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    set_constants(monkeypatch, predictions, DRAWS=5, FEWEST_DRAWS=5, SECONDS=600.0)
    set_constants(monkeypatch, adjusted_samples, ADJUSTED_DRAWS=3)

    def planned(*arguments: str) -> tuple[dict[str, Any], str]:
        result = project.run("--fairness-plan", *arguments, mode=NO_XDIST)
        (row,) = project.results()["plan"]["thresholds"]
        return row, unwrapped(result)

    first = ship(project, "old", CLOSE, count=200)
    write(project, "new", CLOSE, count=200)
    alone, text = planned()
    assert alone["adjusted"] == {"runs": [first], "models": 1, "items": None, "calls": None, "plain_calls": None}
    assert f"--fairness-adjust {first[:8]} may take fewer calls; the saving is known with two" in text
    second = ship(project, "other", CLOSE, count=200)
    project.forget_calls()
    write(project, "new", CLOSE, count=200)
    row, text = planned()
    adjusted = row["adjusted"]
    assert not project.calls()
    assert sorted(adjusted["runs"]) == sorted([first, second])
    assert row["needed"]["items"] == alone["needed"]["items"]
    assert 0.6 * row["needed"]["items"] < adjusted["items"] < 0.92 * row["needed"]["items"]
    assert (adjusted["calls"], adjusted["plain_calls"]) == (2 * adjusted["items"], 2 * row["needed"]["items"])
    assert f"takes {adjusted['calls']:,} calls ({adjusted['items']:,} items) with --fairness-sample" in text
    plan, _ = planned(f"--fairness-adjust={second}", "--fairness-sample=120")
    assert (plan["items"], plan["adjusted"]["runs"], plan["adjusted"]["items"]) == (120, [second], None)
