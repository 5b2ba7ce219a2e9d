"""The limit of an undecided estimate: advice that a larger sample would bear out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.limits import Limit, LimitKind, SampleChange
from pytest_fairness.core.messages import limit_text
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.limits import find_limit, stays_open, with_limit
from pytest_fairness.stats.measured import Measured

RATING = (3.6, 0.05)
CEILING = (4.8, 0.05)
UNLIKE_NAMES = (3.6, 0.6)


def difference(seed: int, items: int, names: int, kind: tuple[float, float]) -> Estimate:
    """Return the difference of ratings from 1 to 5 of two groups that are alike, about items with two names a group.

    Args:
        seed: Of the random numbers.
        items: The number of items.
        names: The number of names of each group.
        kind: The mean rating, and the standard deviation of the effects of names.
    """
    rng = np.random.default_rng([seed, items, names])
    rows = [(i, g, n) for i in range(items) for g in (0, 1) for n in rng.choice(names, 2, replace=False)]
    item, group, name = map(np.array, zip(*rows, strict=True))
    mean, spread = kind
    effects = rng.normal(0, spread, (2, names))
    effects -= effects.mean(axis=1, keepdims=True)
    scores = mean + rng.normal(0, 0.4, items)[item] + effects[group, name] + rng.normal(0, 0.6, len(item))
    ratings = (np.clip(np.round(scores), 1, 5) - 1) / 4
    attributes = {
        "group": ["ab"[g] for g in group],
        "name": [f"{'ab'[g]}{n}" for g, n in zip(group, name, strict=True)],
    }
    columns = Columns.from_arrays(item.tolist(), {"score": ratings}, attributes, crossed="name")
    return Measured.from_columns(columns).difference("score", by="group", of="a", to="b")


def is_inside(estimate: Estimate, bound: float) -> bool:
    return -bound <= estimate.low and estimate.high <= bound


@pytest.mark.parametrize("kind", [RATING, CEILING, UNLIKE_NAMES])
@pytest.mark.parametrize("names", [5, 8, 16])
@pytest.mark.parametrize("seed", range(3))
def test_items_are_advised_only_where_more_of_them_narrow_the_interval(
    seed: int, names: int, kind: tuple[float, float]
) -> None:
    """Regression: 417 items were advised where 8 names set the interval, and 1,743 after following that."""
    small, large = difference(seed, 40, names, kind), difference(seed, 400, names, kind)
    for bound in (0.05, 0.125):
        limit = find_limit(small, [-bound, bound])
        if is_inside(small, bound) or limit is None or limit.kind != LimitKind.SIZE:
            continue
        assert limit.needs is not None
        assert limit.needs > 400 or (large.high - large.low) / 2 <= 1.3 * bound


@pytest.mark.parametrize("names", [5, 8, 16])
def test_few_names_are_the_limit_with_the_number_that_helps(names: int) -> None:
    estimate = difference(1, 120, names, CEILING)
    limit = find_limit(estimate, [-0.125, 0.125])
    assert limit is not None
    assert (limit.kind, limit.unit, limit.has) == (LimitKind.LEVELS, "values of name in each group", names)
    assert limit.needs is not None
    assert sum(is_inside(difference(seed, 120, limit.needs, CEILING), 0.125) for seed in range(2, 7)) >= 3
    assert stays_open(estimate, [-0.125, 0.125], 0.025, grows=True)
    assert stays_open(estimate, [-0.125, 0.125], 0.025, grows=False)


def test_projection_to_the_same_sample_is_its_interval() -> None:
    for names in (5, 16, 30):
        estimate = difference(1, 40, names, RATING)
        assert estimate.projection is not None
        low, high, error = estimate.projection(0.025, SampleChange())
        assert (low, high, error) == pytest.approx((estimate.low, estimate.high, estimate.error))


def test_limit_of_a_size_is_that_of_its_gap() -> None:
    gap = difference(1, 120, 8, CEILING)
    assert find_limit(abs(gap), [0.125]) == find_limit(gap, [-0.125, 0.125])
    assert find_limit(-gap, [-0.125, 0.125]) == find_limit(gap, [-0.125, 0.125])


def test_few_events_need_as_many_items_as_make_enough() -> None:
    rows = [{"item": n, "sex": sex, "hired": n < events} for n in range(60) for sex, events in (("f", 2), ("m", 2))]
    ratio = Measured.from_rows(rows, item="item", groups=["sex"]).ratio("hired", by="sex", of="f", to="m")
    limit = find_limit(ratio, [0.01])
    assert "fewer than 5 effective events" in ratio.sparse
    assert limit is not None
    assert limit.needs == pytest.approx(60 * 6.7 / 2, abs=3)


@pytest.mark.parametrize("metric", ["ratio", "odds_ratio", "difference"])
@pytest.mark.parametrize("half", [6, 8])
def test_agreeing_pairs_of_few_items_need_more_items(metric: str, half: int) -> None:
    """Regression: of a model that answers both groups alike it was said that 1,000 times as many items do not help."""

    def estimate(half: int) -> Estimate:
        items = np.repeat(np.arange(2 * half), 4)
        groups = ["a", "b"] * (4 * half)
        columns = Columns.from_arrays(items.tolist(), {"ok": (items < half).astype(float)}, {"group": groups})
        return getattr(Measured.from_columns(columns), metric)("ok", by="group", of="a", to="b")  # type: ignore[no-any-return]

    bounds = [-0.1, 0.1] if metric == "difference" else [0.8, 1.25]
    limit = find_limit(estimate(half), bounds)
    assert limit is not None
    assert (limit.kind, limit.unit, limit.has) == (LimitKind.SIZE, "items", 2 * half)
    assert limit.needs is not None
    enough = estimate(math.ceil(limit.needs / 2))
    assert bounds[0] <= enough.low <= enough.high <= bounds[1]
    small = estimate(half)
    assert small.projection is not None
    widths = [
        high - low
        for low, high, _ in (small.projection(0.025, SampleChange(times)) for times in (1, 2, 5, 20, 100, 1000))
    ]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("method", ["ratio", "odds_ratio"])
def test_group_without_events_has_a_number(method: str) -> None:
    """Regression: the projection of a ratio with a rate of zero ended in a math domain error, of few events beside."""
    rows = [{"item": n, "sex": "fm"[n % 2], "hired": n == 1} for n in range(40)]
    estimate = getattr(Measured.from_rows(rows, item="item", groups=["sex"]), method)("hired", by="sex", of="f", to="m")
    for bounds in ([0.8, 1.25], [0.05]):
        limit = find_limit(estimate, bounds)
        assert limit is not None
        assert limit.needs is None or limit.needs > 40


def agreeing(items: int, names: int) -> Measured:
    """Return answers that are all yes, about items with one of so many names of each group."""
    rows = [
        {"item": n, "sex": sex, "name": f"{sex}{(n * step) % names}", "hired": True}
        for n in range(items)
        for sex, step in (("f", 1), ("m", 5))
    ]
    return Measured.from_rows(rows, item="item", groups=["sex", "name"], crossed="name", extremes={"hired": (0, 1)})


@pytest.mark.parametrize("metric", ["rate", "difference"])
def test_names_are_the_limit_where_all_answers_agree(metric: str) -> None:
    """Regression: 1,835 items were advised, then 9,175 and 30,581, where an unseen share of 6 names decides."""

    def measure(items: int, names: int) -> Estimate:
        measured = agreeing(items, names)
        return measured.rate("hired") if metric == "rate" else measured.difference("hired", by="sex", of="f", to="m")

    low = measure(60, 6).low
    assert measure(600, 6).low == pytest.approx(low)
    bound = 0.99 if metric == "rate" else -0.05
    limit = find_limit(measure(60, 6), [bound])
    assert limit is not None
    assert limit.kind == LimitKind.LEVELS
    assert limit.needs is not None
    assert measure(limit.items or 60, limit.needs).low >= bound - 0.001
    assert (limit.items or 0) <= limit.needs + 1  # of names that differ in each item, no more are needed


def test_estimate_on_its_bound_has_no_number() -> None:
    estimate = Estimate("mean", "mean", value=0.5, low=0.4, high=0.6, error=0.05, df=30, items=31)
    assert find_limit(estimate, [0.5]) == Limit(kind=LimitKind.BOUND, unit="items", has=31)
    assert find_limit(estimate, []) is None
    assert find_limit(Estimate("mean", "mean", value=math.nan, low=0, high=1, invalid="none"), [0.5]) is None


def test_later_run_is_the_limit_where_a_first_one_would_decide() -> None:
    rows = [{"item": n, "yes": n % 2} for n in range(100)]
    first, later = (Measured.from_rows(rows, item="item", groups=[], confidence=level) for level in (0.955, 0.9999))

    def threshold() -> None:
        assert later.rate("yes") <= 0.62

    judgment = judge(threshold)
    assert first.rate("yes").decide("<=", 0.62).value == "fair"
    for first_tail, kind in ((0.0225, LimitKind.RUNS), (None, LimitKind.SIZE)):
        limit = with_limit(judgment, first_tail=first_tail).limit
        assert limit is not None
        assert (limit.kind, limit.has) == (kind, 100)
        assert limit_text(limit).startswith("a first run") is (kind == LimitKind.RUNS)
