"""Remarks on tables of traffic: what they cannot show, and where the requests of groups differ."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness import Grade, Measured, ProbeItem, Prompt
from pytest_fairness.core.attempts import Attempt, GradedAttempt
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.observational import OBSERVATIONAL_DATA, observational_remarks, without_group_reason
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold


def traffic(
    routes: dict[str, tuple[int, int]], design: str | None = "observational", without: int = 0, slower: float = 0.0
) -> Columns:
    """Return a table with these numbers of women's and men's requests by route, and some of nobody's group.

    If ``slower``, women wait longer by so many seconds.
    """
    attempts = []
    for route, counts in routes.items():
        for gender, count in zip(("female", "male"), counts, strict=True):
            for number in range(count):
                metadata: dict[str, Any] = {"route": route, "study_design": design}
                if slower:
                    metadata["latency"] = 1.0 + slower * (gender == "female")
                prompt = Prompt("May I?", {"gender": gender}, metadata)
                item = ProbeItem(f"{route} {gender} {number}", [prompt])
                attempts.append(GradedAttempt(item, prompt, Attempt("", 0), {"yes": Grade(value=True)}))
    for number in range(without):
        prompt = Prompt("May I?", {}, {"study_design": design})
        attempts.append(
            GradedAttempt(ProbeItem(f"{number}", [prompt]), prompt, Attempt("", 0), {"yes": Grade(value=True)})
        )
    return Columns(attempts)


def remarks(routes: dict[str, tuple[int, int]], design: str | None = "observational") -> list[str]:
    return list(observational_remarks(traffic(routes, design)))


def test_limit_of_observational_data_is_stated() -> None:
    assert remarks({"rent": (50, 50), "repairs": (52, 50)}) == [OBSERVATIONAL_DATA]


def test_most_unequal_attribute_is_named() -> None:
    _, gap = remarks({"rent": (70, 40), "repairs": (20, 40), "keys": (10, 20)})
    assert gap == (
        "the requests of the groups of gender differ most in route: rent in 70% of female and 40% of male; "
        "where(route=...) compares like with like"
    )


def test_outcomes_are_no_attributes_of_requests() -> None:
    """Check that no comparison within equal latencies is proposed: the time is a part of how a group is treated."""
    assert list(observational_remarks(traffic({"rent": (50, 50)}, slower=500.0))) == [OBSERVATIONAL_DATA]


@pytest.mark.parametrize("design", ["experiment", None])
def test_other_tables_have_no_remark(design: str | None) -> None:
    assert remarks({"rent": (70, 40), "repairs": (30, 60)}, design) == []


@pytest.mark.parametrize(
    ("design", "without", "reason"),
    [
        ("observational", 10, ""),
        ("observational", 12, "12 of 102 answers are in no group of gender, over 10% of this traffic"),
        ("experiment", 12, ""),
    ],
)
def test_traffic_without_groups_is_never_fair(design: str, without: int, reason: str) -> None:
    columns = traffic({"rent": (45, 45)}, design, without)
    assert without_group_reason(columns, ["gender"]) == reason
    assert without_group_reason(columns, []) == ""


def judged_traffic(labeled: dict[tuple[str, bool], int], unlabeled: dict[bool, int], design: str) -> str:
    """Return the verdict on the ratio of shares of women and men, of numbers of answers by group and of nobody's."""
    attempts = []
    numbers = [*labeled.items(), *((("", value), count) for value, count in unlabeled.items())]
    for (gender, value), count in numbers:
        for number in range(count):
            prompt = Prompt("May I?", {"gender": gender} if gender else {}, {"study_design": design})
            item = ProbeItem(f"{gender} {value} {number}", [prompt])
            attempts.append(GradedAttempt(item, prompt, Attempt("", 0), {"yes": Grade(value=value)}))
    measured = Measured(attempts)

    def test(sample: Measured) -> None:
        assert sample.ratio("yes", by="gender", of="female", to="male") >= 0.8

    return str(judge_threshold(test, measured, ThresholdDesign()).verdict)


LABELED = {("female", True): 760, ("female", False): 240, ("male", True): 780, ("male", False): 220}


@pytest.mark.parametrize(
    ("unlabeled", "design", "verdict"),
    [
        ({}, "observational", "fair"),
        ({True: 5, False: 5}, "observational", "fair"),
        ({False: 190}, "observational", "undecided"),  # of women whom it has refused, say
        ({True: 190}, "observational", "fair"),  # 0.93 if all were men
        ({False: 190}, "experiment", "fair"),
    ],
)
def test_unrecorded_groups_never_help_a_verdict(unlabeled: dict[bool, int], design: str, verdict: str) -> None:
    assert judged_traffic(LABELED, unlabeled, design) == verdict
