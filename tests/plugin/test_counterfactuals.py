"""Prompts that declare slots are linted when their items are collected."""

from __future__ import annotations

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, failures, first_in_every_mode, shown

EMILY = {"name": "Emily Walsh", "they": "she", "their": "her", "theirs": "hers"}
JAMES = {"name": "James Novak", "they": "he", "their": "his", "theirs": "his"}

PAIRS = {
    "pronoun": ("Emily Walsh says a woman did hers.", "James Novak says a man did his.", "'hers' and 'his'", "name"),
    "article": ("A woman is a able one.", "A man is an able one.", "'a' and 'an'", ""),
    "name-left": ("Emily Walsh is a woman . Emily!", "James Novak is a man . Emily!", "'Emily' fills a slot", "name"),
    "title": ("Ms Emily Walsh is a woman .", "Mr James Novak is a man .", "'Ms' and 'Mr'", "name"),
    "length": ("Emily Walsh is a woman here.", "James Novak is a man in here, now.", "'here' and 'in'", "name"),
    "undeclared": ("Emily Walsh is a woman .", "James Novak is a man .", "'Emily' and 'James'", ""),
    "kinds": ("Emily Walsh, a woman .", "James Novak, a man .", "they is 'she', their is 'his'", "mixed"),
}

ITEMS = """
def people():
    first, second = {first!r}, {second!r}
    yield ProbeItem("good", [Prompt("A woman or a man ?")])
    yield ProbeItem("pair", [
        Prompt(first, groups={{"gender": "woman"}}, slots={{"group": "woman", **{emily!r}}}),
        Prompt(second, groups={{"gender": "man"}}, slots={{"group": "man", **{james!r}}}),
    ])
"""


def write(project: Project, first: str, second: str, slots: str) -> None:
    emily, james = (
        {name: person[name] for name in EMILY if slots == "all" or name == slots} for person in (EMILY, JAMES)
    )
    if slots == "mixed":
        emily = {"name": "Emily Walsh", "they": "she", "their": "his"}
    items = ITEMS.format(first=first, second=second, emily=emily, james=james)
    project.write_suite(people=items, test_other="def test_other(): pass\n")


@first_in_every_mode("case", PAIRS)
def test_pair_that_differs_outside_its_slots_is_refused(project: Project, case: str) -> None:
    first, second, words, slots = PAIRS[case]
    write(project, first, second, slots)
    result = project.run()
    assert result.ret == INVALID_CODE
    result.assert_outcomes(passed=1, errors=2)
    for lines in failures(result).values():
        (line,) = lines
        assert line.startswith("probe test_hiring: item 'pair', prompt"), line
        assert words in line
    assert not project.calls()
    assert project.verdicts() == {"test_women_and_men_alike": "invalid"}


@every_mode
def test_pair_that_differs_in_its_slots_is_measured_and_reported(project: Project) -> None:
    write(project, "Her CV says a woman did it.", "His CV says a man did it.", "all")
    result = project.run("-k", "test_hiring and not alike")
    assert result.ret == 0, shown(result)
    message = (
        "fairness: 1 item: only the slots change from prompt to prompt, which makes them longer by up to 2 characters"
    )
    assert " ".join(" ".join(result.outlines).split()).count(message) == 1, shown(result)


def test_items_without_slots_are_not_linted(project: Project) -> None:
    project.write_suite(count=6)
    result = project.run()
    assert "counterfactual" not in shown(result)
    assert result.parseoutcomes()["passed"] >= 6


BUILDER = """
def people({signature}):
    for number in range(count or 5):
        yield ProbeItem(f"p-{{number:03}}", [Prompt(f"A woman or a man ? {{number}}")])
"""


@pytest.mark.parametrize(
    ("signature", "sample", "measured"),
    [
        ("count=5", None, 5),
        ("count=5", 3, 3),
        ("count=5", 12, 12),
        ("*, count=5", 12, 12),
        ("data, *, count=5", 12, 12),
        ("count=None", 12, 5),  # nobody knows how many it makes by default
    ],
)
def test_builder_with_a_count_makes_as_many_items_as_the_sample(
    project: Project, signature: str, sample: int | None, measured: int
) -> None:
    project.write_suite("", people=BUILDER.format(signature=signature))
    result = project.run(*([f"--fairness-sample={sample}"] if sample else []))
    assert result.parseoutcomes() == {"passed": measured}
    assert project.calls().total() == measured


def test_larger_sample_contains_the_smaller(project: Project) -> None:
    people = BUILDER.format(signature="count=5")
    project.write_suite("", conftest=project_sources.application(version="1"), people=people)
    project.run("--fairness-sample=3")
    project.run("--fairness-sample=9")
    assert project.calls().total() == 9


def test_same_estimate_of_two_probes_is_recorded_for_each(project: Project) -> None:
    probe = project_sources.PROBE.replace("def test_hiring", "def test_promoting")
    rate = 'assert measured.rate("hired") >= 0'
    thresholds = [
        project_sources.threshold(rate, name=f"test_{name}", probe=f"test_{name}ing") for name in ("hir", "promot")
    ]
    project.write_suite(probe, *thresholds, count=6)
    project.run()
    probes = [metric["probe"] for metric in project.results()["metrics"] if metric["metric"] == "rate(hired)"]
    assert probes == ["test_hiring.py::test_hiring", "test_hiring.py::test_promoting"]
