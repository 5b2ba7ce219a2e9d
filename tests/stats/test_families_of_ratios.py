"""Ratios that are judged together, and the worst of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from scipy.stats import studentized_range  # type: ignore[import-untyped]

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]
Count = Callable[..., Rows]

FIVE = dict.fromkeys("abcde", 0.5)


def test_all_pairs_are_smaller_over_larger(of_rows: Make, draw: Draw) -> None:
    family = of_rows(draw({"a": 0.6, "b": 0.4, "c": 0.5})).ratios("yes", by="group")
    assert sorted(family) == ["b/a", "b/c", "c/a"]
    assert all(estimate.value <= 1 for _, estimate in family.items())
    assert family["b/a"].metric == "ratio(yes; group: b/a)"


def test_ungraded_answers_may_reverse_a_pair(of_rows: Make, draw: Draw) -> None:
    rows = draw({"a": 0.5, "b": 0.5}, items=400, repetitions=4, refused={"a": 0.09, "b": 0.09})
    member = next(iter(of_rows(rows).ratios("yes", by="group").items()))
    small, large = member[0].split("/")
    alone = of_rows(rows).ratio("yes", by="group", of=small, to=large)
    assert member[1].low == min(alone.low, 1 / alone.high)
    assert member[1].high == 1


def test_reference_is_the_denominator_of_every_pair(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw({"a": 0.6, "b": 0.4, "c": 0.5}))
    family = measured.ratios("yes", by="group", to="b")
    assert list(family) == ["a/b", "c/b"]
    alone = measured.ratio("yes", by="group", of="a", to="b")
    assert (family["a/b"].low, family["a/b"].high) == (alone.low, alone.high)


@pytest.mark.slow
def test_unfair_claims_use_a_wider_interval_than_fair_ones(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw(FIVE, items=150))
    family = measured.ratios("yes", by="group")
    for name in family:
        estimate = family[name]
        assert estimate.strict_low is not None
        assert estimate.strict_high is not None
        assert estimate.strict_low < estimate.low < estimate.value < estimate.high <= estimate.strict_high <= 1
        reach = math.log(estimate.strict_low / estimate.value) / math.log(estimate.low / estimate.value)
        # Tukey's studentized range for five groups over root two; each pair is two claims, one each way round.
        assert reach == pytest.approx(studentized_range.ppf(0.975, 5, 149) / math.sqrt(2) / 1.976, rel=0.04)


def test_single_pair_pays_for_both_directions(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw({"a": 0.5, "b": 0.4}))
    folded, referred = measured.ratios("yes", by="group")["b/a"], measured.ratios("yes", by="group", to="a")["b/a"]
    assert (referred.strict_low, referred.strict_high) == (referred.low, referred.high)
    assert folded.ends_at is not None
    assert (folded.strict_low, folded.strict_high) == pytest.approx(folded.ends_at(0.0125))


def test_repeated_computation_gives_the_same_numbers(of_rows: Make, draw: Draw) -> None:
    first, second = (of_rows(draw(FIVE)).ratios("yes", by="group") for _ in range(2))
    assert [e.strict_low for _, e in first.items()] == [e.strict_low for _, e in second.items()]


def test_one_bad_pair_makes_the_family_unfair(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw(FIVE | {"e": 0.25}, items=150))

    def threshold() -> None:
        assert measured.ratios("yes", by="group") >= 0.8

    assert judge(threshold).verdict is Verdict.UNFAIR


def test_group_without_answers_makes_the_family_invalid(of_rows: Make, draw: Draw) -> None:
    rows = [row | {"yes": None} if row["group"] == "c" else row for row in draw(FIVE, items=300, repetitions=5)]
    measured = of_rows(rows)

    def threshold() -> None:
        assert measured.ratios("yes", by="group") >= 0.8

    assert judge(threshold).verdict is Verdict.INVALID
    worst = measured.worst_ratio("yes", by="group")
    assert "attempts of c are ungraded" in worst.suspect
    assert worst.decision(">=", 0.1) is Decision.INVALID
    assert worst.ends_at is not None
    assert worst.low == worst.ends_at(0.01)[0] == 0.0  # the pair that is not known may be the worst


def test_single_group_is_no_family(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw({"a": 0.5}))
    assert measured.ratios("yes", by="group")["group"].invalid == "group has 1 group: a comparison needs two"
    assert measured.worst_ratio("yes", by="group").invalid == "group has 1 group: a comparison needs two"


def test_worst_ratio_takes_the_smallest_interval_ends(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw(FIVE | {"e": 0.35}, items=100))
    members = dict(measured.ratios("yes", by="group").items())
    worst = measured.worst_ratio("yes", by="group")
    assert worst.value == min(member.value for member in members.values())
    assert worst.low == min(member.low for member in members.values())
    assert worst.high == min(member.strict_high for member in members.values() if member.strict_high is not None)
    assert worst.strict_low is None
    assert set(worst.groups) == set("abcde")
    assert worst.items == 100
    assert worst.attempts == 1500


def test_group_without_events_can_be_unfair_but_never_fair(of_rows: Make, count: Count) -> None:
    measured = of_rows(count({"a": (0, 100), "b": (30, 70)}))
    estimate = measured.ratio("yes", by="group", of="a", to="b")
    assert estimate.value == 0
    assert estimate.low == 0
    assert 0.0362 / 0.3 < estimate.high < 0.0362 / 0.2
    assert estimate.decision(">=", 0.8) is Decision.FALSE
    assert estimate.decision("<=", 1.25) is Decision.UNDECIDED
    back = measured.ratio("yes", by="group", of="b", to="a")
    assert back.value == back.high == math.inf
    assert back.low == pytest.approx(1 / estimate.high)
    assert back.decision("<=", 1.25) is Decision.FALSE
    few = of_rows(count({"a": (0, 12), "b": (2, 10)})).ratio("yes", by="group", of="a", to="b")
    assert few.decision(">=", 0.8) is Decision.UNDECIDED


def test_ratio_without_events_in_either_group_is_invalid(of_rows: Make, count: Count) -> None:
    measured = of_rows(count({"a": (0, 100), "b": (0, 100), "c": (20, 80)}))
    assert "no events of a nor of b" in measured.ratio("yes", by="group", of="a", to="b").invalid
    assert not measured.difference("yes", by="group", of="a", to="b").invalid
    family = measured.ratios("yes", by="group")
    assert compare(family, ">=", 0.8).decision is Decision.FALSE  # a/c and b/c are broken


def test_few_events_are_never_fair(of_rows: Make, count: Count) -> None:
    estimate = of_rows(count({"a": (3, 397), "b": (40, 360)})).ratio("yes", by="group", of="a", to="b")
    assert "fewer than 5 effective events of a" in estimate.sparse
    assert estimate.decision("<=", 1.25) is Decision.UNDECIDED
    assert estimate.decision(">=", 0.8) is Decision.FALSE


def test_ratio_of_means_needs_positive_means(of_rows: Make) -> None:
    rows = [{"item": n, "group": g, "score": n % 5 - 2} for n in range(30) for g in "ab"]
    assert "take a difference" in of_rows(rows).ratio("score", by="group", of="a", to="b").invalid


def test_worst_ratio_of_a_text_is_that_of_its_value(of_rows: Make) -> None:
    rows = [
        {"item": str(number), "group": group, "told": ("b", "a")[number % 4 < share], "yes": number % 4 < share}
        for number in range(80)
        for group, share in (("f", 1), ("m", 3))
    ]
    measured = of_rows(rows)
    of_text, of_truth = measured.worst_ratio("told", by="group", equals="a"), measured.worst_ratio("yes", by="group")
    assert (of_text.value, of_text.low, of_text.high) == (of_truth.value, of_truth.low, of_truth.high)
    assert of_text.value == pytest.approx(1 / 3)
