"""Decisions and affects: every variant of every text is whole, and only the gendered words differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from pytest_fairness.core.items import ProbeItem, Prompt
from suites.gender import affects, decisions
from suites.gender.people import GROUPS, WOMEN_AND_MEN, named
from suites.gender.texts import records
from tests.helpers.gendered_text import (
    PRONOUNS,
    agrees,
    by_gender,
    differing,
    faults,
    gendered,
    sentences,
    templates,
    verbs,
)

TEMPLATES = templates("approvals", "choices", "referrals", "emotions", "complaints")
VERBS = verbs([*TEMPLATES, "{does|do} {is|are}"])
SWAPPED = (decisions.approvals, decisions.referrals, affects.emotions, affects.complaints)
BUILDERS = (*SWAPPED, decisions.choices)

each_builder = pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
each_swap = pytest.mark.parametrize("build", SWAPPED, ids=lambda build: build.__name__)
Build = Callable[[], Iterator[ProbeItem]]


def texts_of(build: Build) -> list[Prompt]:
    return [prompt for item in build() for prompt in item.prompts]


@each_builder
def test_there_are_enough_items_and_sources(build: Build) -> None:
    items = list(build())
    assert len(items) >= (60 if build in (affects.emotions, affects.complaints) else 100)
    assert len({item.source for item in items}) >= 25


@each_builder
def test_ids_are_unique_short_and_ascii(build: Build) -> None:
    ids = [item.id for item in build()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]{3,40}", name) for name in ids)
    assert ids == [item.id for item in build()]


@each_builder
def test_every_text_is_well_formed(build: Build) -> None:
    singular = {pair[0] for pair in VERBS}
    wrong = {prompt.text: faults(prompt.text, singular) for prompt in texts_of(build)}
    assert {text: mistakes for text, mistakes in wrong.items() if mistakes} == {}


@each_builder
def test_every_prompt_is_unique(build: Build) -> None:
    texts = Counter(prompt.text for prompt in texts_of(build))
    assert [text for text, times in texts.items() if times > 1] == []


@each_swap
def test_every_item_has_every_group(build: Build) -> None:
    for item in build():
        groups = WOMEN_AND_MEN if build in (affects.emotions, affects.complaints) else GROUPS
        assert [tuple(variants) for variants in by_gender(item)] == [groups] * (len(item.prompts) // len(groups))


@each_swap
def test_variants_differ_in_gendered_words_only(build: Build) -> None:
    names = {gender: {part.lower() for n in range(64) for part in named(n)[gender].name.split()} for gender in GROUPS}
    names["unmarked"] |= set("abcdefghijklmnopqrstuvwxyz.")
    for item in build():
        for variants in by_gender(item):
            for gender in list(variants)[1:]:
                ours, theirs = differing(variants["female"].text, variants[gender].text)
                assert ours <= gendered("female", names["female"], VERBS), (item.id, gender, ours)
                assert theirs <= gendered(gender, names[gender], VERBS), (item.id, gender, theirs)


@each_swap
def test_variants_have_equally_many_sentences(build: Build) -> None:
    for item in build():
        for variants in by_gender(item):
            assert len({sentences(prompt.text) for prompt in variants.values()}) == 1, item.id


@each_swap
def test_texts_have_no_pronoun_of_another_gender(build: Build) -> None:
    for item in build():
        for prompt in item.prompts:
            words = set(re.findall(r"[a-z-]+", prompt.text.lower()))
            others = {
                "female": PRONOUNS["male"],
                "male": PRONOUNS["female"],
            }.get(prompt.groups["gender"], PRONOUNS["male"] | PRONOUNS["female"])
            assert not words & others, prompt.text


def test_verbs_agree() -> None:
    assert [pair for pair in VERBS if not agrees(*pair)] == []


def test_verb_slot_follows_its_pronoun() -> None:
    # After a name or a noun the verb is singular for everybody.
    for text in TEMPLATES:
        for sentence in re.split(r"(?<=[.?!]) ", text):
            for slot in re.finditer(r"\{\w+\|\w+\}", sentence):
                assert re.search(r"\{[Tt]hey\}", sentence[: slot.start()]), sentence


def test_person_is_introduced_before_the_first_pronoun() -> None:
    for build in (decisions.approvals, decisions.referrals, affects.complaints):
        for item in build():
            text = next(prompt.text for prompt in item.prompts if prompt.groups["gender"] == "male")
            assert re.match(r"(?:(?!\b(?:he|him|his)\b).)*\b(?:Mr|man)\b", text, re.DOTALL | re.IGNORECASE), text


def test_written_text_is_the_same_for_all_groups() -> None:
    for item in affects.emotions():
        assert len({prompt.text.split("\n\n")[1] for prompt in item.prompts}) == 1


def test_written_text_does_not_reveal_the_gender() -> None:
    telling = (
        r"\b(?:wife|husband|girlfriend|boyfriend|pregnant|beard|bra|skirt|dress|lipstick|woman|man|girl|boy|lady)\b"
    )
    written = [prompt.text.split("\n\n")[1] for prompt in texts_of(affects.emotions)]
    assert [text for text in written if re.search(telling, text, re.IGNORECASE)] == []


def test_names_of_one_line_differ_in_gender_only() -> None:
    people = [named(number) for number in range(64)]
    assert named(64) == people[0]
    for gender in GROUPS:
        full = [person[gender].name for person in people]
        assert len(set(full)) == len(full)
    first = {
        gender: {person[gender].name.split()[1] for person in people} for gender in ("female", "male", "nonbinary")
    }
    assert len(first["female"]) == len(first["male"]) == 64
    assert len(first["nonbinary"]) >= 60
    assert not first["female"] & first["male"]
    assert not first["nonbinary"] & (first["female"] | first["male"])
    for person in people:
        assert len({person.name.split()[-1] for person in person.values()}) == 1


@pytest.mark.parametrize(("one", "other"), [("nonbinary", "female"), ("nonbinary", "male"), ("female", "male")])
def test_names_of_either_candidate_are_the_longer_ones_equally_often(one: str, other: str) -> None:
    pair = "-".join(sorted((one, other)))
    prompts = [prompt for prompt in texts_of(decisions.choices) if prompt.metadata["pair"] == pair]
    names = [prompt.metadata["options"].texts for prompt in prompts]
    longer, shorter = (sum(sign * len(name[one]) > sign * len(name[other]) for name in names) for sign in (1, -1))
    assert abs(longer - shorter) <= 0.02 * len(names)


def test_neutral_names_are_given_to_women_and_men_and_others_are_not() -> None:
    of_one_gender = {"Akira", "Andrea", "Asanka", "Cameron", "Dale", "Glyn", "Iman", "Innes", "Iqbal", "Rory", "Wisam"}
    of_both = {"Amandeep", "Balvinder", "Gurpreet", "Harjit", "Jiwoo", "Manjeet", "Nour", "Nusrat", "Wei"}
    neutral = {record["neutral"] for record in records("people")}
    gendered_names = {record[gender] for record in records("people") for gender in ("female", "male")}
    assert not neutral & of_one_gender
    assert not gendered_names & of_both


def test_spelling_is_british() -> None:
    american = r"\b(?:color|favor|neighbor|center|organiz\w+|apologiz\w+|gray|program(?=mes)|math|apartment|vacation)\b"
    assert [text for text in TEMPLATES if re.search(american, text)] == []
