"""Figures of known outcomes: ratios, both combined gaps, calibration, and intervals that hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_fairness import FairnessError
from pytest_fairness.design import EMOTION, EmotionBenchmark, LinearReader
from pytest_fairness.design.emotion import figures, values
from pytest_fairness.design.environment import EmotionParameters
from pytest_fairness.design.students import StudentOutcomes


def outcomes(correct: float, confidence: float, n: int = 100, verified: float | None = None) -> StudentOutcomes:
    right = (np.arange(n) < correct * n).astype(float)
    verdicts = None if verified is None else (np.arange(n) < verified * n).astype(float)
    return StudentOutcomes(right, np.full(n, confidence), verdicts)


OUTCOMES = {"alexithymic": outcomes(0.6, 0.55, verified=0.3), "neurotypical": outcomes(0.8, 0.95, verified=0.6)}


def test_each_figure_matches_its_formula() -> None:
    expected = values([OUTCOMES], target=1.0)
    assert expected == pytest.approx(
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
    results = figures([OUTCOMES], target=1.0)
    assert {name: figure.value for name, figure in results.items()} == pytest.approx(expected)
    for name, figure in results.items():
        assert figure.low <= figure.value <= figure.high, name


def test_target_other_than_parity_shifts_the_gap() -> None:
    assert values([OUTCOMES], target=0.75)["gap"] == pytest.approx(0)


@pytest.mark.slow
def test_intervals_cover_the_true_ratio() -> None:
    """Check coverage of the ratio, whose true value has a closed form: at 95%, at least 33 of 40 intervals hold it."""
    parameters = EmotionParameters(**EMOTION.start)  # type: ignore[arg-type]
    true = LinearReader().exact_ratio(parameters)
    benchmark = EmotionBenchmark(LinearReader(), samples=200)
    covered = 0
    for seed in range(40):
        ratio = benchmark(EMOTION.start, [seed])["accuracy_ratio"]
        covered += ratio.low <= true <= ratio.high
    assert covered >= 33


def test_seed_interval_needs_three_seeds() -> None:
    benchmark = EmotionBenchmark(LinearReader(), samples=150)
    two, four = benchmark(EMOTION.start, [1, 2]), benchmark(EMOTION.start, [1, 2, 3, 4])
    assert math.isnan(two["accuracy_ratio"].seeds_low)
    assert four["accuracy_ratio"].seeds_low < four["accuracy_ratio"].value < four["accuracy_ratio"].seeds_high
    single = [benchmark(EMOTION.start, [seed])["accuracy_ratio"].value for seed in (1, 2, 3, 4)]
    middle = (four["accuracy_ratio"].seeds_low + four["accuracy_ratio"].seeds_high) / 2
    assert middle == pytest.approx(np.mean(single))


def test_unread_answers_never_narrow_an_interval() -> None:
    right = np.array([1.0, 0.0, 1.0, 1.0] * 50)
    some = right.copy()
    some[::20] = math.nan
    sure = np.full(200, 0.8)
    whole = figures([{group: StudentOutcomes(right, sure, None) for group in OUTCOMES}])
    lacking = figures(
        [{"alexithymic": StudentOutcomes(some, sure, None), "neurotypical": StudentOutcomes(right, sure, None)}]
    )
    assert lacking["accuracy_ratio"].low < whole["accuracy_ratio"].low
    assert lacking["accuracy_ratio"].high >= whole["accuracy_ratio"].high
    assert "verification_ratio" not in whole


def test_student_that_is_never_right_has_no_ratio() -> None:
    results = figures([{"alexithymic": outcomes(0.5, 0.5), "neurotypical": outcomes(0, 0.5)}])
    assert math.isnan(results["accuracy_ratio"].value)
    assert results["accuracy_ratio"].document()["value"] is None


def test_other_groups_are_refused() -> None:
    with pytest.raises(FairnessError, match="these figures need alexithymic and neurotypical"):
        figures([{"deaf": outcomes(0.5, 0.5), "hearing": outcomes(0.5, 0.5)}])
