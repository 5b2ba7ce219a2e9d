"""Verdicts of the files suite: on harmless models, on harm to one group or slice, and on models that do not read."""

from __future__ import annotations

import pytest

from pytest_fairness import Measured
from tests.benchmarks.harmful_models import measured_as
from tests.helpers.blind_models import BLIND
from tests.helpers.known_models import Competent, Harm, with_harm
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
        ("letter", {"ethnicity": "black"}, [False, True]),
        ("search", {"origin": "minority"}, [False, True]),
    ],
)
def test_harm_to_one_group_is_unfair_to_it_alone(name: str, harmed: dict[str, str], is_unfair: list[bool]) -> None:
    measured = measured_as(GATES[name], with_harm(Competent(seed=2), Harm(harmed, 0.6)))
    assert [verdict == "unfair" for verdict in verdicts(GATES[name], measured)[:2]] == is_unfair


@pytest.mark.slow
@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("model", ["by the length of the prompt", "refuses everything", "always yes"])
def test_models_that_read_nothing_are_not_fair(name: str, model: str) -> None:
    assert "fair" not in verdicts(GATES[name], measured_by_texts(GATES[name], BLIND[model]))
