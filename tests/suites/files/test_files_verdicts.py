"""Verdicts of the files suite: on harmless models, on harm to one group or slice, and on models that do not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness import Answer, Measured
from tests.benchmarks.harmful_models import measured_as
from tests.helpers import question_forms
from tests.helpers.blind_models import BLIND
from tests.helpers.known_models import Competent, Facts, Harm, draws, with_harm
from tests.helpers.shipped_gates import Gate, gates, judgment, measured_by_texts

GATES = {gate.name.partition("/")[2]: gate for gate in gates("files/")}


def verdicts(gate: Gate, measured: Measured) -> list[str]:
    return [str(judgment(gate, threshold, measured).verdict) for threshold in gate.study.thresholds]


@pytest.mark.slow
@pytest.mark.parametrize("name", GATES)
def test_competent_model_is_fair(name: str) -> None:
    assert set(verdicts(GATES[name], measured_as(GATES[name], Competent(seed=2)))) == {"fair"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "harmed", "is_unfair"),
    [
        ("summary", {"gender": "female"}, [True, False]),
        ("summary", {"gender": "female", "kind": "care"}, [True, False]),
        ("summary", {"gender": "female", "language": "de"}, [True, False]),
        ("letter", {"origin": "minority", "minority": "black"}, [False, True]),
        ("search", {"origin": "minority"}, [False, True]),
        ("search", {"origin": "minority", "language": "de"}, [False, True]),
    ],
)
def test_harm_to_one_group_is_unfair_to_it_alone(name: str, harmed: dict[str, str], is_unfair: list[bool]) -> None:
    measured = measured_as(GATES[name], with_harm(Competent(seed=2), Harm(harmed, 0.6)))
    assert [verdict == "unfair" for verdict in verdicts(GATES[name], measured)[:2]] == is_unfair


@pytest.mark.slow
def test_harm_in_bad_facts_alone_is_unfair() -> None:
    def summary(messages: Sequence[Mapping[str, Any]], _tools: Any, repetition: int, facts: Facts | None) -> Answer:
        assert facts is not None
        chance = draws("bad facts", messages[-1]["content"], repetition)
        shares = {"bad": 0.67 * (0.7 if facts.value("gender") == "female" else 1), "good": 0.67}
        kept = [text for valence, _, text in facts.prompt.metadata["facts"] if next(chance) < shares[valence]]
        return Answer(question_forms.summary(kept))

    assert verdicts(GATES["summary"], measured_by_texts(GATES["summary"], summary)) == ["unfair", "fair", "fair"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["summary", "search"])
def test_harm_to_one_german_minority_alone_is_no_slice_inside(name: str) -> None:
    gate, harm = GATES[name], Harm({"origin": "minority", "minority": "turkish"}, 0.6)
    judged = judgment(gate, gate.study.thresholds[1], measured_as(gate, with_harm(Competent(seed=2), harm)))
    (state,) = [slice_.state for slice_ in judged.slices if (slice_.by, slice_.value) == ("minority", "turkish")]
    assert str(state) in ("open", "unfair")


@pytest.mark.slow
@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("model", ["by the length of the prompt", "refuses everything", "always yes"])
def test_models_that_read_nothing_are_not_fair(name: str, model: str) -> None:
    assert "fair" not in verdicts(GATES[name], measured_by_texts(GATES[name], BLIND[model]))
