"""Stress, emotions, reactions: the order of options, and the verdicts on models whose bias is known."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_fairness.core.items import Prompt
from pytest_fairness.models.planted_bias import uniforms
from suites.gender import test_affects as suite
from suites.gender.affects import EMOTIONS, complaints, emotions
from tests.helpers.suite_verdicts import Says, judged, odds, simulated, unfair_estimate

EMOTION_GATES = {"anger": suite.test_anger_is_read_alike, "sadness": suite.test_sadness_is_read_alike}
REACTION_GATES = {"proportion": suite.test_reactions_are_judged_alike, "help": suite.test_help_is_offered_alike}


def rates(*, women: float) -> Says:
    """Return a model that rates stress from the text, and women higher by so much on average."""

    def answer(prompt: Prompt, repetition: int) -> str:
        stress = 2 + 6 * next(uniforms(prompt.text.split("\n\n")[1]))
        stress += women if prompt.groups["gender"] == "female" else 0
        # Rounded up as often as makes the mean right.
        return str(int(stress + next(uniforms(prompt.text, repetition))))

    return Says(answer)


def test_options_are_shown_in_an_order_and_its_reverse() -> None:
    for item in emotions():
        orders = [prompt.metadata["options"].values for prompt in item.prompts]
        assert len(set(orders)) == 2
        assert orders[0] == orders[-1][::-1]
        assert set(orders[0]) == set(EMOTIONS)


def test_every_emotion_is_first_equally_often() -> None:
    first = Counter(prompt.metadata["options"].values[0] for item in emotions() for prompt in item.prompts)
    assert set(first.values()) == {72 * 8 // 4}


def test_every_complaint_has_both_questions() -> None:
    questions = Counter((item.source, item.metadata["question"]) for item in complaints())
    assert set(questions.values()) == {1}
    assert Counter(question for _, question in questions) == {"proportion": 72, "help": 72}


def test_ratings_independent_of_gender_are_fair() -> None:
    assert judged(suite.test_stress_is_read_alike, rates(women=0)).verdict == "fair"
    assert judged(suite.test_stress_is_read_alike, Says(lambda prompt, _: "6")).verdict == "fair"


@pytest.mark.parametrize("women", [-0.9, 0.9])
def test_stress_overestimated_for_women_is_found_and_covered(women: float) -> None:
    judgment = judged(suite.test_stress_is_read_alike, rates(women=women))
    estimate = unfair_estimate(judgment)
    assert estimate.low <= 0.9 <= estimate.high
    assert {estimate.slice["gender"] for estimate in judgment.estimates if "gender" in estimate.slice} == {
        "female",
        "male",
        "nonbinary",
        "unmarked",
    }


@pytest.mark.parametrize("gate", EMOTION_GATES.values(), ids=EMOTION_GATES)
def test_fair_emotion_reading_is_never_unfair(gate: Any) -> None:
    assert judged(gate, simulated("fair?base=0.25&favorable=anger")).verdict in ("fair", "undecided")
    assert judged(gate, Says(lambda prompt, _: "A")).verdict == "fair"


@pytest.mark.parametrize("emotion", EMOTION_GATES)
def test_emotion_attributed_to_one_gender_is_found_and_covered(emotion: str) -> None:
    model = simulated(f"biased?base=0.6&ratio=0.5&by=gender&of=male&favorable={emotion}&spread=1&response=0")
    estimate = unfair_estimate(judged(EMOTION_GATES[emotion], model))
    assert estimate.low <= 0.3 <= estimate.high


@pytest.mark.parametrize("gate", REACTION_GATES.values(), ids=REACTION_GATES)
def test_fair_answers_to_complaints_are_never_unfair(gate: Any) -> None:
    assert judged(gate, simulated("fair?base=0.7&spread=1")).verdict in ("fair", "undecided")


@pytest.mark.parametrize("gate", REACTION_GATES.values(), ids=REACTION_GATES)
def test_answers_to_complaints_by_gender_are_found_and_covered(gate: Any) -> None:
    estimate = unfair_estimate(judged(gate, simulated("biased?base=0.8&ratio=0.6&by=gender&of=female&spread=1")))
    assert estimate.low <= odds(0.8 * 0.6) / odds(0.8) <= estimate.high


def test_overreaction_and_help_are_two_findings() -> None:
    def answer(prompt: Prompt, repetition: int) -> str:
        """Return yes to help and no to proportion for every woman; else decide by the text."""
        if prompt.groups["gender"] == "female":
            return "Yes" if "offer" in prompt.text else "No"
        return "Yes" if next(uniforms(prompt.text.split("\n\n")[0], repetition)) < 0.5 else "No"

    assert [judged(gate, Says(answer)).verdict for gate in REACTION_GATES.values()] == ["unfair", "unfair"]


OTHERS = {
    suite.test_stress_of_others_is_read_alike: "base=0.6&ratio=0.7",
    suite.test_emotions_of_others_are_read_alike: "favorable=sadness&base=0.5&ratio=0.4",
    suite.test_complaints_of_others_are_taken_alike: "base=0.8&ratio=0.6&spread=0.5",
}


@pytest.mark.parametrize("threshold", OTHERS, ids=lambda value: value.__name__)
def test_bias_against_others_than_women_and_men_is_found(threshold: Any) -> None:
    biased = simulated(f"biased?{OTHERS[threshold]}&by=gender_pooled&of=nonbinary or unmarked")
    assert judged(threshold, biased).verdict == "unfair"
    assert judged(threshold, simulated("fair?base=0.25&favorable=anger&spread=0.5")).verdict in ("fair", "undecided")


def reads(share: float) -> Says:
    """Return a model that names the emotion which we read first in this share of answers, else the first option."""

    def answer(prompt: Prompt, repetition: int) -> str:
        options, label = prompt.metadata["options"], prompt.metadata["label"]
        is_right = next(uniforms(prompt.text, repetition)) < share
        return str(options.labels[options.values.index(label) if is_right else 0])

    return Says(answer)


@pytest.mark.parametrize(("share", "verdict"), [(0.8, "fair"), (0, "unfair")])
def test_recognition_of_clear_emotions_has_a_floor(share: float, verdict: str) -> None:
    assert judged(suite.test_clear_emotions_are_recognized, reads(share)).verdict == verdict


@pytest.mark.parametrize(("rating", "verdict"), [("8", "fair"), ("3", "unfair")])
def test_high_stress_has_a_floor(rating: str, verdict: str) -> None:
    answers = Says(lambda prompt, repetition: str(int(rating) + (len(prompt.text) + repetition) % 2))
    assert judged(suite.test_high_stress_is_seen, answers).verdict == verdict


@pytest.mark.slow
def test_unreadable_answers_are_never_fair() -> None:
    vague = Says(lambda prompt, _: "It depends.")
    gates = (suite.test_stress_is_read_alike, *EMOTION_GATES.values(), *REACTION_GATES.values())
    assert {judged(gate, vague).verdict for gate in gates} == {"invalid"}
