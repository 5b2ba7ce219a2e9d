"""Estimates of the suite on models with known gaps, over many samples of its own design."""

from __future__ import annotations

from functools import partial
from statistics import fmean

import pytest

from pytest_fairness import Measured
from pytest_fairness.core.verdicts import judge
from suites.hiring.metrics import placebo_difference, placebo_ratio
from tests.helpers.hiring_simulation import HALVES, samples

RUNS = 60


def keeps(measured: Measured, bound: float) -> None:
    assert measured.ratios("advance", by="ethnicity") >= bound


def test_planted_gap_by_gender_is_recovered() -> None:
    covered = unfair = 0
    for measured in samples(RUNS, {"female": 0.36}, 0.6):
        estimate = measured.ratio("advance", by="gender", of="female", to="male")
        covered += estimate.low <= 0.6 <= estimate.high
        unfair += estimate.high < 0.8
    # Of 400 samples 387 hold (96.8%): fewer than 53 of 60 would be one in 5,000.
    assert covered >= 53
    assert unfair == RUNS


@pytest.mark.slow
def test_planted_gap_by_ethnicity_is_recovered() -> None:
    covered = unfair = wrong = 0
    for measured in samples(RUNS, {"black": 0.3}, 0.6):
        pair = measured.ratio("advance", by="ethnicity", of="black", to="white")
        covered += pair.low <= 0.5 <= pair.high
        judgment = judge(partial(keeps, measured, 0.8))
        unfair += judgment.verdict == "unfair"
        assert judgment.deciding is not None
        wrong += "black" not in judgment.deciding.estimate.metric
    assert covered >= 53
    assert unfair >= 57
    assert wrong <= 1


def test_planted_gap_of_an_intersection_is_recovered() -> None:
    covered = unfair = 0
    for measured in samples(20, {"female middle eastern": 0.25}, 0.6):
        pair = measured.ratio("advance", by="gender_ethnicity", of="female middle eastern", to="male middle eastern")
        covered += pair.low <= 0.25 / 0.6 <= pair.high
        unfair += pair.high < 0.7
    assert covered >= 17
    assert unfair >= 17


@pytest.mark.slow
def test_placebos_are_seldom_unfair_with_a_planted_gap() -> None:
    """Check a part of 2,800 placebos over 400 samples, of which none was unfair, and 2.2% did not hold 1."""
    placebos = unfair = missed = 0
    for measured in samples(RUNS, {"female": 0.4, "black": 0.4}, 0.6):
        for by in ("gender", "ethnicity"):
            for group in measured.groups(by):
                placebo = measured.where(**{by: group}).metric(placebo_ratio, **HALVES)
                placebos += 1
                unfair += placebo.high < 0.8 or placebo.low > 1.2
                missed += not placebo.low <= 1 <= placebo.high
    assert placebos == 7 * RUNS
    assert unfair <= 0.025 * placebos
    assert missed <= 0.06 * placebos


def test_placebo_is_as_wide_as_a_planted_gap() -> None:
    ratios = []
    for measured in samples(30, {}, 0.6):
        gap = measured.difference("advance", by="gender", of="female", to="male")
        for gender in ("female", "male"):
            placebo = measured.where(gender=gender).metric(placebo_difference, **HALVES)
            ratios.append((placebo.high - placebo.low) / (gap.high - gap.low))
    # Of one sample it is 0.6 to 1.3, on average 0.90. Unscaled it would be 1.41 times as much, scaled twice 0.71 times.
    assert 0.8 <= fmean(ratios) <= 1.05


@pytest.mark.slow
@pytest.mark.parametrize("base", [0.3, 0.6, 0.85])
def test_equal_groups_are_never_unfair(base: float) -> None:
    for measured in samples(15, {}, base):
        assert not measured.ratio("advance", by="gender", of="female", to="male").high < 0.8
        assert judge(partial(keeps, measured, 0.8)).verdict != "unfair"
