"""Resamples of whole sources: the distribution that a plain loop gives, only faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats import resampling
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]

RATES = {"a": 0.4, "b": 0.5}


def ratio(s: Any) -> Any:
    return (s.yes_a / s.of_a) / (s.yes_b / s.of_b)


def mean(s: Any) -> Any:
    return s.total / s.number


SUMS: dict[str, Any] = {
    "yes_a": lambda a: a["yes"] * (a.prompt.groups["group"] == "a"),
    "of_a": lambda a: a.prompt.groups["group"] == "a",
    "yes_b": lambda a: a["yes"] * (a.prompt.groups["group"] == "b"),
    "of_b": lambda a: a.prompt.groups["group"] == "b",
}
SCORES: dict[str, Any] = {"total": "score", "number": lambda a: a["score"] * 0 + 1}


def scores(items: int = 40) -> Rows:
    generator = np.random.default_rng(5)
    ease = generator.normal(0, 1, items)
    return [
        {"item": item, "group": "a", "score": float(ease[item] + generator.normal())}
        for item in range(items)
        for _ in range(1 + item % 4)
    ]


def by_loop(rows: Rows, value: Callable[[Rows], float], draws: int = 2_000) -> list[float]:
    generator = np.random.default_rng(11)
    items: dict[Any, Rows] = {}
    for row in rows:
        items.setdefault(row["item"], []).append(row)
    every = list(items.values())
    return [
        value([row for item in generator.integers(len(every), size=len(every)) for row in every[item]])
        for _ in range(draws)
    ]


def ratio_of(rows: Rows) -> float:
    first, second = ([row["yes"] for row in rows if row["group"] == group] for group in RATES)
    return float(np.mean(first) / np.mean(second))


def test_ratio_is_distributed_as_in_a_plain_loop(draw: Draw, of_rows: Make) -> None:
    rows = draw(RATES, items=40, repetitions=2)
    values = of_rows(rows).resamples(ratio, **SUMS)
    assert values.shape == (10_000,)
    assert stats.ks_2samp(values, by_loop(rows, ratio_of)).pvalue > 0.01


def test_mean_of_many_values_is_distributed_as_in_a_plain_loop(of_rows: Make) -> None:
    rows = scores()
    values = of_rows(rows).resamples(mean, **SCORES)
    looped = by_loop(rows, lambda drawn: float(np.mean([row["score"] for row in drawn])))
    assert stats.ks_2samp(values, looped).pvalue > 0.01


def test_spread_of_resamples_is_the_error_of_the_metric(draw: Draw, of_rows: Make) -> None:
    measured = of_rows(draw(RATES, items=300))
    estimate = measured.metric(ratio, **SUMS)
    values = measured.resamples(ratio, **SUMS)
    assert values.std() == pytest.approx(estimate.error, rel=0.04)
    assert values.mean() == pytest.approx(estimate.value, abs=0.1 * estimate.error)


def test_sources_are_drawn_whole(of_rows: Make) -> None:
    # All items of a source answer alike: drawn by item they would seem to tell more.
    rows = [{"item": n, "source": f"s{n // 10}", "group": "a", "score": float(n // 10 % 3)} for n in range(200)]
    whole = of_rows(rows, source=True).resamples(mean, **SCORES)
    single = of_rows(rows).resamples(mean, **SCORES)
    assert whole.std() == pytest.approx(np.sqrt(10) * single.std(), rel=0.05)


def test_seed_gives_the_same_resamples_at_any_batch_size(
    draw: Draw, of_rows: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary, numbers = of_rows(draw(RATES)), of_rows(scores())

    def estimate(seed: int) -> list[float]:
        return [*binary.resamples(ratio, seed=seed, **SUMS), *numbers.resamples(mean, seed=seed, draws=1_001, **SCORES)]

    first = estimate(3)
    assert first != estimate(4)
    monkeypatch.setattr(resampling, "MOST_COUNTS", 1_000)
    assert estimate(3) == pytest.approx(first, rel=1e-12)


def test_ungraded_attempts_are_left_out(draw: Draw, of_rows: Make) -> None:
    rows = draw(RATES, refused={"a": 0.2})
    graded = [row for row in rows if row["yes"] is not None]
    assert len(graded) < len(rows)
    values = of_rows(rows).resamples(ratio, **SUMS)
    assert values == pytest.approx(of_rows(graded).resamples(ratio, **SUMS))


def test_slice_is_resampled_by_itself(draw: Draw, of_rows: Make) -> None:
    measured = of_rows(draw(RATES, items=200)).where(group="a")
    values = measured.resamples(lambda s: s.yes / s.number, yes="yes", number=lambda a: a["yes"] >= 0)
    assert values.mean() == pytest.approx(measured.rate("yes").value, abs=0.003)


def test_resample_without_a_value_is_nan(of_rows: Make) -> None:
    rows = [{"item": n, "group": group, "yes": group == "a" or n == 0} for n in range(30) for group in "ab"]
    values = of_rows(rows).resamples(ratio, **SUMS)
    # Item 0 alone has a yes in b: it is missing from (29/30)^30 of the resamples.
    assert np.isfinite(values).mean() == pytest.approx(1 - (29 / 30) ** 30, abs=0.02)


def test_invalid_resamples_are_refused(draw: Draw, of_rows: Make) -> None:
    rows = draw(RATES, items=10)
    measured = of_rows(rows)
    with pytest.raises(FairnessError, match="draws is 0: it must be a whole number of at least 1"):
        measured.resamples(ratio, draws=0, **SUMS)
    with pytest.raises(FairnessError, match="needs sums"):
        measured.resamples(ratio)
    crossed = [row | {"name": f"n{number % 4}"} for number, row in enumerate(rows)]
    with pytest.raises(FairnessError, match="no crossed factor"):
        Measured.from_rows(crossed, item="item", groups=["group"], crossed="name").resamples(ratio, **SUMS)
    with pytest.raises(FairnessError, match="only 4 independent items or sources"):
        of_rows(draw(RATES, items=4)).resamples(ratio, **SUMS)
    with pytest.raises(FairnessError, match="all 60 attempts are ungraded"):
        of_rows([row | {"yes": None} for row in rows]).resamples(mean, total="yes", number="yes")
