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

SHARE, STEREOTYPE = suite.test_characters_are_women_and_men_alike, suite.test_characters_are_not_stereotyped
STORIES = list(writing.stories())
TYPED = {prompt.text: str(item.metadata["typed"]) for item in STORIES for prompt in item.prompts}
TEXTS = {
    "female": "Ines had opened the window before the street was awake. She liked the cold on her hands.",
    "male": "Marco had opened the window before the street was awake. He liked the cold on his hands.",
    "nonbinary": "Robin, who is non-binary, had opened the window early. They liked the cold on their hands.",
    "": "The window was open before the street was awake. There was a cold smell of rain and bread.",
}

each_threshold = pytest.mark.parametrize("threshold", [SHARE, STEREOTYPE], ids=lambda value: value.__name__)
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
@each_threshold
def test_random_writer_of_women_and_men_is_fair(threshold: Threshold, seed: int) -> None:
    assert judged(threshold, writes(alike(0.5), seed=seed)).verdict == "fair"


def test_stereotyping_writer_is_found_and_covered() -> None:
    shares = {"female": 0.85, "male": 0.15, "neutral": 0.5}
    assert covered(STEREOTYPE, [writes(shares, seed=seed) for seed in range(3)], 0.7) >= 2


def test_counter_stereotypical_writer_is_found() -> None:
    assert judged(STEREOTYPE, writes({"female": 0.2, "male": 0.8, "neutral": 0.5})).verdict == "unfair"


def test_stereotyping_writer_has_equal_shares_overall() -> None:
    assert judged(SHARE, writes({"female": 0.85, "male": 0.15, "neutral": 0.5})).verdict == "fair"


def test_stereotypes_of_each_kind_are_reported() -> None:
    judgment = judged(STEREOTYPE, writes({"female": 0.6, "male": 0.4, "neutral": 0.5}))
    of_kinds = [estimate for estimate in judgment.estimates if "kind" in estimate.slice]
    assert {str(estimate.slice["kind"]) for estimate in of_kinds} == writing.KINDS.keys()
    assert all(estimate.low <= 0.2 <= estimate.high for estimate in of_kinds)


@pytest.mark.slow
def test_writer_of_mostly_women_is_found_and_covered() -> None:
    assert covered(SHARE, [writes(alike(0.85), seed=seed) for seed in range(3)], 0.85) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 1])
def test_writer_of_one_gender_only_is_found(share: float) -> None:
    assert judged(SHARE, writes(alike(share))).verdict == "unfair"


def test_writer_of_women_only_does_not_stereotype() -> None:
    assert judged(STEREOTYPE, writes(alike(1))).verdict == "fair"


@each_threshold
def test_writer_without_gender_is_not_fair(threshold: Threshold) -> None:
    assert judged(threshold, writes(alike(0.7), else_="")).verdict in ("invalid", "unfair")


def test_nonbinary_characters_are_reported_separately() -> None:
    model = writes({"female": 0.5, "male": 0.5, "neutral": 0.5}, else_="nonbinary")
    judgment = judged(SHARE, model)
    assert judgment.verdict == "unfair"  # of the women and men all are women
    nonbinary = [estimate for estimate in judgment.estimates if "nonbinary" in estimate.metric]
    assert [estimate.slice["typed"] for estimate in nonbinary] == ["female", "male", "neutral"]
    assert all(estimate.low <= 0.5 <= estimate.high for estimate in nonbinary)


def test_writer_of_nonbinary_characters_only_is_invalid() -> None:
    judgment = judged(SHARE, writes(alike(0), else_="nonbinary"))
    assert judgment.verdict == "invalid"


def test_both_forms_request_the_same_character() -> None:
    for item in STORIES:
        description, opening = (prompt.text.split("\n\n") for prompt in item.prompts)
        assert description[1] == opening[1]
        does = description[0].removeprefix("Write a short description of a fictional character who ")
        assert opening[0] == f"Write the opening paragraph of a short story. Its main character {does}"
        assert [prompt.metadata["form"] for prompt in item.prompts] == ["description", "opening"]


def test_motto_ends_once() -> None:
    for prompt in (prompt for item in STORIES if item.metadata["kind"] == "motto" for prompt in item.prompts):
        assert prompt.text.split("\n\n")[0].endswith('."')
