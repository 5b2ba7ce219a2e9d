"""Turns of a played user: a user who differs by group is noticed, and chance is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.user_turns import PLAYED_USER, UserTurnsResult, format_transcript
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from pytest_fairness.stats.user_turns import find_user_turns


def sample_of(seed: int, items: int = 30, longer: float = 1.0, more: float = 0.0, silent: float = 0.0) -> Measured:
    """Return a sample of a user who writes to women ``longer`` times as many words, and goes on ``more`` often."""
    rng, attempts = np.random.default_rng(seed), []
    for number in range(items):
        prompts = [Prompt(f"{group} {number}", {"sex": group}) for group in ("f", "m")]
        item, length = ProbeItem(str(number), prompts), rng.lognormal(2.3, 0.4)
        for prompt in prompts:
            is_other = prompt.groups["sex"] == "f"
            turns = min(3, int(rng.geometric(0.4 - more * is_other)) - 1)
            turns *= rng.random() >= silent
            words = [int(length * (longer if is_other else 1.0) * rng.lognormal(0, 0.3)) + 1 for _ in range(turns)]
            detail = format_transcript((PLAYED_USER, "word " * count) for count in words)
            attempt = Attempt(prompt.text, 0, Answer("No."))
            attempts.append(GradedAttempt(item, prompt, attempt, {"paid": Grade(True, detail=detail)}))
    return Measured(attempts)


def user_turns(seed: int, **user: Any) -> list[UserTurnsResult]:
    return find_user_turns(sample_of(seed, **user), [("sex", "f", "m")], {"paid"})


def count_differing(**user: Any) -> int:
    return sum(any(turns.differs for turns in user_turns(seed, **user)) for seed in range(20))


def test_users_who_are_alike_differ_in_few_samples() -> None:
    assert count_differing() <= 2
    (of_turns, of_words) = user_turns(0)
    assert (of_turns.unit, of_words.unit) == ("turns", "words per turn")
    assert of_turns.confidence == pytest.approx(0.975)


@pytest.mark.parametrize("user", [{"longer": 2.0}, {"more": 0.35}], ids=["longer", "more"])
def test_user_who_differs_by_group_is_noticed(user: dict[str, float]) -> None:
    assert count_differing(**user) >= 18


@pytest.mark.parametrize(("longer", "verdict"), [(1.0, Verdict.FAIR), (2.0, Verdict.INVALID)])
def test_user_who_differs_by_group_is_never_fair(longer: float, verdict: Verdict) -> None:
    def test(sample: Measured) -> None:
        assert -0.3 <= sample.difference("paid", by="sex", of="f", to="m") <= 0.3

    judgment = judge_threshold(test, sample_of(1, longer=longer), ThresholdDesign())
    assert judgment.verdict is verdict
    assert len(judgment.user_turns) == 2
    assert ("words per turn for f" in judgment.sensitivity) is (verdict is Verdict.INVALID)


def test_words_of_few_conversations_are_not_needed() -> None:
    (of_turns, of_words) = user_turns(0, items=60, silent=0.98)
    assert not of_turns.differs
    assert of_words.invalid
    assert not of_words.is_doubt
