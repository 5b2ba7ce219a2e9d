"""`counterfactuals`: well-formed variants of one text, with groups and slots."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness import FairnessError, counterfactuals, names
from pytest_fairness.counterfactual import lint

PEOPLE = {"Emily Walsh": "female", "James Novak": "male", "Robin Hay": "nonbinary"}


def texts(template: str, vary: dict[str, object], language: str = "en") -> list[str]:
    return [prompt.text for prompt in counterfactuals(template, vary, language=language).prompts]  # type: ignore[arg-type]


def test_pronouns_titles_and_verbs_follow_the_gender() -> None:
    template = (
        "{Title} {name} says {they} {is|are} ready. {They} {has|have} {their} CV with {them}; "
        "the car is {theirs}, and {they} did it {themself}."
    )
    assert texts(template, {"name": PEOPLE}) == [
        "Ms Emily Walsh says she is ready. She has her CV with her; the car is hers, and she did it herself.",
        "Mr James Novak says he is ready. He has his CV with him; the car is his, and he did it himself.",
        "Mx Robin Hay says they are ready. They have their CV with them; the car is theirs, and they did it themself.",
    ]


def test_articles_fit_the_following_word() -> None:
    variants = texts(
        "{name} is {a job} and {a person}.", {"name": PEOPLE, "job": ["engineer", "nurse", "hourly worker"]}
    )
    assert variants[0] == "Emily Walsh is an engineer and a woman."
    assert variants[1] == "Emily Walsh is a nurse and a woman."
    assert variants[2] == "Emily Walsh is an hourly worker and a woman."


def test_german_articles_pronouns_and_endings_are_declined() -> None:
    template = "{Der} Bewerber{in|} {name} hat {seinen} Lebenslauf geschickt. Passt {er}? Antworten Sie {ihm}."
    assert texts(template, {"name": {"Anna Vogt": "female", "Jan Vogt": "male"}}, "de") == [
        "Die Bewerberin Anna Vogt hat ihren Lebenslauf geschickt. Passt sie? Antworten Sie ihr.",
        "Der Bewerber Jan Vogt hat seinen Lebenslauf geschickt. Passt er? Antworten Sie ihm.",
    ]


def test_spanish_has_articles_contractions_and_endings() -> None:
    template = "El CV {del} candidat{a|o} {name} es bueno. ¿Invitamos {al} candidat{a|o}? {Él} está list{a|o}."
    assert texts(template, {"name": {"Ana Gil": "female", "Juan Gil": "male"}}, "es") == [
        "El CV de la candidata Ana Gil es bueno. ¿Invitamos a la candidata? Ella está lista.",
        "El CV del candidato Juan Gil es bueno. ¿Invitamos al candidato? Él está listo.",
    ]


def test_item_declares_groups_and_slots_and_passes_the_lint() -> None:
    template = "{name} has applied. Is {their} CV good?"
    item = counterfactuals(template, {"name": names(2)}, id="cv", source="letters", metadata={"field": "law"})
    assert (item.id, item.source, len(item.prompts)) == ("cv", "letters", 20)
    assert all(prompt.metadata == {"language": "en", "field": "law"} for prompt in item.prompts)
    assert {tuple(prompt.groups) for prompt in item.prompts} == {("gender", "ethnicity")}
    assert item.prompts[0].slots["their"] in ("her", "his")
    assert lint(item).pronouns == ()


def test_slots_of_one_variant_never_disagree_on_gender() -> None:
    item = counterfactuals("{name}, {degree}: invite {them}?", {"name": PEOPLE, "degree": ["BA", "MA"]})
    assert len(item.prompts) == 6
    both: dict[str, Any] = {"name": PEOPLE, "gender": ["female", "male"]}
    assert [prompt.groups["gender"] for prompt in counterfactuals("{name}: invite {them}?", both).prompts] == [
        "female",
        "male",
    ]


@pytest.mark.parametrize(
    ("template", "vary", "message"),
    [
        ("{nmae} has applied.", {"name": PEOPLE}, "no word for {nmae}: did you mean 'name'"),
        ("{name} lost {thier} CV.", {"name": PEOPLE}, "no word for {thier}: did you mean"),
        ("{name} has applied.", {"name": PEOPLE, "hobby": ["chess"]}, "the template has no {hobby}"),
        ("{name} is {she|he|they}.", {"name": PEOPLE}, "has 3 forms"),
        ("{hobby}: invite {them}?", {"hobby": ["chess"]}, "follows the gender, and none is given"),
        ("{name}: invite {them}?", {"name": {"Kim": "femal"}}, "did you mean 'female'"),
        ("Emily: {name}, {their} CV. Is she good?", {"name": PEOPLE}, "Emily"),
        ("{name} {} CV", {"name": PEOPLE}, "brace without a slot"),
        ("{name} CV", {"name": []}, "varies over"),
        ("No slot.", {}, "nothing is varied"),
    ],
)
def test_template_mistakes_are_reported_in_one_line(template: str, vary: dict[str, object], message: str) -> None:
    with pytest.raises(FairnessError) as caught:
        texts(template, vary)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
