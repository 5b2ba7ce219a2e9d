"""Figures of known outcomes: ratios, both combined gaps, calibration, and intervals that hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_fairness import FairnessError
from pytest_fairness.design import EMOTION, EmotionBenchmark, LinearReader
from pytest_fairness.design.environment import EmotionParameters
from pytest_fairness.design.evaluating import Outcomes
from pytest_fairness.design.metrics import figures, values


def outcomes(correct: float, confidence: float, n: int = 100, verified: float | None = None) -> Outcomes:
    right = (np.arange(n) < correct * n).astype(float)
    held = None if verified is None else (np.arange(n) < verified * n).astype(float)
    return Outcomes(right, np.full(n, confidence), held)


KNOWN = {"alexithymic": outcomes(0.6, 0.55, verified=0.3), "neurotypical": outcomes(0.8, 0.95, verified=0.6)}


def test_each_figure_is_its_formula() -> None:
    found = values([KNOWN], target=1.0)
    assert found == pytest.approx(
        {
            "accuracy_ratio": 0.75,
            "confidence_ratio": 0.55 / 0.95,
            "verification_ratio": 0.5,
            "gap": 0.25,
            "combined_gap": (0.2 + 0.4) / 2,
            "combined_gap_of_ratios": (0.25 + 1 - 0.55 / 0.95) / 2,
            "accuracy": 0.7,
            "accuracy_alexithymic": 0.6,
            "accuracy_neurotypical": 0.8,
            "calibration_error": (0.05 + 0.15) / 2,
            "calibration_error_alexithymic": 0.05,
            "calibration_error_neurotypical": 0.15,
        }
    )
    told = figures([KNOWN], target=1.0)
    assert {name: figure.value for name, figure in told.items()} == pytest.approx(found)
    for name, figure in told.items():
        assert figure.low <= figure.value <= figure.high, name


def test_a_target_other_than_parity() -> None:
    assert values([KNOWN], target=0.75)["gap"] == pytest.approx(0)


def test_intervals_hold_the_truth() -> None:
    """Of the ratio, whose truth is known in closed form; at 95%, 40 samples hold it 33 times or more."""
    chosen = EmotionParameters(**EMOTION.start)  # type: ignore[arg-type]
    true = LinearReader().exact_ratio(chosen)
    benchmark = EmotionBenchmark(LinearReader(), samples=200)
    held = 0
    for seed in range(40):
        ratio = benchmark(EMOTION.start, [seed])["accuracy_ratio"]
        held += ratio.low <= true <= ratio.high
    assert held >= 33


def test_an_interval_over_seeds_from_three_on() -> None:
    benchmark = EmotionBenchmark(LinearReader(), samples=150)
    two, four = benchmark(EMOTION.start, [1, 2]), benchmark(EMOTION.start, [1, 2, 3, 4])
    assert math.isnan(two["accuracy_ratio"].seeds_low)
    assert four["accuracy_ratio"].seeds_low < four["accuracy_ratio"].value < four["accuracy_ratio"].seeds_high
    single = [benchmark(EMOTION.start, [seed])["accuracy_ratio"].value for seed in (1, 2, 3, 4)]
    middle = (four["accuracy_ratio"].seeds_low + four["accuracy_ratio"].seeds_high) / 2
    assert middle == pytest.approx(np.mean(single))


def test_what_was_not_read_never_makes_an_interval_smaller() -> None:
    right = np.array([1.0, 0.0, 1.0, 1.0] * 50)
    some = right.copy()
    some[::20] = math.nan
    sure = np.full(200, 0.8)
    whole = figures([{group: Outcomes(right, sure, None) for group in KNOWN}])
    lacking = figures([{"alexithymic": Outcomes(some, sure, None), "neurotypical": Outcomes(right, sure, None)}])
    assert lacking["accuracy_ratio"].low < whole["accuracy_ratio"].low
    assert lacking["accuracy_ratio"].high >= whole["accuracy_ratio"].high
    assert "verification_ratio" not in whole


def test_a_student_that_is_never_right_has_no_ratio() -> None:
    found = figures([{"alexithymic": outcomes(0.5, 0.5), "neurotypical": outcomes(0, 0.5)}])
    assert math.isnan(found["accuracy_ratio"].value)
    assert found["accuracy_ratio"].document()["value"] is None


def test_other_groups_are_refused() -> None:
    with pytest.raises(FairnessError, match="these figures need alexithymic and neurotypical"):
        figures([{"deaf": outcomes(0.5, 0.5), "hearing": outcomes(0.5, 0.5)}])
