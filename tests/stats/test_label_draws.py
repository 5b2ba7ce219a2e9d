"""Labels drawn with unequal probabilities: the draw, and the weights of the correction."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.dry_run_results import NeededLabels
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.verdicts import judge
from pytest_fairness.planning.forecasts import Forecast
from pytest_fairness.report.exports.labels import doubt, priority_draw, sizes_by_doubt
from pytest_fairness.stats.measured import Measured

sizes = st.lists(st.floats(0.1, 10), min_size=1, max_size=40)


@given(sizes, st.integers(1, 50), st.integers(0, 99))
def test_larger_draws_hold_smaller_ones(given_sizes: list[float], count: int, seed: int) -> None:
    small, large = (priority_draw(given_sizes, n, random.Random(seed)) for n in (count, count + 3))
    assert [index for index, _ in large][: len(small)] == [index for index, _ in small]
    assert len(small) == min(count, len(given_sizes))
    assert all(0 < probability <= 1 for _, probability in large)


def test_inverse_probabilities_are_unbiased() -> None:
    given_sizes = sizes_by_doubt([0.0] * 30 + [0.25] * 10)
    values = np.arange(40.0)
    totals = [
        sum(values[index] / chance for index, chance in priority_draw(given_sizes, 12, random.Random(seed)))
        for seed in range(4_000)
    ]
    error = float(np.std(totals)) / 4_000**0.5
    assert abs(float(np.mean(totals)) - float(values.sum())) < 4 * error


def judged(*values: object) -> GradedAttempt:
    item = ProbeItem("one", [Prompt("?")])
    grades = {f"assessment by {number}": Grade({"harmful": value}) for number, value in enumerate(values)}
    return GradedAttempt(item, item.prompts[0], Attempt("key", 0), {"harmful": Grade(True), **grades})


def test_doubt_is_the_judges_disagreement() -> None:
    assert doubt(judged(True, True, True), "harmful") == 0
    assert doubt(judged(True, False), "harmful") == 0.25
    assert doubt(judged("mild", "none", "none"), "harmful") == pytest.approx(2 / 3)
    with pytest.raises(FairnessError, match="one judge"):
        doubt(judged(), "harmful")


def corrected(labels: list[dict[str, object]]) -> Measured:
    attempts = []
    for number in range(300):
        item = ProbeItem(f"item {number}", [Prompt(f"prompt {number}")])
        grade = {"harmful": Grade(number % 3 == 0)}
        attempts.append(GradedAttempt(item, item.prompts[0], Attempt(f"key {number}", 0), grade))
    return Measured(attempts, calibration=labels)


def labels(count: int, **more: object) -> list[dict[str, object]]:
    truth = [number % 3 == 0 or number % 7 == 0 for number in range(count)]
    return [{"grade": "harmful", "key": f"key {n}", "value": value, **more} for n, value in enumerate(truth)]


def test_equal_probabilities_change_nothing() -> None:
    plain, weighted = (corrected(labels(150, **more)).rate("harmful") for more in ({}, {"probability": 0.5}))
    assert (weighted.value, weighted.low, weighted.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_unequal_labels_count_as_many_as_they_are_worth() -> None:
    rows = [{**row, "probability": 1.0 if number % 2 else 0.1} for number, row in enumerate(labels(150))]
    estimate = corrected(rows).rate("harmful")
    assert (
        "150 labels, worth 90 drawn by chance: a correction for the judge's error needs at least 100"
        in estimate.invalid
    )


@pytest.mark.parametrize("probability", [0, 1.5, True, "0.5", None])
def test_invalid_probabilities_are_refused(probability: object) -> None:
    with pytest.raises(FairnessError, match="must be above 0 and at most 1") as error:
        corrected(labels(1, probability=probability))
    assert json.dumps(probability).strip('"') in str(error.value).lower().replace("none", "null")


def labels_needed(chances: Sequence[float], bound: float) -> NeededLabels:
    """Return the labels that a plan of 300 items takes for a rate of at most a bound, from 150 drawn by chances."""
    rows = [{**row, "probability": chances[n % len(chances)]} for n, row in enumerate(labels(150))]
    plain, measured = corrected([]).rate("harmful"), corrected(rows)
    judgment = judge(lambda: _assert(measured.rate("harmful") <= bound))
    needed = Forecast(plain, plain.value, plain.error, plain.df, None, (None, bound)).labels_needed(judgment)
    assert needed is not None
    return needed


def _assert(holds: object) -> None:
    assert holds


def test_planned_labels_by_doubt_are_worth_a_hundred() -> None:
    assert labels_needed([0.5], 0.9) == NeededLabels(has=150, needed=100)
    # Weights of 1 and 2 in equal parts: (1 + 2)^2 / (2 (1 + 4)) of a label each.
    assert labels_needed([1.0, 0.5], 0.9) == NeededLabels(has=150, needed=112)


def test_no_more_labels_are_planned_than_answers() -> None:
    numbers = [labels_needed([0.5], bound / 1000).needed for bound in range(440, 600, 4)]
    assert numbers[0] is None
    enough = [number for number in numbers if number is not None]
    assert 200 < max(enough) <= 300
    assert enough == sorted(enough, reverse=True)


def judged_by_three(labeled: int, *, panel: bool) -> Measured:
    """Return answers on which three judges err, with labels of the first of them; with or without their own grades."""
    generator = np.random.default_rng(3)
    truth = generator.random(900) < 0.4
    votes = np.sum([truth ^ (generator.random(900) < 0.25) for _ in range(3)], axis=0)
    attempts = []
    for number, vote in enumerate(votes.tolist()):
        item = ProbeItem(f"item {number}", [Prompt(f"prompt {number}")])
        grades = {"harmful": Grade(vote > 1)}
        if panel:
            grades |= {f"assessment by {judge}": Grade({"harmful": judge < vote}) for judge in range(3)}
        attempts.append(GradedAttempt(item, item.prompts[0], Attempt(f"key {number}", 0), grades))
    rows = [{"grade": "harmful", "key": f"key {n}", "value": bool(truth[n])} for n in range(labeled)]
    return Measured(attempts, calibration=rows)


def test_labels_say_more_where_several_judges_graded() -> None:
    alone, panel = (judged_by_three(300, panel=panel).rate("harmful") for panel in (False, True))
    assert panel.error**2 * (panel.label_share or 0) < 0.95 * alone.error**2 * (alone.label_share or 0)
    assert panel.labels == alone.labels == 300
    assert panel.low < 0.4 < panel.high


def test_panel_of_all_labels_gives_the_true_rate() -> None:
    estimate = judged_by_three(900, panel=True).rate("harmful")
    truth = float((np.random.default_rng(3).random(900) < 0.4).mean())
    assert estimate.value == pytest.approx(truth, abs=1e-9)
