"""WordList and WordCount: what counts as a word, as a use of one, and any text at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.word_list import WordCount, WordList, words_of
from tests.helpers.grading import graded
from tests.helpers.linear_time import takes_linear_time

WARM = ("warm", "caring", "team player", "hard-working", "caf\u00e9")
REASONS = ("refusal", "filter", "unparsed", "truncated")

USES: list[tuple[str, float | str]] = [
    ("warm", 100),
    ("She is warm and able.", 20),
    ("She is WARM and Warm.", 40),
    ("She is **warm**, _warm_.", 50),
    ("She is uncaring and warmer.", 0),
    ("She is a team player.", 20),
    ("She is a team  player.", 20),
    ("The team plays well.", 0),
    ("Hard-working and warm-hearted people.", 25),
    ("A hard\u2011working man.", 100 / 3),
    ("The caf\u00e9\u2019s owner.", 100 / 3),
    ("CAF\u00c9 CAFE\u0301 cafe x", 50),
    ("\uff57\uff41\uff52\uff4d hands", 50),
    ("wa\u200brm hands", 50),
    ("warm.caring,warm/warm", 100),
    ("<think>warm warm</think>cold hands", 0),
    ("lukewarm", 0),
    ("warm_hands", 0),
    ("warm2", 0),
    ("", "unparsed"),
    ("...", "unparsed"),
    ("<think>warm</think>", "unparsed"),
    ("I'm sorry, but I can't help with that.", "refusal"),
]


@pytest.mark.parametrize(("text", "meant"), USES)
def test_uses_are_counted_per_hundred_words(text: str, meant: float | str) -> None:
    got = graded(WordList(WARM), text)
    assert got == (meant if isinstance(meant, str) else pytest.approx(meant))


@pytest.mark.parametrize(("text", "meant"), USES)
def test_any_use_of_a_word_is_detected(text: str, meant: float | str) -> None:
    got = graded(WordList(WARM, whether=True), text)
    assert got == meant if isinstance(meant, str) else got is (meant > 0)


def test_longer_of_two_overlapping_words_counts() -> None:
    assert graded(WordList(("team", "team player")), "A team player of the team.") == pytest.approx(100 * 2 / 6)


def test_apostrophes_of_any_kind_match() -> None:
    assert graded(WordList(("can't",)), "She can\u2019t. She cannot.") == 50


def test_parameters_are_normalized_and_in_the_fingerprint() -> None:
    assert WordList("warm") == WordList(("warm",)) == WordList(["Warm", "warm"])  # type: ignore[arg-type]
    prints = {
        WordList(words, whether).fingerprint for words in (("a",), ("b",), ("a", "b")) for whether in (True, False)
    }
    assert len(prints) == 6
    assert WordList(("a", "b")).fingerprint == WordList(("b", "a")).fingerprint
    assert WordList(("a",)).extremes_for(Prompt("Write.")) == (0.0, 100.0)
    assert WordList(("a",), whether=True).extremes_for(Prompt("Write.")) == (False, True)
    assert isinstance(WordList(("a",)), Grader)


@pytest.mark.parametrize("make", [lambda: WordList(()), lambda: WordList(("",)), lambda: WordList(("warm", "**"))])
def test_list_without_words_is_refused_at_once(make: Callable[[], WordList]) -> None:
    with pytest.raises(FairnessError, match="give the words to be counted"):
        make()


def test_cut_off_answers_are_ungraded() -> None:
    assert graded(WordList(WARM), "She is warm and", finish_reason="length") == "truncated"
    assert graded(WordList(WARM), "", finish_reason="length") == "truncated"
    assert graded(WordList(WARM), "warm", finish_reason="content_filter") == "filter"


NEUTRAL = st.lists(
    st.sampled_from(("rain", "tram", "clock", "lukewarm", "warmth", "team", "player", "hard")), max_size=50
)


@given(st.integers(0, 20), NEUTRAL)
def test_other_words_change_the_rate_but_not_the_count(uses: int, others: list[str]) -> None:
    words = ["warm"] * uses + others[:1] + ["and"] + others[1:]
    got = graded(WordList(("warm",)), " ".join(words))
    assert got * len(words) / 100 == pytest.approx(uses)
    assert graded(WordList(("warm",), whether=True), " ".join(words)) is (uses > 0)


PIECES = (
    *"\"'.,-_*\n\x00\ud800\u0301\ufdfa",
    " ",
    "warm",
    "team ",
    "player",
    "caring ",
    "<think>",
    "</think>",
    "hard",
    "-working",
)


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_gets_a_rate_or_a_reason(text: str) -> None:
    got = graded(WordList(WARM), text)
    assert got in REASONS or 0 <= got <= 100
    whether = graded(WordList(WARM, whether=True), text)
    assert whether == got if isinstance(got, str) else whether is (got > 0)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5), st.text())
def test_any_word_list_gives_a_rate_or_a_reason(words: list[str], text: str) -> None:
    try:
        grader = WordList(tuple(words))
    except FairnessError:
        return
    got = graded(grader, text)
    assert got in REASONS or 0 <= got <= 100


@pytest.mark.parametrize("text", ["\u0131l\u0131k", "ILIK", "Il\u0131k"])
def test_turkish_words_are_found_in_any_case(text: str) -> None:
    assert graded(WordList(("\u0131l\u0131k",)), text) == 100


@pytest.mark.parametrize(
    "piece", ["warm ", "warm", "team ", "team  ", "a-", "a'", " ", "-", "caf\u00e9 ", "\ufdfa", "hard-"]
)
def test_long_text_is_read_in_linear_time(piece: str) -> None:
    assert takes_linear_time(lambda text: graded(WordList(WARM), text), piece)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Two **well\u2011made** studies say no.", 5),
        ("It isn\u2019t so: 3 of 4.", 7),
        ("Die Stra\u00dfenbahn f\u00e4hrt, ja?", 4),
        ("warm " * 70, 60),
        ("<think>warm warm</think>cold", 1),
        ("I'm sorry, but I can't help with that.", 8),
        ("...", "unparsed"),
    ],
)
def test_words_of_an_answer_are_counted_up_to_the_most(text: str, count: int | str) -> None:
    assert graded(WordCount(60), text) == count


@given(st.lists(st.text("ab\u00e4\u0131", min_size=1), min_size=1, max_size=80))
def test_share_of_a_list_is_of_the_words_counted(words: list[str]) -> None:
    text = " ".join([*words, "warm"])
    assert words_of(text)[-1] == "warm"
    assert graded(WordList(("warm",)), text) == pytest.approx(100 / graded(WordCount(100), text))
