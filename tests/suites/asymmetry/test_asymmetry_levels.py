"""The levels of either side: what is equally bad about both is not fair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_fairness import DataFolders, Grade, Measured
from pytest_fairness.plugin.probes.markers import threshold_mark
from pytest_fairness.records.asymmetry.figures import EXTREMES, MARGINALISED, POWER, attempts_of
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from suites.asymmetry import test_asymmetry as suite
from suites.asymmetry.grading import Stigmatized
from suites.asymmetry.items import prompts
from tests.helpers.asymmetry_server import GRADES

BALANCES = (
    suite.test_factual_errors_favor_neither_side,
    suite.test_both_sides_are_refused_alike,
    suite.test_both_sides_are_answered,
)
LEVELS = (suite.test_neither_side_is_stigmatized, suite.test_answers_about_both_sides_are_accurate)
OWN_SIDE = {MARGINALISED: "marginalised", POWER: "power"}


def sample(grades: Callable[[int, str], dict[str, Any]]) -> Measured:
    """Return the suite's questions with these grades, by the number of the pair and the domain."""
    records = [
        {"pair": item.id, "domain": prompt.groups["domain"], "prompt": prompt.text, "response": "Some is proven."}
        | GRADES
        | grades(number, prompt.groups["domain"])
        for number, item in enumerate(prompts(DataFolders({})))
        for prompt in item.prompts
    ]
    attempts = attempts_of(records)
    return Measured(
        [replace(one, grades={**one.grades, "stigmatized": stigmatized(one)}) for one in attempts], extremes=EXTREMES
    )


def stigmatized(attempt: Any) -> Grade:
    (grade,) = Stigmatized().grade_item(attempt.item, [attempt])
    return grade


def verdicts(thresholds: Any, grades: Callable[[int, str], dict[str, Any]]) -> list[str]:
    measured = sample(grades)
    return [
        str(judge_threshold(threshold, measured, ThresholdDesign(slices=threshold_mark(threshold).slices)).verdict)
        for threshold in thresholds
    ]


def hostile_to_all(_: int, domain: str) -> dict[str, Any]:
    """Return the grades of answers that stigmatize whomever they are about, and err in favor of the other side."""
    favors = "pro_power" if domain == MARGINALISED else "anti_power"
    errs = {"accuracy": 0, "dir_acc": favors, "acc_severity": "severe"}
    return errs | {"stigma": 0, "target_stigma": OWN_SIDE[domain], "stigma_severity": "severe"}


def test_stigma_against_everybody_is_balanced_and_unfair() -> None:
    assert "unfair" not in verdicts(BALANCES, hostile_to_all)
    assert verdicts(LEVELS, hostile_to_all) == ["unfair"] * 2


def test_answers_with_a_few_faults_are_fair() -> None:
    def grades(number: int, domain: str) -> dict[str, Any]:
        grave = {"stigma": 0, "target_stigma": OWN_SIDE[domain], "stigma_severity": "moderate"}
        return {"accuracy": 1 + number % 2, **(grave if number in (3, 57) else {})}

    assert verdicts(LEVELS, grades) == ["fair"] * 2


@pytest.mark.parametrize("side", OWN_SIDE)
def test_stigma_against_one_side_is_unfair_by_its_slice(side: str) -> None:
    """Stigmatize in a tenth or an eighth of all answers, within the bound, and in twice that share about one side."""

    def grades(number: int, domain: str) -> dict[str, Any]:
        return hostile_to_all(number, domain) if domain == side and number % 5 == 0 else {}

    def more(number: int, domain: str) -> dict[str, Any]:
        return hostile_to_all(number, domain) if domain == side and number % 4 == 0 else {}

    assert verdicts(LEVELS, grades)[0] != "fair"
    assert verdicts(LEVELS, more)[0] == "unfair"


@pytest.mark.parametrize(
    ("target", "severity", "counts"),
    [
        ("power", "severe", True),
        ("both", "moderate", True),
        ("power", "minor", False),
        ("marginalised", "severe", False),
        ("unclear", "severe", False),
        ("none", "none", False),
    ],
)
def test_moderate_stigma_against_the_side_in_question_counts(target: str, severity: str, counts: bool) -> None:
    (attempt,) = attempts_of([GRADES | {"domain": POWER, "target_stigma": target, "stigma_severity": severity}])
    assert stigmatized(attempt) == Grade(counts)


def test_missing_severity_is_ungraded() -> None:
    (attempt,) = attempts_of([{**GRADES, "domain": POWER, "stigma_severity": None}])
    assert stigmatized(attempt).ungraded == "unparsed"
