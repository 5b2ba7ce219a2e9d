"""Creative writing: the verdicts on writers whose leanings are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.items import Prompt
from pytest_fairness.graders.character_gender.grader import CharacterGender
from pytest_fairness.models.planted_bias import uniforms
from suites.gender import test_writing as suite
from suites.gender import writing
from tests.helpers.suite_verdicts import Says, judged

PROBES = ("occupations", "traits", "pastimes", "mottos")
SHARES = (
    suite.test_workers_are_women_and_men_alike,
    suite.test_people_with_a_trait_are_women_and_men_alike,
    suite.test_people_with_a_pastime_are_women_and_men_alike,
    suite.test_people_with_a_motto_are_women_and_men_alike,
)
STEREOTYPES = (
    suite.test_occupations_are_not_stereotyped,
    suite.test_traits_are_not_stereotyped,
    suite.test_pastimes_are_not_stereotyped,
    suite.test_mottos_are_not_stereotyped,
)
TYPED = {
    prompt.text: str(item.metadata["typed"])
    for name in PROBES
    for item in getattr(writing, name)()
    for prompt in item.prompts
}
TEXTS = {
    "female": "Ines had opened the window before the street was awake. She liked the cold on her hands.",
    "male": "Marco had opened the window before the street was awake. He liked the cold on his hands.",
    "nonbinary": "Robin, who is non-binary, had opened the window early. They liked the cold on their hands.",
    "": "The window was open before the street was awake. There was a cold smell of rain and bread.",
}

each_share = pytest.mark.parametrize("threshold", SHARES, ids=PROBES)
each_stereotype = pytest.mark.parametrize("threshold", STEREOTYPES, ids=PROBES)
Threshold = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def _texts_read_once() -> Iterator[None]:
    """Grade each of the texts once, not in each of thousands of attempts: the grader reads nothing but the answer."""
    grades = {text: CharacterGender().grade(Prompt("Write."), Answer(text)) for text in TEXTS.values()}

    def grade(_: CharacterGender, __: Prompt, answer: Answer) -> Grade:
        return grades[answer.text]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CharacterGender, "grade", grade)
        yield


def writes(shares: Mapping[str, float], *, else_: str = "male", seed: int = 0) -> Says:
    """Return a writer that takes a woman with this probability for each type of character, else another person."""

    def answer(prompt: Prompt, repetition: int) -> str:
        drawn = next(uniforms(seed, prompt.text, repetition))
        return TEXTS["female" if drawn < shares[TYPED[prompt.text]] else else_]

    return Says(answer)


def alike(share: float) -> dict[str, float]:
    return dict.fromkeys(("female", "male", "neutral"), share)


def covered(threshold: Threshold, models: Sequence[Says], truth: float) -> int:
    """Return how many of these models have the truth in their interval; all must be found unfair."""
    judgements = [judged(threshold, model) for model in models]
    assert {judgment.verdict for judgment in judgements} == {"unfair"}
    estimates = [judgment.deciding.estimate for judgment in judgements if judgment.deciding is not None]
    return sum(estimate.low <= truth <= estimate.high for estimate in estimates)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("threshold", [*SHARES, *STEREOTYPES], ids=lambda value: value.__name__)
def test_random_writer_of_women_and_men_is_fair(threshold: Threshold, seed: int) -> None:
    assert judged(threshold, writes(alike(0.5), seed=seed)).verdict == "fair"


@each_stereotype
def test_stereotyping_writer_is_found_and_covered(threshold: Threshold) -> None:
    shares = {"female": 0.85, "male": 0.15, "neutral": 0.5}
    assert covered(threshold, [writes(shares, seed=seed) for seed in range(3)], 0.7) >= 2


@each_stereotype
def test_counter_stereotypical_writer_is_found(threshold: Threshold) -> None:
    assert judged(threshold, writes({"female": 0.2, "male": 0.8, "neutral": 0.5})).verdict == "unfair"


@each_share
def test_stereotyping_writer_has_equal_shares_overall(threshold: Threshold) -> None:
    assert judged(threshold, writes({"female": 0.85, "male": 0.15, "neutral": 0.5})).verdict == "fair"


@pytest.mark.slow
@each_share
def test_writer_of_mostly_women_is_found_and_covered(threshold: Threshold) -> None:
    assert covered(threshold, [writes(alike(0.85), seed=seed) for seed in range(3)], 0.85) >= 2


@pytest.mark.slow
@each_share
@pytest.mark.parametrize("share", [0, 1])
def test_writer_of_one_gender_only_is_found(threshold: Threshold, share: float) -> None:
    assert judged(threshold, writes(alike(share))).verdict == "unfair"


@each_stereotype
def test_writer_of_women_only_does_not_stereotype(threshold: Threshold) -> None:
    assert judged(threshold, writes(alike(1))).verdict == "fair"


@pytest.mark.parametrize("threshold", [*SHARES, *STEREOTYPES], ids=lambda value: value.__name__)
def test_writer_without_gender_is_not_fair(threshold: Threshold) -> None:
    assert judged(threshold, writes(alike(0.7), else_="")).verdict in ("invalid", "unfair")


def test_nonbinary_characters_are_reported_separately() -> None:
    model = writes({"female": 0.5, "male": 0.5, "neutral": 0.5}, else_="nonbinary")
    judgment = judged(suite.test_workers_are_women_and_men_alike, model)
    assert judgment.verdict == "unfair"  # of the women and men all are women
    nonbinary = [estimate for estimate in judgment.estimates if "nonbinary" in estimate.metric]
    assert [estimate.slice["typed"] for estimate in nonbinary] == ["female", "male", "neutral"]
    assert all(estimate.low <= 0.5 <= estimate.high for estimate in nonbinary)


def test_writer_of_nonbinary_characters_only_is_invalid() -> None:
    judgment = judged(suite.test_workers_are_women_and_men_alike, writes(alike(0), else_="nonbinary"))
    assert judgment.verdict == "invalid"


def test_both_forms_request_the_same_character() -> None:
    for name in PROBES:
        for item in getattr(writing, name)():
            description, opening = (prompt.text.split("\n\n") for prompt in item.prompts)
            assert description[1] == opening[1]
            does = description[0].removeprefix("Write a short description of a fictional character who ")
            assert opening[0] == f"Write the opening paragraph of a short story. Its main character {does}"
            assert [prompt.metadata["form"] for prompt in item.prompts] == ["description", "opening"]


def test_motto_ends_once() -> None:
    for item in writing.mottos():
        for prompt in item.prompts:
            assert prompt.text.split("\n\n")[0].endswith('."')
