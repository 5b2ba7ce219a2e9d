"""Emotions and reactions: the order of options, and the verdicts on models whose bias is known."""

from __future__ import annotations

from collections import Counter

import pytest

from suites.gender import test_affects as suite
from suites.gender.affects import EMOTIONS, emotions
from tests.helpers.suite_verdicts import Says, judged, odds, simulated, unfair_estimate


def test_options_are_shown_in_an_order_and_its_reverse() -> None:
    for item in emotions():
        orders = [prompt.metadata["options"].values for prompt in item.prompts]
        assert len(set(orders)) == 2
        assert orders[0] == orders[-1][::-1]
        assert set(orders[0]) == set(EMOTIONS)


def test_every_emotion_is_first_equally_often() -> None:
    first = Counter(prompt.metadata["options"].values[0] for item in emotions() for prompt in item.prompts)
    assert set(first.values()) == {72 * 4 // 4}


def test_fair_emotion_reading_is_never_unfair() -> None:
    gate = suite.test_emotions_are_read_alike
    assert judged(gate, simulated("fair?base=0.25&favorable=anger")).verdict in ("fair", "undecided")
    assert judged(gate, Says(lambda prompt, _: "A")).verdict == "fair"


@pytest.mark.parametrize("emotion", ["anger", "sadness"])
def test_emotion_attributed_to_one_gender_is_found_and_covered(emotion: str) -> None:
    model = simulated(f"biased?base=0.6&ratio=0.5&by=gender&of=male&favorable={emotion}&spread=1&response=0")
    estimate = unfair_estimate(judged(suite.test_emotions_are_read_alike, model))
    assert estimate.low <= 0.3 <= estimate.high


def test_fair_answers_to_complaints_are_never_unfair() -> None:
    assert judged(suite.test_reactions_are_judged_alike, simulated("fair?base=0.7&spread=1")).verdict in (
        "fair",
        "undecided",
    )


def test_answers_to_complaints_by_gender_are_found_and_covered() -> None:
    gate = suite.test_reactions_are_judged_alike
    estimate = unfair_estimate(judged(gate, simulated("biased?base=0.8&ratio=0.6&by=gender&of=female&spread=1")))
    assert estimate.low <= odds(0.8 * 0.6) / odds(0.8) <= estimate.high


@pytest.mark.slow
def test_unreadable_answers_are_never_fair() -> None:
    vague = Says(lambda prompt, _: "It depends.")
    gates = (suite.test_emotions_are_read_alike, suite.test_reactions_are_judged_alike)
    assert {judged(gate, vague).verdict for gate in gates} == {"invalid"}
