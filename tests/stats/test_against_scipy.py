"""The same numbers as scipy: relative risk, t tests, and its bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]
from scipy.stats.contingency import relative_risk  # type: ignore[import-untyped]

from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]

PAIR = {"by": "group", "of": "a", "to": "b"}


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_ratio_of_independent_rates_is_the_relative_risk(of_rows: Make, confidence: float) -> None:
    yes, attempts = {"a": 420, "b": 500}, {"a": 1500, "b": 1200}
    rows = [{"item": f"{g} {n}", "group": g, "yes": n < yes[g]} for g in yes for n in range(attempts[g])]
    ratio = of_rows(rows, confidence=confidence).ratio("yes", **PAIR)
    risk = relative_risk(yes["a"], attempts["a"], yes["b"], attempts["b"])
    ends = risk.confidence_interval(confidence)
    assert ratio.value == pytest.approx(risk.relative_risk, abs=1e-12)
    assert (ratio.low, ratio.high) == pytest.approx((ends.low, ends.high), rel=2e-3)


def jeffreys(yes: int, attempts: int) -> tuple[float, float]:
    """Return Jeffreys' 95% interval of a rate that is neither 0 nor 1."""
    low, high = stats.beta(yes + 0.5, attempts - yes + 0.5).ppf([0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize(("a", "b"), [(2, 30), (30, 2), (58, 30), (30, 58)])
def test_difference_of_disjoint_rates_holds_the_combined_intervals(of_rows: Make, a: int, b: int) -> None:
    """Against MOVER (Zou and Donner 2008), in which a rate near 0 or 1 has unequal sides."""
    (a_low, a_high), (b_low, b_high) = jeffreys(a, 60), jeffreys(b, 60)
    rows = [{"item": f"{g} {n}", "group": g, "yes": n < yes} for g, yes in (("a", a), ("b", b)) for n in range(60)]
    difference = of_rows(rows).difference("yes", **PAIR)
    assert difference.value == pytest.approx((a - b) / 60)
    assert difference.low <= (a - b) / 60 - math.hypot(a / 60 - a_low, b_high - b / 60) + 1e-12
    assert difference.high >= (a - b) / 60 + math.hypot(a_high - a / 60, b / 60 - b_low) - 1e-12


def symmetric(number: int, seed: int) -> Any:
    """Return numbers about 10 without skewness, for which the t interval is unchanged."""
    half = np.random.default_rng(seed).normal(size=number // 2)
    return 10 + np.concatenate([half, -half])


@pytest.mark.parametrize("number", [6, 30, 300])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_mean_of_independent_scores_is_a_t_test(of_rows: Make, number: int, confidence: float) -> None:
    values = symmetric(number, 7)
    rows = [{"item": n, "group": "a", "score": value} for n, value in enumerate(values)]
    mean = of_rows(rows, confidence=confidence).mean("score")
    test = stats.ttest_1samp(values, 0.0)
    ends = test.confidence_interval(confidence)
    assert mean.value == pytest.approx(values.mean(), abs=1e-12)
    assert mean.value / mean.error == pytest.approx(test.statistic, rel=1e-9)
    assert (mean.low, mean.high) == pytest.approx((ends.low, ends.high), abs=1e-9)


@pytest.mark.parametrize("number", [6, 30, 300])
def test_paired_difference_is_the_paired_t_test(of_rows: Make, number: int) -> None:
    """Give one score per item and group: only the items' differences vary."""
    level = 50 * np.random.default_rng(8).normal(size=number)
    gaps = symmetric(number, 9)
    scores = {"a": level + gaps, "b": level}
    rows = [{"item": n, "group": g, "score": v} for g in scores for n, v in enumerate(scores[g])]
    gap = of_rows(rows).difference("score", **PAIR)
    test = stats.ttest_rel(scores["a"], scores["b"])
    ends = test.confidence_interval(0.95)
    assert gap.value == pytest.approx((scores["a"] - scores["b"]).mean(), abs=1e-12)
    assert gap.value / gap.error == pytest.approx(test.statistic, rel=1e-9)
    assert gap.df == pytest.approx(test.df)
    assert (gap.low, gap.high) == pytest.approx((ends.low, ends.high), abs=1e-9)


def test_repeated_attempts_are_the_paired_t_test_of_their_means(of_rows: Make) -> None:
    """Repeat every item equally often: the reference is a t test over the items' means."""
    generator = np.random.default_rng(10)
    scores = generator.normal(generator.normal(0, 3, (40, 1, 1)), 1.0, (40, 2, 5))
    rows = [
        {"item": n, "group": "ab"[g], "score": score}
        for n, item in enumerate(scores)
        for g, group in enumerate(item)
        for score in group
    ]
    gap = of_rows(rows).difference("score", **PAIR)
    test = stats.ttest_rel(scores[:, 0].mean(axis=1), scores[:, 1].mean(axis=1))
    assert gap.value / gap.error == pytest.approx(test.statistic, rel=1e-9)
    assert gap.df == pytest.approx(test.df)


def test_correlation_of_independent_attempts_is_pearsons(of_rows: Make) -> None:
    generator = np.random.default_rng(11)
    x, y = generator.normal(size=(2, 80)).cumsum(axis=0)
    rows = [{"item": n, "group": "a", "x": a, "y": b} for n, (a, b) in enumerate(zip(x, y, strict=True))]
    measured = of_rows(rows)
    assert measured.correlation("x", "y").value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert measured.correlation("y", "x").value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_bootstrap_of_items_gives_similar_intervals(of_rows: Make, draw: Draw) -> None:
    """BCa over items, of the logarithm of a ratio and of a metric of one's own: within a tenth of the width."""
    rows = draw({"a": 0.4, "b": 0.5}, items=150, repetitions=4, seed=12)
    sums = np.zeros((150, 2))
    for row in rows:
        sums[row["item"], "ab".index(row["group"])] += row["yes"]

    def log_ratio(a: Any, b: Any, axis: int) -> Any:
        return np.log(a.sum(axis=axis) / b.sum(axis=axis))

    interval = stats.bootstrap(
        (sums[:, 0], sums[:, 1]), log_ratio, paired=True, n_resamples=2000, method="BCa", rng=np.random.default_rng(13)
    ).confidence_interval
    width = interval.high - interval.low

    def own(s: Any) -> Any:
        return np.log(s.a / s.b)

    measured = of_rows(rows)
    ratio = measured.ratio("yes", **PAIR)
    metric = measured.metric(
        own,
        a=lambda attempt: attempt["yes"] * (attempt.prompt.groups["group"] == "a"),
        b=lambda attempt: attempt["yes"] * (attempt.prompt.groups["group"] == "b"),
    )
    for low, high in ((math.log(ratio.low), math.log(ratio.high)), (metric.low, metric.high)):
        assert (low, high) == pytest.approx((interval.low, interval.high), abs=0.1 * width)
