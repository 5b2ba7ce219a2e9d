"""Properties of every sample."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]

PAIR = {"by": "group", "of": "a", "to": "b"}
quickly = examples(40)


@st.composite
def samples(draw: st.DrawFn, *, ungraded: bool = False) -> Rows:
    """Draw rows of two or three groups over 5 to 20 items of one to three repetitions."""
    values = st.sampled_from([True, False, None] if ungraded else [True, False])
    groups = draw(st.sampled_from(["ab", "abc"]))
    rows: Rows = []
    for item in range(draw(st.integers(5, 20))):
        for group in groups:
            rows += [{"item": item, "group": group, "yes": draw(values)} for _ in range(draw(st.integers(1, 3)))]
    return rows


def ends(estimate: Estimate) -> tuple[float, ...]:
    return estimate.value, estimate.low, estimate.high, estimate.error, estimate.df


def estimates_of(measured: Measured) -> list[Estimate]:
    return [
        measured.rate("yes"),
        measured.difference("yes", **PAIR),
        measured.ratio("yes", **PAIR),
        measured.worst_ratio("yes", by="group"),
        measured.metric(lambda s: s.yes / s.all, yes="yes", all=lambda attempt: 1 + 0 * attempt["yes"]),
    ]


def same(one: Estimate, other: Estimate) -> None:
    assert bool(one.invalid) == bool(other.invalid)
    assert ends(one) == pytest.approx(ends(other), rel=1e-9, abs=1e-12, nan_ok=True)


@quickly
@given(samples(ungraded=True), st.integers(0, 100))
def test_order_of_items_is_irrelevant(of_rows: Make, rows: Rows, seed: int) -> None:
    shuffled = rows.copy()
    random.Random(seed).shuffle(shuffled)
    for one, other in zip(estimates_of(of_rows(rows)), estimates_of(of_rows(shuffled)), strict=True):
        same(one, other)


@quickly
@given(samples(ungraded=True))
def test_renamed_groups_get_the_same_numbers(of_rows: Make, rows: Rows) -> None:
    names = {"a": "zulu", "b": "beta", "c": "alpha"}
    renamed = of_rows([row | {"group": names[row["group"]]} for row in rows])
    measured = of_rows(rows)
    same(measured.ratio("yes", **PAIR), renamed.ratio("yes", by="group", of="zulu", to="beta"))
    same(measured.difference("yes", **PAIR), renamed.difference("yes", by="group", of="zulu", to="beta"))
    one, other = measured.worst_ratio("yes", by="group"), renamed.worst_ratio("yes", by="group")
    # The simulation behind the upper end draws in the order of the names.
    assert ends(one)[:3] == pytest.approx(ends(other)[:3], rel=0.02, nan_ok=True)


@quickly
@given(samples(ungraded=True))
def test_swapped_groups_invert_ratio_and_difference(of_rows: Make, rows: Rows) -> None:
    measured = of_rows(rows)
    one, other = measured.ratio("yes", by="group", of="a", to="b"), measured.ratio("yes", by="group", of="b", to="a")
    assert bool(one.invalid) == bool(other.invalid)
    if not one.invalid:

        def reciprocal(end: float) -> float:
            return math.inf if end == 0 else 1 / end

        assert one.value == pytest.approx(reciprocal(other.value))
        assert one.low == pytest.approx(reciprocal(other.high))
        assert one.high == pytest.approx(reciprocal(other.low))
    gap, back = measured.difference("yes", **PAIR), -measured.difference("yes", by="group", of="b", to="a")
    if not gap.invalid:
        assert ends(gap)[:3] == pytest.approx(ends(back)[:3], abs=1e-12)


@quickly
@given(samples())
def test_repeated_answers_add_no_precision(of_rows: Make, rows: Rows) -> None:
    once, thrice = of_rows(rows), of_rows(rows * 3)
    for one, other in zip(estimates_of(once), estimates_of(thrice), strict=True):
        assert one.value == pytest.approx(other.value, nan_ok=True)
    one, other = once.metric(lambda s: s.yes, yes="yes"), thrice.metric(lambda s: s.yes / 3, yes="yes")
    if not one.invalid:
        assert ends(one) == pytest.approx(ends(other))


@quickly
@given(samples(), st.sampled_from("ab"), st.integers(1, 4))
def test_ungraded_answers_never_help(of_rows: Make, rows: Rows, group: str, number: int) -> None:
    without = of_rows(rows)
    more = of_rows([*rows, *({"item": item, "group": group, "yes": None} for item in range(number))])
    for one, other in zip(estimates_of(without), estimates_of(more), strict=True):
        if not one.invalid and not other.invalid:
            assert other.value == pytest.approx(one.value)
            assert other.low <= one.low + 1e-12
            assert other.high >= one.high - 1e-12
        assert not (one.invalid and not other.invalid)


@quickly
@given(samples(ungraded=True))
def test_interval_has_width_and_contains_its_value(of_rows: Make, rows: Rows) -> None:
    for estimate in estimates_of(of_rows(rows)):
        if not estimate.invalid:
            assert estimate.low <= estimate.value <= estimate.high
            assert estimate.low < estimate.high


@pytest.mark.parametrize("value", [True, False])
def test_equal_outcomes_have_an_interval_of_some_width(of_rows: Make, value: bool) -> None:
    rows = [{"item": item, "group": group, "yes": value} for item in range(30) for group in "ab"]
    measured = of_rows(rows)
    exact = 1 - 0.025 ** (1 / 30)
    rate = measured.rate("yes")
    assert rate.high - rate.low == pytest.approx(exact)
    gap = measured.difference("yes", **PAIR)
    assert (gap.low, gap.high) == pytest.approx((-exact, exact), rel=0.5)
    assert gap.error > 0
    ratio = measured.ratio("yes", **PAIR)
    if value:
        assert ratio.low < 0.95 < 1.05 < ratio.high
    else:
        assert "no events of a nor of b" in ratio.invalid


def test_agreeing_items_leave_room_for_a_disagreeing_one(of_rows: Make) -> None:
    """Give both groups of every item the same answer: no spread, but no certainty either."""
    rows = [{"item": item, "group": group, "yes": item % 2 == 0} for item in range(100) for group in "ab"]
    gap, ratio = of_rows(rows).difference("yes", **PAIR), of_rows(rows).ratio("yes", **PAIR)
    unseen = 1 - 0.025 ** (1 / 100)
    assert (gap.low, gap.high) == pytest.approx((-unseen, unseen))
    assert (ratio.low, ratio.high) == pytest.approx(((1 - unseen) / (1 + unseen), (1 + unseen) / (1 - unseen)))


def test_equal_scores_are_invalid_without_a_known_range(of_rows: Make) -> None:
    rows = [{"item": item, "group": group, "score": 7} for item in range(30) for group in "ab"]
    assert "no variation" in of_rows(rows).mean("score").invalid
    assert "no variation" in of_rows(rows).difference("score", **PAIR).invalid
    bounded = of_rows(rows, extremes={"score": lambda _: (1, 10)}).mean("score")
    assert bounded.low < 7 < bounded.high
