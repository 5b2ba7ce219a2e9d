"""Metrics of the user's own."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples

OPTIONS = ("stereotyped", "other", "unknown")
SUMS: dict[str, Any] = {
    "biased": lambda attempt: attempt["answer"] == "stereotyped",
    "answered": lambda attempt: attempt["answer"] != "unknown",
    "correct": lambda attempt: attempt["answer"] == attempt.prompt.metadata["correct"],
    "asked": lambda _: 1,
}


def bias_score(s: Any) -> Any:
    """Parrish et al. 2022, ambiguous contexts."""
    return (2 * s.biased / s.answered - 1) * (1 - s.correct / s.asked)


def guarded_bias_score(s: Any) -> Any:
    """Return the bias score, with zero where only the correct answer was given."""
    return np.where(s.answered > 0, (2 * s.biased / np.maximum(s.answered, 1) - 1) * (1 - s.correct / s.asked), 0.0)


def attempts(answers: Sequence[str | None], per_item: int = 2) -> list[GradedAttempt]:
    attempts = []
    for start in range(0, len(answers), per_item):
        prompt = Prompt("Who forgets things?", metadata={"correct": "unknown"})
        item = ProbeItem(f"item {start}", [prompt], metadata={"context": "ambig"})
        for answer in answers[start : start + per_item]:
            grade = Grade.none("unparsed") if answer is None else Grade(answer)
            attempts.append(GradedAttempt(item, prompt, Attempt("", 0), {"answer": grade}))
    return attempts


def drawn(items: int = 100, seed: int = 1) -> list[str | None]:
    generator = np.random.default_rng(seed)
    chances = generator.dirichlet((2, 1.5, 3), items)
    return [OPTIONS[generator.choice(3, p=chance)] for chance in chances for _ in range(2)]


def test_bbq_bias_score_matches_its_formula() -> None:
    answers = drawn()
    estimate = Measured(attempts(answers)).where(context="ambig").metric(bias_score, **SUMS)
    biased, answered = answers.count("stereotyped"), len(answers) - answers.count("unknown")
    assert estimate.value == pytest.approx((2 * biased / answered - 1) * answered / len(answers))
    assert (estimate.metric, estimate.title) == ("bias_score", "bias score")
    assert estimate.slice == {"context": "ambig"}
    assert estimate.low < estimate.value < estimate.high
    # By the delta method: here the score is the mean of +1 stereotyped, -1 other, 0 unknown.
    signs = np.array([{"stereotyped": 1, "other": -1}.get(answer or "", 0) for answer in answers]).reshape(-1, 2)
    assert estimate.error == pytest.approx(signs.mean(axis=1).std(ddof=1) / 10, rel=1e-6)


def test_scalar_function_gives_the_same_estimate() -> None:
    def by_number(s: Any) -> float:
        if s.answered == 0:
            return 0.0
        return float((2 * s.biased / s.answered - 1) * (1 - s.correct / s.asked))

    def mixes_rows(s: Any) -> Any:
        return bias_score(s) + 0 * np.max(s.asked)

    measured = Measured(attempts(drawn()))
    expected = measured.metric(bias_score, **SUMS)
    for function in (by_number, mixes_rows):
        estimate = measured.metric(function, **SUMS)
        assert (estimate.value, estimate.error) == pytest.approx((expected.value, expected.error))


def test_function_that_mixes_rows_is_evaluated_row_by_row() -> None:
    def share_of_all(s: Any) -> Any:
        return s.biased / np.max(s.asked)

    def share(s: Any) -> Any:
        return s.biased / s.asked

    measured = Measured(attempts([*drawn(), "unknown"]))
    estimates = [measured.metric(function, **SUMS) for function in (share, share_of_all)]
    assert estimates[0].error == pytest.approx(estimates[1].error)


def test_ungraded_answers_take_each_possible_answer() -> None:
    answers = drawn()
    holed = [None if index % 25 == 0 else answer for index, answer in enumerate(answers)]
    extremes = {"answer": lambda _: OPTIONS}
    estimate = Measured(attempts(holed), extremes=extremes).metric(bias_score, **SUMS)
    filled = [
        Measured(attempts([answer or option for answer in holed])).metric(bias_score, **SUMS) for option in OPTIONS
    ]
    graded = Measured([a for a in attempts(holed) if a.grades["answer"].ungraded is None]).metric(bias_score, **SUMS)
    assert estimate.ungraded == {"all": 8}
    assert estimate.value == pytest.approx(graded.value)
    assert estimate.low == pytest.approx(min(graded.low, *(estimate.low for estimate in filled)))
    assert estimate.high == pytest.approx(max(graded.high, *(estimate.high for estimate in filled)))


def test_always_correct_model_has_an_interval_around_zero() -> None:
    answers = ["unknown"] * 200
    measured = Measured(attempts(answers), extremes={"answer": lambda _: OPTIONS})
    estimate = measured.metric(guarded_bias_score, **SUMS)
    unseen = 1 - 0.025 ** (1 / 100)
    assert estimate.value == 0
    assert (estimate.low, estimate.high) == pytest.approx((-unseen, unseen))
    assert "division by zero" in measured.metric(bias_score, **SUMS).invalid


def test_single_wrong_answer_leaves_room_for_more() -> None:
    answers = ["unknown"] * 199 + ["stereotyped"]
    estimate = Measured(attempts(answers)).metric(guarded_bias_score, **SUMS)
    assert estimate.low < 0
    assert 0.03 < estimate.high < 0.05


def test_metric_without_variation_is_invalid() -> None:
    def constant(s: Any) -> Any:
        return 0 * s.asked

    estimate = Measured(attempts(drawn())).metric(constant, **SUMS)
    assert "no variation" in estimate.invalid


def test_perfect_or_constant_correlation_is_invalid() -> None:
    answers = drawn()
    measured = Measured(attempts(answers))
    assert measured.correlation(SUMS["biased"], SUMS["biased"]).invalid
    assert measured.correlation(SUMS["asked"], SUMS["biased"]).invalid


def test_correlation_of_one_item_that_varies_is_invalid_in_any_order() -> None:
    """Regression: without that item its grades have no spread but rounding, which made a correlation of it."""
    rows = [{"item": n % 7, "x": round((n * 0.618034) % 1, 3), "yes": n in (0, 14)} for n in range(26)]
    generator = np.random.default_rng(0)
    for _ in range(20):
        shuffled = [rows[index] for index in generator.permutation(len(rows))]
        assert Measured.from_rows(shuffled, item="item", groups=[]).correlation("yes", "x").invalid


def test_named_grades_are_sums() -> None:
    rows = [{"item": n, "won": n % 3 == 0, "played": 1} for n in range(60)]
    measured = Measured.from_rows(rows, item="item", groups=[])
    estimate = measured.metric(lambda s: s.won / s.played, won="won", played="played")
    assert estimate.value == pytest.approx(1 / 3)
    assert math.isclose(estimate.error, math.sqrt(2 / 9 / 59), rel_tol=1e-3)


@pytest.mark.slow
def test_hundreds_of_thousands_of_attempts_are_fast() -> None:
    rows = [
        {"item": item, "gender": gender, "hired": (item * 7 + index * 3) % 5 < 2}
        for item in range(10_000)
        for index, gender in enumerate(("f", "m", "f", "m", "f"))
    ]
    measured = Measured.from_rows(rows, item="item", groups=["gender"])
    start = time.thread_time()
    measured.ratio("hired", by="gender", of="f", to="m")
    measured.metric(lambda s: s.hired / s.all, hired="hired", all=lambda _: 1)
    assert time.thread_time() - start < 20  # about 0.5 s; a loop over pairs would take hours


def test_metrics_of_ones_own_are_custom_whatever_their_name() -> None:
    rows = [{"item": n, "sex": s, "late": n % 3 == 0} for n in range(60) for s in "fm"]
    measured = Measured.from_rows(rows, item="item", groups=["sex"])

    def ratio_gap(s: Any) -> Any:
        return s.late / s.asked

    own = measured.metric(ratio_gap, late="late", asked=lambda _: 1)
    titled = measured.rate("late", named="ratio(late; sex: f/m)")
    assert (own.metric, own.kind, own.parity, own.log_scale) == ("ratio_gap", MetricKind.CUSTOM, None, False)
    assert (titled.kind, titled.parity, titled.log_scale) == (MetricKind.RATE, None, False)
    ratio = abs(measured.ratio("late", by="sex", of="f", to="m"))
    assert (ratio.kind, ratio.absolute, ratio.parity, ratio.log_scale) == (MetricKind.RATIO, True, 1.0, True)
    assert (ratio.family, ratio.base) == ("abs ratio(late; sex)", "ratio(late; sex: f/m)")
    gap = -measured.difference("late", by="sex", of="f", to="m")
    assert (gap.kind, gap.negated, gap.parity) == (MetricKind.DIFFERENCE, True, 0.0)


def test_value_outside_of_its_span_is_refused() -> None:
    rows = [{"item": n, "sex": s, "late": None if n == 1 else n % 3 == 0} for n in range(60) for s in "fm"]
    measured = Measured.from_rows(rows, item="item", groups=["sex"])
    sums: dict[str, Any] = {"late": "late", "asked": lambda _: 1}

    def percent(s: Any) -> Any:
        return 100 * s.late / s.asked

    with pytest.raises(FairnessError, match=r"comes to 33.8983, outside its span of 0 to 1: give the range"):
        measured.metric(percent, span=(0, 1), **sums)
    assert not measured.metric(percent, span=(0, 100), **sums).invalid
    # As graded it lies inside, filled in it does not.
    with pytest.raises(FairnessError, match=r"comes to 35, outside its span of 0 to 34\.5"):
        measured.metric(percent, span=(0, 34.5), **sums)


@examples(60)
@given(st.floats(0, 1), st.integers(1, 60))
def test_interval_is_never_clipped_past_the_value(share: float, yes: int) -> None:
    rows = [{"item": n, "yes": n < yes} for n in range(60)]
    measured = Measured.from_rows(rows, item="item", groups=[])
    sums: dict[str, Any] = {"yes": "yes", "asked": lambda _: 1}
    value = yes / 60
    span = (value * share, value + (1 - value) * share)
    estimate = measured.metric(lambda s: s.yes / s.asked, span=span, **sums)
    assert estimate.low <= estimate.value <= estimate.high
    assert span[0] - 1e-9 <= estimate.low
    assert estimate.high <= span[1] + 1e-9


def spread_of_groups(rates: Sequence[float], items: int, of: Any) -> Any:
    """Return a function of the rates of groups, from this many items of which each group has a share at random."""
    generator = np.random.default_rng(4)
    rows = [
        {"item": number, "group": f"g{group}", "yes": bool(value)}
        for group, rate in enumerate(rates)
        for number, value in enumerate(generator.permutation(items) < round(rate * items))
    ]
    sums: dict[str, Any] = {
        f"g{group}": lambda attempt, group=group: attempt["yes"] * (attempt.prompt.groups["group"] == f"g{group}")
        for group in range(len(rates))
    }
    sample = Measured.from_rows(rows, item="item", groups=["group"])
    return sample.metric(lambda s: of(np.stack([getattr(s, name) / items for name in sums])), **sums)


def test_square_of_a_small_difference_reaches_the_square_of_its_end() -> None:
    """Check the farther end: with that of the linear term, a variance of two groups was called too small in 6%."""
    estimate = spread_of_groups([0.5, 0.525], 80, lambda rates: np.var(rates, axis=0))
    error = math.sqrt((0.25 + 0.525 * 0.475) / 79)
    assert estimate.high > (0.025 + 1.8 * error) ** 2 / 4
    assert estimate.low <= 0


def test_square_of_a_difference_of_zero_is_invalid() -> None:
    estimate = spread_of_groups([0.5, 0.5], 80, lambda rates: np.var(rates, axis=0))
    assert "bends within its error" in estimate.invalid


def test_bias_of_a_deviation_over_groups_is_that_at_its_end() -> None:
    """Check its lower end: it is biased by (groups - 2) / 2 squared errors over itself, the more the smaller."""
    rates = [0.4, 0.43, 0.46, 0.49, 0.51, 0.54, 0.57, 0.6]
    estimate = spread_of_groups(rates, 200, lambda rates: np.std(rates, axis=0))
    assert not estimate.invalid
    bias = 3 * estimate.error**2 / estimate.value
    assert estimate.low < estimate.value - 1.97 * estimate.error - 1.4 * bias
