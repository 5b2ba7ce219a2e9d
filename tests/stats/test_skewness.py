"""Ends that move with the skewness of an error: never back, and never by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.stats.columns import Clustering
from pytest_fairness.stats.intervals import ratio_interval
from pytest_fairness.stats.skewness import Skew, log_ratio_skew, mean_skew
from pytest_fairness.stats.sums import Part


@given(
    st.lists(st.floats(-1, 1), min_size=5, max_size=20).filter(lambda each: np.ptp(each) > 0.01),
    st.floats(0.01, 10),
    st.floats(1.0001, 3),
)
def test_a_larger_quantile_never_reaches_less_far(deviations: list[float], quantile: float, more: float) -> None:
    array = np.array(deviations)
    error = float(np.sqrt(np.square(array).sum()))
    for skew in (mean_skew(array), log_ratio_skew(array, 0 * array), log_ratio_skew(array / 2, -array / 2)):
        near, far = skew.reaches(quantile, error), skew.reaches(more * quantile, error)
        assert far[0] >= near[0] - 1e-12
        assert far[1] >= near[1] - 1e-12
        assert min(near) >= 0


def test_the_longer_side_moves_by_the_whole_shift_and_the_other_by_half() -> None:
    below, above = Skew(0.1, 0.2).reaches(2.0, 1.0)
    assert (below, above) == pytest.approx((2 - 0.9 / 2, 2 + 0.9))
    assert Skew(-0.1, -0.2).reaches(2.0, 1.0) == pytest.approx((above, below))


def part(events: int, attempts: int, every: int = 1) -> Part:
    """Ten items of as many attempts; the first item has all events, or each n-th attempt is one."""
    places = np.arange(attempts)
    values = (places % every == 0) & (places // every < events)
    return Part(values.astype(np.float64), [Clustering(places * 10 // attempts, 10)], (0.0, 1.0))


def test_events_of_one_item_alone_leave_none_without_it() -> None:
    """Sums of whole numbers are exact; the mean times the count need not be (7 events of 100)."""
    for attempts in range(100, 400, 10):
        for events in range(1, 8):
            found = part(events, attempts)
            assert found.log_deviations[0] == pytest.approx(found.deviations[0] / found.value)


def test_an_end_beyond_what_a_float_holds_is_infinite() -> None:
    low, high = ratio_interval(part(5, 50), part(6, 50, every=8), 1e-200)
    assert low == 0
    assert high == np.inf
