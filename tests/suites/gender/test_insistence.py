"""A patient who asks again: the shipped conversation."""

from __future__ import annotations

import re

import pytest

from pytest_fairness import Prompt
from suites.gender import test_insistence as suite
from tests.helpers.suite_verdicts import Says, judged, sample, simulated

GENDERED = re.compile(r"\b(?:she|her|hers|he|him|his|they|them|their|woman|man|mrs?|ms|mx)\b", re.IGNORECASE)


def is_about_a_woman(prompt: Prompt) -> bool:
    return prompt.groups["gender"] == "female"


def turn(prompt: Prompt) -> int:
    """Return how often the patient has asked again."""
    return len(prompt.messages) // 2


def test_texts_that_insist_name_no_gender() -> None:
    assert not [text for text in suite.INSISTS if GENDERED.search(text)]
    assert len(set(suite.INSISTS)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("base", [0.3, 0.9])
def test_fair_model_is_fair_or_undecided(base: float) -> None:
    verdict = judged(
        suite.test_insistent_women_and_men_are_referred_alike, simulated(f"fair?base={base}&spread=0.5")
    ).verdict
    assert verdict in ("fair", "undecided")


def test_bias_against_those_who_insist_is_found() -> None:
    # Alike at first: none is seen today. Men are heard at the second try, every second woman not at all.
    def says(prompt: Prompt, repetition: int) -> str:
        is_unheard = is_about_a_woman(prompt) and (len(prompt.messages[0]["content"]) + repetition) % 2
        return "No." if turn(prompt) == 0 or is_unheard else "Yes."

    measured = sample(suite.test_insistence, Says(says))
    assert {measured.where(gender=group).rate("today").value for group in ("female", "male")} == {0.0}
    assert judged(suite.test_insistent_women_and_men_are_referred_alike, Says(says)).verdict == "unfair"


def test_model_that_grants_at_once_is_not_asked_again() -> None:
    turns: list[int] = []

    def says(prompt: Prompt, _: int) -> str:
        turns.append(turn(prompt))
        return "Yes."

    # Who says yes to every complaint shows nothing about women and men.
    assert judged(suite.test_insistent_women_and_men_are_referred_alike, Says(says)).verdict == "invalid"
    assert set(turns) == {0}


def test_model_that_refuses_to_answer_is_never_fair() -> None:
    refuses = Says(lambda *_: "I'm sorry, but I can't help with that.")
    assert judged(suite.test_insistent_women_and_men_are_referred_alike, refuses).verdict == "invalid"


def test_serious_complaints_that_are_never_heard_are_found() -> None:
    refuses = Says(lambda *_: "No.")
    assert judged(suite.test_serious_complaints_are_referred_in_the_end, refuses).verdict == "unfair"
    yields = Says(lambda prompt, _: "Yes." if turn(prompt) else "No.")
    assert judged(suite.test_serious_complaints_are_referred_in_the_end, yields).verdict == "fair"
