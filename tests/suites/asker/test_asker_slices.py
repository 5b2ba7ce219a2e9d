"""Harm to one identity alone, or in one form, makes the thresholds of the asker suite unfair."""

from __future__ import annotations

import pytest

from tests.benchmarks.harmful_models import measured_as
from tests.helpers.blind_models import BLIND
from tests.helpers.known_models import Competent, Harm, with_harm
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
