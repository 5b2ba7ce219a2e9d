"""p-values say exactly what the intervals say, and are spread evenly where there is nothing to find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest  # type: ignore[import-untyped]

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import OPERATORS, OPPOSITES, Decision
from pytest_fairness.core.estimates import Ends, Estimate
from pytest_fairness.core.significance import holm
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.pvalues import p_fair, p_unfair
from tests.helpers.examples import examples

GROUPS = ("a", "b", "c")


def rows(seed: int, items: int, rates: tuple[float, ...], lost: float = 0.0) -> list[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    shared = generator.random(items)
    return [
        {
            "item": item,
            "group": group,
            "yes": None if generator.random() < lost else float((shared[item] + generator.random()) / 2 < rate),
        }
        for item in range(items)
        for group, rate in zip(GROUPS, rates, strict=False)
        for _ in range(2)
    ]


def estimates(measured: Measured) -> list[Estimate]:
    return [
        measured.rate("yes"),
        measured.ratio("yes", by="group", of="a", to="b"),
        measured.difference("yes", by="group", of="a", to="b"),
        abs(measured.difference("yes", by="group", of="a", to="b")),
        -measured.rate("yes"),
        *(member for _, member in measured.ratios("yes", by="group").items()),
        measured.worst_ratio("yes", by="group"),
        measured.metric(lambda s: s.yes / s.all, span=(0, 1), yes="yes", all=lambda _: 1),
        measured.correlation("yes", lambda a: a["yes"] * 0.5 + a.item.id.endswith("1")),
    ]


@examples(25)
@given(
    seed=st.integers(0, 1000),
    items=st.integers(8, 60),
    rates=st.tuples(*[st.floats(0.2, 0.8)] * 3),
    lost=st.sampled_from([0.0, 0.02]),
    at=st.floats(-0.3, 1.4),
    op=st.sampled_from(["<", "<=", ">", ">="]),
    confidence=st.sampled_from([0.9, 0.95, 0.99]),
)
def test_p_values_are_significant_exactly_with_the_verdict(
    seed: int, items: int, rates: tuple[float, ...], lost: float, at: float, op: str, confidence: float
) -> None:
    measured = Measured.from_rows(rows(seed, items, rates, lost), item="item", groups=["group"], confidence=confidence)
    tail = (1 - confidence) / 2
    for estimate in estimates(measured):
        comparison = compare(estimate, op, at)
        against, within = p_unfair([comparison]), p_fair([comparison])
        if estimate.invalid:
            assert against is None
            continue
        assert against is not None
        if abs(against - tail) > 1e-6:
            assert (against <= tail) == (comparison.decision is Decision.FALSE), estimate.metric
        if within is not None and abs(within - tail) > 1e-6:
            assert (within <= tail) == (comparison.decision is Decision.TRUE), estimate.metric
        assert 0 < against <= 1


def by_halves(at: Ends, op: str, bound: float) -> float:
    """Return the smallest tail at which the claim against a comparison is made, from 1e-9 to 0.5."""
    holds, end = OPERATORS[OPPOSITES[op]], 0 if op[0] == "<" else 1
    low, high = 1e-9, 0.5
    for _ in range(40):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if holds(at(middle)[end], bound) else (middle, high)
    return high


@examples(10)
@given(
    seed=st.integers(0, 1000),
    items=st.integers(6, 60),
    rates=st.tuples(*[st.floats(0.05, 0.95)] * 3),
    away=st.floats(-6, 6),
    op=st.sampled_from(["<", "<=", ">", ">="]),
)
def test_p_values_match_those_found_by_halves(
    seed: int, items: int, rates: tuple[float, ...], away: float, op: str
) -> None:
    for estimate in estimates(Measured.from_rows(rows(seed, items, rates), item="item", groups=["group"])):
        if estimate.invalid or not np.isfinite(estimate.error):
            continue
        tails: list[float] = []
        counting = counted(estimate, tails)
        for bound in (estimate.value + away * estimate.error, 1.0):  # the second is often an end of the span
            tails.clear()
            p_value = p_unfair([compare(counting, op, bound)])
            assert p_value is not None
            assert len(tails) <= 50
            at = estimate.strict_at or estimate.ends_at
            if at is not None and 1e-9 < p_value < 0.5:
                assert p_value == pytest.approx(by_halves(at, op, bound), rel=1e-6), estimate.metric


def test_p_value_takes_a_dozen_intervals() -> None:
    measured = Measured.from_rows(rows(4, 60, (0.3, 0.5, 0.6)), item="item", groups=["group"])
    tails: list[float] = []
    ratio = counted(measured.ratio("yes", by="group", of="a", to="b"), tails)
    assert p_unfair([compare(ratio, ">=", 0.8)]) is not None
    assert 5 < len(tails) <= 15


def counted(estimate: Estimate, tails: list[float]) -> Estimate:
    """Return the estimate, which adds each tail at which its ends are asked for to a list."""

    def wrapped(at: Ends | None) -> Ends | None:
        def counting(tail: float) -> tuple[float, float]:
            assert at is not None
            tails.append(tail)
            return at(tail)

        return None if at is None else counting

    return replace(estimate, ends_at=wrapped(estimate.ends_at), strict_at=wrapped(estimate.strict_at))


def test_p_value_of_a_rate_is_the_exact_binomial() -> None:
    measured = Measured.from_rows([{"item": n, "yes": n % 10 < 3} for n in range(4000)], item="item", groups=[])
    p_value = p_unfair([compare(measured.rate("yes"), "<=", 0.28)])
    assert p_value == pytest.approx(binomtest(1200, 4000, 0.28, alternative="greater").pvalue, rel=1e-6)


@pytest.mark.slow
def test_small_p_values_are_rare_on_the_bound() -> None:
    generator = np.random.default_rng(7)
    item, group = np.repeat(np.arange(100), 4), np.tile(["a", "a", "b", "b"], 100).tolist()
    columns = Columns.from_arrays(item.tolist(), {}, {"group": group})
    p_values = []
    for _ in range(400):
        yes = (generator.random(100)[item] + generator.random(400)) / 2 < 0.5
        measured = Measured.from_columns(columns.regraded({"yes": yes.astype(float)}))
        p_values.append(p_unfair([compare(measured.ratio("yes", by="group", of="a", to="b"), ">=", 1.0)]))
    for share in (0.05, 0.2, 0.5):
        below = np.mean([p is not None and p <= share for p in p_values])
        assert abs(below - share) < 4 * (share * (1 - share) / 400) ** 0.5


def test_worse_of_two_bounds_counts() -> None:
    ratio = Measured.from_rows(rows(3, 80, (0.3, 0.6)), item="item", groups=["group"]).ratio(
        "yes", by="group", of="a", to="b"
    )
    both = [compare(ratio, ">=", 0.8), compare(ratio, "<=", 1.2)]
    singles = [p_unfair([one]) for one in both]
    assert p_unfair(both) == min(p for p in singles if p is not None)
    fair = [p_fair([one]) for one in both]
    assert p_fair(both) == max(p for p in fair if p is not None)


@examples(30)
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_matches_statsmodels(p_values: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-12)


@settings(deadline=None)
@given(p_values=st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_holm_never_reverses_an_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for first, one in zip(p_values, corrected, strict=True):
        assert one >= first
        for second, other in zip(p_values, corrected, strict=True):
            if first <= second:
                assert one <= other
