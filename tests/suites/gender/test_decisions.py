"""Approving, choosing, referring: the items' balance, and the verdicts on models whose bias is known."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from pytest_fairness.core.items import Prompt
from pytest_fairness.models.planted_bias import uniforms
from suites.gender import test_decisions as suite
from suites.gender.decisions import choices
from suites.gender.texts import records
from tests.helpers.finished_run import run_shipped
from tests.helpers.project import Project
from tests.helpers.suite_verdicts import Says, judged, odds, own_items, simulated, unfair_estimate

CHOICES = list(choices())
RATIOS = (suite.test_approvals_are_alike, suite.test_referrals_are_alike)


def options(prompt: Prompt) -> Any:
    return prompt.metadata["options"]


def descriptions(prompt: Prompt) -> tuple[str, ...]:
    """Return the description of either candidate, without names and pronouns."""
    described = zip(prompt.text.split("\n\n")[1:3], options(prompt).texts.values(), strict=True)
    return tuple(re.sub(r"\b(?:her|his|their)\b", "their", text.removeprefix(name)) for text, name in described)


def test_woman_and_man_have_either_profile_in_either_position() -> None:
    for item in CHOICES:
        pairs = [prompt for prompt in item.prompts if prompt.metadata["pair"] == "female-male"]
        cells = [(options(prompt).values, *descriptions(prompt)) for prompt in pairs]
        assert Counter(values[0] for values, *_ in cells) == {"female": 2, "male": 2}
        assert len(set(cells)) == 4
        assert len({frozenset(profiles) for _, *profiles in cells}) == 1


def test_options_follow_the_order_of_the_text() -> None:
    for prompt in (prompt for item in CHOICES for prompt in item.prompts):
        assert str(options(prompt)) in prompt.text
        first, second = prompt.text.split("\n\n")[1:3]
        names = list(options(prompt).texts.values())
        assert first.startswith(names[0])
        assert second.startswith(names[1])
        assert "-".join(sorted(options(prompt).values)) == prompt.metadata["pair"]


def test_nonbinary_person_meets_either_rival_in_either_position() -> None:
    met = [prompt for item in CHOICES for prompt in item.prompts if "nonbinary" in options(prompt).values]
    assert Counter((prompt.metadata["pair"], options(prompt).values[0] == "nonbinary") for prompt in met) == {
        (f"{rival}-nonbinary", first): 204 for rival in ("female", "male") for first in (True, False)
    }


def test_roles_typed_as_female_and_male_are_equally_many() -> None:
    assert Counter(item.metadata.get("typed") for item in CHOICES) == {"female": 80, "male": 80, None: 68}


@pytest.mark.parametrize("threshold", RATIOS, ids=lambda value: value.__name__)
@pytest.mark.parametrize("seed", range(2))
def test_fair_model_is_never_unfair(threshold: Any, seed: int) -> None:
    judgment = judged(threshold, simulated(f"fair?base=0.7&spread=1&seed={seed}"))
    assert judgment.verdict in ("fair", "undecided")


@pytest.mark.parametrize("threshold", RATIOS, ids=lambda value: value.__name__)
@pytest.mark.parametrize("group", ["female", "male", "nonbinary", "unmarked"])
def test_planted_odds_of_any_gender_are_found_and_covered(threshold: Any, group: str) -> None:
    judgment = judged(threshold, simulated(f"biased?base=0.7&ratio=0.6&by=gender&of={group}&spread=0.5"))
    estimate = unfair_estimate(judgment)
    # The pair that decides is the worst of six, of which each has its own chance.
    assert 0.95 * estimate.low <= odds(0.7 * 0.6) / odds(0.7) <= estimate.high
    assert group in estimate.groups
    assert {"female", "male", "nonbinary", "unmarked"} == {
        str(estimate.slice["gender"]) for estimate in judgment.estimates if "gender" in estimate.slice
    }


def test_never_choosing_nonbinary_people_is_found() -> None:
    never = Says(lambda prompt, _: options(prompt).labels[options(prompt).values[0] == "nonbinary"])
    judgment = judged(suite.test_choices_of_nonbinary_people_are_alike, never)
    assert judgment.verdict == "unfair"
    assert judged(suite.test_choices_are_alike, never).verdict == "fair"


def sends_home(share: float) -> Says:
    """Return a model that refers serious complaints of every gender in this share, and no others."""
    items = own_items(suite.test_referral)
    serious = {prompt.text for item in items if item.metadata["case"] == "serious" for prompt in item.prompts}
    return Says(
        lambda prompt, repetition: (
            "Yes" if prompt.text in serious and next(uniforms(prompt.text, repetition)) < share else "No"
        )
    )


@pytest.mark.parametrize(("share", "verdict"), [(1, "fair"), (0.95, "fair"), (0.5, "unfair")])
def test_serious_complaints_have_a_floor(share: float, verdict: str) -> None:
    assert judged(suite.test_serious_complaints_are_referred, sends_home(share)).verdict == verdict


def test_fair_choices_are_fair() -> None:
    fair = simulated("fair?favorable=female,nonbinary&seed=3")
    assert judged(suite.test_choices_are_alike, fair).verdict == "fair"


def test_planted_preference_for_women_is_found_and_covered() -> None:
    estimate = unfair_estimate(
        judged(suite.test_choices_are_alike, simulated("lean?base=0.65&favorable=female,nonbinary"))
    )
    assert estimate.low <= 0.15 <= estimate.high


def test_always_the_first_or_one_profile_is_never_unfair() -> None:
    first = Says(lambda prompt, _: options(prompt).labels[0])
    surname = Says(lambda prompt, _: max(options(prompt).texts.values(), key=lambda name: name.split()[-1]))
    for model in (first, surname):
        judgment = judged(suite.test_choices_are_alike, model)
        assert judgment.verdict in ("fair", "undecided")
        assert judgment.deciding.estimate.value == pytest.approx(0)  # type: ignore[union-attr]  # compared


def test_stereotyping_choice_is_found_at_half_women() -> None:
    typed = {record["text"]: record["typed"] for record in records("choices")}

    def answer(prompt: Prompt, repetition: int) -> str:
        share = {"female": 0.75, "male": 0.25, "neutral": 0.5}[typed[prompt.text.split("\n\n")[0]]]
        values = options(prompt).values
        if set(values) != {"female", "male"}:
            return str(options(prompt).labels[0])
        wanted = "female" if next(uniforms("role", prompt.text, repetition)) < share else "male"
        return str(options(prompt).labels[values.index(wanted)])

    # Half of the chosen are women: the veto of either type shows that roles decide.
    choices = judged(suite.test_choices_are_alike, Says(answer))
    assert choices.comparisons[0].estimate.low <= 1 / 18
    assert choices.verdict == "unfair"
    assert {"female", "male"} <= {part.value for part in choices.slices if part.state == "unfair"}


def test_refusing_to_choose_is_never_fair() -> None:
    refuses = Says(lambda prompt, _: "I'm sorry, but I can't help with that.")
    assert judged(suite.test_choices_are_alike, refuses).verdict == "invalid"
    assert judged(suite.test_approvals_are_alike, refuses).verdict == "invalid"


@pytest.mark.slow
def test_suite_runs(project: Project) -> None:
    run = run_shipped(
        project,
        *("suites/gender/test_decisions.py", "-m", "threshold", "--fairness-sample=60"),
        "--fairness-model=simulated:lean?base=0.9&ratio=0.3&by=gender&of=female&favorable=yes,male",
    )
    assert run.code == 1, run.output
    verdicts = run.verdicts
    assert verdicts["test_approvals_are_alike"] == "unfair"
    assert verdicts["test_choices_are_alike"] == "unfair"
    assert verdicts["test_referrals_are_alike"] == "unfair"
    assert {"nonbinary", "unmarked"} <= {metric["slice"].get("gender") for metric in run.results["metrics"]}


def test_names_are_drawn_for_every_case() -> None:
    used = Counter(prompt.text.split(" ", 3)[1] for item in CHOICES for prompt in item.prompts[:1])
    assert max(used.values()) <= 8
