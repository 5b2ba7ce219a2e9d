"""Properties of every verdict: missing answers, families, looser bounds, more confidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples
from tests.helpers.verdicts import verdict
from tests.stats.test_properties import PAIR, Rows, ends, estimates_of, samples

Make = Callable[..., Measured]

quickly = examples(60)

BOUNDS = st.sampled_from([0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.95])


def claims(measured: Measured, bound: float) -> Mapping[str, Callable[[], bool]]:
    """Return threshold tests at one bound; a larger one is harder for the first three, easier for the others."""

    def own() -> Estimate:
        return measured.metric(lambda s: s.yes / s.all, yes="yes", all=lambda attempt: 1 + 0 * attempt["yes"])

    return {
        "rate": lambda: measured.rate("yes") >= bound,
        "family": lambda: measured.ratios("yes", by="group") >= bound,
        "worst": lambda: measured.worst_ratio("yes", by="group") >= bound,
        "few": lambda: measured.rate("yes") <= bound,
        "gap": lambda: abs(measured.difference("yes", **PAIR)) <= bound,
        "both sides": lambda: -bound <= measured.difference("yes", **PAIR) <= bound,
        "ratio": lambda: 1 / (1 + bound) <= measured.ratio("yes", **PAIR) <= 1 + bound,
        "own": lambda: own() <= bound,
    }


HARDER = {"rate", "family", "worst"}


@st.composite
def unanswered(draw: st.DrawFn) -> Rows:
    """Draw ungraded answers of one group or two, of items that there are and of others."""
    groups = draw(st.sampled_from([["a"], ["b"], ["a", "b"]]))
    first = draw(st.integers(0, 25))
    return [
        {"item": item, "group": group, "yes": None}
        for group in groups
        for item in range(first, first + draw(st.integers(1, 3)))
    ]


@quickly
@given(samples(ungraded=True), unanswered(), BOUNDS)
def test_ungraded_answers_turn_no_verdict_fair(of_rows: Make, rows: Rows, more: Rows, bound: float) -> None:
    after = claims(of_rows([*rows, *more]), bound)
    if fair := [name for name in after if verdict(after[name]) == "fair"]:
        before = claims(of_rows(rows), bound)
        assert [name for name in fair if verdict(before[name]) != "fair"] == []


@quickly
@given(samples(), unanswered())
def test_ungraded_answers_narrow_no_family_member(of_rows: Make, rows: Rows, more: Rows) -> None:
    one, other = (of_rows(sample_rows).ratios("yes", by="group", to="b") for sample_rows in (rows, [*rows, *more]))
    for name, after in other.items():
        before = one[name]
        assert after.invalid or not before.invalid
        if not after.invalid:
            assert after.low <= before.low + 1e-12
            assert after.high >= before.high - 1e-12
            assert simultaneous(after)[0] <= simultaneous(before)[0] + 1e-12
            assert simultaneous(after)[1] >= simultaneous(before)[1] - 1e-12


def simultaneous(estimate: Estimate) -> tuple[float, float]:
    assert estimate.strict_low is not None
    assert estimate.strict_high is not None
    return estimate.strict_low, estimate.strict_high


def test_second_ungraded_answer_turns_no_verdict_fair(of_rows: Make) -> None:
    """Nine items of two attempts a group; all agree if the one ungraded answer is a yes."""
    alike = {0: (0, 0), 1: (0, 1), 2: (0, 1), 3: (0, 1), 4: (0, 1), 5: (1, 1), 6: (1, 1), 7: (0, 0), 8: (0, 0)}
    rows = [{"item": item, "group": g, "yes": bool(yes)} for item, pair in alike.items() for g in "ab" for yes in pair]
    first = next(row for row in rows if row["item"] == 6 and row["group"] == "a")
    first["yes"] = None
    more = [{"item": 7, "group": "b", "yes": None}]
    one, other = of_rows(rows), of_rows([*rows, *more])
    assert verdict(lambda: one.difference("yes", **PAIR) <= 0.2) == "undecided"
    assert not other.difference("yes", **PAIR).suspect
    assert verdict(lambda: other.difference("yes", **PAIR) <= 0.2) == "undecided"


@quickly
@given(samples(), st.integers(0, 1000))
def test_withheld_answer_never_helps(of_rows: Make, rows: Rows, index: int) -> None:
    """Withhold one answer: the interval must hold the original one, whose answer is among the imputations."""
    index %= len(rows)
    withheld = of_rows([row | ({"yes": None} if n == index else {}) for n, row in enumerate(rows)])
    for one, other in zip(estimates_of(of_rows(rows))[:3], estimates_of(withheld)[:3], strict=True):
        assert other.invalid or not one.invalid
        if not other.invalid:
            assert other.low <= one.low + 1e-12
            assert other.high >= one.high - 1e-12


@quickly
@given(samples(ungraded=True), BOUNDS, st.sampled_from([None, "a", "b"]))
def test_family_is_fair_exactly_if_each_member_is(of_rows: Make, rows: Rows, bound: float, to: str | None) -> None:
    measured = of_rows(rows)

    def family() -> EstimateFamily:
        return measured.ratios("yes", by="group", to=to)

    apart = [verdict(lambda name=name: family()[name] >= bound) for name in family()]  # type: ignore[misc]
    together = verdict(lambda: family() >= bound)
    assert (together == "fair") == (set(apart) == {"fair"})
    assert (together == "unfair") == ("unfair" in apart)
    assert together in apart


@quickly
@given(samples(ungraded=True), BOUNDS)
def test_worst_ratio_agrees_with_its_family(of_rows: Make, rows: Rows, bound: float) -> None:
    measured = of_rows(rows)
    worst = verdict(lambda: measured.worst_ratio("yes", by="group") >= bound)
    family = verdict(lambda: measured.ratios("yes", by="group") >= bound)
    assert (worst == "fair") == (family == "fair")
    assert (worst == "unfair") == (family == "unfair")


@pytest.mark.slow
@quickly
@given(samples(ungraded=True), BOUNDS, BOUNDS)
def test_fair_stays_fair_under_a_looser_bound(of_rows: Make, rows: Rows, one: float, other: float) -> None:
    low, high = sorted((one, other))
    measured = of_rows(rows)
    at_low, at_high = claims(measured, low), claims(measured, high)
    for name in at_low:
        harder, easier = (at_high, at_low) if name in HARDER else (at_low, at_high)
        if verdict(harder[name]) == "fair":
            assert verdict(easier[name]) == "fair", name
        if verdict(easier[name]) == "unfair":
            assert verdict(harder[name]) == "unfair", name


@quickly
@given(samples(ungraded=True), BOUNDS)
def test_claim_and_its_opposite_are_never_both_fair(of_rows: Make, rows: Rows, bound: float) -> None:
    for name, claim in claims(of_rows(rows), bound).items():
        pair = verdict(claim), verdict(lambda claim=claim: not claim())  # type: ignore[misc]
        assert pair != ("fair", "fair"), name
        if name == "family":  # a negated family says that one of its members is beyond the bound
            assert pair[1] == "invalid"
        elif "undecided" in pair or "invalid" in pair:
            assert "fair" not in pair, name


@quickly
@given(samples(ungraded=True), st.sampled_from([*combinations((0.8, 0.95, 0.99), 2)]))
def test_higher_confidence_gives_a_wider_interval(of_rows: Make, rows: Rows, levels: tuple[float, float]) -> None:
    low, high = (estimates_of(of_rows(rows, confidence=level)) for level in levels)
    for one, other in zip(low, high, strict=True):
        assert bool(one.invalid) == bool(other.invalid)
        if not one.invalid:
            assert other.low <= one.low + 1e-12
            assert other.high >= one.high - 1e-12
            assert other.value == one.value


@st.composite
def crossed(draw: st.DrawFn) -> Rows:
    """Draw rows of two groups over 6 to 12 items, with one of 3 to 5 names a group that recur."""
    names = draw(st.integers(3, 5))
    return [
        {"item": item, "group": group, "name": f"{group} {draw(st.integers(0, names - 1))}", "yes": draw(st.booleans())}
        for item in range(draw(st.integers(6, 12)))
        for group in "ab"
        for _ in range(2)
    ]


@quickly
@given(crossed(), st.randoms(use_true_random=False))
def test_names_and_items_can_be_renamed_and_reordered(of_rows: Make, rows: Rows, random: Any) -> None:
    codes = {name: f"x{number}" for number, name in enumerate(sorted({row["name"] for row in rows}, reverse=True))}
    renamed = [row | {"name": codes[row["name"]], "item": f"item {99 - row['item']}"} for row in rows]
    random.shuffle(renamed)
    one, other = of_rows(rows, crossed="name"), of_rows(renamed, crossed="name")
    for first, second in (
        (one.difference("yes", **PAIR), other.difference("yes", **PAIR)),
        (one.ratio("yes", **PAIR), other.ratio("yes", **PAIR)),
        (one.rate("yes"), other.rate("yes")),
    ):
        assert bool(first.invalid) == bool(second.invalid)
        assert ends(first) == pytest.approx(ends(second), rel=1e-9, abs=1e-12, nan_ok=True)


def test_copied_answers_add_no_precision_over_groups(of_rows: Make) -> None:
    """Give one group yes and the other no in every item, and ask ten times: nothing more is known."""
    rows = [{"item": item, "group": group, "yes": group == "a"} for item in range(20) for group in "ab"]
    once, often = of_rows(rows).rate("yes"), of_rows(rows * 10).rate("yes")
    assert often.high - often.low >= once.high - once.low - 1e-9
