"""Models that are known answer every shipped probe in its form, and their texts are read as they are meant."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness import AnswerOptions, Measured
from pytest_fairness.core.attempts import value_or_none
from tests.helpers.blind_models import BLIND
from tests.helpers.known_models import Competent, Harm, KnownModel, with_harm
from tests.helpers.question_forms import form_of
from tests.helpers.shipped_gates import Gate, gates, measured_by_grades, measured_by_texts

GATES = {gate.name: gate for gate in gates()}
MODEL = with_harm(
    Competent(seed=3, base=0.7, habit=0.1, unreadable=0.03),
    Harm({"gender": "female"}, 0.3),
    Harm({"language": "de"}, 0.3),
)
SILENT = ("nothing", "refuses everything", '"A, 50%, yes"', '"A"', '"Yes."', '"5"', "never calls a tool")
"""Models that do not answer in the form that is asked for, or not everybody."""


@pytest.mark.parametrize("name", ["bbq/question", "gender/approval", "gender/choice", "gender/emotion"])
def test_options_are_read_from_texts(name: str) -> None:
    for _, prompt, _ in GATES[name].questions:
        options = prompt.metadata.get("options")
        shown = tuple(options.texts[value] for value in options.values) if isinstance(options, AnswerOptions) else ()
        assert form_of(prompt.text).options == shown


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, gate in GATES.items() if gate.is_direct])
def test_texts_are_graded_as_they_are_meant(name: str) -> None:
    gate = GATES[name]
    assert _values(gate, measured_by_grades(gate, MODEL)) == _values(gate, measured_by_texts(gate, KnownModel(MODEL)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["always yes", "longest option", "by a digest of the prompt"])
def test_blind_models_answer_in_every_form(name: str) -> None:
    for gate in GATES.values():
        if not gate.study.reads_features:
            assert _ungraded(gate, name) == 0, gate.name


def _values(gate: Gate, measured: Measured) -> list[list[Any]]:
    return [[value_or_none(one.grades[grade]) for grade in gate.graders] for one in measured.selection.columns.attempts]


def _ungraded(gate: Gate, name: str) -> int:
    attempts = measured_by_texts(gate, BLIND[name]).selection.columns.attempts
    return sum(grade.ungraded is not None for one in attempts for grade in one.grades.values())
