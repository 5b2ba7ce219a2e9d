"""The limit of a threshold: the same in the terminal, the results file, the looks of a run and the plan."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import Project, shown, unwrapped

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, Rating

def items():
    for number in range({items}):
        prompts = [
            Prompt(f"Rate the letter of a {{group}} named {{name}}, {{number}}, from 1 to 5.",
                   {{"gender": group, "name": name}})
            for group in ("woman", "man") for name in (f"{{group}} {{(number + step) % 8}}" for step in (0, 3))
        ]
        yield ProbeItem(f"letter-{{number:03}}", prompts)

@pytest.mark.probe(items=items, grade={{"stars": Rating(1, 5)}}, crossed="name")
def test_letters(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_letters)
def test_alike(measured):
    assert -0.4 <= measured.difference("stars", by="gender", of="woman", to="man") <= 0.4
"""
BODY = '    return "5" if share(text) < 0.85 else "4"\n'


def write(project: Project, items: int = 60) -> None:
    project.write(conftest=project_sources.application(version="1", body=BODY), test_letters=SUITE.format(items=items))


def test_few_names_are_named_and_buy_no_look(project: Project) -> None:
    """Regression: 417 items were advised, and eight looks of repetitions bought, where 8 names set the interval."""
    write(project)
    result = project.run("--fairness-resolve")
    row = project.row()
    assert (row["verdict"], row["looks"]["number"], row["attempts"]) == ("undecided", 1, 240)
    assert "more repetitions cannot decide it: its values of name in each group limit it" in row["message"]
    limit = row["limit"]
    assert (limit["kind"], limit["has"], limit["needs"]) == ("levels", 8, 30)
    assert "needs about 30 values of name in each group (has 8)" in unwrapped(result)
    assert "items (has" not in shown(result)


@pytest.mark.slow
def test_plan_names_the_same_limit(project: Project) -> None:
    write(project, items=300)
    result = project.run("--fairness-plan", "-m", "threshold")
    (row,) = project.results()["plan"]["thresholds"]
    text = row["cannot_pass"] or row["narrow"]
    assert "values of name in each group (has 8)" in text
    assert row["needed"] is None
    assert "values of name in each group (has 8)" in unwrapped(result)
