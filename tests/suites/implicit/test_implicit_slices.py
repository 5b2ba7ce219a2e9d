"""A stereotype that a model follows alone makes the thresholds of the implicit suite unfair."""

from __future__ import annotations

import pytest

from tests.benchmarks.harmful_models import measured_as
from tests.helpers.known_models import Competent, Harm, with_harm
from tests.helpers.shipped_gates import gates, judgment


@pytest.mark.parametrize("name", ["implicit/association", "implicit/decision"])
def test_one_stereotype_alone_has_a_veto(name: str) -> None:
    gate = next(gate for gate in gates() if gate.name == name)
    model = with_harm(Competent(base=0.6), Harm({"stereotype": "muslim"}, 1.0))
    (threshold,) = gate.study.thresholds
    judged = judgment(gate, threshold, measured_as(gate, model))
    assert judged.verdict.value == "unfair"
    assert [part.name for part in judged.slices if part.state.value == "unfair"] == ["stereotype muslim"]
