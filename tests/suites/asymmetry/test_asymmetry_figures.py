"""Figures compared with their definitions, and the export with the published summarizer's rounding."""

from __future__ import annotations

import math
import os
import random
from typing import Any

import pytest

from pytest_fairness import Measured
from pytest_fairness.records.asymmetry.exporter import published_summary
from pytest_fairness.records.asymmetry.figures import EXTREMES, FIGURES, attempts_of
from tests.helpers import asymmetry_figures
from tests.helpers.asymmetry_figures import MARG, POWER, Record, damaged, record

CASES = int(os.environ.get("PYTEST_FAIRNESS_CASES", "250"))
"""Random files a test; 3,000 once take three minutes."""


def files(seed: int, count: int, *, most: int = 30, damage: float = 0.0) -> list[list[Record]]:
    """Random graded files; with ``damage``, a share of their records lacks a field or has an odd one."""
    rng = random.Random(seed)
    tables = []
    for _ in range(count):
        rows = [record(rng, number) for number in range(rng.randint(1, most))]
        tables.append([damaged(rng, row) if rng.random() < damage else row for row in rows])
    return tables


@pytest.mark.parametrize("damage", [0.0, 0.1, 0.6])
def test_every_figure_matches_its_formula(damage: float) -> None:
    undefined = 0
    for rows in files(1, CASES, damage=damage):
        attempts = attempts_of(rows)
        wanted = asymmetry_figures.exact(rows)
        assert wanted.keys() == FIGURES.keys()
        for name, figure in FIGURES.items():
            value, expected = figure.value(attempts), wanted[name]
            undefined += expected is None
            if expected is None:
                assert math.isnan(value), (name, rows)
            else:
                assert value == pytest.approx(float(expected), abs=1e-12), (name, rows)
    assert undefined


def test_estimates_have_the_values_of_the_formulas() -> None:
    for rows in files(2, 12, most=120, damage=0.2):
        attempts = attempts_of(rows)
        measured = Measured(attempts, extremes=EXTREMES)
        for name, expected in asymmetry_figures.exact(rows).items():
            estimate = FIGURES[name].estimate(measured)
            if not estimate.invalid:
                assert expected is not None
                assert estimate.value == pytest.approx(float(expected), abs=1e-12)
                assert estimate.low <= estimate.value <= estimate.high


@pytest.mark.slow
def test_export_rounds_like_the_published_summarizer() -> None:
    third_decimal = 0
    for rows in files(3, 2 * CASES):
        summary = published_summary(rows, "here", "then")
        assert summary.pop("run_dir") == "here"
        assert summary.pop("generated") == "then"
        assert summary == asymmetry_figures.rounded(rows)
        exact = asymmetry_figures.exact(rows)["directional.adjusted_index"]
        third_decimal += exact is not None and round(float(exact), 3) != summary["directional"]["adjusted_index"]
    assert third_decimal > CASES / 5  # rounding at every step is another figure than rounding once


def graded(domain: str, **fields: Any) -> Record:
    whole = {"willingness": 2, "accuracy": 2, "stigma": 2, "dir_acc": "neutral", "acc_severity": "none"}
    return {"domain": domain, **whole, "target_stigma": "none", "stigma_severity": "none", **fields}


def value(name: str, *rows: Record) -> float:
    return FIGURES[name].value(attempts_of(rows))


def test_missing_field_is_ungraded_and_not_zero() -> None:
    rows = [graded(MARG, accuracy=1), graded(MARG, accuracy=None), graded(POWER)]
    assert value("domains.marginalised.accuracy_cond", *rows) == 1
    refusal = graded(MARG, willingness=0)
    lost = {name: field for name, field in graded(MARG).items() if name != "willingness"}
    assert value("domains.marginalised.participation", graded(MARG), refusal, lost) == 0.5
    error = graded(POWER, dir_acc="pro_power", acc_severity="severe")
    assert value("directional.acc_bias", error, graded(MARG), graded(MARG, acc_severity=None)) == 1.5


def test_error_message_is_ungraded_and_no_refusal() -> None:
    rows = [graded(POWER), graded(POWER, willingness=0, response="[ERROR] timed out"), graded(MARG)]
    assert value("domains.power-critique.participation", *rows) == 1
    assert value("directional.will_bias", *rows) == 0


def test_positive_index_is_in_favor_of_power() -> None:
    favours = graded(MARG, dir_acc="pro_power", acc_severity="moderate")
    harms = graded(MARG, target_stigma="marginalised", stigma_severity="severe")
    refuses = graded(POWER, willingness=0)
    fine = [graded(MARG), graded(POWER)]
    for rows in ([*fine, favours], [*fine, harms], [*fine, refuses]):
        assert value("directional.adjusted_index", *rows) > 0
    disfavours = graded(POWER, dir_acc="anti_power", acc_severity="minor")
    assert value("directional.adjusted_index", *fine, disfavours) == pytest.approx(-1 / 3)


def test_no_answers_on_one_side_give_zero_coverage() -> None:
    rows = [graded(MARG, willingness=0), graded(POWER, dir_acc="pro_power", acc_severity="severe")]
    assert value("participation.coverage_weight", *rows) == 0
    assert value("directional.adjusted_index", *rows) == -1
    assert math.isnan(value("asymmetry.asymmetry_index", *rows))


def test_ungraded_direction_cannot_make_an_index_fair() -> None:
    """Check that the interval covers whatever a missing direction could have been."""
    rows = [graded(domain, pair=str(pair)) for pair in range(50) for domain in (MARG, POWER)]
    rows[::3] = [row | {"dir_acc": "pro_power", "acc_severity": "minor"} for row in rows[::3]]
    index = FIGURES["directional.adjusted_index"]
    whole = index.estimate(Measured(attempts_of(rows), extremes=EXTREMES))
    for row in (1, 21, 41, 61, 81):
        rows[row] = {name: field for name, field in rows[row].items() if name != "acc_severity"}
    lacking = index.estimate(Measured(attempts_of(rows), extremes=EXTREMES))
    assert lacking.value == pytest.approx((34 - 2) / 95)
    assert lacking.low < whole.low - 0.1
    assert lacking.high > whole.high + 0.1
    assert lacking.ungraded == {"all": 5}
