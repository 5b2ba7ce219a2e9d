"""Odds ratios of decisions: both outcomes count alike, at any base rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples
from tests.stats.test_properties import PAIR, Rows, ends, samples

Make = Callable[..., Measured]
Draw = Callable[..., Rows]
Count = Callable[..., Rows]

BACK = {"by": "group", "of": "b", "to": "a"}

quickly = examples(60)


def inverse(number: float) -> float:
    return math.inf if number == 0 else 1 / number


def assert_inverse(one: Estimate, other: Estimate) -> None:
    """Check that an estimate is one over another, and each end one over the other's opposite end."""
    assert bool(one.invalid) == bool(other.invalid)
    assert bool(one.sparse) == bool(other.sparse)
    if not one.invalid:
        expected = [inverse(number) for number in (other.value, other.high, other.low)]
        assert [one.value, one.low, one.high] == pytest.approx(expected, rel=1e-9, nan_ok=True)


def of_no(rows: Rows) -> Rows:
    return [row | {"yes": None if row["yes"] is None else not row["yes"]} for row in rows]


def test_value_is_the_odds_of_one_group_over_those_of_another(of_rows: Make, count: Count) -> None:
    estimate = of_rows(count({"a": (84, 16), "b": (94, 6)})).odds_ratio("yes", **PAIR)
    assert estimate.value == pytest.approx((84 / 16) / (94 / 6))
    assert estimate.metric == "odds_ratio(yes; group: a/b)"
    assert estimate.title == "odds ratio of yes, a to b"
    assert (estimate.kind, estimate.parity, estimate.log_scale) == (MetricKind.ODDS_RATIO, 1.0, True)
    assert dict(estimate.groups) == pytest.approx({"a": 0.84, "b": 0.94})
    assert estimate.span == (0, math.inf)
    assert not estimate.always(">=", 0.1)


def test_four_fifths_at_one_half_is_the_edge_of_a_b(of_rows: Make, count: Count) -> None:
    measured = of_rows(count({"a": (4000, 6000), "b": (5000, 5000), "c": (8000, 2000), "d": (9900, 100)}))
    edge = measured.odds_ratio("yes", **PAIR)
    assert edge.value == pytest.approx(2 / 3)
    assert (str(edge.mark), measured.odds_ratio("yes", **PAIR).mark >= "A") == ("C", False)
    assert measured.ratio("yes", by="group", of="c", to="d").value > 0.8  # sixteen times as many rejections
    assert str(measured.odds_ratio("yes", by="group", of="c", to="d").mark) == "D"


@quickly
@given(samples(ungraded=True))
def test_swapped_groups_invert_it(of_rows: Make, rows: Rows) -> None:
    measured = of_rows(rows)
    assert_inverse(measured.odds_ratio("yes", **PAIR), measured.odds_ratio("yes", **BACK))


@quickly
@given(samples(ungraded=True))
def test_opposite_outcome_inverts_it(of_rows: Make, rows: Rows) -> None:
    """Judge an invitation and a rejection alike, which is what sets it apart from a ratio."""
    assert_inverse(of_rows(rows).odds_ratio("yes", **PAIR), of_rows(of_no(rows)).odds_ratio("yes", **PAIR))


@quickly
@given(samples())
def test_families_of_both_outcomes_are_the_same_claim(of_rows: Make, rows: Rows) -> None:
    of_yes = dict(of_rows(rows).odds_ratios("yes", by="group").items())
    of_opposite = dict(of_rows(of_no(rows)).odds_ratios("yes", by="group").items())
    for name, member in of_yes.items():
        first, second = name.split("/")
        turned = f"{second}/{first}"
        other = of_opposite[turned if turned in of_opposite else name]  # equal rates stay in the order of names
        assert bool(member.invalid) == bool(other.invalid)
        if not member.invalid:
            assert ends(member)[:3] == pytest.approx(ends(other)[:3], rel=1e-9)
            # The simulation behind the simultaneous ends draws in the order of the pairs.
            assert member.strict_ends == pytest.approx(other.strict_ends, rel=0.1)


