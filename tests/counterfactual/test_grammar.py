"""The tables of each language, reviewed in every variant."""

from __future__ import annotations

import pytest

from pytest_fairness import FairnessError, counterfactuals
from pytest_fairness.counterfactual import lint
from pytest_fairness.counterfactual.grammar import grammar, languages

SENTENCES = {
    "en": {
        "they": "{They} {is|are} here, and {they} {works|work} well.",
        "them": "We know {them}.",
        "their": "This is {their} CV.",
        "theirs": "The CV is {theirs}.",
        "themself": "Written by {themself}.",
        "title": "{Title} Hay has applied.",
        "person": "{A person} has applied.",
        "child": "{A child} went to school.",
        "parent": "{A parent} has called.",
        "sibling": "{A sibling} has called.",
        "spouse": "{A spouse} has called.",
    },
}
"""One in which each English slot stands."""


@pytest.mark.parametrize("language", languages())
def test_every_gender_has_a_word_in_every_slot(language: str) -> None:
    table = grammar(language)
    assert table.genders[:2] == ("female", "male")
    for words in table.words.values():
        assert tuple(words) == table.slots
        assert all(word.strip() == word and word for word in words.values())
    assert set(table.forms) == set(table.genders)
    assert set(table.forms.values()) == {0, 1}
    assert set(table.pronouns) <= set(table.slots)
    assert set(table.titles.values()) <= set(table.slots)
    assert all(len(noun) == 3 for noun in table.nouns)


@pytest.mark.parametrize("language", ["de", "es"])
def test_slots_are_named_by_their_male_form(language: str) -> None:
    words = grammar(language).words["male"]
    other = {"person": "Mann", "persona": "hombre", "sr": "Sr."}
    assert {slot: word for slot, word in words.items() if slot != word.lower()} == {
        slot: word for slot, word in other.items() if slot in words
    }


@pytest.mark.parametrize("language", ["de", "es"])
def test_female_and_male_differ_in_every_slot(language: str) -> None:
    words = grammar(language).words
    assert [slot for slot in words["male"] if words["male"][slot] == words["female"][slot]] == []


@pytest.mark.parametrize("slot", grammar("en").slots)
def test_english_slots_make_sentences_that_differ_in_slots_only(slot: str) -> None:
    item = counterfactuals(SENTENCES["en"][slot], {"gender": grammar("en").genders})
    assert len({prompt.text for prompt in item.prompts}) >= 2
    lint(item)


# Of German: nominative, accusative, dative, genitive of articles; possessives by the case of what is had.
GERMAN = {
    "female": "die die der der eine eine einer einer sie sie ihr ihr ihre ihren ihrem ihrer ihres jede diese",
    "male": "der den dem des ein einen einem eines er ihn ihm sein seine seinen seinem seiner seines jeder dieser",
}


@pytest.mark.parametrize("gender", ["female", "male"])
def test_german_cases_are_declined(gender: str) -> None:
    slots = "der den dem des ein einen einem eines er ihn ihm sein seine seinen seinem seiner seines jeder dieser"
    template = " ".join(f"{{{slot}}}" for slot in slots.split())
    (prompt,) = counterfactuals(template, {"gender": [gender]}, language="de").prompts
    assert prompt.text == GERMAN[gender]


def test_unknown_language_is_refused() -> None:
    with pytest.raises(FairnessError, match="language is 'fr'"):
        grammar("fr")
