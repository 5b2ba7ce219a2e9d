"""Ungraded answers: they never help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.errors import UngradedError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.messages import explanation
from pytest_fairness.core.verdicts import judge
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
    """Refuse the first answers of one kind in one group."""
    left = number
    changed = []
    for row in rows:
        refused = row["group"] == group and row["yes"] is of and left > 0
        left -= refused
        changed.append(row | {"yes": None} if refused else row)
    return changed


def test_interval_is_the_hull_of_both_extreme_imputations(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=100), "a", of=False, number=9)
    estimate = of_rows(rows).ratio("yes", **PAIR)
    filled = [of_rows([row | {"yes": value} if row["yes"] is None else row for row in rows]) for value in (False, True)]
    ends = [other.ratio("yes", **PAIR) for other in filled]
    assert estimate.low == pytest.approx(min(end.low for end in ends))
    assert estimate.high == pytest.approx(max(end.high for end in ends))


def test_refusing_unfavorable_answers_does_not_make_a_model_fair(of_rows: Make, draw: Draw) -> None:
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


def test_a_tenth_ungraded_is_judged(of_rows: Make, draw: Draw) -> None:
    rows = draw({"a": 0.5, "b": 0.5}, items=100)
    for number, is_suspect in ((30, False), (31, True)):
        of_both = refuse(refuse(rows, "a", of=True, number=number), "b", of=True, number=number)
        assert bool(of_rows(of_both).ratio("yes", **PAIR).suspect) is is_suspect


def test_over_a_tenth_ungraded_is_unfair_if_no_imputation_is_fair(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.1, "b": 0.7}, items=100), "a", of=True, number=5)
    rows = refuse(rows, "a", of=False, number=30)
    measured = of_rows(rows)
    assert measured.ratio("yes", **PAIR).suspect
    assert verdict(measured) is Verdict.UNFAIR


def test_negation_does_not_bypass_the_ungraded_limit(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=400, repetitions=5), "a", of=True, number=210)
    measured = of_rows(rows)

    def threshold() -> None:
        assert not measured.ratio("yes", **PAIR) < 0.7

    judgment = judge(threshold)
    assert judgment.verdict is Verdict.INVALID
    assert "over 10%" in explanation(judgment)


def test_gap_in_refusals_is_invalid(of_rows: Make, draw: Draw) -> None:
    rows = refuse(draw({"a": 0.5, "b": 0.5}, items=400), "a", of=False, number=110)
    estimate = of_rows(rows).ratio("yes", **PAIR)
    assert estimate.suspect == "9.2% of the attempts of a are ungraded and 0.0% of b: a gap above 5%"
    assert verdict(of_rows(rows)) is Verdict.INVALID
    swapped = of_rows(rows).ratio("yes", by="group", of="b", to="a")
    assert swapped.suspect == "0.0% of the attempts of b are ungraded and 9.2% of a: a gap above 5%"
    both = refuse(rows, "b", of=False, number=105)
    assert not of_rows(both).ratio("yes", **PAIR).suspect


def test_group_without_a_graded_answer_is_invalid(of_rows: Make, draw: Draw) -> None:
    rows = [row | {"yes": None} if row["group"] == "a" else row for row in draw({"a": 0.5, "b": 0.5})]
    measured = of_rows(rows)
    assert measured.ratio("yes", **PAIR).invalid == "all 180 attempts of a are ungraded"
    assert verdict(measured) is Verdict.INVALID
    everything = of_rows([row | {"yes": None} for row in rows])
    assert everything.rate("yes").invalid == "all 360 attempts are ungraded"


def attempts(grades: list[dict[str, Grade]]) -> list[GradedAttempt]:
    graded = []
    for number, own in enumerate(grades):
        prompt = Prompt("Who?", metadata={"options": ("stereotyped", "other", "unknown")})
        graded.append(GradedAttempt(ProbeItem(f"item {number}", [prompt]), prompt, Attempt("", 0), own))
    return graded


def test_outcome_that_reads_an_ungraded_value_is_ungraded() -> None:
    grades = [{"answer": Grade("unknown"), "sure": Grade(number % 2 == 0)} for number in range(50)]
    grades[3] = {"answer": Grade.none("refusal"), "sure": Grade(value=True)}
    grades[4] = {}  # the attempt failed, and nobody graded it
    estimate = Measured(attempts(grades)).rate(lambda attempt: attempt["answer"] == "unknown")
    assert estimate.ungraded == {"all": 2}
    assert estimate.value == 1.0
    lazy = Measured(attempts(grades)).rate(lambda attempt: attempt["sure"] or attempt["answer"] == "unknown")
    assert lazy.ungraded == {"all": 1}


def test_function_is_imputed_through_the_grade_it_reads() -> None:
    grades = [{"answer": Grade("stereotyped" if number % 2 else "unknown")} for number in range(100)]
    grades[:4] = [{"answer": Grade.none("unparsed")}] * 4
    extremes = {"answer": lambda prompt: prompt.metadata["options"]}
    measured = Measured(attempts(grades), extremes=extremes)
    by_name = measured.rate("answer", equals="stereotyped")
    by_function = measured.rate(lambda attempt: attempt["answer"] == "stereotyped")
    assert (by_name.low, by_name.high) == (by_function.low, by_function.high)
    filled = [[{"answer": Grade(value)}] * 4 + grades[4:] for value in ("unknown", "stereotyped")]
    low, high = (Measured(attempts(answers)).rate("answer", equals="stereotyped") for answers in filled)
    assert (by_name.low, by_name.high) == pytest.approx((low.low, high.high))


def test_value_that_the_prompt_does_not_offer_is_not_imputed() -> None:
    grades = [{"answer": Grade("stereotyped" if number % 2 else "unknown")} for number in range(100)]
    grades[:4] = [{"answer": Grade.none("unparsed")}] * 4
    narrow = Measured(attempts(grades), extremes={"answer": lambda _: ("unknown", "other")})
    wide = Measured(attempts(grades), extremes={"answer": lambda _: ("stereotyped", "other")})
    assert narrow.rate("answer", equals="stereotyped").high < wide.rate("answer", equals="stereotyped").high


def test_scores_are_imputed_with_the_ends_of_their_scale() -> None:
    grades = [{"score": Grade(4 + number % 3)} for number in range(100)]
    grades[:5] = [{"score": Grade.none("refusal")}] * 5
    scale = Measured(attempts(grades), extremes={"score": lambda _: (1, 7)}).mean("score")
    wide = Measured(attempts(grades), extremes={"score": lambda _: (0, 10)}).mean("score")
    assert scale.value == wide.value
    assert wide.low < scale.low < scale.high < wide.high


@pytest.mark.parametrize(
    "estimate",
    [
        lambda measured: measured.mean("score"),
        lambda measured: measured.mean(lambda attempt: attempt["score"] / 2),
        lambda measured: measured.difference("score", by="sex", of="a", to="b"),
        lambda measured: measured.ratios("score", by="sex")["a/b"],
        lambda measured: measured.correlation("score", lambda attempt: attempt["score"] ** 2),
        lambda measured: measured.metric(lambda s: s.score / s.asked, score="score", asked=lambda _: 1),
    ],
    ids=["mean", "function", "difference", "ratios", "correlation", "metric"],
)
def test_ungraded_scores_without_extremes_are_invalid(estimate: Callable[[Measured], Estimate]) -> None:
    rows: list[dict[str, Any]] = [
        {"item": number, "sex": sex, "score": 3 + (number + index) % 3}  # a scale from 1 to 7, seen from 3 to 5
        for number in range(50)
        for index, sex in enumerate("ab")
    ]
    options: dict[str, Any] = {"item": "item", "groups": ["sex"]}
    assert not estimate(Measured.from_rows(rows, **options)).invalid
    rows[0]["score"] = None
    assert "extremes={'score': (LOWEST, HIGHEST)}" in estimate(Measured.from_rows(rows, **options)).invalid
    bounded = Measured.from_rows(rows, extremes={"score": lambda _: (1, 7)}, **options)
    assert not estimate(bounded).invalid


def test_ungraded_texts_and_flags_need_no_extremes() -> None:
    rows = [
        {"item": number, "said": "no" if number else None, "ok": number % 2 if number else None} for number in range(50)
    ]
    measured = Measured.from_rows(rows, item="item", groups=[])
    # One value was seen, and the ungraded answer could have been another.
    for rate in (measured.rate("said", equals="no"), measured.rate(lambda attempt: attempt["said"] == "no")):
        whole = Measured.from_rows(rows[1:], item="item", groups=[]).rate("said", equals="no")
        assert (rate.invalid, rate.value) == ("", 1.0)
        assert rate.low < whole.low
    assert not measured.mean("ok").invalid


def test_ungraded_value_can_be_requested_but_raises() -> None:
    grades = [{"harm": Grade(value=number % 4 == 0)} for number in range(100)]
    grades[:5] = [{"harm": Grade.none("refusal")}] * 5
    measured = Measured(attempts(grades))
    by_name = measured.rate("harm")
    by_value = measured.rate(lambda attempt: attempt.grades["harm"].value is True)
    assert by_value.ungraded == {"all": 5}
    assert (by_value.value, by_value.low, by_value.high) == (by_name.value, by_name.low, by_name.high)
    by_sums = measured.metric(
        lambda s: s.harm / s.asked, harm=lambda attempt: attempt.grades["harm"].value is True, asked=lambda _: 1
    )
    assert by_sums.ungraded == {"all": 5}
    with pytest.raises(UngradedError, match=r"it is ungraded \(refusal\)"):
        Grade.none("refusal").value  # noqa: B018 - it raises


WHOLES = [
    lambda measured: measured.rate("yes"),
    lambda measured: measured.mean(lambda attempt: attempt["yes"]),
    lambda measured: measured.rate(lambda attempt: attempt.grades["yes"].value is True),
    lambda measured: measured.metric(lambda s: s.yes / s.asked, yes="yes", asked=lambda _: 1),
    lambda measured: measured.correlation("yes", "other"),
]


@pytest.mark.parametrize("estimate", WHOLES, ids=["rate", "mean", "rate-value", "metric", "correlation"])
def test_group_with_a_tenth_ungraded_makes_the_whole_suspect(
    estimate: Callable[[Measured], Estimate], draw: Draw
) -> None:
    rows = [row | {"other": number % 2} for number, row in enumerate(draw({"a": 0.5, "b": 0.5}, items=100))]
    refused = refuse(rows, "a", of=True, number=40)
    measured = Measured.from_rows(refused, item="item", groups=["group"])
    assert estimate(measured).suspect == "13.3% of the attempts of a are ungraded, over 10%"
    assert not estimate(measured.where(group="b")).suspect
    fewer = refuse(rows, "a", of=True, number=25)
    assert not estimate(Measured.from_rows(fewer, item="item", groups=["group"])).suspect
    # Levels of a crossed factor are no groups: one of a few answers of a name says nothing.
    with_names = [row | {"name": f"{row['group']} {row['item'] % 30}"} for row in fewer]
    crossed = Measured.from_rows(with_names, item="item", groups=["group", "name"], crossed="name")
    if estimate is WHOLES[0]:
        assert not estimate(crossed).suspect


def test_correlation_is_imputed() -> None:
    grades = [{"x": Grade(number % 5 / 4), "y": Grade((number + number % 2) % 5 / 4)} for number in range(100)]
    whole = Measured(attempts(grades)).correlation("x", "y")
    grades[:5] = [{"x": grades[0]["x"], "y": Grade.none("refusal")}] * 5
    holed = Measured(attempts(grades), extremes={"y": lambda _: (0, 1)}).correlation("x", "y")
    assert holed.ungraded == {"all": 5}
    assert holed.low < whole.low
    assert holed.high > holed.value


def ratings(filled: Mapping[str, float | None], seed: int = 0) -> Measured:
    """Return 1,200 ratings of 25 sources, of which two of women and three of men are as ``filled`` says."""
    generator = np.random.default_rng(seed)
    sources = generator.normal(0, 0.5, 25)
    rows = []
    for number in range(600):
        for sex, mean in (("f", 3.4), ("m", 5.4)):
            value = float(np.clip(round(mean + sources[number % 25] + generator.normal(0, 1.2)), 1, 10))
            hidden = number in ((7, 8) if sex == "f" else (7, 18, 29))
            rows.append({"item": number, "source": number % 25, "sex": sex, "rating": filled[sex] if hidden else value})
    return Measured.from_rows(
        rows, item="item", source="source", groups=["sex"], extremes={"rating": lambda _: (1.0, 10.0)}
    )


@pytest.mark.parametrize("kind", ["ratio", "difference"])
def test_few_ungraded_ratings_cost_what_their_worst_values_would(kind: str) -> None:
    def estimate(**filled: float | None) -> Estimate:
        return getattr(ratings(filled), kind)("rating", by="sex", of="f", to="m")  # type: ignore[no-any-return]

    ungraded = estimate(f=None, m=None)
    worst = [estimate(f=women, m=men) for women in (1.0, 10.0) for men in (1.0, 10.0)]
    assert ungraded.low == pytest.approx(min(one.low for one in worst), rel=1e-9)
    assert ungraded.high == pytest.approx(max(one.high for one in worst), rel=1e-9)
