"""Profiles of a run: how much of each probe is measured, what suites declare for them, and what plans expect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import Project, shown, unwrapped

SUITE = """
import pytest
from pytest_fairness import Choice, ProbeItem, Prompt, YesNo

def items(count=40):
    for number in range(count):
        groups = [{"gender": gender} for gender in ("female", "male")]
        yield ProbeItem(f"q{number:03}", [Prompt(f"Number {number} {g['gender']}?", groups=g) for g in groups])

@pytest.mark.probe(items=items, grade={"yes": YesNo()}, repetitions=2, ARGUMENTS)
def test_probe(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_probe, title="Seldom")
def test_seldom(measured):
    assert measured.rate("yes") <= 0.4
"""
AUDIT = 'profiles={"audit": {"items": 60, "repetitions": 3}}'


def run(project: Project, *args: str, arguments: str = AUDIT) -> pytest.RunResult:
    project.write(test_suite=SUITE.replace("ARGUMENTS", arguments))
    return project.run("--fairness-model", "simulated:m?base=0.2", *args)


@pytest.mark.parametrize(
    ("profile", "attempts"),
    [("smoke", 8 * 2), ("gate", 40 * 2 * 2), ("audit", 60 * 2 * 3)],
    ids=lambda value: str(value),
)
def test_profiles_set_items_and_repetitions(project: Project, profile: str, attempts: int) -> None:
    run(project, "--fairness-profile", profile)
    assert project.results()["run"]["attempts"] == attempts


def test_a_smoke_run_is_a_try_out(project: Project) -> None:
    result = run(project, "--fairness-profile=smoke")
    assert "profile smoke: a fifth of each probe's items" in unwrapped(result)
    again = run(project)
    assert project.results()["run"]["attempts"] == 160, "it spends nothing of the gate"
    assert "release" in shown(again) or again.ret in (0, 1)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ((), 'profiles={"smoke": {"items": 40, "repetitions": 2}}'),
        (("--fairness-sample=40", "--fairness-repetitions=2"), ""),
        (("--fairness-resolve",), ""),
    ],
    ids=["declared", "typed", "resolve"],
)
def test_nothing_is_fair_by_a_smoke_run(project: Project, options: tuple[str, ...], arguments: str) -> None:
    run(project, "--fairness-profile=smoke", "--fairness-model=simulated:m?base=0.01", *options, arguments=arguments)
    row = project.results()["thresholds"][0]
    assert row["verdict"] == "undecided"
    assert row["restricted"][0] == "--fairness-profile=smoke"
    assert row["looks"]["tryout"] is True


def test_a_smoke_run_is_verified_and_repeated_with_its_seed(project: Project) -> None:
    run(project, "--fairness-profile=smoke", "--fairness-seed=7")
    project.path.joinpath("results.json").rename(project.path / "smoke.json")
    assert "verified: 1 of 1 thresholds" in shown(project.run("--fairness-verify=smoke.json"))
    command = json.loads((project.path / "smoke.json").read_text(encoding="utf-8"))["run"]["command"]
    assert {"--fairness-profile=smoke", "--fairness-seed=7"} <= set(command)


def test_typed_options_have_precedence(project: Project) -> None:
    run(project, "--fairness-profile=audit", "--fairness-sample=10", "--fairness-repetitions=1")
    assert project.results()["run"]["attempts"] == 10 * 2


def test_a_probe_without_sizes_is_measured_as_declared(project: Project) -> None:
    run(project, "--fairness-profile=audit", arguments="")
    assert project.results()["run"]["attempts"] == 160


def test_a_repeated_run_has_the_same_profile(project: Project) -> None:
    run(project, "--fairness-profile=smoke")
    assert "--fairness-profile=smoke" in str(project.results())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('profiles={"gate": {"items": 3}}', "profiles has no argument 'gate'; known: audit, smoke"),
        ('profiles={"audit": {"item": 3}}', "profiles.audit has no argument 'item'; did you mean 'items'"),
        (
            'profiles={"audit": {"items": 0}}',
            "profiles.audit.items is 0: it must be a whole number from 1 to 1,000,000",
        ),
        ('profiles={"audit": 3}', "profiles.audit is 3: write"),
        ("profiles=3", "profiles is 3: write"),
        ('expected={"yes": 1.5}', "expected is {'yes': 1.5}: write for yes the share of true"),
        ('expected={"yes": {True: 0.9, False: 0.3}}', "write for yes the share of true"),
        ("expected=3", "expected is 3: write"),
        ('expected={"yes": {"gender": {"female": 1.5}}}', "write for yes the share of true"),
        ('expected={"yes": {"gender": {}}}', "write for yes the share of true"),
    ],
    ids=["gate", "field", "none", "number", "no-mapping", "share", "shares", "no-shares", "by-group", "by-nothing"],
)
def test_malformed_arguments_are_named_in_one_line(project: Project, arguments: str, message: str) -> None:
    result = run(project, arguments=arguments)
    assert result.ret != 0
    assert message in unwrapped(result)


def test_an_unknown_profile_is_refused(project: Project) -> None:
    result = run(project, "--fairness-profile=gat")
    assert "--fairness-profile is 'gat'" in "\n".join([*result.outlines, *result.errlines])


def plan(project: Project, *args: str, arguments: str) -> dict[str, Any]:
    run(project, "--fairness-plan", *args, arguments=arguments)
    row: dict[str, Any] = project.results()["plan"]["thresholds"][0]
    return row


@pytest.mark.slow
def test_plans_take_the_expected_answers_for_a_fair_model(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    assert plan(project, arguments="")["scenarios"][0]["fair"] < 0.1
    assert plan(project, arguments='expected={"yes": 0.1}')["scenarios"][0]["fair"] > 0.8
    by_group = 'expected={"yes": {"gender": {"female": 0.05, "male": 0.15}}}'
    assert plan(project, arguments=by_group)["scenarios"][0]["fair"] > 0.8
    for declared in ('expected={"yes": 0.1}', by_group):
        project.configure(assumptions={"rate": 0.6})
        assert plan(project, arguments=declared)["scenarios"][0]["fair"] < 0.1, "the project has precedence"
        (project.path / "pyproject.toml").unlink()
