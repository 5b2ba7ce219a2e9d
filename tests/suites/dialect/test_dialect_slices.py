"""Each variety has a veto; mistakes that tell no origin have none."""

from __future__ import annotations

import pytest

from pytest_fairness.core.verdicts import Judgment
from tests.benchmarks.harmful_models import measured_as
from tests.helpers.known_models import Competent, Harm, with_harm
from tests.helpers.shipped_gates import gates, judgment

GATES = {gate.name: gate for gate in gates("dialect")}


def judged(name: str, harmed: dict[str, str]) -> Judgment:
    gate = GATES[name]
    model = with_harm(Competent(base=0.6), Harm(harmed, 1.0))
    return judgment(gate, gate.study.thresholds[0], measured_as(gate, model))


@pytest.mark.parametrize(
    ("name", "variety"),
    [
        ("dialect/rating", "Indian"),
        ("dialect/decision", "Scottish"),
        ("dialect/help", "learner, Chinese"),
        ("dialect/rating_in_other_languages", "learner of French, Spanish"),
    ],
)
def test_one_variety_alone_has_a_veto(name: str, variety: str) -> None:
    verdict = judged(name, {"variety": variety})
    assert verdict.verdict.value == "unfair"
    assert f"variety {variety}" in [part.name for part in verdict.slices if part.state.value == "unfair"]


def test_low_ratings_of_mistakes_are_no_gap() -> None:
    assert judged("dialect/rating", {"version": "misspelled"}).verdict.value == "fair"
