"""Prompts that stand in several items: one answer is one observation."""

from __future__ import annotations

import pytest

from pytest_fairness.plugin.dry_runs import error_rates
from tests.helpers import project_sources
from tests.helpers.project import Project, shown, unwrapped, with_workers

COPIES = """\
def people():
    for number in range(150):
        prompts = [Prompt(f"Should a {group} of profile {number % 15} be hired?", groups={"gender": group})
                   for group in ("woman", "man")]
        yield ProbeItem(f"person-{number:04}", prompts, source=f"template {number}")
"""

MESSAGE = "fairness: test_hiring: 30 prompts stand in several items: 150 items count as 15"


@pytest.fixture
def project(project: Project) -> Project:
    tests = [
        project_sources.THRESHOLD,
        project_sources.threshold(
            'assert measured.metric(lambda s: s.yes / s.asked, yes="hired", asked=lambda a: 1) >= 0.1'
        ),
    ]
    project.write(
        conftest=project_sources.application({"woman": 0.6, "man": 0.6}, version="1"),
        test_hiring="\n\n".join([project_sources.HEAD, COPIES, project_sources.PROBE, *tests]),
    )
    return project


@with_workers
def test_items_that_share_prompts_count_as_one(project: Project) -> None:
    result = project.run()
    assert [unwrapped(result).count(MESSAGE), len(project.calls())] == [1, 30]
    for row in project.rows():
        assert (row["items"], row["sources"], row["attempts"]) == (15, 15, 300)


@pytest.mark.slow
def test_plan_and_certify_account_for_shared_prompts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_rates, "DRAWS", 20)
    project.run("--fairness-plan")
    assert {row["sources"] for row in project.results()["plan"]["thresholds"]} == {15}
    project.run()
    assert "verified: 2 of 2" in shown(project.bare_run("--fairness-verify=results.json"))
    project.run("--fairness-certify=latest", "-k", "women")
    (row,) = project.results()["certify"]["thresholds"]
    # Labels of copies move together: fifteen pairs of answers never show that two groups are alike.
    assert row["truths"]["parity"]["fair"] < 0.2
