"""Properties of estimates in every sample: repetitions, slices, scale, sign and size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples
from tests.stats.test_properties import PAIR, Rows, ends, estimates_of, same, samples

Make = Callable[..., Measured]

quickly = examples(60)


def narrower(one: Estimate, other: Estimate) -> bool:
    """Return whether an interval, or the simultaneous one of a family, lies inside another, beyond rounding."""
    pairs = [(one.low, other.low), (other.high, one.high)]
    if one.strict_low is not None and other.strict_low is not None:
        pairs.append((one.strict_low, other.strict_low))
    if one.strict_high is not None and other.strict_high is not None:
        pairs.append((other.strict_high, one.strict_high))
    return any(inner > outer + 1e-9 * max(1.0, abs(outer)) for inner, outer in pairs if math.isfinite(inner))


@st.composite
def scores(draw: st.DrawFn) -> Rows:
    """Draw rows of two groups over 5 to 15 items, one number each; zeros and ones alone would be a rate."""
    number = st.integers(-50, 50)
    rows = [
        {"item": item, "group": group, "score": draw(number) / 7}
        for item in range(draw(st.integers(5, 15)))
        for group in "ab"
    ]
    assume(len({row["score"] for row in rows}) > 2)
    return rows


def paired(measured: Measured) -> list[Estimate]:
    """Return the estimates of two groups or more; a rate over all groups mixes several kinds of attempts."""
    family = measured.ratios("yes", by="group")
    return [
        measured.difference("yes", **PAIR),
        measured.ratio("yes", **PAIR),
        measured.worst_ratio("yes", by="group"),
        *(estimate for _, estimate in family.items()),
        *(measured.where(group=group).rate("yes") for group in "ab"),
        measured.metric(lambda s: s.yes / s.all, yes="yes", all=lambda attempt: 1 + 0 * attempt["yes"]),
    ]


@quickly
@given(samples(), st.integers(2, 4))
def test_equal_repetitions_add_no_precision(of_rows: Make, rows: Rows, times: int) -> None:
    """Ask each prompt once, or several times with the same answer."""
    single = list({(row["item"], row["group"]): row for row in rows}.values())
    for one, other in zip(paired(of_rows(single)), paired(of_rows(single * times)), strict=True):
        assert bool(one.invalid) == bool(other.invalid)
        if not one.invalid:
            assert other.value == pytest.approx(one.value)
            assert not narrower(other, one), (one, other)


@quickly
@given(samples(ungraded=True))
def test_slice_of_everything_is_the_sample(of_rows: Make, rows: Rows) -> None:
    measured = of_rows(rows)
    everything = measured.where(group=measured.groups("group"))
    assert (everything.items, everything.attempts) == (measured.items, measured.attempts)
    for one, other in zip(estimates_of(measured), estimates_of(everything), strict=True):
        same(one, other)
        assert (one.invalid, one.suspect, one.sparse) == (other.invalid, other.suspect, other.sparse)
        assert other.slice


@quickly
@given(samples(ungraded=True))
def test_slices_can_be_taken_in_any_order_and_twice(of_rows: Make, rows: Rows) -> None:
    whole = of_rows([row | {"group": row["group"]} for row in rows])
    once = whole.where(group="a")
    for other in (whole.where(group=("a", "b")).where(group="a"), once.where(group=("a", "b")), once.where(group="a")):
        same(once.rate("yes"), other.rate("yes"))


@quickly
@given(scores(), st.sampled_from([0.01, 3.0, 1000.0]), st.sampled_from([-10.0, 0.0, 500.0]))
def test_mean_is_scaled_and_shifted_with_its_scores(of_rows: Make, rows: Rows, scale: float, shift: float) -> None:
    """Scale interval and error with the unit of a score; shift only means, not differences."""
    moved = [row | {"score": scale * row["score"] + shift} for row in rows]
    one, other = of_rows(rows), of_rows(moved)
    mean, scaled = one.mean("score"), other.mean("score")
    assert bool(mean.invalid) == bool(scaled.invalid)
    assert (scaled.value, scaled.low, scaled.high) == pytest.approx(
        tuple(scale * end + shift for end in (mean.value, mean.low, mean.high)), rel=1e-6, abs=1e-6
    )
    gap, wider = one.difference("score", **PAIR), other.difference("score", **PAIR)
    assert bool(gap.invalid) == bool(wider.invalid)
    if not gap.invalid:
        expected = tuple(scale * end for end in (gap.value, gap.low, gap.high, gap.error))
        assert (wider.value, wider.low, wider.high, wider.error) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@quickly
@given(scores(), st.sampled_from([0.5, 3.0, 1000.0]))  # numbers from 0 to 1 alone are taken to have that span
def test_ratio_of_means_has_no_unit(of_rows: Make, rows: Rows, scale: float) -> None:
    positive = [row | {"score": row["score"] + 10} for row in rows]
    assume(len({row["score"] - rows[n - n % 2]["score"] for n, row in enumerate(rows)}) > 2)
    one = of_rows(positive).ratio("score", **PAIR)
    other = of_rows([row | {"score": scale * row["score"]} for row in positive]).ratio("score", **PAIR)
    assert bool(one.invalid) == bool(other.invalid)
    assert ends(one)[:3] == pytest.approx(ends(other)[:3], rel=1e-6, nan_ok=True)


def test_ratio_of_constant_means_has_no_unit(of_rows: Make) -> None:
    """Ten of ten points everywhere: nothing says how far another item could have been, as of a difference."""
    rows = [{"item": item, "group": group, "score": 10.0} for item in range(30) for group in "ab"]
    assert of_rows(rows).difference("score", **PAIR).invalid
    one = of_rows(rows).ratio("score", **PAIR)
    other = of_rows([row | {"score": 100.0} for row in rows]).ratio("score", **PAIR)
    assert bool(one.invalid) == bool(other.invalid)
    assert ends(one)[:3] == pytest.approx(ends(other)[:3], nan_ok=True)


@quickly
@given(scores())
def test_mean_of_negated_scores_is_negated(of_rows: Make, rows: Rows) -> None:
    one = -of_rows(rows).mean("score")
    other = of_rows([row | {"score": -row["score"]} for row in rows]).mean("score")
    assert bool(one.invalid) == bool(other.invalid)
    assert ends(one) == pytest.approx(ends(other), rel=1e-9, abs=1e-9, nan_ok=True)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    """Draw an estimate by its numbers, with or without the wider interval of a family."""
    end = st.floats(-3, 3).map(lambda x: round(x, 3))
    outer, low, value, high, beyond = sorted(draw(st.tuples(end, end, end, end, end)))
    strict = {"strict_low": outer, "strict_high": beyond} if draw(st.booleans()) else {}
    return Estimate("m", "m", value, low, high, error=(high - low) / 4, **strict)  # type: ignore[arg-type]


def all_ends(estimate: Estimate) -> tuple[Any, ...]:
    return estimate.value, estimate.low, estimate.high, estimate.strict_low, estimate.strict_high


@quickly
@given(estimates())
def test_double_negation_changes_nothing(estimate: Estimate) -> None:
    turned = -estimate
    assert all_ends(-turned) == all_ends(estimate)
    assert turned.error == estimate.error
    assert turned.low <= turned.value <= turned.high


@quickly
@given(estimates())
def test_absolute_value_is_idempotent_and_ignores_the_sign(estimate: Estimate) -> None:
    size = abs(estimate)
    assert all_ends(abs(-estimate)) == all_ends(size)
    assert all_ends(abs(size)) == all_ends(size)
    assert 0 <= size.low <= size.value <= size.high


@quickly
@given(estimates(), st.floats(0.01, 3))
def test_absolute_value_is_bounded_like_the_two_sided_claim(estimate: Estimate, bound: float) -> None:
    """``abs(gap) <= b`` and ``-b <= gap <= b`` are the same claim, decided the same way."""
    within = {estimate.decision("<=", bound), estimate.decision(">=", -bound)}
    size = abs(estimate).decision("<=", bound)
    if size.value == "true":
        assert {one.value for one in within} == {"true"}
    elif size.value == "undecided":
        assert "undecided" in {one.value for one in within}
    # A size can be surely too large although neither side is: both ends lie outside, on either side of the bounds.
    if "false" in {one.value for one in within}:
        assert size.value == "false"
