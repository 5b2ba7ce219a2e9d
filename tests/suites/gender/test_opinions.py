"""Opinions: the verdicts on models whose opinions are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness.core.items import Prompt
from pytest_fairness.models.planted_bias import uniforms
from suites.gender import test_opinions as suite
from tests.helpers.finished_run import run_shipped
from tests.helpers.project import Project
from tests.helpers.suite_verdicts import Says, judged, simulated, unfair_estimate

EVERY = (
    suite.test_no_gender_is_called_better,
    suite.test_women_and_men_are_sided_with_alike,
    suite.test_gender_of_a_speaker_is_not_guessed,
    suite.test_daughters_and_sons_are_advised_alike,
)
Threshold = Callable[..., Any]

FAIR = {
    suite.test_no_gender_is_called_better: "base=0.03",
    suite.test_women_and_men_are_sided_with_alike: "favorable=female",
    suite.test_gender_of_a_speaker_is_not_guessed: "accuracy=0.95",
    suite.test_daughters_and_sons_are_advised_alike: "favorable=female&spread=1",
}
PLANTED = [
    (suite.test_no_gender_is_called_better, "base=0.3", 0.3),
    (suite.test_women_and_men_are_sided_with_alike, "favorable=female&base=0.75", 0.5),
    (suite.test_women_and_men_are_sided_with_alike, "favorable=male&base=0.7", -0.4),
    (suite.test_gender_of_a_speaker_is_not_guessed, "accuracy=0.4", 0.4),
    (suite.test_daughters_and_sons_are_advised_alike, "favorable=female&base=0.4&ratio=1.8&of=female", 0.32),
    (suite.test_daughters_and_sons_are_advised_alike, "favorable=female&base=0.3&ratio=2&of=male", -0.3),
]


@pytest.mark.slow
@pytest.mark.parametrize("threshold", FAIR, ids=lambda value: value.__name__)
def test_fair_model_is_fair(threshold: Threshold) -> None:
    assert judged(threshold, simulated(f"fair?{FAIR[threshold]}&seed=1")).verdict == "fair"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threshold", "parameters", "truth"), PLANTED, ids=lambda value: getattr(value, "__name__", None)
)
def test_planted_opinion_is_found_and_covered(threshold: Threshold, parameters: str, truth: float) -> None:
    estimate = unfair_estimate(judged(threshold, simulated(f"planted?{parameters}&response=0&seed=2")))
    # Of a difference its size is compared.
    assert estimate.low <= abs(truth) <= estimate.high


@pytest.mark.parametrize("by", ["gender", "version"])
def test_agreement_with_one_kind_of_claims_is_found(by: str) -> None:
    """Agree with a fifth of one kind and with none of the other: a tenth of all, of which one slice is too many."""
    kind = {"gender": "female", "version": "stereotype"}[by]

    def answer(prompt: Prompt, repetition: int) -> str:
        is_of_kind = {**prompt.groups, **prompt.metadata}.get(by) == kind and prompt.metadata["right"] is False
        agrees = prompt.metadata["right"] or (is_of_kind and next(uniforms(prompt.text, repetition)) < 0.2)
        return "Yes" if agrees else "No"

    judgment = judged(suite.test_no_gender_is_called_better, Says(answer))
    assert judgment.verdict == "unfair"
    assert kind in [part.value for part in judgment.slices if part.state == "unfair"]


def test_agreeing_with_everything_is_found() -> None:
    assert judged(suite.test_no_gender_is_called_better, Says(lambda prompt, _: "Yes.")).verdict == "unfair"


def test_agreeing_with_nothing_is_fair() -> None:
    refuses = Says(lambda prompt, _: "No.")
    assert judged(suite.test_no_gender_is_called_better, refuses).verdict == "fair"


@pytest.mark.parametrize("letter", ["A", "B"])
def test_always_one_letter_is_fair(letter: str) -> None:
    letters = Says(lambda prompt, _: letter)
    for threshold in (
        suite.test_women_and_men_are_sided_with_alike,
        suite.test_daughters_and_sons_are_advised_alike,
    ):
        assert judged(threshold, letters).verdict == "fair", threshold


@pytest.mark.parametrize("part", [0, 1])
def test_always_one_part_of_the_quarrel_is_fair(part: int) -> None:
    def answer(prompt: Prompt, _: int) -> str:
        options = prompt.metadata["options"]
        texts = sorted(options.texts.values(), key=prompt.text.index)
        return str(texts[part])

    judgment = judged(suite.test_women_and_men_are_sided_with_alike, Says(answer))
    assert judgment.verdict == "fair"
    assert {estimate.value for estimate in judgment.estimates} == {0, 0.5}


@pytest.mark.parametrize("threshold", EVERY, ids=lambda value: value.__name__)
def test_refusing_is_not_fair(threshold: Threshold) -> None:
    refuses = Says(lambda prompt, _: "I'm sorry, but I can't help with that.")
    assert judged(threshold, refuses).verdict == "invalid"


@pytest.mark.slow
def test_opinions_and_writing_suites_run(project: Project) -> None:
    run = run_shipped(
        project,
        *(f"suites/gender/test_{name}.py" for name in ("opinions", "writing")),
        *("-m", "threshold", "--fairness-sample=60"),
        "--fairness-model=simulated:lean?base=0.9&accuracy=0.2&bias=0.9&favorable=yes,female",
    )
    assert run.code == 1, run.output
    verdicts = run.verdicts
    assert verdicts["test_no_gender_is_called_better"] == "unfair"
    assert verdicts["test_women_and_men_are_sided_with_alike"] == "unfair"
    assert verdicts["test_gender_of_a_speaker_is_not_guessed"] == "unfair"
    # Nine in ten of its stories are about whom the stereotype says.
    assert verdicts["test_characters_are_not_stereotyped"] == "unfair"
    assert {"female", "male"} <= {metric["slice"].get("gender") for metric in run.results["metrics"]}
