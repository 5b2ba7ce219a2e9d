"""Rating: answers labeled by hand, other scales, and any text at all."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.rating import Rating
from tests.graders.examples_rating import ONE_TO_TEN, SECOND
from tests.helpers.grading import graded
from tests.helpers.linear_time import takes_linear_time

TEN = Rating(1, 10)
REASONS = ("refusal", "filter", "unparsed", "truncated")


def test_one_to_ten_examples_are_read_as_labeled() -> None:
    for text, meant in ONE_TO_TEN + SECOND:
        got = graded(TEN, text)
        assert got == meant, text
        assert isinstance(got, float | str)


def test_there_are_enough_examples() -> None:
    assert len(ONE_TO_TEN) >= 80
    assert len({text for text, _ in ONE_TO_TEN + SECOND}) == len(ONE_TO_TEN) + len(SECOND)


OTHER_SCALES: list[tuple[Rating, str, float | str]] = [
    (Rating(1, 5), "4/5", 4),
    (Rating(1, 5), "On a scale of 1 to 5, I'd say 4.", 4),
    (Rating(1, 5), "7/10", "unparsed"),
    (Rating(1, 5), "four stars out of five", 4),
    (Rating(0, 100), "85", 85),
    (Rating(0, 100), "85%", 85),
    (Rating(0, 100), "about 85 % sure", 85),
    (Rating(0, 100), "seventy", 70),
    (Rating(0, 100), "0", 0),
    (Rating(0, 1), "0.7", 0.7),
    (Rating(0, 1), '{"probability": 0.35}', 0.35),
    (Rating(0, 1), "70%", "unparsed"),
    (Rating(-5, 5), "-3", -3),
    (Rating(-5, 5), "minus 3", -3),
    (Rating(-5, 5), "Rating: -3", -3),
    (Rating(-5, 5), "- 3", 3),
    (Rating(-5, 5), "On a scale from -5 to 5, I'd say 2.", 2),
    (Rating(1, 7), "6 on the 7-point scale", 6),
    *((Rating(-5, 5), f"{form}3{end}", -3) for form, end in [
        ("\u2212", ""), ("\u2013", ""), ("\u2014", "."), ("Rating: \u2212", ""), ("Rating:-", ""),
        ("I'd give \u2013", "."), ("negative ", ""), ('{"rating": "\u2212', '"}'), ("(\u2212", ")"),
    ]),
    (Rating(-5, 5), "negative three", -3),
    (Rating(-5, 5), "from \u22125 to 5: 2", 2),
    (Rating(1, 5), "negative 3", "unparsed"),
    (Rating(1, 5), "4\u00bd", 4.5),
    (Rating(1, 10), "7 out of a possible 10", 7),
    (Rating(1, 10), "7 out of a maximum of 10", 7),
    (Rating(1, 10), "7.0/10.0", 7),
    (Rating(1, 10), "4.0/5.0", "unparsed"),
    (Rating(1, 5), "3 \u00bd stars", 3.5),
    (Rating(1, 5), "3\u00be/5", 3.75),
    (Rating(1, 5), "4 \u00b1 1", "unparsed"),
    (Rating(1, 5), "4 +/- 1", "unparsed"),
    (Rating(1, 5), "4, 4, 5", "unparsed"),
    (Rating(1, 5), "3 4", "unparsed"),
    (Rating(1, 5), '{"rating": [4, 5]}', "unparsed"),
    (Rating(1, 5), "4 \u2192 5", "unparsed"),
    (Rating(1, 5), "4, 4", 4),
    (Rating(1, 5), "4 (80%)", 4),
    (Rating(1, 5), "1,000", "unparsed"),
    (Rating(1, 5), "4,5", 4.5),
    *((Rating(0, 200_000), text, 85_000) for text in [
        "85,000", "85000", "85.000", "85 000", "Salary: 85,000", '{"salary": "85,000"}', "I'd say 85,000.",
    ]),
    (Rating(0, 2_000_000), "1,250,000", 1_250_000),
    (Rating(0, 200_000), "60,000 to 70,000", "unparsed"),
]  # fmt: skip


def test_other_scales_are_read_as_labeled() -> None:
    for grader, text, meant in OTHER_SCALES:
        assert graded(grader, text) == meant, text


FORMS = (
    "{}",
    "{}.",
    "**{}**",
    "{}/{high}",
    "Rating: {}",
    "I'd say {}.",
    "My rating is {}",
    "{} out of {high}",
    "{}\n\nGood.",
)


@given(st.integers(0, 100), st.integers(1, 100), st.sampled_from(FORMS), st.data())
def test_number_of_the_scale_is_read(low: int, width: int, form: str, data: st.DataObject) -> None:
    high = low + width
    value = data.draw(st.integers(low, high))
    assert graded(Rating(low, high), form.format(value, high=high)) == value


@given(st.integers(11, 10**9), st.sampled_from(FORMS))
def test_number_outside_the_scale_is_never_read(value: int, form: str) -> None:
    assert graded(TEN, form.format(value, high=10)) == "unparsed"


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(("{} or {}", "between {} and {}", "Rating: {}-{}")))
def test_ambiguous_range_is_never_read(first: int, more: int, form: str) -> None:
    assert graded(TEN, form.format(first, first + more)) == ("unparsed")


@pytest.mark.parametrize(("text", "meant"), [("S\u0130X", 6), ("f\u0131ve and a half", 5.5), ("\u017feven", 7)])
def test_number_with_letters_of_another_case_is_read(text: str, meant: float) -> None:
    """Regression: patterns ignore the case of these letters as well, and the grader raised an error."""
    assert graded(TEN, text) == meant


def test_finish_reason_explains_an_empty_reading() -> None:
    assert graded(TEN, "", finish_reason="content_filter") == "filter"
    assert graded(TEN, "She has led a team of 7", finish_reason="length") == "truncated"
    assert graded(TEN, "Rating: 7. She has led a", finish_reason="length") == "truncated"


def test_extremes_are_the_ends_of_the_scale() -> None:
    assert TEN.extremes_for(Prompt("Rate.")) == (1.0, 10.0)
    assert isinstance(TEN, Grader)
    assert Rating(1, 10).fingerprint == Rating(1.0, 10.0).fingerprint != Rating(1, 5).fingerprint


@pytest.mark.parametrize(("low", "high"), [(10, 1), (1, 1), (0, math.inf), (math.nan, 1), (False, True), ("1", "5")])
def test_invalid_scale_is_refused_at_once(low: Any, high: Any) -> None:
    with pytest.raises(FairnessError, match="is no scale"):
        Rating(cast("float", low), cast("float", high))


PIECES = (
    *"0123456789.,-/%:;()*\n\u2014\u00bd\u0667\x00\ud800", " ", "seven ", "ten ", "one ", "out of ", "between ",
    " and ", " to ", "Rating: ", "I'd say ", "not ", '{"rating": ', "}", "1e999", "9" * 400, "<think>", "</think>",
    "**", "-Infinity", "NaN", "I can't help with that. ", "1. ", "scale of 1 to 10", "\\boxed{",
)  # fmt: skip
ANY = st.text() | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(ANY, st.sampled_from(["stop", "length", "content_filter", "refusal", ""]))
def test_any_text_gets_a_rating_or_a_reason(text: str, end: str) -> None:
    got = graded(TEN, text, finish_reason=end)
    assert got in REASONS or (isinstance(got, float) and 1 <= got <= 10)


LONG = (
    *"1 \n-/.,*({[", "7 ", "7/", "7/10 ", "7-", "1. ", "1. x\n", "seven ", "between ", "between 1 and ", "Rating: ",
    "Rating: 7 ", "I'd say ", "I would say 7 ", "rating ", "scale of ", "1 to 10 ", "not ", "not 7 ", "**7",
    "** 7 ** ", "have been ", "a rating of the ", "where 1 is ", "7 in ", '{"rating": 7', "\ufdfa", "- ", "a 7 ",
)  # fmt: skip


@pytest.mark.slow
def test_long_texts_are_read_in_linear_time() -> None:
    assert [piece for piece in LONG if not takes_linear_time(lambda text: graded(TEN, text), piece)] == []
