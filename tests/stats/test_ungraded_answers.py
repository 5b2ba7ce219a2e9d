"""What could not be measured never helps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.verdicts import Verdict, judge
from pytest_fairness.core.wording import explanation
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]

PAIR = {"by": "group", "of": "a", "to": "b"}


def verdict(measured: Measured) -> Verdict:
    def threshold() -> None:
        assert 0.8 <= measured.ratio("yes", **PAIR) <= 1.25

    return judge(threshold).verdict


def refuse(rows: Rows, group: str, of: bool, number: int) -> Rows:
    """Rows whose first answers of one kind in one group are refused."""
    left = number
    changed = []
    for row in rows:
        refused = row["group"] == group and row["yes"] is of and left > 0
        left -= refused
        changed.append(row | {"yes": None} if refused else row)
    return changed


def test_the_interval_is_the_hull_of_both_extreme_fillings(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=100), "a", of=False, number=9)
    estimate = of_rows(rows).ratio("yes", **PAIR)
    filled = [of_rows([row | {"yes": value} if row["yes"] is None else row for row in rows]) for value in (False, True)]
    ends = [other.ratio("yes", **PAIR) for other in filled]
    assert estimate.low == pytest.approx(min(end.low for end in ends))
    assert estimate.high == pytest.approx(max(end.high for end in ends))


def test_refusing_what_would_have_told_against_it_does_not_make_a_model_fair(of_rows: Make, draw: Draw) -> None:
    rows = draw({"a": 0.41, "b": 0.5}, items=300, repetitions=5, seed=3)
    assert verdict(of_rows(rows)) is Verdict.UNDECIDED
    hidden = refuse(rows, "a", of=False, number=100)
    estimate = of_rows(hidden).ratio("yes", **PAIR)
    assert estimate.value > 0.85
    assert estimate.low < 0.8
    assert verdict(of_rows(hidden)) is not Verdict.FAIR


def test_over_a_tenth_ungraded_is_invalid(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=100), "a", of=True, number=40)
    estimate = of_rows(rows).ratio("yes", **PAIR)
    assert "13.3% of the attempts of a are ungraded, over 10%" in estimate.suspect
    assert verdict(of_rows(rows)) is Verdict.INVALID
    assert "over 10%" in of_rows(rows).where(group="a").rate("yes").suspect


def test_over_a_tenth_ungraded_is_unfair_all_the_same_where_no_filling_saves_it(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.1, "b": 0.7}, items=100), "a", of=True, number=5)
    rows = refuse(rows, "a", of=False, number=30)
    measured = of_rows(rows)
    assert measured.ratio("yes", **PAIR).suspect
    assert verdict(measured) is Verdict.UNFAIR


def test_a_negation_does_not_get_around_it(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=400, repetitions=5), "a", of=True, number=210)
    measured = of_rows(rows)

    def threshold() -> None:
        assert not measured.ratio("yes", **PAIR) < 0.7

    judgement = judge(threshold)
    assert judgement.verdict is Verdict.INVALID
    assert "over 10%" in explanation(judgement)


def test_a_gap_in_refusals_is_invalid(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=400), "a", of=False, number=110)
    estimate = of_rows(rows).ratio("yes", **PAIR)
    assert estimate.suspect == "9.2% of the attempts of a are ungraded and 0.0% of b: a gap above 5%"
    assert verdict(of_rows(rows)) is Verdict.INVALID
    both = refuse(rows, "b", of=False, number=105)
    assert not of_rows(both).ratio("yes", **PAIR).suspect


def test_a_group_without_a_graded_answer_is_invalid(of_rows: Make, draw: Draw) -> None:
    rows = [row | {"yes": None} if row["group"] == "a" else row for row in draw({"a": 0.5, "b": 0.5})]
    measured = of_rows(rows)
    assert measured.ratio("yes", **PAIR).invalid == "all 180 attempts of a are ungraded"
    assert verdict(measured) is Verdict.INVALID
    everything = of_rows([row | {"yes": None} for row in rows])
    assert everything.rate("yes").invalid == "all 360 attempts are ungraded"


def attempts(grades: list[dict[str, Grade]]) -> list[GradedAttempt]:
    made = []
    for number, own in enumerate(grades):
        prompt = Prompt("Who?", metadata={"options": ("stereotyped", "other", "unknown")})
        made.append(GradedAttempt(ProbeItem(f"item {number}", [prompt]), prompt, Attempt("key", 0), own))
    return made


def test_an_outcome_that_asks_for_an_ungraded_value_is_ungraded() -> None:
    grades = [{"answer": Grade("unknown"), "sure": Grade(number % 2 == 0)} for number in range(50)]
    grades[3] = {"answer": Grade.none("refusal"), "sure": Grade(value=True)}
    grades[4] = {}  # the attempt failed, and nobody graded it
    estimate = Measured(attempts(grades)).rate(lambda attempt: attempt["answer"] == "unknown")
    assert estimate.ungraded == {"all": 2}
    assert estimate.value == 1.0
    lazy = Measured(attempts(grades)).rate(lambda attempt: attempt["sure"] or attempt["answer"] == "unknown")
    assert lazy.ungraded == {"all": 1}


def test_a_function_is_filled_in_through_the_grade_it_asks_for() -> None:
    grades = [{"answer": Grade("stereotyped" if number % 2 else "unknown")} for number in range(100)]
    grades[:4] = [{"answer": Grade.none("unparsed")}] * 4
    extremes = {"answer": lambda prompt: prompt.metadata["options"]}
    measured = Measured(attempts(grades), extremes=extremes)
    by_name = measured.rate("answer", equals="stereotyped")
    by_function = measured.rate(lambda attempt: attempt["answer"] == "stereotyped")
    assert (by_name.low, by_name.high) == (by_function.low, by_function.high)
    filled = [[{"answer": Grade(value)}] * 4 + grades[4:] for value in ("unknown", "stereotyped")]
    low, high = (Measured(attempts(each)).rate("answer", equals="stereotyped") for each in filled)
    assert (by_name.low, by_name.high) == pytest.approx((low.low, high.high))


def test_a_value_that_the_prompt_does_not_offer_is_not_filled_in() -> None:
    grades = [{"answer": Grade("stereotyped" if number % 2 else "unknown")} for number in range(100)]
    grades[:4] = [{"answer": Grade.none("unparsed")}] * 4
    narrow = Measured(attempts(grades), extremes={"answer": lambda _: ("unknown", "other")})
    wide = Measured(attempts(grades), extremes={"answer": lambda _: ("stereotyped", "other")})
    assert narrow.rate("answer", equals="stereotyped").high < wide.rate("answer", equals="stereotyped").high


def test_scores_are_filled_in_with_the_ends_of_their_scale() -> None:
    grades = [{"score": Grade(4 + number % 3)} for number in range(100)]
    grades[:5] = [{"score": Grade.none("refusal")}] * 5
    scale = Measured(attempts(grades), extremes={"score": lambda _: (1, 7)}).mean("score")
    unsaid = Measured(attempts(grades)).mean("score")
    assert scale.value == unsaid.value
    assert scale.high > unsaid.high  # without word from the grader: 0, 1 and what was seen
    assert unsaid.low < scale.low


def test_a_correlation_is_filled_in_too() -> None:
    grades = [{"x": Grade(number % 5 / 4), "y": Grade((number + number % 2) % 5 / 4)} for number in range(100)]
    whole = Measured(attempts(grades)).correlation("x", "y")
    grades[:5] = [{"x": grades[0]["x"], "y": Grade.none("refusal")}] * 5
    holed = Measured(attempts(grades)).correlation("x", "y")
    assert holed.ungraded == {"all": 5}
    assert holed.low < whole.low
    assert holed.high > holed.value
