"""Differences between two runs, from what is left of their estimates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.run_differences import TAIL, Difference, ReportedEstimate, change_in_gap, difference
from tests.helpers.examples import examples

Floats = npt.NDArray[np.float64]


def reported(estimate: Estimate) -> ReportedEstimate:
    """Return an estimate as a store keeps it."""
    assert estimate.breakdown is not None
    made_of = estimate.breakdown()
    log = made_of.log
    value, low, high = (math.log(end) if log else end for end in (estimate.value, estimate.low, estimate.high))
    error = estimate.error / estimate.value if log else estimate.error
    ungraded = sum(estimate.ungraded.values())
    return ReportedEstimate(value, low, high, log=log, influences=made_of.influences, error=error, ungraded=ungraded)


def measured(values: Floats) -> Measured:
    """Return a sample of shape (items, groups, repetitions); the groups are a and b, nan is ungraded."""
    rows = [
        {"item": item, "group": "ab"[group], "yes": None if math.isnan(value) else value}
        for (item, group, _), value in np.ndenumerate(values)
    ]
    return Measured.from_rows(rows, item="item", groups=["group"])


def drawn(generator: np.random.Generator, chances: Floats, *, repetitions: int = 3) -> Floats:
    """Draw yes with these chances, of shape (items, groups)."""
    return (generator.random((*chances.shape, repetitions)) < chances[..., None]).astype(np.float64)


def difference_of(new: ReportedEstimate, old: ReportedEstimate) -> Difference:
    result = difference(new, old)
    assert result is not None
    return result


def of(value: float, error: float, names: range = range(100), *, seed: int = 0) -> ReportedEstimate:
    """Return an estimate with that error, made by these items, and a normal interval."""
    raw = np.random.default_rng(seed).normal(size=len(names))
    scaled = raw * error / math.sqrt(float(np.square(raw).sum()))
    influences = {str(name): float(value) for name, value in zip(names, scaled, strict=True)}
    return ReportedEstimate(value, value - 1.96 * error, value + 1.96 * error, influences=influences, error=error)


def test_paired_difference_of_rates_is_the_paired_t_test() -> None:
    generator = np.random.default_rng(1)
    chances = generator.beta(2, 2, (80, 2))
    old, new = (drawn(generator, chances) for _ in range(2))
    ours = difference_of(*(reported(measured(values).rate("yes")) for values in (new, old)))
    test = stats.ttest_rel(new.mean(axis=(1, 2)), old.mean(axis=(1, 2)))
    theirs = test.confidence_interval(0.95)
    assert ours.paired
    assert ours.value == pytest.approx(float(new.mean() - old.mean()))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.002)
    assert ours.p_value == pytest.approx(float(test.pvalue), abs=0.01)


def test_intervals_are_combined_without_influences() -> None:
    new, old = ReportedEstimate(0.7, 0.6, 0.75), ReportedEstimate(0.5, 0.42, 0.62)
    result = difference_of(new, old)
    assert not result.paired
    assert result.low == pytest.approx(0.2 - math.hypot(0.1, 0.12))
    assert result.high == pytest.approx(0.2 + math.hypot(0.05, 0.08))


def test_other_confidence_is_converted_to_95_percent() -> None:
    narrow, wide = (
        ReportedEstimate(0.7, 0.6, 0.8),
        ReportedEstimate(0.7, 0.7 - 0.1 * 2.5758 / 1.96, 0.7 + 0.1 * 2.5758 / 1.96, 0.99),
    )
    assert difference_of(wide, narrow).low == pytest.approx(difference_of(narrow, narrow).low, abs=1e-4)


def test_difference_of_two_ratios_is_a_factor() -> None:
    new = ReportedEstimate(math.log(0.6), math.log(0.5), math.log(0.72), log=True)
    old = ReportedEstimate(math.log(0.8), math.log(0.7), math.log(0.9), log=True)
    result = difference_of(new, old)
    assert result.value == pytest.approx(0.75)
    assert result.low < 0.75 < result.high < 1


def test_same_answers_have_no_difference_and_no_interval() -> None:
    old = of(0.5, 0.05)
    assert difference_of(old, old) == Difference(0.0, 0.0, 0.0, 1.0, paired=True, same=True)
    assert not difference_of(replace(old, value=0.6), old).same, "each item moved as far, which is no small thing"
    assert difference_of(replace(old, value=0.6), old).high > 0.6 - 0.5


def test_mostly_different_items_are_independent() -> None:
    old = of(0.5, 0.05, range(100))
    assert difference_of(of(0.6, 0.05, range(30, 130), seed=1), old).paired
    assert not difference_of(of(0.6, 0.05, range(40, 140), seed=1), old).paired


def test_variance_not_explained_by_items_is_added() -> None:
    old, new = of(0.5, 0.05), of(0.6, 0.05, seed=1)
    crossed = [replace(estimate, error=0.1) for estimate in (new, old)]
    wide, narrow = difference_of(*crossed), difference_of(new, old)
    assert wide.paired
    assert (wide.high - wide.value) ** 2 > (narrow.high - narrow.value) ** 2 + 2 * (0.1**2 - 0.05**2) * 1.96**2 * 0.99


def test_ungraded_answers_can_only_remove_a_difference() -> None:
    generator = np.random.default_rng(3)
    chances = generator.beta(4, 4, (100, 2))
    old, new = drawn(generator, chances), drawn(generator, np.minimum(1.2 * chances, 1))
    whole = difference_of(*(reported(measured(values).rate("yes")) for values in (new, old)))
    assert whole.low > 0
    refused = np.where((generator.random(old.shape) < 0.15) & (old == 0), np.nan, old)
    lost = difference_of(reported(measured(new).rate("yes")), reported(measured(refused).rate("yes")))
    filled = difference_of(
        reported(measured(new).rate("yes")), reported(measured(np.nan_to_num(refused, nan=1.0)).rate("yes"))
    )
    assert lost.low < filled.low + 0.005, "as wide as if all of them had been yes"
    assert lost.p_value > whole.p_value


def test_ungraded_margins_are_beyond_the_sampling_error() -> None:
    estimate = of(0.5, 0.05)
    lower = replace(estimate, low=estimate.low - 0.1, ungraded=5)
    assert lower.ungraded_margins == pytest.approx((0.1, 0.0), abs=1e-4)
    assert replace(estimate, high=estimate.high + 0.1, ungraded=5).ungraded_margins == pytest.approx((0, 0.1), abs=1e-4)
    assert replace(lower, ungraded=0).ungraded_margins == (0.0, 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_infinite_and_nan_values_have_no_difference(value: float) -> None:
    assert difference(ReportedEstimate(value, value, value), ReportedEstimate(0.5, 0.4, 0.6)) is None
    assert change_in_gap(ReportedEstimate(value, value, value), ReportedEstimate(0.5, 0.4, 0.6), 0.0) == (0, 1.0)


ESTIMATES = st.builds(
    of, st.floats(-2, 2), st.floats(0.01, 0.5), st.just(range(40)), seed=st.integers(0, 50)
)  # fmt: skip


@given(ESTIMATES, ESTIMATES, st.booleans())
@examples(200)
def test_interval_excludes_zero_exactly_when_p_is_small(
    new: ReportedEstimate, old: ReportedEstimate, alone: bool
) -> None:
    if alone:
        new, old = replace(new, influences={}), replace(old, influences={})
    result = difference_of(new, old)
    if result.same:
        return
    assert result.low <= result.value <= result.high
    if abs(result.p_value - 2 * TAIL) > 1e-9:
        assert (result.low > 0 or result.high < 0) == (result.p_value < 2 * TAIL)


@given(ESTIMATES, ESTIMATES)
@examples(100)
def test_swapped_runs_negate_the_difference(new: ReportedEstimate, old: ReportedEstimate) -> None:
    one, other = difference_of(new, old), difference_of(old, new)
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))
    assert one.p_value == pytest.approx(other.p_value)


@pytest.mark.parametrize(
    ("new", "old", "side", "sure"),
    [
        (0.5, 0.2, 1, True),
        (-0.5, 0.2, 1, True),
        (0.2, -0.5, -1, True),
        (0.2, 0.21, -1, False),
        (-0.2, 0.2, 0, False),
        (0.2, 0.0, 1, True),
    ],
)
def test_distance_from_parity_is_compared_on_either_side(new: float, old: float, side: int, *, sure: bool) -> None:
    found_side, p_value = change_in_gap(of(new, 0.03), of(old, 0.03, seed=1), 0.0)
    assert found_side == side
    assert (p_value < 0.05) is sure
    if side:
        moved_side, moved_p = change_in_gap(of(1 + new, 0.03), of(1 + old, 0.03, seed=1), 1.0)
        assert (moved_side, round(moved_p, 6)) == (side, round(p_value, 6))


def test_intervals_cover_the_truth_and_pairing_narrows_them() -> None:
    """Check a part of the grid of tests/benchmarks/differences.py."""
    generator = np.random.default_rng(5)
    covered = narrower = claims = 0
    runs = 400
    for _ in range(runs):
        shared = generator.normal(0, 0.06, 100)
        own = [shared + generator.normal(0, 0.03, 100) for _ in range(2)]
        pair = [_of_items(items) for items in own]
        result = difference_of(pair[0], pair[1])
        alone = difference_of(*(replace(estimate, influences={}) for estimate in pair))
        covered += result.low <= 0 <= result.high
        narrower += result.high - result.low < alone.high - alone.low
        side, p_value = change_in_gap(pair[0], pair[1], 0.0)
        claims += side != 0 and p_value < 0.05
    assert 0.925 <= covered / runs <= 0.975
    assert narrower == runs
    assert claims / runs <= 0.05


def _of_items(values: Floats) -> ReportedEstimate:
    """Return the mean of one number per item."""
    count = len(values)
    mean = float(values.mean())
    influences = (values - mean) / math.sqrt(count * (count - 1))
    error = math.sqrt(float(np.square(influences).sum()))
    reach = 1.984 * error
    return ReportedEstimate(mean, mean - reach, mean + reach, influences=dict(enumerate(influences)), error=error)  # type: ignore[arg-type]
