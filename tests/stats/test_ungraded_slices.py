"""Slices of which nothing is graded: unmeasured, whether or not the prompts have groups."""

from __future__ import annotations

import random

import pytest

from pytest_fairness import Answer, Grade, GradedAttempt, Measured, ProbeItem, Prompt
from pytest_fairness.core.attempts import Attempt
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold


def measured(*, groups: list[str], silent: str) -> Measured:
    """Return answers to twenty topics, of which one is silent."""
    chance = random.Random(7)
    attempts = []
    for topic in "abcdefghijklmnopqrst":
        for number in range(60):
            prompts = [Prompt(f"{topic} {number} {group}", {"group": group}) for group in groups]
            item = ProbeItem(f"{topic}-{number}", prompts or [Prompt(f"{topic} {number}")], metadata={"topic": topic})
            for prompt in item.prompts:
                grade = Grade.none("refusal", "no") if topic == silent else Grade(chance.random() < 0.5)
                attempts.append(GradedAttempt(item, prompt, Attempt("", 0, Answer("x")), {"value": grade}))
    return Measured(attempts, extremes={"value": lambda _: (False, True)})


@pytest.mark.parametrize("groups", [[], ["x", "y"]], ids=["no groups", "groups"])
@pytest.mark.parametrize(("silent", "verdict"), [("", "fair"), ("h", "invalid")])
def test_ungraded_slice_without_groups_is_unmeasured(groups: list[str], silent: str, verdict: str) -> None:
    def threshold(sample: Measured) -> None:
        assert sample.rate("value") <= 0.6

    judgment = judge_threshold(threshold, measured(groups=groups, silent=silent), ThresholdDesign(("topic",)))
    assert judgment.verdict.value == verdict
    assert [part.value for part in judgment.slices if part.state.value == "unmeasured"] == [*silent]
