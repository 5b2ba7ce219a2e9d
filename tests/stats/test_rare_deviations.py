"""Exact ends of means of which nearly all clusters have one value."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.custom_metrics import Functional, linearize
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.quantiles import exact_ends, unseen_share
from pytest_fairness.stats.rare_deviations import RareDeviations, find_rare_deviations
from tests.benchmarks.near_perfect import KINDS, error_rates
from tests.helpers.examples import examples

TAIL = 0.025
MEAN = Functional(lambda s: s.x / s.n, ("x", "n"))
EXTREMES = [np.array([-1.0, 1.0]), np.array([1.0, 1.0])]
few = st.lists(st.sampled_from([-1.0, -0.25, 0.125, 0.25, 0.5, 1.0]), max_size=6)


def columns(values: Floats) -> tuple[Floats, Clustering]:
    return np.column_stack([values, np.ones(len(values))]), Clustering(np.arange(len(values)), len(values))


def rare(deviating: list[float], clusters: int = 66) -> RareDeviations:
    values, clustering = columns(np.array([*deviating, *[0.0] * (clusters - len(deviating))]))
    deviations = find_rare_deviations(MEAN, values, clustering, EXTREMES)
    assert deviations is not None
    return deviations


@pytest.mark.parametrize("clusters", [20, 66, 132])
@pytest.mark.parametrize("events", [0, 1, 2, 5])
@pytest.mark.parametrize("tail", [0.025, 1e-6])
def test_clusters_that_deviate_wholly_have_the_clopper_pearson_end(clusters: int, events: int, tail: float) -> None:
    high = rare([1.0] * events, clusters).ends(tail)[1]
    assert high == pytest.approx(exact_ends(events / clusters, clusters, tail)[1], rel=1e-9)


@examples(40)
@given(few, st.integers(0, 5), st.randoms(use_true_random=False))
def test_more_deviation_never_lowers_the_exact_end(deviating: list[float], index: int, random: Any) -> None:
    high = rare(deviating).ends(TAIL)[1]
    shuffled = deviating.copy()
    random.shuffle(shuffled)
    assert rare(shuffled).ends(TAIL)[1] == pytest.approx(high, rel=1e-9)
    # Weights of another number of clusters are drawn anew: a quantile has an error of about one in 100.
    assert rare([*deviating, 1.0]).ends(TAIL)[1] >= 0.97 * high
    if all(value > 0 for value in deviating):
        assert 0.97 * unseen_share(66, TAIL) <= high <= 1.03 * exact_ends(len(deviating) / 66, 66, TAIL)[1]
    if index < len(deviating):
        worse = deviating.copy()
        worse[index] = 1.0
        assert rare(worse).ends(TAIL)[1] >= 0.97 * high


@examples(40)
@given(few)
def test_exact_ends_mirror_and_widen_with_confidence(deviating: list[float]) -> None:
    ends = [rare(deviating).ends(tail) for tail in (0.4, 0.1, TAIL, 0.001, 1e-7)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert lower <= low <= 0 <= high <= higher <= 1
    low, high = rare([-value for value in deviating]).ends(TAIL)
    assert (low, high) == pytest.approx((-ends[2][1], -ends[2][0]), rel=0.05)


def metric(deviating: list[float], span: tuple[float, float] | None = (-1, 1)) -> Estimate:
    rows = [{"item": n, "x": value} for n, value in enumerate([*deviating, *[0.0] * (66 - len(deviating))])]
    measured = Measured.from_rows(rows, item="item", groups=[], extremes={"x": lambda _: (-1, 1)})
    return measured.metric(lambda s: s.x / s.n, span=span, x="x", n=lambda _: 1)


@examples(25)
@given(few.filter(lambda values: sum(map(abs, values)) > 0))
def test_interval_contains_the_linear_and_the_exact_one(deviating: list[float]) -> None:
    estimate = metric(deviating)
    values, clustering = columns(np.array([*deviating, *[0.0] * (66 - len(deviating))]))
    linear = linearize(MEAN, values, [clustering], (-1, 1))
    assert not estimate.sparse
    intervals = [linear.ends(TAIL), *([rare(deviating).ends(TAIL)] if linear.open else [])]
    assert estimate.low <= min(low for low, _ in intervals) + 1e-9
    assert estimate.high >= max(high for _, high in intervals) - 1e-9


@pytest.mark.parametrize("deviating", [[0.25], [0.25, 0.5], [1.0, 0.25, 0.25], [-0.25, 1.0]])
def test_few_sources_that_deviate_decide_a_mean(deviating: list[float]) -> None:
    """Regression: without a variance from three sources nothing was claimed of one that errs."""
    estimate = metric(deviating)
    assert estimate.sparse == ""
    assert abs(estimate).decide("<=", 0.15).value == "fair"
    assert abs(estimate).decide("<=", 0.03).value == "undecided"


@pytest.mark.parametrize("function", [lambda s: (s.x / s.n) ** 2, lambda s: s.x / s.n + (s.x / s.n) ** 2])
def test_metric_that_is_no_mean_has_no_exact_ends(function: Any) -> None:
    values, clustering = columns(np.array([0.5, 0.25, *[0.0] * 64]))
    assert find_rare_deviations(Functional(function, ("x", "n")), values, clustering, EXTREMES) is None
    assert find_rare_deviations(MEAN, *columns(np.linspace(0, 1, 20)), EXTREMES) is None


def test_sources_that_count_for_less_deviate_for_less() -> None:
    """Leave three of four answers of a source without weight: its only one is a quarter of a source."""
    values = np.column_stack([np.arange(80) == 0, ~np.isin(np.arange(80), [1, 2, 3])]).astype(float)
    deviations = find_rare_deviations(MEAN, values, Clustering(np.arange(80) // 4, 20), EXTREMES)
    assert deviations is not None
    assert deviations.distances.tolist() == [1.0, -1.0, 1.0]
    assert deviations.weights == pytest.approx([0.25, 1.0, 1.0])


@pytest.mark.parametrize("kind", ["all answers", "seldom all, else one", "both sides", "one of two answered"])
@pytest.mark.parametrize(("sources", "bound"), [(66, 0.15), (132, 0.05)])
def test_bias_on_its_bound_is_seldom_called_fair(kind: str, sources: int, bound: float) -> None:
    """Draw 200 samples on the bound; the benchmark has 20,000 of each, and at most 2.5% by the exact end."""
    assert max(error_rates(KINDS[kind], sources, bound, 200, 3)) <= 0.04


@given(st.integers(0, 2**32 - 1))
def test_metrics_that_are_no_means_cause_no_warning(seed: int) -> None:
    """Try odds and ratios whose cells are empty in nearly all sources: infinite on the way."""
    chance = np.random.default_rng(seed)
    values = np.zeros((40, 4))
    values[:, chance.integers(4)] = 1
    values[: chance.integers(1, 6)] = chance.integers(0, 3, size=4)
    ends = [np.array([0.0, 1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 1.0])]
    for metric in (
        lambda s: s.a * s.d / (s.b * s.c),
        lambda s: s.a / s.b,
        lambda s: s.a / (s.a + s.b) - s.c / (s.c + s.d),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            find_rare_deviations(Functional(metric, ("a", "b", "c", "d")), values, Clustering(np.arange(40), 40), ends)
