"""Thresholds on a judge's grades, where grading some answers twice has shown what these are worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness.core.controls import read_controls
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.second_gradings import ConsistencyResult, SecondGradingResult
from pytest_fairness.core.threshold_results import JudgeResult
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold

CHANCE = ConsistencyResult(answers=100, alpha=0.03, low=-0.17, high=0.23, by_chance=50)
BY_ORDER = ConsistencyResult(answers=100, alpha=-0.98, low=-1.0, high=-0.9, by_chance=50)
RARE = ConsistencyResult(answers=100, alpha=-0.02, low=-0.05, high=0.01, by_chance=4)
GOOD = ConsistencyResult(answers=100, alpha=0.7, low=0.5, high=0.9, by_chance=50)
ALIKE = ConsistencyResult(answers=100, alpha=None, low=None, high=None, by_chance=0)

Test = Callable[[Measured], object]


def sample(gap: float = 0.0) -> Measured:
    """Return answers about two groups, half of them harmful, more or fewer by a gap."""
    rows = [
        {"item": item, "group": group, "harm": (item * 7 % 100) / 100 < 0.5 + sign * gap / 2, "refused": item % 2 == 0}
        for item in range(200)
        for group, sign in (("a", 1), ("b", -1))
    ]
    return Measured.from_rows(rows, item="item", groups=["group"])


def level(measured: Measured) -> None:
    assert measured.rate("harm") <= 0.9


def low_level(measured: Measured) -> None:
    assert measured.rate("harm") <= 0.1


def gap(measured: Measured) -> None:
    assert abs(measured.difference("harm", by="group", of="a", to="b")) <= 0.2


def refusals(measured: Measured) -> None:
    assert measured.rate("refused") <= 0.9


def verdict(test: Test, measured: Measured, answers: int | None = None, constant: str = "", **more: Any) -> Verdict:
    consistency = more.pop("consistency", {"harm": CHANCE})
    second = SecondGradingResult(answers=100, judged=400, consistency=consistency, constant=constant)
    judge = JudgeResult(grade="assessment", models=["x:judge"], answers=answers, second=second)
    judgment = judge_threshold(test, measured, ThresholdDesign(judges=(judge,), **more))
    assert ("x:judge mean nothing" in judgment.sensitivity) == (judgment.verdict is Verdict.INVALID)
    return judgment.verdict


@pytest.mark.parametrize(
    ("consistency", "expected"),
    [
        (CHANCE, Verdict.INVALID),
        (BY_ORDER, Verdict.INVALID),
        (RARE, Verdict.FAIR),
        (GOOD, Verdict.FAIR),
        (ALIKE, Verdict.FAIR),
    ],
)
def test_grades_by_chance_are_invalid(consistency: ConsistencyResult, expected: Verdict) -> None:
    assert verdict(level, sample(), consistency={"harm": consistency}) is expected


def test_level_by_chance_is_not_unfair_and_a_gap_is() -> None:
    assert verdict(low_level, sample()) is Verdict.INVALID
    assert verdict(gap, sample(gap=0.6)) is Verdict.UNFAIR


def test_constant_grades_are_not_fair_and_may_be_unfair() -> None:
    assert verdict(level, sample(), constant="harm true", consistency={"harm": ALIKE}) is Verdict.INVALID
    assert verdict(low_level, sample(), constant="harm true", consistency={"harm": ALIKE}) is Verdict.UNFAIR


def test_few_grades_by_chance_do_not_matter() -> None:
    assert verdict(level, sample(), answers=40) is Verdict.FAIR
    assert verdict(level, sample(), answers=41) is Verdict.INVALID


@pytest.mark.parametrize(
    "design", [{"labeled": frozenset({"harm"})}, {"controls": read_controls({"harm": {"group": ("a", "b")}})}]
)
def test_grades_that_follow_a_control_or_labels_are_not_doubted(design: dict[str, Any]) -> None:
    assert verdict(level, sample(gap=0.6), **design) is Verdict.FAIR


def test_control_does_not_show_the_worth_of_grades_by_order() -> None:
    controls = read_controls({"harm": {"group": ("a", "b"), "also": ["refused"]}})
    design: dict[str, Any] = {"controls": controls, "consistency": {"harm": BY_ORDER}}
    assert verdict(level, sample(gap=0.6), **design) is Verdict.INVALID
    assert verdict(refusals, sample(gap=0.6), **design) is Verdict.INVALID
    assert verdict(level, sample(gap=0.6), **design, labeled=frozenset({"harm"})) is Verdict.FAIR


@pytest.mark.parametrize("also", [["refused"], []])
def test_grade_that_asks_for_a_control_is_doubted_for_no_other_grade(also: list[str]) -> None:
    controls = read_controls({"harm": {"group": ("a", "b"), "also": also}})
    judged = verdict(refusals, sample(gap=0.6), controls=controls, consistency={"harm": ALIKE, "won": BY_ORDER})
    assert judged is (Verdict.FAIR if also else Verdict.INVALID)


@pytest.mark.parametrize(
    ("consistency", "alone", "expected"),
    [
        ({"harm": CHANCE}, frozenset({"refused"}), Verdict.FAIR),
        ({"harm": CHANCE}, frozenset(), Verdict.INVALID),
        ({"harm": CHANCE, "tone": GOOD}, frozenset(), Verdict.FAIR),
        ({"harm": CHANCE, "tone": ALIKE}, frozenset(), Verdict.INVALID),
    ],
)
def test_grade_that_may_be_made_of_a_judges_needs_one_of_worth(
    consistency: dict[str, ConsistencyResult], alone: frozenset[str], expected: Verdict
) -> None:
    assert verdict(refusals, sample(), consistency=consistency, alone=alone) is expected
