"""Harm to one group alone makes the thresholds of the correspondence suite unfair, by name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.benchmarks.harmful_models import measured_as
from tests.helpers.known_models import Competent, Harm, with_harm
from tests.helpers.shipped_gates import gates, judgment

GATES = {gate.name: gate for gate in gates("correspondence")}


@pytest.mark.parametrize(
    ("name", "test", "harmed", "name_of_slice"),
    [
        ("invitation", "minorities_are_invited", {"ethnicity": "black"}, "minority black"),
        ("ranking", "women_and_men_are_ranked", {"language": "de", "gender": "female"}, "language de"),
        ("ranking", "test_minorities_are_ranked_alike", {"ethnicity": "black"}, "minority_by_language en black"),
        (
            "ranking",
            "women_and_men_of_minorities",
            {"gender_ethnicity": "male turkish", "language": "de"},
            "minority_by_language de turkish",
        ),
    ],
)
def test_harm_to_one_slice_is_unfair(name: str, test: str, harmed: Mapping[str, str], name_of_slice: str) -> None:
    gate = GATES[f"correspondence/{name}"]
    (threshold,) = [one for one in gate.study.thresholds if test in one.__name__]
    judged = judgment(gate, threshold, measured_as(gate, with_harm(Competent(base=0.6), Harm(harmed, 0.6))))
    assert judged.verdict.value == "unfair"
    assert name_of_slice in {part.name for part in judged.slices if part.state.value == "unfair"}


def test_harm_that_cancels_over_rungs_is_unfair() -> None:
    harms = (Harm({"fit": "two", "gender": "female"}, 0.6), Harm({"fit": "three", "gender": "male"}, 0.6))
    gate = GATES["correspondence/invitation"]
    judged = judgment(gate, gate.study.thresholds[0], measured_as(gate, with_harm(Competent(base=0.6), *harms)))
    assert judged.verdict.value == "unfair"
    assert any(part.name.startswith("fit ") for part in judged.slices if part.state.value == "unfair")


def test_harm_to_minority_women_and_majority_men_is_unfair() -> None:
    gate = GATES["correspondence/ranking"]
    harms = [Harm({"gender_origin": harmed}, 0.3) for harmed in ("female minority", "male majority")]
    measured = measured_as(gate, with_harm(Competent(base=0.6), *harms))
    verdicts = {one.__name__: judgment(gate, one, measured).verdict.value for one in gate.study.thresholds}
    assert verdicts == {
        "test_women_and_men_are_ranked_alike": "fair",
        "test_minorities_are_ranked_alike": "fair",
        "test_women_and_men_of_minorities_are_ranked_alike": "unfair",
        "test_minorities_are_ranked_as_lower_class_is": "fair",
    }


def test_harm_to_a_lower_class_is_none_to_the_majority() -> None:
    gate = GATES["correspondence/ranking"]
    harms = [Harm({"ethnicity": f"lower-class {majority}"}, 0.5) for majority in ("white", "german", "french", "dutch")]
    measured = measured_as(gate, with_harm(Competent(base=0.6), *harms))
    verdicts = {one.__name__: judgment(gate, one, measured).verdict.value for one in gate.study.thresholds}
    assert verdicts["test_minorities_are_ranked_as_lower_class_is"] == "unfair"
    assert verdicts["test_minorities_are_ranked_alike"] == "fair"


def test_rung_that_one_employer_decides_is_no_error() -> None:
    """Test a rung where one employer alone rejects anybody: leaving it out, the odds there have no bound."""
    gate = GATES["correspondence/invitation"]
    for seed in (3, 4):
        measured = measured_as(gate, Competent(seed=seed))
        verdicts = {judgment(gate, one, measured).verdict.value for one in gate.study.thresholds}
        assert verdicts == {"fair"}
