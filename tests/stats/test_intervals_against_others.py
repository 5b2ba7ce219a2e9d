"""The same numbers as statsmodels and scipy, where they compute the same thing."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.quantiles import exact_ends, jeffreys_ends, t_quantile, t_tail

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]


@pytest.fixture(scope="module")
def regression() -> Callable[..., Any]:
    """Return a function that fits least squares with errors by cluster."""
    api = import_module("statsmodels.api")

    def fitted(values: list[float], columns: Any, clusters: list[int]) -> Any:
        return api.OLS(np.asarray(values, dtype=float), columns).fit(
            cov_type="cluster", cov_kwds={"groups": np.asarray(clusters), "use_correction": False}
        )

    return fitted


def scores(sizes: list[int], seed: int = 1) -> Rows:
    generator = np.random.default_rng(seed)
    return [
        {"item": item, "group": "ab"[number % 2], "score": generator.normal(item % 5, 1.0)}
        for item, size in enumerate(sizes)
        for number in range(size)
    ]


@pytest.mark.slow
def test_error_of_a_mean_is_cluster_robust(of_rows: Make, regression: Callable[..., Any]) -> None:
    rows = scores([6] * 40)
    estimate = of_rows(rows).mean("score")
    fit = regression([row["score"] for row in rows], np.ones((len(rows), 1)), [row["item"] for row in rows])
    assert estimate.value == pytest.approx(fit.params[0])
    assert estimate.error == pytest.approx(fit.bse[0] * math.sqrt(40 / 39))
    assert estimate.df == pytest.approx(39)
    reach = stats.t.ppf(0.975, 39) * estimate.error
    assert (estimate.low, estimate.high) == pytest.approx((estimate.value - reach, estimate.value + reach), rel=3e-3)


def test_error_of_a_difference_is_cluster_robust(of_rows: Make, regression: Callable[..., Any]) -> None:
    rows = scores([6] * 40)
    estimate = of_rows(rows).difference("score", by="group", of="a", to="b")
    columns = np.array([[1.0, row["group"] == "a"] for row in rows])
    fit = regression([row["score"] for row in rows], columns, [row["item"] for row in rows])
    assert estimate.value == pytest.approx(fit.params[1])
    assert estimate.error == pytest.approx(fit.bse[1] * math.sqrt(40 / 39))


def test_unequal_items_are_close_to_the_cluster_robust_error(of_rows: Make, regression: Callable[..., Any]) -> None:
    generator = np.random.default_rng(2)
    rows = scores(generator.integers(2, 10, 150).tolist())
    estimate = of_rows(rows).mean("score")
    fit = regression([row["score"] for row in rows], np.ones((len(rows), 1)), [row["item"] for row in rows])
    assert estimate.error == pytest.approx(fit.bse[0], rel=0.02)
    assert 90 < estimate.df < 149


def test_groups_of_different_items_have_the_welch_error(of_rows: Make) -> None:
    generator = np.random.default_rng(3)
    values = {"a": generator.normal(0, 1, 40), "b": generator.normal(0, 3, 25)}
    rows = [{"item": f"{g} {n}", "group": g, "score": v} for g in values for n, v in enumerate(values[g])]
    estimate = of_rows(rows).difference("score", by="group", of="a", to="b")
    welch = stats.ttest_ind(values["a"], values["b"], equal_var=False)
    assert estimate.value / estimate.error == pytest.approx(welch.statistic)
    assert estimate.df == pytest.approx(welch.df, rel=0.06)


def test_quantiles_match_scipy() -> None:
    assert t_quantile(0.025, 7.5) == pytest.approx(stats.t.isf(0.025, 7.5))
    assert t_tail(1.3, 12) == pytest.approx(stats.t.sf(1.3, 12))
    assert t_tail(1.3, math.inf) == pytest.approx(stats.norm.sf(1.3))
    for events, total in ((0, 30), (30, 30)):
        exact = stats.binomtest(events, total, alternative="less" if events == 0 else "greater").proportion_ci(0.975)
        assert jeffreys_ends(events / total, total, 0.025) == pytest.approx((exact.low, exact.high))
    for events in (0, 3, 30):
        both = stats.binomtest(events, 30).proportion_ci(0.95, method="exact")
        assert exact_ends(events / 30, 30, 0.025) == pytest.approx((both.low, both.high))
    assert jeffreys_ends(0.1, 30, 0.025) == pytest.approx(stats.beta.ppf([0.025, 0.975], 3.5, 27.5))


def test_log_ratio_of_independent_attempts_is_katz(of_rows: Make) -> None:
    yes, total = {"a": 300, "b": 360}, 1000
    rows = [{"item": f"{g} {n}", "group": g, "yes": n < yes[g]} for g in yes for n in range(total)]
    estimate = of_rows(rows).ratio("yes", by="group", of="a", to="b")
    error = math.sqrt(1 / 300 - 1 / 1000 + 1 / 360 - 1 / 1000)
    reach = stats.norm.isf(0.025) * error
    ends = math.exp(math.log(300 / 360) - reach), math.exp(math.log(300 / 360) + reach)
    assert (estimate.low, estimate.high) == pytest.approx(ends, rel=3e-3)


def test_correlation_of_independent_attempts_is_fisher(of_rows: Make) -> None:
    generator = np.random.default_rng(4)
    x = generator.normal(size=3000)
    y = 0.5 * x + generator.normal(size=3000)
    rows = [{"item": n, "group": "a", "x": 1000 + a, "y": b} for n, (a, b) in enumerate(zip(x, y, strict=True))]
    estimate = of_rows(rows).correlation("x", "y")
    correlation = stats.pearsonr(x, y)
    ends = correlation.confidence_interval(0.95)
    assert estimate.value == pytest.approx(correlation.statistic)
    assert (estimate.low, estimate.high) == pytest.approx((ends.low, ends.high), abs=3e-3)


def test_skewed_mean_has_the_johnson_interval(of_rows: Make) -> None:
    values = np.random.default_rng(8).gamma(20, size=60)
    estimate = of_rows([{"item": n, "group": "a", "score": value} for n, value in enumerate(values)]).mean("score")
    assert 0.2 < stats.skew(values) < 0.5
    quantile = stats.t.ppf(0.975, 59)
    error = values.std(ddof=1) / math.sqrt(60)
    third = stats.moment(values, 3) / (6 * values.var(ddof=1) * 60)
    shift = third * (1 + 2 * quantile**2)
    assert estimate.high == pytest.approx(values.mean() + quantile * error + shift, abs=0.01 * error)
    assert estimate.low == pytest.approx(values.mean() - quantile * error + shift / 2, abs=0.01 * error)


def test_long_tail_triples_the_reach_of_an_unseen_share(of_rows: Make) -> None:
    values = np.random.default_rng(5).lognormal(size=60)
    estimate = of_rows([{"item": n, "group": "a", "score": value} for n, value in enumerate(values)]).mean("score")
    unseen = 1 - 0.025 ** (1 / 60)
    assert estimate.high == pytest.approx(values.mean() + 3 * unseen * (values.max() - values.mean()), rel=0.02)


def test_higher_confidence_widens_the_interval(of_rows: Make, draw: Draw) -> None:
    rows = draw({"a": 0.4, "b": 0.5})
    widths = []
    for confidence in (0.8, 0.95, 0.99):
        estimate = of_rows(rows, confidence=confidence).ratio("yes", by="group", of="a", to="b")
        widths.append(estimate.high - estimate.low)
        assert estimate.confidence == confidence
    assert widths == sorted(widths)
