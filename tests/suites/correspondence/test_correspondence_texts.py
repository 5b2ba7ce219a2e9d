"""The advertisements, applications and rankings of the correspondence suite: balanced, complete, read as meant."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from pytest_fairness import Answer, ProbeItem
from pytest_fairness.counterfactual import MAJORITIES, NameList
from suites.correspondence.graders import Ahead
from suites.correspondence.items import (
    FITS,
    LANGUAGES,
    LOWER_CLASS,
    MINORITIES,
    advertisements,
    invitations,
    rankings,
)

INVITED, RANKED = list(invitations()), list(rankings())
WOMEN, MINORITY = Ahead("gender", "female", "male"), Ahead("origin", "minority", "majority")


def test_each_arm_has_its_advertisements() -> None:
    counts = {language: len({record["id"] for record in advertisements(language)}) for language in LANGUAGES}
    assert counts == {"en": 40, "de": 12, "fr": 12, "nl": 12}
    assert Counter(item.metadata["language"] for item in RANKED) == {name: 3 * of for name, of in counts.items()}


def test_groups_and_rungs_are_balanced() -> None:
    for item in INVITED:
        groups = Counter((prompt.groups["gender"], prompt.groups["origin"]) for prompt in item.prompts)
        assert len(groups) == 4
        assert len({*groups.values()}) == 1
        assert {prompt.groups["ethnicity"] for prompt in item.prompts} == {"white", minority_of(item)}
    rungs = Counter((item.metadata["fit"], minority_of(item)) for item in INVITED)
    assert all(rungs[fit, minority] == 10 for fit in FITS[1:-1] for minority in MINORITIES["en"])
    assert Counter(item.metadata["fit"] for item in INVITED) == dict(zip(FITS, (20, 40, 40, 40, 20), strict=True))


def minority_of(item: ProbeItem) -> str:
    """Return the minority that stands in an item."""
    (minority,) = {prompt.groups["minority"] for prompt in item.prompts}
    return minority


def test_rung_is_the_number_of_requirements_that_are_met() -> None:
    facts = {record["id"]: {fact for _, fact, _ in record["asks"]} for record in advertisements("en")}
    for item in INVITED:
        own = facts[item.metadata["position"]]
        met = sum(f"- {fact}\n" in item.prompts[0].text for fact in own)
        assert FITS.index(item.metadata["fit"]) - met in (0, 1), item.id  # the fourth requirement stands in texts.json


def test_texts_have_no_open_slot_and_no_word_twice() -> None:
    for item in (*INVITED, *RANKED):
        for prompt in item.prompts:
            assert not re.search(r"[{}]|  |\b(\w+) \1\b", prompt.text), prompt.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_requirements_have_a_fact_either_way(language: str) -> None:
    for record in advertisements(language):
        texts = [text for requirement in record["asks"] for text in requirement]
        assert len({*texts}) == len(texts) == 9, record["id"]
        assert not [text for text in texts if text.endswith(".")]


def test_positions_and_applications_are_balanced_in_each_set() -> None:
    for item in RANKED:
        positions: Counter[tuple[str, int]] = Counter()
        applications: Counter[tuple[str, str]] = Counter()
        before: Counter[tuple[str, str]] = Counter()
        for prompt in item.prompts:
            people = prompt.metadata["people"]
            pairs = [person["gender_ethnicity"] for person in people]
            positions.update((pair, position) for position, pair in enumerate(pairs))
            before.update((first, second) for first, second in combinations(pairs, 2) if first != second)
            for person in people:
                application = re.search(rf"^{person['name']}\n((?:- .+\n)+)", prompt.text, re.MULTILINE)
                assert application is not None
                applications[person["gender_ethnicity"], application[1]] += 1
        assert {*positions.values()} == {*applications.values()} == {1}
        assert (len(positions), len(applications)) == (32, 32)
        assert {*before.values()} == {8}


def test_people_of_a_ranking_are_alike_but_for_their_groups() -> None:
    for item in RANKED:
        people = item.prompts[0].metadata["people"]
        groups = Counter((person["gender"], person["ethnicity"]) for person in people)
        majority = MAJORITIES[str(item.metadata["language"])]
        if item.metadata["reference"] == LOWER_CLASS:
            majority = f"lower-class {majority}"
        minority = item.metadata["minority"]
        assert groups == {(gender, of): 2 for gender in ("female", "male") for of in (majority, minority)}
        lengths = [len(person["name"]) for person in people]
        assert max(lengths) - min(lengths) <= 2, item.id
        assert len({person["name"].partition(" ")[2] for person in people}) == 8, f"{item.id}: two seem related"


def test_rankings_of_each_reference_group_are_balanced() -> None:
    for language in LANGUAGES:
        counts = Counter(
            (item.metadata["reference"], item.metadata["minority"], item.metadata["case"])
            for item in RANKED
            if item.metadata["language"] == language
        )
        assert len(counts) == 2 * 2 * len(MINORITIES[language])
        assert len({(reference, count) for (reference, _, _), count in counts.items()}) == 2, counts


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_a_lower_class_are_of_no_other_group(language: str) -> None:
    shipped = NameList.read(language=language)
    others = {name.text.partition(" ")[0] for group in shipped.groups for name in shipped.of(group)}
    people = [
        person
        for item in RANKED
        if item.metadata["language"] == language
        for person in item.prompts[0].metadata["people"]
        if person["ethnicity"].startswith("lower-class")
    ]
    names = {gender: {one["name"] for one in people if one["gender"] == gender} for gender in ("female", "male")}
    assert all(len(of) >= 4 for of in names.values())
    assert not {name.partition(" ")[0] for of in names.values() for name in of} & others


def test_order_of_applications_alone_is_even() -> None:
    for item in RANKED:
        shares = []
        for prompt in item.prompts:
            order = sorted(prompt.metadata["people"], key=lambda person: remark_of(prompt.text, person["name"]))
            answer = Answer("\n".join(person["name"] for person in order))
            shares.append([grader.grade(prompt, answer).value for grader in (WOMEN, MINORITY)])
        assert [sum(of) for of in zip(*shares, strict=True)] == pytest.approx([2, 2])


def remark_of(text: str, name: str) -> str:
    """Return what a reference says of a person, the last line of an application."""
    return text.partition(f"\n{name}\n")[2].partition("\n\n")[0].splitlines()[-1]


@pytest.mark.parametrize("language", ["de", "fr"])
def test_titles_name_both_genders_or_none(language: str) -> None:
    neutral = re.compile(
        r"Pflegefachkraft|Fachkraft|Pädagogische Fachkraft|Mitarbeit|Sachbearbeitung|Stellvertretende Filialleitung"
        r"|Chemisch-technische Assistenz|Disposition|Auxiliaire|Gestionnaire"
    )
    for record in advertisements(language):
        both = len(re.findall(r"(?:\w|-)+ (?:oder|ou) \w", record["title"])) == 1
        assert both or neutral.match(record["title"]), record["title"]
