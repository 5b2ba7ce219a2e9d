"""Marks: total over all inputs, and never better for knowing less."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import Estimate, FairnessError, MarkScale, Measured
from pytest_fairness.core.comparisons import recording
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.marks import CORRELATIONS, DIFFERENCES, RATIOS, aggregate
from pytest_fairness.core.messages import explanation
from pytest_fairness.core.verdicts import judge
from pytest_fairness.extending import EstimateFamily
from pytest_fairness.stats.columns import Columns
from tests.helpers.examples import examples

RANKS = {"A": 3, "B": 2, "C": 1, "D": 0, "-": 0}
SIZES = MarkScale(A=(0, 0.05), B=(0, 0.1), C=(0, 0.2))
SIDES = MarkScale(A=(0.45, 0.55), B=[(0.4, 0.45), (0.55, 0.6)], C=[(0.3, 0.4), (0.6, 0.7)])
APART = MarkScale(A=[(-2, -1), (1, 2)], B=(3, 4), C=(6, None))

few = st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0])
floats = few | st.floats()
letters = st.sampled_from("ABCD-")
ranges = st.lists(st.tuples(few, few).map(lambda pair: (min(pair), max(pair))), min_size=1, max_size=3)
nested = st.builds(lambda a, b, c: MarkScale(A=a, B=[*a, *b], C=[*a, *b, *c]), ranges, ranges, ranges)
scales = nested | st.sampled_from([RATIOS, SIDES, APART])


def estimate(value: float, low: float, high: float, scale: MarkScale | None = RATIOS, **more: Any) -> Estimate:
    return Estimate("ratio", "ratio", value=value, low=low, high=high, scale=scale, **more)


def mark(*arguments: Any, **more: Any) -> str:
    return str(estimate(*arguments, **more).mark)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    """Draw an estimate with any value, any interval, and any reason not to be trusted."""
    reasons = {name: draw(st.sampled_from(["", "", "why"])) for name in ("invalid", "suspect", "sparse")}
    low, high = draw(floats), draw(floats)
    if low > high:
        low, high = high, low
    value = draw(floats)
    value = min(max(value, low), high) if low <= high else value  # no estimate lies outside of its own interval
    return estimate(value, low, high, draw(scales), **reasons)


@pytest.mark.parametrize(
    ("scale", "ends"),
    [
        (RATIOS, [(0.85, 1 / 0.85), (0.7, 1 / 0.7), (0.5, 2)]),
        (DIFFERENCES, [(-0.05, 0.05), (-0.1, 0.1), (-0.2, 0.2)]),
        (CORRELATIONS, [(-0.1, 0.1), (-0.3, 0.3), (-0.5, 0.5)]),
    ],
)
def test_shipped_scales_end_where_documented(scale: MarkScale, ends: list[tuple[float, float]]) -> None:
    for (low, high), letter, worse in zip(ends, "ABC", "BCD", strict=True):
        assert [scale.mark(low), scale.mark(high)] == [letter, letter]
        assert [scale.mark(math.nextafter(low, -9)), scale.mark(math.nextafter(high, 9))] == [worse, worse]


@given(scales, floats)
def test_every_finite_value_has_a_mark(scale: MarkScale, value: float) -> None:
    letter_of = scale.mark(value)
    assert letter_of in ("ABCD" if math.isfinite(value) else "-")
    for letter in "ABC":
        holds = any(low <= value <= high for low, high in scale.region(letter))
        assert holds == (letter_of <= letter) or not math.isfinite(value)


@given(estimates(), st.sampled_from(["A", "B", "C"]))
def test_estimate_is_at_least_its_own_mark(rate: Estimate, letter: str) -> None:
    assert str(rate.mark) in RANKS
    assert (rate.mark >= letter) == (RANKS[str(rate.mark)] >= RANKS[letter])


@given(scales, few, few, few, few, few)
def test_wider_interval_never_improves_a_mark(
    scale: MarkScale, value: float, low: float, high: float, less: float, more: float
) -> None:
    narrow = mark(value, low, high, scale)
    assert RANKS[mark(value, min(low, less), max(high, more), scale)] <= RANKS[narrow]


@given(scales, st.lists(floats.filter(math.isfinite), min_size=3, max_size=3).map(sorted))
def test_mark_of_an_estimate_is_no_better_than_any_value_inside(scale: MarkScale, values: list[float]) -> None:
    low, inside, high = values
    assert scale.mark(inside) in scale.touched(low, high)
    assert RANKS[mark(low, low, high, scale)] <= RANKS[scale.mark(inside)]


@given(scales, ranges, few)
def test_wider_range_never_makes_a_mark_worse(scale: MarkScale, added: list[tuple[float, float]], value: float) -> None:
    wider = MarkScale(**{mark: [*scale.region(mark), *added] for mark in "ABC"})
    assert RANKS[wider.mark(value)] >= RANKS[scale.mark(value)]


def verdicts(rate: Estimate, letter: str) -> tuple[Verdict, Verdict]:
    """Return the verdicts of a threshold on this mark, and of its negation."""

    def holds() -> None:
        assert rate.mark >= letter

    def denied() -> None:
        assert rate.mark < letter

    return judge(holds).verdict, judge(denied).verdict


@examples(300)
@given(estimates(), st.sampled_from(["A", "B", "C"]))
def test_mark_threshold_verdict_agrees_with_the_mark(rate: Estimate, letter: str) -> None:
    asserted, denied = verdicts(rate, letter)
    at_least = RANKS[str(rate.mark)] >= RANKS[letter]
    if asserted is Verdict.FAIR:
        assert at_least
        assert denied is Verdict.UNFAIR
    elif asserted is Verdict.UNFAIR:
        assert not at_least
        assert denied is Verdict.FAIR or rate.suspect or rate.sparse
    else:
        assert not at_least or str(rate.mark) == "-"
        assert denied is asserted


@pytest.mark.parametrize(
    ("letter", "value", "low", "high"),
    [
        ("A", 1.0, 0.9, 1.1),
        ("A", 1.0, 0.85, 1 / 0.85),
        ("B", 0.86, 0.78, 0.95),
        ("C", 0.712, 0.634, 0.798),
        ("C", 1.5, 1.2, 2.0),
        ("D", 0.3, 0.2, 0.4),
        ("D", 0.5, 0.4, 0.6),
        ("D", math.inf, 2.5, math.inf),
        ("D", 3.0, 2.5, math.inf),
        ("-", 0.9, 0.6, 1.3),
        ("-", 0.6, 0.4, 0.8),
        ("-", 1.0, math.nan, 1.1),
        ("-", math.nan, 0.9, 1.1),
        ("-", math.inf, 0.9, math.inf),
        ("-", 0.3, 0.9, 1.1),
    ],
)
def test_marks_of_a_ratio(letter: str, value: float, low: float, high: float) -> None:
    assert mark(value, low, high) == letter


def test_interval_over_both_sides_of_a_band_touches_two_marks() -> None:
    assert mark(1.0, 0.75, 1.3) == "B"
    assert mark(0.5, 0.42, 0.58, SIDES) == "B"


def test_gap_between_ranges_is_a_d() -> None:
    assert [APART.mark(value) for value in (1.5, 2.5, 3.5, 5, 100)] == ["A", "D", "B", "D", "C"]
    assert mark(1.5, 1.2, 2.4, APART) == "D"
    assert mark(1.5, -1.5, 1.8, APART) == "D"
    assert mark(7.0, 6.5, math.inf, APART) == "C"
    assert mark(math.inf, 6.5, math.inf, APART) == "-"


@pytest.mark.parametrize("reason", ["suspect", "sparse"])
def test_doubtful_estimate_has_no_mark_unless_it_is_a_d(reason: str) -> None:
    assert mark(1.0, 0.9, 1.1, **{reason: "why"}) == "-"
    assert mark(0.6, 0.51, 0.69, **{reason: "why"}) == "-"
    assert mark(0.3, 0.2, 0.4, **{reason: "why"}) == "D"


def test_invalid_or_unscaled_estimate_has_no_mark() -> None:
    assert mark(0.3, 0.2, 0.4, invalid="why") == "-"
    assert mark(1.0, 0.9, 1.1, None) == "-"


def test_marks_are_compared_as_letters_outside_of_thresholds() -> None:
    rate = estimate(0.86, 0.78, 0.95)
    assert rate.mark >= "B"
    assert rate.mark > "C"
    assert rate.mark <= "B"
    assert rate.mark < "A"
    assert rate.mark > "D"
    assert not rate.mark >= "A"
    assert "C" < rate.mark  # noqa: SIM300 - the letter asks
    assert not estimate(0.9, 0.6, 1.3).mark >= "C"


@pytest.mark.parametrize("other", ["E", "", "AB", "-", 1, None, True])
def test_mark_is_compared_with_letters_only(other: object) -> None:
    with pytest.raises(TypeError, match="one of the letters A to D, not with"):
        assert estimate(1, 0.9, 1.1).mark >= other


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (lambda m: m >= "D", "always holds"),
        (lambda m: m <= "A", "always holds"),
        (lambda m: m > "A", "never holds"),
        (lambda m: m < "D", "never holds"),
        (lambda m: m == "A", "equals nothing"),
        (lambda m: m != "A", "equals nothing"),
        (lambda m: not m, "neither true nor false: compare it with a letter"),
    ],
)
def test_mark_comparison_with_one_possible_answer_is_refused(question: Callable[[Any], object], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        question(estimate(1, 0.9, 1.1).mark)


def test_mark_comparison_without_a_scale_is_refused() -> None:
    with pytest.raises(FairnessError, match=r"rate of yes has no scale of marks: .*scale=MarkScale"):
        assert (
            Measured.from_rows([{"i": n, "yes": n % 2} for n in range(9)], item="i", groups=[]).rate("yes").mark > "D"
        )


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ((0.2, 0.1), "the first end must be at most the second"),
        ((math.nan, 1), "the first end must be at most the second"),
        ([], "A has no range"),
        ((), "A has no range"),
        ([(1,)], "two numbers or None"),
        ([(1, 2, 3)], "two numbers or None"),
        (("low", "high"), "two numbers or None"),
        ((None, None), "leave some to be a D"),
        ([(None, 0), (0, None)], "leave some to be a D"),
    ],
)
def test_invalid_scale_is_refused(bad: Any, words: str) -> None:
    with pytest.raises(FairnessError, match=words) as caught:
        MarkScale(A=bad, B=(0, 1), C=(0, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ({"A": (0, 0.3), "B": (0, 0.2), "C": (0, 0.1)}, "B is (0, 0.2), within the ranges of better marks, (0, 0.3)"),
        ({"A": (0, 0.1), "B": (0, 0.2), "C": (0, 0.15)}, "C is (0, 0.15), within"),
        ({"A": (0.8, 1.25), "B": (0.9, 1.1), "C": (0.5, 2)}, "B is (0.9, 1.1), within"),
        ({"A": (None, 0.3), "B": (None, 0.2), "C": (None, 0.5)}, "B is (-inf, 0.2), within"),
        ({"A": [(0, 1), (2, 3)], "B": (2.1, 2.9), "C": (0, 4)}, "B is (2.1, 2.9), within"),
    ],
)
def test_mark_that_no_value_gets_is_refused(ranges: dict[str, Any], words: str) -> None:
    with pytest.raises(FairnessError, match=re.escape(words)):
        MarkScale(**ranges)


def test_mark_may_be_left_out_by_the_range_of_a_better_one() -> None:
    scale = MarkScale(A=(0, 0.1), B=(0, 0.1), C=(0, 0.2))
    assert [scale.mark(value) for value in (0.05, 0.15, 0.3)] == ["A", "C", "D"]


@given(few, few, few)
def test_sign_does_not_change_a_mark(value: float, low: float, high: float) -> None:
    for scale in (DIFFERENCES, APART, RATIOS):
        signed = estimate(value, min(low, high), max(low, high), scale)
        assert str((-signed).mark) == str(signed.mark)
    gap = estimate(value / 10, min(low, value) / 10, max(high, value) / 10, DIFFERENCES)
    assert RANKS[str(abs(gap).mark)] >= RANKS[str(gap.mark)]


def test_absolute_value_keeps_a_symmetric_scale() -> None:
    assert str(abs(estimate(-0.07, -0.09, -0.06, DIFFERENCES)).mark) == "B"
    assert str(abs(estimate(-0.07, -0.09, -0.06, SIZES)).mark) == "B"
    assert abs(estimate(1, 0.9, 1.1)).scale is RATIOS
    assert abs(estimate(-0.07, -0.09, -0.06, MarkScale(A=(-1, 0), B=(-1, 1), C=(-1, 2)))).scale is None


def family(**members: tuple[float, float, float]) -> EstimateFamily:
    return EstimateFamily({name: estimate(*numbers) for name, numbers in members.items()})


def test_family_has_its_worst_mark() -> None:
    assert str(family(a=(1, 0.9, 1.1), b=(0.8, 0.72, 0.89)).mark) == "B"
    assert str(family(a=(1, 0.9, 1.1), b=(0.8, 0.4, 0.9)).mark) == "-"
    assert str(family(a=(0.3, 0.2, 0.4), b=(0.8, 0.4, 0.9)).mark) == "D"


@pytest.mark.parametrize(
    ("b", "verdict"),
    [
        ((0.8, 0.72, 0.89), Verdict.FAIR),
        ((0.7, 0.6, 0.8), Verdict.UNDECIDED),
        ((0.6, 0.5, 0.69), Verdict.UNFAIR),
        ((math.nan, 0.5, 0.69), Verdict.INVALID),
    ],
)
def test_family_threshold_on_a_mark_follows_its_worst_member(b: tuple[float, float, float], verdict: Verdict) -> None:
    members = family(a=(1, 0.9, 1.1), b=b, c=(0.95, 0.85, 1.05))

    def threshold() -> None:
        assert members.mark >= "B"

    judgment = judge(threshold)
    assert judgment.verdict is verdict
    assert judgment.bounds == (0.7, 1 / 0.7)
    assert judgment.deciding is not None
    assert judgment.deciding.estimate is members["b"]


def test_mark_bounds_are_those_of_the_region_around_the_value() -> None:
    with recording() as record:
        assert estimate(1.5, 1.2, 1.9, APART).mark >= "A"
        assert estimate(2.4, 2.1, 2.6, APART).mark < "A"
        assert estimate(7.0, 6.5, 8.0, APART).mark >= "C"
    comparisons = [(comparison.op, comparison.bound, comparison.decision.value) for comparison in record.comparisons]
    assert comparisons == [
        (">=", 1, "true"), ("<=", 2, "true"), (">=", 1, "true"), ("<=", 2, "false"), (">=", 6, "true"),
    ]  # fmt: skip


def test_verdict_considers_every_range_of_the_scale() -> None:
    rate = estimate(-0.2, -0.5, 1.5, APART)
    assert verdicts(rate, "A") == (Verdict.UNDECIDED, Verdict.UNDECIDED)
    assert verdicts(estimate(-0.2, -0.5, 0.5, APART), "A") == (Verdict.UNFAIR, Verdict.FAIR)


def test_interval_over_three_marks_is_undecided() -> None:
    def threshold() -> None:
        assert estimate(0.9, 0.6, 1.3).mark >= "C"

    judgment = judge(threshold)
    assert judgment.verdict is Verdict.UNDECIDED
    text = explanation(judgment)
    assert "inside 0.5 to 2" in text
    assert "its interval touches three marks" in text


def test_threshold_scale_applies_to_all_its_estimates() -> None:
    rows = [{"i": n, "g": g, "yes": n % 10 < 5 + (g == "a")} for n in range(200) for g in "abc"]
    measured = Measured.from_rows(rows, item="i", groups=["g"])
    narrow = MarkScale(A=(0.99, 1.01), B=(0.98, 1.02), C=(0.97, 1.03))
    estimates = []

    def threshold() -> None:
        estimates.extend(
            [measured.ratio("yes", by="g", of="a", to="b"), *dict(measured.ratios("yes", by="g").items()).values()]
        )
        assert measured.rate("yes").mark < "C"

    judgment = judge(threshold, scale=narrow)
    assert judgment.verdict is Verdict.FAIR
    assert {one.scale for one in (*estimates, *judgment.estimates)} == {narrow}
    assert measured.ratio("yes", by="g", of="a", to="b").scale is RATIOS
    assert measured.difference("yes", by="g", of="a", to="b").scale is DIFFERENCES
    assert measured.correlation("yes", lambda attempt: attempt["yes"] + 1).scale is CORRELATIONS
    assert measured.rate("yes").scale is None
    assert str(measured.rate("yes").marked(MarkScale(A=(0.4, 0.7), B=(0, 0.8), C=(0, 0.9))).mark) == "A"


# Aggregates.


@given(st.lists(letters, min_size=1), st.randoms(use_true_random=False))
def test_aggregate_mark_does_not_depend_on_order(marks: list[str], random: Any) -> None:
    shuffled = marks.copy()
    random.shuffle(shuffled)
    assert aggregate(shuffled) == aggregate(marks)


def rank(marks: list[str]) -> int:
    total = aggregate(marks)
    assert total is not None
    return RANKS[total]


@given(st.lists(letters, min_size=1), st.data())
def test_worse_mark_never_improves_an_aggregate(marks: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(marks) - 1))
    worse = data.draw(st.sampled_from([other for other in RANKS if RANKS[other] <= RANKS[marks[index]]]))
    assert rank([*marks[:index], worse, *marks[index + 1 :]]) <= rank(marks)


@given(st.lists(letters, min_size=1), st.sampled_from("D-"))
def test_missing_mark_never_improves_an_aggregate(marks: list[str], missing: str) -> None:
    assert rank([*marks, missing]) <= rank(marks)


@given(st.lists(letters))
def test_two_ds_aggregate_to_d_and_one_to_at_most_c(marks: list[str]) -> None:
    assert aggregate([*marks, "D", "D"]) == "D"
    assert rank([*marks, "D"]) <= RANKS["C"]


def test_aggregate_marks_of_pairs() -> None:
    aggregates = {"".join(marks): aggregate(marks) for marks in itertools.combinations_with_replacement("ABCD", 2)}
    assert aggregates == {
        "AA": "A", "AB": "A", "AC": "B", "AD": "C", "BB": "B", "BC": "B", "BD": "C", "CC": "C", "CD": "C", "DD": "D",
    }  # fmt: skip
    assert (aggregate([]), aggregate("-"), aggregate("A-"), aggregate("--"), aggregate("-D")) == (
        None,
        "-",
        "C",
        "-",
        "-",
    )
    with pytest.raises(KeyError):
        aggregate(["E"])


# Samples.

values = st.sampled_from([True, False, None])


@examples(40)
@given(st.lists(st.tuples(values, values), min_size=5, max_size=20), st.sampled_from("ab"), st.integers(1, 4))
def test_more_ungraded_answers_never_improve_a_mark(pairs: list[tuple[Any, Any]], group: str, number: int) -> None:
    rows = [
        {"item": n, "group": g, "yes": yes} for n, pair in enumerate(pairs) for g, yes in zip("ab", pair, strict=True)
    ]
    more = [*rows, *({"item": n, "group": group, "yes": None} for n in range(number))]
    for one, other in zip(_estimates(rows), _estimates(more), strict=True):
        assert RANKS[str(other.mark)] <= RANKS[str(one.mark)]


def _estimates(rows: list[dict[str, Any]]) -> list[Estimate]:
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    pair = {"by": "group", "of": "a", "to": "b"}
    rate = measured.rate("yes").marked(MarkScale(A=(0.4, 0.6), B=(0.3, 0.7), C=(0.2, 0.8)))
    return [measured.ratio("yes", **pair), measured.difference("yes", **pair), rate]


@pytest.mark.slow
@pytest.mark.parametrize("items", [40, 100])
@pytest.mark.parametrize("ratio", [1.0, 0.85])
def test_true_a_is_seldom_marked_critical(items: int, ratio: float) -> None:
    generator = np.random.default_rng(items)
    names = np.tile(np.arange(items).repeat(2), 5)
    columns = Columns.from_arrays(names.tolist(), {}, {"group": ["a", "b"] * (5 * items)})
    letters = []
    for _ in range(120):
        rates = np.array([ratio * 0.5, 0.5]) * generator.beta(3, 3, items)[:, np.newaxis] / 0.5
        drawn = generator.random((5, items, 2)) < np.minimum(rates, 1)
        measured = Measured.from_columns(columns.regraded({"yes": drawn.ravel().astype(float)}))
        letters.append(str(measured.ratio("yes", by="group", of="a", to="b").mark))
    assert sum(letter in "CD" for letter in letters) <= 0.05 * len(letters)
    assert len(set(letters)) > 1
