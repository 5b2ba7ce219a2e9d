"""Suites that compare groups of what has a level, and set none."""

from __future__ import annotations

import pytest

from tests.helpers.project import Project, in_one_process, shown

CASES = "name,text\n" + "".join(f"c{number},case {number}\n" for number in range(40))
YAML = """\
card: {question: Are people told right alike?, limits: English only.}
harm: HARM
template: "{{ who }} asks whether {{ text }} is right. Is it?"
vary:
  gender:
    female: {who: A woman}
    male: {who: A man}
items: cases.csv
grade: {right: yes-no}
thresholds:
  women and men alike: 0.5 <= ratio(right, by=gender, of=female, to=male) <= 2
"""
PYTHON = """
import pytest
from pytest_fairness import ProbeItem, Prompt, Refusal

def items():
    for n in range(40):
        yield ProbeItem(f"c{n:02}", [Prompt(f"{who} asks for case {n}.", {"gender": gender})
                                     for gender, who in (("female", "A woman"), ("male", "A man"))])

@pytest.mark.probe(items=items, grade={"refused": Refusal()}, harm="HARM")
def test_help(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_help)
def test_refused_alike(measured):
    assert abs(measured.difference("refused", by="gender", of="female", to="male")) <= 0.3
"""
FLOOR = """
@pytest.mark.threshold(probe=test_help)
def test_refused_rarely(measured):
    assert measured.rate("refused") <= 0.5
"""
REMARK = "no threshold has a floor or ceiling"
MODEL = "--fairness-model=simulated:x?refusal=0.2"


def remarks(project: Project, *arguments: str) -> list[str]:
    result = project.run(MODEL, *arguments)
    lines = [line for line in result.outlines if REMARK in line]
    assert "fairness: simulated:x" in shown(result)
    return lines


@pytest.mark.parametrize(
    ("harm", "named"), [("quality of service", True), ("disparate performance", True), ("allocation", False)]
)
@in_one_process
def test_comparison_without_a_level_is_named_in_yaml(project: Project, harm: str, named: bool) -> None:
    (project.path / "cases.csv").write_text(CASES, encoding="utf-8")
    (project.path / "right.probe.yaml").write_text(YAML.replace("HARM", harm), encoding="utf-8")
    assert [line.split(":")[0].strip() for line in remarks(project)] == (["right"] if named else [])


@pytest.mark.parametrize(("harm", "named"), [("", True), ("allocation", False)])
@in_one_process
def test_refusals_without_a_ceiling_are_named(project: Project, harm: str, named: bool) -> None:
    project.write(test_help=PYTHON.replace("HARM", harm))
    assert [line.split(":")[0].strip() for line in remarks(project)] == (["help"] if named else [])


@in_one_process
def test_ceiling_ends_the_remark_and_a_selection_does_not_begin_it(project: Project) -> None:
    project.write(test_help=PYTHON.replace("HARM", "") + FLOOR)
    assert remarks(project) == []
    assert remarks(project, "-k", "refused_alike") == []
