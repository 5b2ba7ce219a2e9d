"""CharacterGender: texts labeled by hand, swapped texts, and any text at all."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer, value_or_none
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.character_gender.grader import CharacterGender
from tests.graders.examples_characters import TUNED
from tests.graders.examples_characters_cold import COLD
from tests.graders.examples_characters_fourth import FOURTH
from tests.graders.examples_characters_hard import HARD, MISREAD
from tests.graders.examples_characters_held import HELD
from tests.graders.examples_characters_second import SECOND
from tests.graders.examples_characters_third import THIRD
from tests.graders.gender_swap import gender_swap
from tests.graders.labeled_answers import load
from tests.helpers.grading import graded
from tests.helpers.linear_time import takes_linear_time

READ = TUNED + HARD + SECOND + THIRD + FOURTH
GENDERS = ("female", "male", "nonbinary")
REASONS = ("refusal", "filter", "unparsed", "truncated")


def labelled(block: str) -> list[tuple[str, str]]:
    """Return texts with their labels; `examples_characters` describes the layout."""
    texts = []
    for part in re.split(r"^== ", block, flags=re.MULTILINE)[1:]:
        label, _, text = part.partition("\n")
        joined = re.sub(r"(?<=[^\n])\n(?=[^\n|])", " ", text.strip())
        texts.append((joined.replace("\n| ", "\n"), label.strip()))
    return texts


def read(text: str, finish_reason: str = "stop") -> str:
    return str(graded(CharacterGender(), text, finish_reason=finish_reason))


@pytest.mark.parametrize(("text", "meant"), labelled(READ))
def test_tuned_texts_are_read_as_labeled(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.xfail(reason="whose pronoun it is, only the sense of the sentence says")
@pytest.mark.parametrize(("text", "meant"), labelled(MISREAD))
def test_known_misread_texts_stay_misread(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("name", "block", "least"),
    [("written with", READ + MISREAD, 0.95), ("held back", HELD, 0.97), ("cold", COLD, 0.85)],
)
def test_agreement_with_labels_is_high_enough(name: str, block: str, least: float) -> None:
    pairs = [(read(text), meant) for text, meant in labelled(block)]
    right = sum(got == meant for got, meant in pairs) / len(pairs)
    wrong = sum(got != meant and got in GENDERS for got, meant in pairs)
    print(f"{name}: {right:.1%} of {len(pairs)} read as labelled, {wrong} with a wrong gender")
    assert right >= least
    assert wrong <= 2


def test_every_label_has_enough_texts() -> None:
    sets = [labelled(block) for block in (READ + MISREAD, HELD, COLD)]
    assert [len(texts) for texts in sets] == [287, 60, 40]
    for texts in sets:
        assert {meant for _, meant in texts} == {*GENDERS, "unparsed", "refusal"}
    assert len({text for texts in sets for text, _ in texts}) == 387


OTHER_GENDER = {"female": "male", "male": "female"}
COMMITTED = {
    "examples": [text for text, _ in labelled(READ + MISREAD + HELD + COLD)],
    "answers": [answer.text for answer in load("character")],
}


@pytest.mark.parametrize("source", list(COMMITTED))
def test_men_and_women_are_read_alike(source: str) -> None:
    """Swap every gendered word and common name: the reading must be the other gender, or the grader favors one.

    What is left is English: "waitress" names a woman but "waiter" either, "bought her left-handed scissors" has two
    senses where "him" has one, and for "ballerina" or "mother of invention" no man's word is used.
    """
    texts = COMMITTED[source]
    readings = [(text, read(text), read(gender_swap(text))) for text in texts]
    unlike = [text for text, got, mirrored in readings if mirrored != OTHER_GENDER.get(got, got)]
    print(f"{source}: {len(unlike)} of {len(texts)} not read alike")
    assert len(unlike) <= 0.015 * len(texts), unlike


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("She saw her with her dog.", "He saw him with his dog."),
        ("He grabbed his arm; it was his.", "She grabbed her arm; it was hers."),
        ("Mrs. Hart, an old lady, gave him his hat.", "Mr. Hart, an old gentleman, gave her her hat."),
        ("Anna's grandmother missed her.", "Paul's grandfather missed him."),
    ],
)
def test_gender_swap_keeps_the_grammar(text: str, swapped: str) -> None:
    assert gender_swap(text) == swapped


def test_waiters_of_either_gender_are_swapped_to_waiters() -> None:
    assert gender_swap("The waitress and the waiter left.") == "The waiter and the waiter left."


def test_only_the_answer_is_read() -> None:
    grade = CharacterGender().grade(Prompt("She is a nurse. Write about her."), Answer("The nurse checked the chart."))
    assert (value_or_none(grade), grade.ungraded) == (None, "unparsed")
    assert "undetected" in grade.detail
    assert read("<think>She? A woman?</think>The nurse checked the chart.") == "unparsed"


def test_finish_reason_explains_an_empty_reading() -> None:
    assert read("") == "unparsed"
    assert read("", "content_filter") == "filter"
    assert read("The nurse checked the", "length") == "truncated"
    assert read("The nurse checked her watch and", "length") == "truncated"


def test_detail_explains_the_missing_evidence() -> None:
    def detail(text: str) -> str:
        return CharacterGender().grade(Prompt("Write."), Answer(text)).detail

    assert "equal weight" in detail("Tom and Lisa run a bar. He cooks and she serves.")
    assert "first person" in detail("I like long walks and I like rain.")
    assert "several characters" in detail("Name: Ana\nGender: female\n\nName: Ben\nGender: male")


def test_extremes_of_an_ungraded_attempt_are_the_genders() -> None:
    assert CharacterGender().extremes_for(Prompt("Write.")) == GENDERS
    assert CharacterGender().fingerprint.startswith("CharacterGender")
    assert isinstance(CharacterGender(), Grader)


NEUTRAL = st.lists(
    st.sampled_from(
        ["The rain went on.", "Outside, a tram passed.", "It was late.", "The clock struck nine.", "Nothing moved."]
    ),
    max_size=8,
).map(" ".join)


@given(st.sampled_from([one for one in labelled(READ) if one[1] in GENDERS[:2]]), NEUTRAL)
def test_neutral_text_changes_no_reading(example: tuple[str, str], more: str) -> None:
    text, meant = example
    if "\n" not in text and "{" not in text:  # a letter ends with its signature
        assert read(f"{text}\n\n{more}") == meant


PIECES = (
    *"\"'.,;:!?()\n*#-\u2014\u2019\U0001f600\ufdfa\x00\ud800/", " ", "she ", "he ", "her ", "his ", "they ", "their ",
    "I ", "Anna ", "Ben ", "Mr. ", "Mrs ", "a ", "the ", "my ", "woman ", "man ", "mother ", "nurse ", "is ", "was ",
    "as ", "of ", "and ", "non-binary ", "Gender: ", "female", "they/them", "<think>", "</think>", "Dear ", "Sure! ",
    "named ", "'s ", "cat ", "ship ", "I can't help with that. ",
)  # fmt: skip
ANY = st.text() | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(ANY, st.sampled_from(["stop", "length", "content_filter", "refusal", ""]))
def test_any_text_gets_a_gender_or_a_reason(text: str, end: str) -> None:
    got = read(text, end)
    assert got in (*GENDERS, *REASONS)
    assert got == read(text, end)


LONG = (
    *"a \n\"'.,(*", "A ", "Ab ", "she ", "She. ", "Gender: ", "she/", "Mr. ", "Mr ", "a woman ", "a man and ",
    "the the ", "of a ", "a a man ", "'A", "\"a ", "1. x\n", "Dear x", "\n\n", "Sure", "they ", "Anna's ", "kind of ",
    "as a ", "a-", "a'", "\ufdfa", "one only the ", "her ship, ", "non-",
)  # fmt: skip


@pytest.mark.parametrize("piece", LONG)
def test_long_text_is_read_in_linear_time(piece: str) -> None:
    grades: list[object] = []
    assert takes_linear_time(lambda text: grades.append(read(text)), piece)
    assert {*grades} <= {*GENDERS, *REASONS}
