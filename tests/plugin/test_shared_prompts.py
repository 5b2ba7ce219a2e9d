"""Prompts that stand in several items: one answer is one observation."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import N2, NO_XDIST, Mode, Project, shown, unwrapped, with_workers

COPIES = """\
def people():
    for number in range(150):
        prompts = [Prompt(f"Should a {group} of profile {number % 15} be hired?", groups={"gender": group})
                   for group in ("woman", "man")]
        yield ProbeItem(f"person-{number:04}", prompts, source=f"template {number}")
"""

MESSAGE = "fairness: test_hiring: 30 prompts stand in several items: 150 items count as 15"


@pytest.fixture
def project(project: Project, mode: Mode) -> Project:
    tests = [
        project_sources.THRESHOLD,
        project_sources.threshold(
            'assert measured.metric(lambda s: s.yes / s.asked, yes="hired", asked=lambda a: 1) >= 0.1'
        ),
    ]
    application = project_sources.application({"woman": 0.6, "man": 0.6}, version="1")
    project.write_suite(*tests, conftest=application, people=COPIES)
    return project


@with_workers
def test_items_that_share_prompts_count_as_one(project: Project) -> None:
    result = project.run()
    assert [unwrapped(result).count(MESSAGE), len(project.calls())] == [1, 30]
    for row in project.rows():
        assert (row["items"], row["sources"], row["attempts"]) == (15, 15, 300)


def test_items_whose_prompts_differ_in_blanks_count_as_one(project: Project) -> None:
    """Check that prompts of one wording are one observation, although each is sent."""
    copies = COPIES.replace(' be hired?"', ' be hired?" + ("é" if number % 2 else "e\\u0301") + " " * (number // 15)')
    project.write(test_hiring=project_sources.suite(people=copies))
    result = project.run("-m", "threshold")
    assert [unwrapped(result).count(MESSAGE), len(project.calls())] == [1, 300]
    assert (project.row()["items"], project.row()["sources"], project.row()["attempts"]) == (15, 15, 300)


@pytest.mark.slow
def test_plan_and_certify_account_for_shared_prompts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    project.run("--fairness-plan")
    assert {row["sources"] for row in project.results()["plan"]["thresholds"]} == {15}
    project.run()
    assert "verified: 2 of 2" in shown(project.bare_run("--fairness-verify=results.json"))
    project.run("--fairness-certify=latest", "-k", "women")
    (row,) = project.results()["certify"]["thresholds"]
    # Labels of copies move together: fifteen pairs of answers never show that two groups are alike.
    assert row["truths"]["parity"]["fair"] < 0.2


@pytest.mark.parametrize(("mode", "nameless"), [(N2, "True"), (NO_XDIST, "number % 15 > 2")], indirect=["mode"])
def test_groups_of_the_same_prompts_cannot_differ(project: Project, nameless: str) -> None:
    # A template that forgot the group gives both one answer: a gap of zero, whatever the model is.
    alike = COPIES.replace('f"Should a {group} of', f"f\"Should a {{'woman or a man' if {nameless} else group}} of")
    metrics = ("difference", "ratio", "differences", "worst_ratio")
    between = {"difference": ', of="woman", to="man"', "ratio": ', of="woman", to="man"'}
    bodies = [
        f'assert {bound} measured.{name}("hired", by="gender"{between.get(name, "")})'
        for name, bound in zip(metrics, ("0.1 >=", "0.8 <=", "0.1 >=", "0.8 <="), strict=True)
    ]
    application = project_sources.application({"woman": 0.6, "man": 0.6}, body="    return 'yes'", version="2")
    project.write_suite(*project_sources.thresholds(bodies), conftest=application, people=alike)
    project.run("-m", "threshold")
    for row in project.rows():
        assert row["verdict"] == "invalid"
        assert "say the same: they have the same answers, and cannot differ" in row["message"]