@quickly
@given(samples(ungraded=True), st.permutations([0, 1, 2]))
def test_names_and_order_of_groups_are_irrelevant(of_rows: Make, rows: Rows, order: list[int]) -> None:
    names = dict(zip("abc", ("xyz"[index] for index in order), strict=True))
    renamed = of_rows([row | {"group": names[row["group"]]} for row in reversed(rows)])
    one = of_rows(rows).odds_ratio("yes", **PAIR)
    other = renamed.odds_ratio("yes", by="group", of=names["a"], to=names["b"])
    assert bool(one.invalid) == bool(other.invalid)
    assert ends(one)[:3] == pytest.approx(ends(other)[:3], rel=1e-9, nan_ok=True)


@quickly
@given(samples(), st.integers(2, 3))
def test_equal_repetitions_add_no_precision(of_rows: Make, rows: Rows, times: int) -> None:
    single = list({(row["item"], row["group"]): row for row in rows}.values())
    one, other = (of_rows(own).odds_ratio("yes", **PAIR) for own in (single, single * times))
    assert bool(one.invalid) == bool(other.invalid)
    if not one.invalid:
        assert other.value == pytest.approx(one.value)
        assert other.low <= one.low * (1 + 1e-9)
        assert other.high >= one.high * (1 - 1e-9)


@quickly
@given(samples(), st.sampled_from("ab"), st.integers(1, 4))
def test_ungraded_answers_never_help(of_rows: Make, rows: Rows, group: str, number: int) -> None:
    more = [*rows, *({"item": item, "group": group, "yes": None} for item in range(number))]
    one, other = (of_rows(own).odds_ratio("yes", **PAIR) for own in (rows, more))
    assert not (one.invalid and not other.invalid)
    if not one.invalid and not other.invalid:
        assert other.value == pytest.approx(one.value)
        assert other.low <= one.low + 1e-12
        assert other.high >= one.high - 1e-12


@quickly
@given(samples(ungraded=True))
def test_interval_has_width_and_contains_its_value(of_rows: Make, rows: Rows) -> None:
    estimate = of_rows(rows).odds_ratio("yes", **PAIR)
    if not estimate.invalid:
        assert 0 <= estimate.low <= estimate.value <= estimate.high
        assert estimate.low < estimate.high


def test_all_pairs_are_smaller_over_larger(of_rows: Make, draw: Draw) -> None:
    family = of_rows(draw({"a": 0.6, "b": 0.4, "c": 0.5})).odds_ratios("yes", by="group")
    assert sorted(family) == ["b/a", "b/c", "c/a"]
    assert all(estimate.value <= 1 and estimate.high <= 1 for _, estimate in family.items())
    assert all(estimate.scale is not None for _, estimate in family.items())
    assert family["b/a"].metric == "odds_ratio(yes; group: b/a)"


def test_reference_is_the_denominator_of_every_pair(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw({"a": 0.6, "b": 0.4, "c": 0.5}))
    family = measured.odds_ratios("yes", by="group", to="b")
    assert list(family) == ["a/b", "c/b"]
    assert ends(family["a/b"])[:3] == ends(measured.odds_ratio("yes", **PAIR))[:3]
    with pytest.raises(FairnessError, match="group has no group 'd'"):
        measured.odds_ratios("yes", by="group", to="d")


def test_simultaneous_claims_are_wider_and_folded(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw(dict.fromkeys("abcde", 0.5), items=120))
    members = [member for _, member in measured.odds_ratios("yes", by="group").items()]
    assert len(members) == 10
    for member in members:
        low, high = member.strict_ends
        assert low < member.low < member.value < member.high <= high <= 1
    referred, alone = measured.odds_ratios("yes", by="group", to="b")["a/b"], measured.odds_ratio("yes", **PAIR)
    assert referred.strict_ends[0] < alone.low


def test_single_group_is_no_family(of_rows: Make, draw: Draw) -> None:
    member = of_rows(draw({"a": 0.5})).odds_ratios("yes", by="group")["group"]
    assert member.invalid == "group has 1 group: a comparison needs two"
    assert member.title == "odds ratio of yes between groups of group"


