"""``--fairness-where``: a run on some of the items."""

from __future__ import annotations

import pytest

from . import sources
from .project import Project, every_mode, shown

ITEMS = """\
def people():
    for number in range(40):
        prompts = [Prompt(f"Should a {group} of profile {number} be hired?", groups={"group": group})
                   for group in ("woman", "man")]
        yield ProbeItem(f"person-{number:04}", prompts, metadata={"kind": "even" if number % 2 == 0 else "odd"})
"""


@pytest.fixture
def project(project: Project) -> Project:
    project.write(
        conftest=sources.application(sources.UNEVEN),
        test_hiring=sources.HEAD + ITEMS + sources.PROBE + sources.threshold('assert measured.rate("hired") >= 0.1'),
    )
    return project


@every_mode
def test_only_these_items_are_measured(project: Project) -> None:
    project.run("--fairness-where=kind=odd")
    assert project.row()["items"] == 20
    assert len(project.asked()) == 40
    assert all(int(text.split()[5]) % 2 for text in project.asked())
    assert "--fairness-where=kind=odd" in project.results()["run"]["command"]


def test_several_values_and_attributes(project: Project) -> None:
    project.run("--fairness-where=kind=odd", "--fairness-where=kind=even", "--fairness-where=topic=none")
    assert project.row()["items"] == 40


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("kind", "write NAME=VALUE"),
        ("kind=", "write NAME=VALUE"),
        ("kind=odds", "no item has kind 'odds'; did you mean 'odd'"),
    ],
)
def test_a_value_that_no_item_has(project: Project, given: str, said: str) -> None:
    result = project.run(f"--fairness-where={given}")
    assert said in " ".join(shown(result).split())
    assert result.ret != 0


def test_it_is_verified_so(project: Project) -> None:
    project.run("--fairness-where=kind=odd")
    result = project.bare_run("--fairness-verify=results.json")
    assert "verified: 1 of 1" in shown(result)
