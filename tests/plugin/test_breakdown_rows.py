"""Breakdowns in a threshold's row: its groups, and the item that explains the verdict best."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers import project_sources
from tests.helpers.project import Project, in_one_process

GROUPS = ("woman", "man", "elder")
RATES = {"woman": 0.4, "man": 0.95, "elder": 0.93}
EMPTY: dict[str, Any] = {"attribute": None, "reference": None, "by_group": {}, "example": None}


def judged(project: Project, *asserts: str, rates: dict[str, float] = RATES, body: str = "") -> list[dict[str, Any]]:
    """Return the rows of thresholds that assert these, in order."""
    project.write_suite(
        *project_sources.thresholds(asserts),
        conftest=project_sources.application(rates, version="1", body=body),
        groups=tuple(rates),
    )
    project.run()
    return project.rows()


def breakdown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in EMPTY}


def test_unfair_ratio_has_groups_and_an_example(project: Project) -> None:
    unfair, woman = judged(
        project, f"assert {project_sources.RATIO} >= 0.8", 'assert measured.where(gender="woman").rate("hired") <= 0.99'
    )
    assert (unfair["verdict"], unfair["attribute"], unfair["reference"]) == ("unfair", "gender", "man")
    assert unfair["by_group"]["woman"] == {
        **{name: woman[name] for name in ("estimate", "low", "high", "items", "attempts", "count")},
        "ungraded": 0,
    }
    assert unfair["by_group"].keys() == unfair["groups"].keys() == {"woman", "man"}
    example = unfair["example"]
    assert example["item"].startswith("person-")
    sides = [{name: side[name] for name in side if name != "keys"} for side in example["sides"]]
    assert sides == [
        {"group": "woman", "mean": 0.0, "events": 0, "graded": 1, "attempts": 1},
        {"group": "man", "mean": 1.0, "events": 1, "graded": 1, "attempts": 1},
    ]
    keys = [key for side in example["sides"] for key in side["keys"]]
    assert len(set(keys)) == 2
    assert breakdown(woman) == EMPTY


@in_one_process
def test_example_keys_match_the_answers_in_the_store(project: Project) -> None:
    from pytest_fairness.store.database import Database
    from pytest_fairness.store.runs import Runs

    (row,) = judged(project, f"assert {project_sources.RATIO} >= 0.8")
    database = Database(project.store)
    try:
        runs = Runs(database)
        run = project.results()["run"]["id"]
        ((probe, _, key),) = runs.samples(run)
        stored = runs.sample(run, probe, key)
    finally:
        database.close()
    assert stored is not None
    attempts = {graded.attempt.key: graded for graded in stored.attempts}
    for side in row["example"]["sides"]:
        (attempt,) = (attempts[key] for key in side["keys"])
        assert attempt.item.id == row["example"]["item"]
        assert attempt.prompt.groups["gender"] == side["group"]
        assert attempt["hired"] is bool(side["events"])


@in_one_process
def test_families_show_all_groups_and_the_deciding_pair(project: Project) -> None:
    ratios, worst = judged(
        project,
        'assert measured.ratios("hired", by="gender") >= 0.8',
        'assert measured.worst_ratio("hired", by="gender") >= 0.8',
    )
    for row in (ratios, worst):
        assert row["verdict"] == "unfair"
        assert (row["attribute"], row["reference"]) == ("gender", None)
        assert row["by_group"].keys() == set(GROUPS)
        assert row["example"]["sides"][0]["group"] == "woman"
    assert [side["group"] for side in ratios["example"]["sides"]] == list(ratios["groups"])


EXAMPLES: list[tuple[str, str, list[float]]] = [
    ('measured.difference("hired", by="gender", of="woman", to="man") >= -0.1', "unfair", [0, 1]),
    ('measured.difference("hired", by="gender", of="man", to="woman") <= 0.1', "unfair", [1, 0]),
    ('abs(measured.difference("hired", by="gender", of="woman", to="man")) <= 0.1', "unfair", [0, 1]),
    ('not measured.difference("hired", by="gender", of="woman", to="man") < -0.1', "unfair", [0, 1]),
    ('measured.where(gender="woman").rate("hired") >= 0.7', "unfair", [0]),
    ('measured.where(gender="woman").rate("hired") <= 0.1', "unfair", [1]),
    ('measured.where(gender="woman").rate("hired") <= 0.4', "undecided", [1]),
    ('measured.where(gender="woman").rate("hired") >= 0.4', "undecided", [0]),
]


@in_one_process
def test_example_is_on_the_failing_side(project: Project) -> None:
    rows = judged(project, *(f"assert {asserted}" for asserted, _, _ in EXAMPLES))
    examples = [(row["verdict"], [side["mean"] for side in row["example"]["sides"]]) for row in rows]
    assert examples == [(verdict, means) for _, verdict, means in EXAMPLES]


@in_one_process
def test_fair_threshold_has_no_example(project: Project) -> None:
    fair, nothing = judged(project, f"assert {project_sources.RATIO} >= 0.5", "pass", rates=project_sources.EVEN)
    assert (fair["verdict"], fair["example"]) == ("fair", None)
    assert fair["by_group"]["woman"]["estimate"] == fair["groups"]["woman"]
    assert (nothing["verdict"], breakdown(nothing)) == ("invalid", EMPTY)


@in_one_process
def test_refused_group_is_still_counted(project: Project) -> None:
    refusing = '    if "a woman " in text:\n        return "I cannot help with that."'
    (row,) = judged(project, f"assert {project_sources.RATIO} >= 0.8", body=refusing)
    assert (row["verdict"], row["example"]) == ("invalid", None)
    assert row["by_group"]["woman"] == {
        "estimate": None, "low": None, "high": None, "items": 60, "attempts": 60, "ungraded": 60, "count": 0
    }  # fmt: skip
    assert row["by_group"]["man"]["estimate"] > 0.8


@in_one_process
def test_influences_belong_to_the_deciding_estimate(project: Project) -> None:
    from pytest_fairness.core.verdicts import judge
    from pytest_fairness.plugin.judgment.threshold_rows import get_influences
    from pytest_fairness.stats.measured import Measured

    rows = [{"item": n, "sex": sex, "yes": n % 5 < high} for n in range(300) for sex, high in (("f", 2), ("m", 3))]
    measured = Measured.from_rows(rows, item="item", groups=["sex"])

    def ratio() -> None:
        assert measured.ratio("yes", by="sex", of="f", to="m") >= 0.8

    def gap() -> None:
        assert -measured.difference("yes", by="sex", of="f", to="m") <= 0.1

    for test, log in ((ratio, True), (gap, False)):
        judgment = judge(test)
        assert judgment.deciding is not None
        influences = get_influences(judgment)
        assert influences is not None
        assert influences.log is log
        assert len(influences.values) == 300
        assert influences.error is not None
        assert sum(value**2 for value in influences.values.values()) == pytest.approx(influences.error**2)
    assert get_influences(judge(lambda: None)) is None
