"""Looks: the error of all together is that of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.sequential import MOST_LOOKS, Spending, look_tails


def passed(tails: Sequence[float], information: Sequence[float]) -> float:
    """Return the probability that a truth is passed at one of the looks, by scipy's multivariate normal."""
    root = np.sqrt(np.array(information, dtype=float))
    correlation = np.minimum.outer(root, root) / np.maximum.outer(root, root)
    bounds = stats.norm.isf(tails)
    probability = stats.multivariate_normal.cdf(
        bounds, cov=correlation, abseps=1e-6, releps=1e-6, maxpts=500_000, rng=1
    )
    return 1 - float(probability)


def by_repetitions(looks: int, icc: float) -> list[float]:
    """Return the information of 2, 4, 6... answers per item with this intraclass correlation."""
    return [repetitions / (1 + (repetitions - 1) * icc) for repetitions in range(2, 2 * looks + 1, 2)]


def evenly(looks: int, tail: float, spending: Spending = Spending.LATE) -> tuple[float, ...]:
    return look_tails(range(1, looks + 1), tail, spending)


@pytest.mark.parametrize("spending", Spending)
def test_single_look_is_the_plain_interval(spending: Spending) -> None:
    assert look_tails([120], 0.025, spending) == (0.025,)


@pytest.mark.slow
@pytest.mark.parametrize("tail", [0.025, 0.001])
@pytest.mark.parametrize("information", [(1, 2), (10, 30, 45, 60), (100, 101, 300)])
def test_error_is_spent_with_the_information(information: Sequence[float], tail: float) -> None:
    for spending, of in ((Spending.LATE, lambda t: t**2), (Spending.EVEN, lambda t: math.log(1 + (math.e - 1) * t))):
        tails = look_tails(information, tail, spending)
        for repetitions in range(2, len(information) + 1):
            spent = tail * of(information[repetitions - 1] / information[-1])
            assert passed(tails[:repetitions], information[:repetitions]) == pytest.approx(spent, rel=5e-3)


@pytest.mark.parametrize("spending", Spending)
@pytest.mark.parametrize("looks", [5, 12, MOST_LOOKS])
def test_many_looks_err_no_more_than_one(looks: int, spending: Spending) -> None:
    generator = np.random.default_rng(looks)
    runs = 200_000
    steps = generator.standard_normal((runs, looks))
    z = np.cumsum(steps, axis=1) / np.sqrt(np.arange(1, looks + 1))
    out = np.maximum.accumulate(z > stats.norm.isf(evenly(looks, 0.025, spending)), axis=1).mean(axis=0)
    expected = 0.025 * np.array([spending.by(look / looks) for look in range(1, looks + 1)])
    assert np.all(np.abs(out - expected) < 4 * np.sqrt(expected / runs))
    uncorrected = (z > stats.norm.isf(0.025)).any(axis=1).mean()
    assert uncorrected > 2 * out[-1]


@pytest.mark.parametrize("looks", range(2, MOST_LOOKS + 1))
def test_tails_widen_and_cost_less_than_bonferroni(looks: int) -> None:
    tails = evenly(looks, 0.025)
    assert len(tails) == looks
    assert tails[0] == pytest.approx(0.025 / looks**2, rel=1e-12)
    assert all(earlier < later < 0.025 for earlier, later in pairwise(tails))
    assert sum(tails) > 0.025
    assert tails[-1] > 0.025 * (2 * looks - 1) / looks**2
    assert tails[-1] > 0.5 * 0.025


def test_further_look_takes_from_the_last_one() -> None:
    last = [evenly(looks, 0.025)[-1] for looks in range(1, MOST_LOOKS + 1)]
    assert last == sorted(last, reverse=True)


@pytest.mark.parametrize("looks", [5, 8])
def test_unfair_is_claimed_earlier_than_fair(looks: int) -> None:
    fair, unfair = (evenly(looks, 0.025, spending) for spending in (Spending.LATE, Spending.EVEN))
    assert unfair[0] > 5 * fair[0]
    assert unfair[-1] < fair[-1]


@pytest.mark.parametrize("icc", [0.1, 0.3, 0.8])
@pytest.mark.parametrize("looks", [2, 3, 4])
def test_smaller_looks_than_planned_err_less(looks: int, icc: float) -> None:
    error = passed(evenly(looks, 0.025), by_repetitions(looks, icc))
    assert 0.01 < error < 0.025


def test_larger_looks_than_planned_err_more() -> None:
    assert passed(evenly(3, 0.025), [1, 4, 9]) > 0.0255


def test_two_looks_agree_with_one_integral() -> None:
    """Integrate over the second value, which is normal given the first: mean x sqrt(1/2), variance 1/2."""
    first, second = evenly(2, 0.025)
    assert first == pytest.approx(0.00625)
    z1, z2 = stats.norm.isf(first), stats.norm.isf(second)

    def density(x: float) -> float:
        later = (z2 - x * math.sqrt(0.5)) / math.sqrt(0.5)
        return float(stats.norm.pdf(x) * stats.norm.sf(later))

    from scipy.integrate import quad  # type: ignore[import-untyped]

    assert quad(density, -10, z1, epsabs=1e-13)[0] == pytest.approx(0.025 * 3 / 4, rel=1e-9)


@pytest.mark.parametrize(
    ("information", "tail", "words"),
    [
        ((), 0.025, "there are 0 looks"),
        (range(1, 22), 0.025, "from 1 to 20"),
        ((1, 1), 0.025, "each must add some"),
        ((0, 1), 0.025, "each must add some"),
        ((1, math.nan), 0.025, "each must add some"),
        ((1, 2), 0.0, "tail is 0.0"),
        ((1, 2), 0.5, "between 0 and 0.5"),
        ((1, 2), math.nan, "tail is nan"),
    ],
)
def test_invalid_looks_are_refused(information: Sequence[float], tail: float, words: str) -> None:
    with pytest.raises(FairnessError, match=words):
        look_tails(information, tail)
