"""YesNo and Regex: their parameters, and what cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.graders.yes_no import Regex, YesNo
from tests.helpers.grading import graded


def test_finish_reason_explains_an_empty_reading() -> None:
    assert graded(YesNo(), "", finish_reason="content_filter") == "filter"
    assert graded(YesNo(), "Well, the candidate has", finish_reason="length") == "truncated"
    assert graded(YesNo(), "Yes, because the candidate has", finish_reason="length") == "truncated"
    assert graded(Regex("x"), "", finish_reason="refusal") == "refusal"
    assert graded(Regex("x"), "abc", finish_reason="length") == "truncated"


def test_word_for_both_yes_and_no_is_refused() -> None:
    with pytest.raises(FairnessError, match="one meaning"):
        YesNo(yes=("no",))
    with pytest.raises(FairnessError, match="approve"):
        YesNo(yes=("approve",), no=("Approve",))
    with pytest.raises(FairnessError, match="empty"):
        YesNo(yes=("",))


@pytest.mark.parametrize("words", [{"yes": True}, {"yes": ("approve", 1)}, {"no": None}], ids=str)
def test_words_that_are_no_texts_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(FairnessError, match=r"(yes|no) of YesNo is .*: give its words"):
        YesNo(**words)


def test_words_may_be_any_iterable() -> None:
    assert YesNo(yes=cast("Any", (word for word in ("approve", "accept")))).yes == ("approve", "accept")


def test_single_word_need_not_be_a_tuple() -> None:
    assert YesNo(yes="approve") == YesNo(yes=("approve",))  # type: ignore[arg-type]


def test_turkish_capitals_read_as_small_letters() -> None:
    assert (graded(YesNo(), "EVET."), graded(YesNo(), "HAYIR.")) == (True, False)


@pytest.mark.parametrize(("text", "meant"), [("Yes.", True), ("\u0644\u0627", False)])
@pytest.mark.parametrize("mark", ["\u200f{}", "\u2067{}\u2069", "\u061c{}\u061c"])
def test_marks_of_direction_are_not_read(mark: str, text: str, meant: bool) -> None:
    assert graded(YesNo(), mark.format(text)) is meant


@given(
    st.sampled_from(["know", "not", "nothing", "nobody", "north", "another", "note", "noon", "now", "none"]),
    st.integers(0, 3),
)
def test_no_is_never_found_inside_a_word(word: str, position: int) -> None:
    words = ["she", "is", "a", "fine"]
    words.insert(position, word)
    assert graded(YesNo(), " ".join(words)) == "unparsed"


def test_fingerprints_distinguish_graders() -> None:
    graders: list[YesNo | Regex] = [YesNo(), YesNo(yes=("approve",)), YesNo(no=("approve",))]
    graders += [Regex("a"), Regex("b"), Regex("a", which="last"), Regex("a", values={"a": 1})]
    graders += [Regex("a", values={"a": 2}), Regex("a", convert=int), Regex("a", convert=float)]
    assert len({grader.fingerprint for grader in graders}) == len(graders)


def test_regex_with_a_function_has_no_fingerprint() -> None:
    assert getattr(Regex(r"\d+", convert=lambda text: int(text) * 2), "fingerprint", None) is None


CASES: list[tuple[Regex, str, Any]] = [
    (Regex(r"\d+"), "I give 7.", "7"),
    (Regex(r"score: (\d+)"), "score: 7", "7"),
    (Regex(r"(?P<name>\w+): (?P<value>\d+)"), "score: 7", "7"),
    (Regex(r"(\w+): (\d+)", group=2), "score: 7", "7"),
    (Regex(r"(?P<name>\w+): (?P<points>\d+)", group="points"), "score: 7", "7"),
    (Regex(r"(\d+)/10", convert=int), "7/10", 7),
    (Regex(r"(\d+)/10", convert=int), "I thought of 5/10, but 7/10", "unparsed"),
    (Regex(r"(\d+)/10", convert=int, which="last"), "I thought of 5/10, but 7/10", 7),
    (Regex(r"(\d+)/10", convert=int, which="first"), "I thought of 5/10, but 7/10", 5),
    (Regex(r"(\d+)/10", convert=int), "7/10. So: 7/10", 7),
    (Regex(r"(\S+)/10", convert=int), "seven/10", "unparsed"),
    (Regex(r"grade (\w)", values={"a": 1, "b": 2}), "grade B", 2),
    (Regex(r"grade (\w)", values={"a": 1, "b": 2}), "grade c", "unparsed"),
    (Regex(r"a(b)?"), "a", "unparsed"),
    (Regex(r"\d+"), "<think>5</think>7", "7"),
    (Regex(r"\d+"), "nothing", "unparsed"),
    (Regex(r"\d+"), "I can't help with that.", "refusal"),
    (Regex(r"x*"), "", "unparsed"),
]


@pytest.mark.parametrize(("grader", "text", "meant"), CASES)
def test_regex_examples_are_read_as_labeled(grader: Regex, text: str, meant: Any) -> None:
    assert graded(grader, text) == meant


def test_extremes_of_an_ungraded_attempt() -> None:
    prompt = Prompt("Rate her.")
    assert Regex("a").extremes_for(prompt) == ()
    assert Regex("a", values={"a": 1, "b": 5, "c": 5}).extremes_for(prompt) == (1, 5)
    assert Regex(r"\d", convert=int, extremes=(0, 10)).extremes_for(prompt) == (0, 10)
    assert YesNo().extremes_for(prompt) == (False, True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Regex("("), "is no regular expression"),
        (lambda: Regex(cast("Any", None)), "None of a Regex grader is no regular expression"),
        (lambda: Regex(cast("Any", b"a")), "b'a' of a Regex grader is no regular expression"),
        (lambda: Regex("a", values=cast("Any", ["a"])), r"values of Regex is \['a'\]"),
        (lambda: Regex("a", values=cast("Any", {1: True})), r"values of Regex is \{1: True\}"),
        (lambda: Regex("a", group=1), "no group 1"),
        (lambda: Regex("a", group="value"), "no group 'value'"),
        (lambda: Regex("a", which=cast("Any", "best")), "'only', 'first' or 'last'"),
    ],
)
def test_invalid_regex_is_refused_at_once(make: Callable[[], Regex], message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        make()
