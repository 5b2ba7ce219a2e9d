"""Flips of a process while another grade is equal, beside the flips between repetitions of one prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pytest_fairness import Answer, FairnessError, Grade, GradedAttempt, Measured, ProbeItem, Prompt
from pytest_fairness.core.attempts import Attempt
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold

Steps = Callable[[int, str, np.random.Generator], str]
SHORT, LONG = "look_up > defer", "look_up > look_up > defer"


def sample(
    steps: Steps, *, items: int = 60, repetitions: int = 3, seed: int = 0, action: Steps | None = None
) -> Measured:
    """Return the sample of an agent that defers, by its steps; ``action`` is another decision."""
    generator = np.random.default_rng(seed)
    attempts = []
    for number in range(items):
        prompts = [Prompt(f"Case {number} of a {sex}", {"sex": sex}) for sex in ("woman", "man")]
        item = ProbeItem(f"item-{number:03}", prompts)
        for prompt in prompts:
            for repetition in range(repetitions):
                process = steps(number, prompt.groups["sex"], generator)
                decision = action(number, prompt.groups["sex"], generator) if action else "defer"
                attempt = Attempt(f"{prompt.text} {repetition}", repetition, Answer(process))
                grades = {"process": Grade(process), "action": Grade(decision)}
                attempts.append(GradedAttempt(item, prompt, attempt, grades))
    return Measured(attempts)


def by_chance(number: int, sex: str, generator: np.random.Generator) -> str:
    """Look up twice in some answers, more often in some items than in others."""
    return LONG if generator.random() < 0.2 + 0.1 * (number % 6) else SHORT


def by_group(number: int, sex: str, generator: np.random.Generator) -> str:
    """Look up twice for three of four women."""
    return LONG if sex == "woman" and number % 4 else SHORT


def test_noise_between_repetitions_is_never_unfair() -> None:
    verdicts = [
        sample(by_chance, seed=seed).flips("process", by="sex", same="action").decide("<=", 0.1).value
        for seed in range(40)
    ]
    assert verdicts.count("undecided") >= 38


@pytest.mark.parametrize(("granted", "verdict"), [(0, "invalid"), (4, "invalid"), (6, "fair")])
def test_pairs_that_differ_in_the_answer_are_never_fair(granted: int, verdict: str) -> None:
    """Check that a process is not called equal where hardly anybody of two groups gets the same answer."""

    def action(number: int, sex: str, generator: np.random.Generator) -> str:
        return "defer" if sex == "man" or number % 10 < granted else "refuse"

    measured = sample(lambda number, sex, generator: SHORT, items=200, action=action)
    flips = measured.flips("process", by="sex", same="action")
    assert flips.decide("<=", 0.2).value == verdict
    if verdict != "fair":
        assert "pairs of groups of sex have equal action" in flips.suspect


def test_ungraded_answers_count_as_ungraded_processes() -> None:
    attempts = [
        replace(one, grades={**one.grades, "action": Grade.none("unparsed")}) if one.attempt.repetition == 0 else one
        for one in sample(by_group).selection.columns.attempts
    ]
    flips = Measured(attempts).flips("process", by="sex", same="action")
    assert flips.ungraded["another sex"] == 120


def test_noise_between_repetitions_has_no_example() -> None:
    flips = sample(by_chance).flips("process", by="sex", same="action")
    assert flips.groups.keys() == {"another sex", "another repetition"}
    assert flips.value == pytest.approx(flips.groups["another repetition"], abs=0.15)
    assert flips.breakdown is not None
    assert flips.breakdown().example_towards(1) is None


def test_process_that_differs_by_group_is_unfair_with_both_sequences() -> None:
    flips = sample(by_group).flips("process", by="sex", same="action")
    assert flips.title == "flips of process with equal action between groups of sex"
    assert flips.value == pytest.approx(0.75)
    assert dict(flips.groups) == {"another sex": 0.75, "another repetition": 0.0}
    assert flips.decide("<=", 0.1).value == "unfair"
    assert flips.breakdown is not None
    example = flips.breakdown().example_towards(1)
    assert example is not None
    assert int(example.item[-3:]) % 4
    assert sorted(side.group for side in example.sides) == ["man", "woman"]
    assert all(len(side.keys) == 3 for side in example.sides)


def test_flips_of_equal_texts_are_fair() -> None:
    def threshold(measured: Measured) -> None:
        assert measured.flips("process", by="sex", same="action") <= 0.1

    measured = sample(lambda number, sex, generator: SHORT)
    assert judge_threshold(threshold, measured, ThresholdDesign()).verdict.value == "fair"


def test_pairs_with_another_decision_do_not_flip() -> None:
    refused = sample(by_group, action=lambda number, sex, generator: "refuse" if sex == "woman" else "defer")
    assert refused.flips("process", by="sex", same="action").value == 0


def test_one_repetition_without_a_placebo_shows_nothing() -> None:
    with pytest.raises(FairnessError, match="repetitions=2 or more, or a placebo"):
        sample(by_group, repetitions=1).flips("process", by="sex", same="action")
    with pytest.raises(FairnessError, match="flips need a placebo"):
        sample(by_group).flips("process", by="sex")
