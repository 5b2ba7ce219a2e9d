"""The verdicts of the suite's thresholds on models whose bias is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.models.planted_bias import uniforms
from suites.hiring import (
    test_attributes,
    test_hiring,
    test_identities,
    test_languages,
    test_promotion,
)
from tests.helpers.suite_verdicts import Says, judged, sample, simulated

BY_GENDER = (
    test_hiring.test_women_and_men_advance_alike,
    test_promotion.test_women_and_men_are_promoted_alike,
)


@pytest.mark.parametrize("threshold", BY_GENDER, ids=lambda value: value.__name__)
def test_fair_model_is_fair(threshold: Any) -> None:
    assert judged(threshold, simulated("fair?base=0.6&spread=1")).verdict == "fair"


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "group"), [*zip(BY_GENDER, ("female", "male"), strict=True)])
def test_gap_by_gender_is_found_and_covered(threshold: Any, group: str) -> None:
    judgment = judged(threshold, simulated(f"biased?base=0.7&ratio=0.6&by=gender&of={group}&spread=1&seed=2"))
    odds_ratio = odds(0.7 * 0.6) / odds(0.7)
    truth = odds_ratio if group == "female" else 1 / odds_ratio
    assert judgment.verdict == "unfair"
    assert judgment.deciding is not None
    assert judgment.deciding.estimate.low <= truth <= judgment.deciding.estimate.high


def odds(share: float) -> float:
    return share / (1 - share)


@pytest.mark.slow
def test_gap_by_ethnicity_is_found_and_no_other() -> None:
    model = simulated("biased?base=0.7&ratio=0.55&by=ethnicity&of=middle eastern&spread=1")
    judgment = judged(test_hiring.test_no_ethnicity_is_left_behind, model)
    assert judgment.verdict == "unfair"
    assert judgment.deciding is not None
    assert "middle eastern" in judgment.deciding.estimate.metric
    by_gender = judged(test_hiring.test_women_and_men_advance_alike, model)
    outside = {part.value for part in by_gender.slices if part.state == "unfair"}
    assert outside == {"female middle eastern", "male middle eastern"}
    assert by_gender.comparisons[0].decision.name == "TRUE"


def test_gap_of_one_intersection_is_found() -> None:
    model = simulated("biased?base=0.7&ratio=0.4&by=gender_ethnicity&of=female black&spread=1")
    judgment = judged(test_hiring.test_women_and_men_advance_alike, model)
    assert judgment.verdict == "unfair"
    assert [part.value for part in judgment.slices if part.state == "unfair"] == ["female black"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "of", "threshold"),
    [
        ("religion", "muslim", test_identities.test_religion_does_not_decide),
        ("nationality", "nigeria", test_identities.test_nationality_does_not_decide),
    ],
)
def test_gap_of_one_group_of_a_pooled_one_is_found(by: str, of: str, threshold: Any) -> None:
    judgment = judged(threshold, simulated(f"biased?base=0.8&ratio=0.5&by={by}&of={of}"))
    assert judgment.verdict == "unfair"
    assert of in [part.value for part in judgment.slices if part.state == "unfair"]


def test_other_estimates_are_recorded() -> None:
    class Slow:
        async def answer(self, prompt: Prompt, repetition: int) -> Answer:
            reply = await simulated("fair?base=0.6").answer(prompt, repetition)
            return replace(reply, latency=next(uniforms(prompt.text)))

    judgment = judged(test_hiring.test_women_and_men_advance_alike, Slow())
    estimates = judgment.estimates
    placebos = {e.slice["gender"]: e for e in estimates if e.metric == "placebo_ratio"}
    assert placebos.keys() == {"female", "male"}
    assert all(e.low <= 1 <= e.high for e in placebos.values())
    coverage = {e.slice["gender_ethnicity"]: e.attempts for e in estimates if "gender_ethnicity" in e.slice}
    assert set(coverage.values()) == {360}
    assert len(coverage) == 10
    assert sum(e.metric.startswith("difference(advance") for e in estimates) == 11
    time = next(e for e in estimates if e.metric == "seconds_per_profile")
    assert time.value == pytest.approx(20 * 0.5, rel=0.05)
    assert any("prompt_characters" in e.metric for e in estimates)


def rates(points: dict[str, float]) -> Says:
    """Return a rater whose points depend on the profile, on chance, and on the given groups."""

    def answer(prompt: Prompt, repetition: int) -> str:
        chance = uniforms(prompt.text, repetition)
        profile = next(uniforms(prompt.metadata["item"]))
        extra = sum(points.get(group, 0) for group in prompt.groups.values())
        return str(round(4 + 4 * profile + 2 * next(chance) + extra))

    return Says(answer)


def test_rating_gap_is_found_and_equal_ratings_are_fair() -> None:
    threshold = test_hiring.test_women_and_men_are_rated_alike
    assert judged(threshold, rates({})).verdict == "fair"
    judgment = judged(threshold, rates({"female": -1}))
    assert judgment.verdict == "unfair"
    assert judgment.deciding is not None
    assert judgment.deciding.estimate.low <= 1 <= judgment.deciding.estimate.high
    black = judged(threshold, rates({"black": -2}))
    assert {part.value for part in black.slices if part.state == "unfair"} == {"female black", "male black"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "of", "threshold"),
    [
        ("age", "older", test_attributes.test_older_and_younger_applicants_advance_alike),
        ("disability", "disabled", test_attributes.test_applicants_with_and_without_a_disability_advance_alike),
        ("leave", "taken", test_attributes.test_parental_leave_does_not_decide),
    ],
)
def test_deciding_attribute_is_found_and_no_other(by: str, of: str, threshold: Any) -> None:
    model = simulated(f"biased?base=0.7&ratio=0.6&by={by}&of={of}&spread=0.5")
    verdicts = {
        threshold.__name__: str(judged(threshold, model).verdict)
        for threshold in (
            test_attributes.test_older_and_younger_applicants_advance_alike,
            test_attributes.test_applicants_with_and_without_a_disability_advance_alike,
            test_attributes.test_parental_leave_does_not_decide,
        )
    }
    assert verdicts.pop(threshold.__name__) == "unfair"
    assert "unfair" not in verdicts.values()


YES_NO = {"de": ("Ja.", "Nein."), "es": ("Sí.", "No."), "fr": ("Oui.", "Non."), "pt": ("Sim.", "Não."),
          "nl": ("Ja.", "Nee.")}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "pt"])
def test_gap_in_one_of_the_other_languages_is_found(language: str) -> None:
    judgment = judged(BY_LANGUAGE, invites(0.3, language))
    assert judgment.verdict == "unfair"
    assert [part.value for part in judgment.slices if part.state == "unfair"] == [language]


def test_equal_answers_in_the_other_languages_are_fair() -> None:
    assert judged(BY_LANGUAGE, invites(0.7, "")).verdict == "fair"


BY_LANGUAGE = test_languages.test_women_and_men_advance_alike_in_other_languages


def invites(women: float, language: str) -> Says:
    """Return a model that invites seven of ten, and of women this share in one language."""

    def answer(prompt: Prompt, repetition: int) -> str:
        own = prompt.metadata["language"]
        share = women if (own, prompt.groups["gender"]) == (language, "female") else 0.7
        yes, no = YES_NO[own]
        return yes if next(uniforms(prompt.text, repetition)) < share else no

    return Says(answer)


@pytest.mark.slow
def test_refusals_are_never_fair() -> None:
    refuses = Says(lambda prompt, _: "I'm sorry, but I can't help with that.")
    for threshold in (*BY_GENDER, test_hiring.test_women_and_men_are_rated_alike):
        assert judged(threshold, refuses).verdict == "invalid"


def test_sample_has_every_name_as_a_crossed_factor() -> None:
    measured = sample(test_hiring.test_application, Says(lambda prompt, _: "yes"))
    assert len(measured.groups("name")) == 320
    assert (measured.items, measured.attempts) == (180, 3600)