@pytest.mark.parametrize("groups", [{"a": (0, 100), "b": (30, 70)}, {"a": (70, 30), "b": (100, 0)}])
def test_group_at_an_extreme_can_be_unfair_but_never_fair(
    of_rows: Make, count: Count, groups: dict[str, tuple[int, int]]
) -> None:
    """Bound a rate of 0 or 1 of 100 answers by 3.6% at the other side, so that the end is finite."""
    measured = of_rows(count(groups))
    estimate = measured.odds_ratio("yes", **PAIR)
    assert estimate.value == estimate.low == 0
    assert (0.0362 / 0.9638) / (0.3 / 0.7) < estimate.high < (0.0362 / 0.9638) / (0.2 / 0.8)
    assert estimate.decision(">=", 2 / 3) is Decision.FALSE
    assert estimate.decision("<=", 1.5) is Decision.UNDECIDED
    back = measured.odds_ratio("yes", **BACK)
    assert back.value == back.high == math.inf
    assert back.low == pytest.approx(1 / estimate.high)
    assert back.decision("<=", 1.5) is Decision.FALSE
    assert back.decision(">=", 2 / 3) is Decision.UNDECIDED


def test_none_against_all_can_be_unfair(of_rows: Make, count: Count) -> None:
    estimate = of_rows(count({"a": (0, 40), "b": (40, 0)})).odds_ratio("yes", **PAIR)
    assert (estimate.value, estimate.low) == (0, 0)
    assert estimate.high == pytest.approx((0.0881 / 0.9119) ** 2, rel=1e-2)
    assert estimate.decision(">=", 2 / 3) is Decision.FALSE


@pytest.mark.parametrize(
    ("counts", "reason"), [((0, 50), "no events of a nor of b"), ((50, 0), "only events of a and of b")]
)
def test_equal_answers_of_both_groups_have_no_odds_ratio(
    of_rows: Make, count: Count, counts: tuple[int, int], reason: str
) -> None:
    measured = of_rows(count({"a": counts, "b": counts, "c": (25, 25)}))
    assert measured.odds_ratio("yes", **PAIR).invalid == f"{reason}: their odds ratio is not defined"
    assert compare(measured.odds_ratios("yes", by="group"), ">=", 0.5).decision is Decision.FALSE  # c is apart


@pytest.mark.parametrize(("counts", "what"), [((4, 396), "events"), ((396, 4), "non-events")])
def test_few_of_either_outcome_are_never_fair(of_rows: Make, count: Count, counts: tuple[int, int], what: str) -> None:
    estimate = of_rows(count({"a": counts, "b": (200, 200)})).odds_ratio("yes", **PAIR)
    assert estimate.sparse == f"fewer than 5 effective {what} of a"
    assert estimate.decision("<=" if counts[0] < 5 else ">=", 0.5 if counts[0] < 5 else 2) is Decision.UNDECIDED
    assert estimate.decision(">=" if counts[0] < 5 else "<=", 0.5 if counts[0] < 5 else 2) is Decision.FALSE


def test_numbers_have_no_odds(of_rows: Make) -> None:
    rows = [{"item": n, "group": g, "score": n % 5, "kind": "xy"[n % 2]} for n in range(30) for g in "ab"]
    measured = of_rows(rows)
    message = "score can hold numbers other than 0 and 1, which have no odds: take its ratio or difference"
    for call in (
        lambda: measured.odds_ratio("score", **PAIR),
        lambda: measured.odds_ratios("score", by="group"),
        lambda: measured.against(of_rows(rows)).odds_ratio("score", **PAIR),
    ):
        with pytest.raises(FairnessError, match=message):
            call()
    assert measured.odds_ratio("kind", **PAIR, equals="x").value == 1


def test_propensities_count_as_rates() -> None:
    """Compare probabilities of two options: their odds have the error of their spread, not of drawn answers."""
    from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.propensities import Propensities

    generator = np.random.default_rng(4)
    attempts = []
    for number in range(150):
        logit = generator.normal(2.0, 0.3)
        prompts = [Prompt(f"{number} {group}", groups={"group": group}) for group in "ab"]
        item = ProbeItem(str(number), prompts)
        for prompt, shift in zip(prompts, (-0.5, 0.0), strict=True):
            share = 1 / (1 + math.exp(-logit - shift))
            grade = Grade(Propensities(((True, share), (False, 1 - share))))
            attempts.append(GradedAttempt(item, prompt, Attempt(prompt.text, 0), {"yes": grade}))
    estimate = Measured(attempts).odds_ratio("yes", **PAIR)
    assert estimate.value == pytest.approx(math.exp(-0.5), rel=0.02)
    assert 0.5 < estimate.low < estimate.high < 0.75
    assert estimate.scale is not None


