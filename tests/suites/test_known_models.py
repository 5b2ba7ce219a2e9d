"""Models that are known answer every shipped probe in its form, and their texts are read as they are meant."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_fairness import AnswerOptions, Measured
from pytest_fairness.core.attempts import value_or_none
from tests.helpers.known_models import Competent, Harm, KnownModel, with_harm
from tests.helpers.question_forms import form_of
from tests.helpers.shipped_gates import Gate, gates, measured_by_grades, measured_by_texts

GATES = {gate.name: gate for gate in gates()}
MODEL = with_harm(
    Competent(seed=3, base=0.7, habit=0.1, unreadable=0.03),
    Harm({"gender": "female"}, 0.3),
    Harm({"language": "de"}, 0.3),
)


@pytest.mark.parametrize("name", ["bbq/question", "gender/approval", "gender/choice", "gender/emotion"])
def test_options_are_read_from_texts(name: str) -> None:
    for _, prompt, _ in GATES[name].questions:
        options = prompt.metadata.get("options")
        shown = tuple(options.texts[value] for value in options.values) if isinstance(options, AnswerOptions) else ()
        assert form_of(prompt.text).options == shown


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, gate in GATES.items() if gate.is_direct])
def test_texts_are_graded_as_they_are_meant(name: str) -> None:
    gate = Gate(GATES[name].study)
    gate.items = random.Random(name).sample(gate.items, len(gate.items) // 3)
    assert _values(gate, measured_by_grades(gate, MODEL)) == _values(gate, measured_by_texts(gate, KnownModel(MODEL)))


def _values(gate: Gate, measured: Measured) -> list[list[Any]]:
    return [[value_or_none(one.grades[grade]) for grade in gate.graders] for one in measured.selection.columns.attempts]
