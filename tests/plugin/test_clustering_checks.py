"""A comparison that varies with known metadata has the wider interval, and says so."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import Project, unwrapped

ITEMS = """\
GROUPS = "woman", "man"


def people():
    for number in range(240):
        about = {{"template": f"t{{number % 20}}", "topic": f"p{{number % 3}}"}}
        yield ProbeItem(
            f"person-{{number:04}}",
            [Prompt(f"t{{number % 20}}, {{number}}: hire a {{group}}?", {{"gender": group}}) for group in GROUPS],
            {source},
            about,
        )
"""
APPLICATION = """\
import random, pytest

@pytest.fixture(scope="session")
def model():
    def application(text):
        template = text.partition(",")[0]
        chance = random.Random(template + text.split()[-1]).choice((0.1, 0.5, 0.9))
        return "yes" if random.Random(text).random() < chance else "no"
    application.fairness_version = "1"
    application.fairness_concurrency = 32
    return application
"""
RATE = project_sources.threshold('assert measured.rate("hired") >= 0.3', name="test_rate")
GAP = project_sources.threshold(
    'assert abs(measured.difference("hired", by="gender", of="woman", to="man")) <= 0.4', name="test_gap"
)


def run(project: Project, source: str) -> tuple[dict[str, list[str]], str]:
    """Return the clustering notes of each threshold, and the output."""
    project.write_suite(RATE, GAP, conftest=APPLICATION, people=ITEMS.format(source=source))
    printed = unwrapped(project.run("-m", "threshold"))
    assert all(row["estimate"] is not None for row in project.rows())
    return {row["threshold"]: row["clustering"] for row in project.rows()}, printed


@pytest.mark.slow
def test_gap_that_varies_with_templates_is_clustered_by_them(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    findings, printed = run(project, "None")
    (line,) = findings["gap"]
    assert findings["rate"] == []
    assert line.startswith("what it compares varies with `template`, and its interval accounts for that (")
    assert line.endswith(" times the squared error by what is declared); declare its values as `source` of the items")
    assert line in printed
    wider = {row["threshold"]: row for row in project.rows()}["gap"]
    assert (wider["items"], wider["sources"]) == (240, 20)
    certified = project.run("--fairness-certify=latest")
    (certificate,) = {row["threshold"]: row for row in project.results()["certify"]["thresholds"]}["gap"]["clustering"]
    assert certificate == line
    assert line in unwrapped(certified)


def test_rate_without_variation_names_no_clusters(project: Project) -> None:
    never = APPLICATION.replace("(0.1, 0.5, 0.9)", "(0.0,)")
    rate = project_sources.threshold('assert measured.rate("hired") <= 0.3', name="test_rate")
    project.write_suite(rate, conftest=never, people=ITEMS.format(source="None"))
    project.run("-m", "threshold")
    (row,) = project.rows()
    assert row["verdict"] == "fair"
    assert row["clustering"] == []


@pytest.mark.parametrize("chances", ["(1.0,)", "(0.0, 1.0)"], ids=["all yes", "by template alone"])
def test_answers_without_a_gap_in_any_cluster_name_no_clusters(project: Project, chances: str) -> None:
    """Give both groups the same answers: the ratio is 1 in every cluster, and has no error but that of its width."""
    same = APPLICATION.replace("(0.1, 0.5, 0.9)", chances).replace(" + text.split()[-1]", "")
    ratio = project_sources.threshold(f"assert 0.5 <= {project_sources.RATIO} <= 2", name="test_ratio")
    project.write_suite(ratio, GAP, conftest=same, people=ITEMS.format(source="None"))
    project.run("-m", "threshold")
    assert {row["estimate"] for row in project.rows()} == {0.0, 1.0}
    assert [row["clustering"] for row in project.rows()] == [[], []]


def test_declared_sources_are_not_named(project: Project) -> None:
    findings, _ = run(project, 'f"t{number % 20}"')
    assert findings == {"rate": [], "gap": []}