def test_test_of_both_bounds_is_judged(of_rows: Make, draw: Draw) -> None:
    def verdict(rates: dict[str, float], items: int) -> Verdict:
        measured = of_rows(draw(rates, items=items, repetitions=4))

        def threshold() -> None:
            assert 2 / 3 <= measured.odds_ratio("yes", **PAIR) <= 1.5

        return judge(threshold).verdict

    assert verdict({"a": 0.5, "b": 0.5}, 400) is Verdict.FAIR
    assert verdict({"a": 0.5, "b": 0.5}, 12) is Verdict.UNDECIDED
    assert verdict({"a": 0.3, "b": 0.5}, 100) is Verdict.UNFAIR


def test_distance_from_a_baseline_is_on_odds(of_rows: Make, count: Count) -> None:
    new, old = (of_rows(count({"a": (yes, 1000 - yes), "b": (900, 100)})) for yes in (800, 850))
    further = new.against(old).odds_ratio("yes", **PAIR)
    assert further.value == pytest.approx((850 / 150) / (800 / 200))
    assert further.title == "factor by which the odds ratio of yes, a to b, is further from parity than the baseline's"
    opposite = of_rows(of_no(count({"a": (800, 200), "b": (900, 100)})))
    of_old = of_rows(of_no(count({"a": (850, 150), "b": (900, 100)})))
    other = opposite.against(of_old).odds_ratio("yes", **PAIR)
    assert ends(other)[:3] == pytest.approx(ends(further)[:3], rel=1e-9)
    assert further.low < further.value < further.high
    full = of_rows(count({"a": (1000, 0), "b": (900, 100)}))
    reason = "only events of a: a ratio of zero is infinitely far from parity, take a difference"
    assert full.against(old).odds_ratio("yes", **PAIR).invalid == reason


def test_labels_correct_it(of_rows: Make) -> None:
    """Correct a judge with a sensitivity of 0.85 and a specificity of 0.92 of rates of 0.4 and 0.5."""
    generator = np.random.default_rng(5)

    def judged(truth: Any) -> Any:
        return generator.random(truth.shape) < np.where(truth, 0.85, 0.08)

    rows = []
    for group, rate in (("a", 0.4), ("b", 0.5)):
        answers = judged(generator.random(3000) < rate)
        rows += [{"item": n, "group": group, "yes": bool(answer)} for n, answer in enumerate(answers)]
    labels = []
    for group in "ab":
        truth = np.arange(2000) % 2 == 0
        labels += [
            {"grade": "yes", "group": {"group": group}, "judge": bool(own), "label": bool(label)}
            for own, label in zip(judged(truth), truth, strict=True)
        ]
    raw = of_rows(rows).odds_ratio("yes", **PAIR)
    corrected = of_rows(rows, calibration=labels).odds_ratio("yes", **PAIR)
    assert "corrected for the judge's error" in corrected.title
    assert abs(math.log(corrected.value / (2 / 3))) < abs(math.log(raw.value / (2 / 3)))
    assert corrected.low < 2 / 3 < corrected.high
    assert math.log(corrected.high / corrected.low) > math.log(raw.high / raw.low)


@pytest.mark.parametrize("kind", ["ratio", "odds_ratio"])
@pytest.mark.parametrize("events", [0, 1, 2, 3])
def test_few_events_reach_no_farther_than_their_own_intervals(of_rows: Make, kind: str, events: int) -> None:
    """Check that one item with an event is no weaker evidence of a gap than two and three are."""
    rows = [
        {"item": item, "group": group, "yes": item < (events if group == "a" else 22)}
        for item in range(40)
        for group in "ab"
        for _ in range(4)
    ]
    estimate = getattr(of_rows(rows), kind)("yes", **PAIR)
    assert estimate.high < 0.5
