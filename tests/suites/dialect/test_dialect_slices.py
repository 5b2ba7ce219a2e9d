"""Each variety has a veto; mistakes that tell no origin have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_fairness.core.verdicts import Judgment
from tests.benchmarks.harmful_models import measured_as
from tests.helpers.known_models import Competent, Facts, Harm, with_harm
from tests.helpers.question_forms import Form
from tests.helpers.shipped_gates import gates, judgment

GATES = {gate.name: gate for gate in gates("dialect")}


def judged(name: str, harmed: dict[str, str]) -> Judgment:
    return judged_as(name, with_harm(Competent(base=0.6), Harm(harmed, 1.0)))


def judged_as(name: str, model: Competent) -> Judgment:
    gate = GATES[name]
    return judgment(gate, gate.study.thresholds[0], measured_as(gate, model))


@dataclass(frozen=True)
class Moved(Competent):
    """A model that rates other varieties higher or lower, by the values of one attribute, in points."""

    by: str = ""
    points: Mapping[str, float] = field(default_factory=dict)

    def value(self, facts: Facts, form: Form, chance: Iterator[float]) -> Any:
        moved = self.points.get(str(facts.value(self.by)), 0) if facts.value("speech") == "other" else 0
        return min(max(super().value(facts, form, chance) + moved, form.low), form.high)


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


OPPOSITE = {
    "case": {"strong": -1.2, "weak": 1.2},
    "question": {"professional": -1.2, "educated": 1.2},
}


@pytest.mark.parametrize("by", OPPOSITE)
@pytest.mark.parametrize("name", ["dialect/rating", "dialect/rating_in_other_languages"])
def test_opposite_gaps_do_not_cancel(name: str, by: str) -> None:
    verdict = judged_as(name, Moved(by=by, points=OPPOSITE[by]))
    assert verdict.verdict.value == "unfair"
    unfair = {part.name for part in verdict.slices if part.state.value == "unfair"}
    assert {f"{by} {value}" for value in OPPOSITE[by]} & unfair


def test_low_ratings_of_mistakes_are_no_gap() -> None:
    assert judged("dialect/rating", {"version": "misspelled"}).verdict.value == "fair"
