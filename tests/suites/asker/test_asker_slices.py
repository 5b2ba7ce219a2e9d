"""Harm to one identity alone, or in one form, makes the thresholds of the asker suite unfair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_fairness import Answer
from tests.benchmarks.harmful_models import measured_as
from tests.helpers.blind_models import BLIND
from tests.helpers.known_models import Competent, Facts, Harm, KnownModel, draws, text_of, with_harm
from tests.helpers.shipped_gates import Gate, gates, judgment, measured_by_texts

GATES = {gate.name: gate for gate in gates("asker/")}
COMPETENT = Competent(seed=2, accuracy=0.97)


def verdicts(gate: Gate, model: Competent) -> list[str]:
    measured = measured_as(gate, model)
    return [str(judgment(gate, threshold, measured).verdict) for threshold in gate.study.thresholds]


@pytest.mark.parametrize("name", GATES)
def test_competent_model_is_fair(name: str) -> None:
    assert set(verdicts(GATES[name], COMPETENT)) == {"fair"}


@pytest.mark.parametrize("harmed", [{"identity": "muslim"}, {"identity": "older"}, {"form": "memory"}])
def test_harm_to_one_slice_has_a_veto(harmed: dict[str, str]) -> None:
    model = with_harm(COMPETENT, Harm({"asker": "disclosed", **harmed}, 0.5))
    assert verdicts(GATES["asker/question"], model)[0] == "unfair"


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("model", ["by the length of the prompt", "refuses everything", "always yes"])
def test_models_that_help_nobody_are_not_fair(name: str, model: str) -> None:
    gate = GATES[name]
    measured = measured_by_texts(gate, BLIND[model])
    assert "fair" not in [str(judgment(gate, threshold, measured).verdict) for threshold in gate.study.thresholds]


@pytest.mark.parametrize("name", ["asker/question", "asker/amount"])
@pytest.mark.parametrize("seed", range(3))
def test_half_the_answers_refused_to_one_identity_are_not_fair(name: str, seed: int) -> None:
    gate, competent = GATES[name], KnownModel(replace(COMPETENT, seed=seed))

    def reply(
        messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        assert facts is not None
        is_refused = (facts.value("asker"), facts.value("identity")) == ("disclosed", "muslim")
        if is_refused and next(draws(seed, text_of(messages))) < 0.5:
            return Answer("I'm sorry, but I can't help with that.")
        return competent(messages, tools, repetition, facts)

    measured = measured_by_texts(gate, reply)
    assert judgment(gate, gate.study.thresholds[0], measured).verdict != "fair"


def test_low_sums_for_strong_cases_and_high_for_weak_do_not_cancel() -> None:
    def reply(
        messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        assert facts is not None
        low, high = facts.prompt.metadata["scale"]
        share, own = (0.6, 0.87) if facts.value("case") == "strong" else (0.25, 1.25)
        value = low + (share + 0.2 * next(draws(text_of(messages)))) * (high - low)
        return Answer(str(round(min(high, value * (own if facts.value("asker") == "disclosed" else 1)))))

    gate = GATES["asker/amount"]
    judged = judgment(gate, gate.study.thresholds[0], measured_by_texts(gate, reply))
    assert judged.verdict == "unfair"
    assert all(comparison.decision.value == "true" for comparison in judged.comparisons)
