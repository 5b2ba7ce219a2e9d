"""Applications that differ in one line on religion, nationality or orientation."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pytest_fairness.counterfactual import attribute_rows, lint
from pytest_fairness.counterfactual.name_lists import NameList
from suites.gender.pronouns import pronoun_approvals
from suites.hiring.items import IDENTITIES, attributes, identities

ITEMS = list(identities())
PRONOUN_ITEMS = list(pronoun_approvals())
FORMS = {
    "they" if row["gender"] == "nonbinary" else row["they"]: {
        row[slot] for slot in ("they", "them", "their", "theirs", "themself")
    }
    for row in attribute_rows("gender")
}
SIZES = {"religion": 5, "nationality": 4, "sexual_orientation": 4}
"""Prompts of one item on each attribute: of religions and of nationalities some take turns."""


def test_every_attribute_has_as_many_prompts_in_every_item() -> None:
    assert len(ITEMS) == len({item.id for item in ITEMS}) == IDENTITIES
    for item in ITEMS:
        counts = Counter(next(iter(prompt.groups)) for prompt in item.prompts)
        assert counts == SIZES
        assert len({prompt.text for prompt in item.prompts}) == sum(SIZES.values())


@pytest.mark.parametrize("attribute", ["religion", "nationality", "sexual_orientation"])
def test_groups_that_are_pooled_are_asked_about_alike(attribute: str) -> None:
    counts: dict[str, Counter[str]] = {}
    for item in ITEMS:
        for prompt in item.prompts:
            if attribute in prompt.groups:
                counts.setdefault(prompt.groups[f"{attribute}_pooled"], Counter())[prompt.groups[attribute]] += 1
    assert len(counts) == 2
    for of_groups in counts.values():
        assert max(of_groups.values()) - min(of_groups.values()) <= 3, of_groups


def test_prompts_differ_in_one_line() -> None:
    for item in ITEMS:
        lint(item)
        first = item.prompts[0].text.split("\n")
        for prompt in item.prompts[1:]:
            lines = prompt.text.split("\n")
            assert len(lines) == len(first)
            assert sum(one != other for one, other in zip(first, lines, strict=True)) == 1


def test_applicants_are_anonymous() -> None:
    names = {name.text for group in NameList.read().groups for name in NameList.read().of(group)}
    for item in ITEMS:
        for prompt in item.prompts:
            assert re.search(r"^Candidate: Applicant \d{4}$", prompt.text, re.MULTILINE)
            assert not any(name in prompt.text for name in names)


def test_groups_have_the_same_volunteers_as_often() -> None:
    lines: dict[str, Counter[str]] = {}
    for item in ITEMS:
        for prompt in item.prompts:
            group = prompt.groups.get("sexual_orientation")
            if group:
                line = next(line for line in prompt.text.split("\n") if line.startswith("Volunteering"))
                plain = "neighborhood|short|history|poetry"
                line = re.sub(rf"local (?:{plain}|gay and lesbian|environmental)", "", line)
                lines.setdefault(group, Counter())[line] += 1
    assert lines["not told"] + lines["another cause"] == lines["gay or lesbian"]
    difference = lines["not told"] - lines["another cause"]
    assert difference.total() <= 1, difference


def lines_by_group() -> dict[str, dict[str, list[str]]]:
    """Return the lines of every group of every attribute, over all items."""
    lines: dict[str, dict[str, list[str]]] = {}
    for item in [*ITEMS, *attributes(count=600)]:
        common = set.intersection(*({*prompt.text.split("\n")} for prompt in item.prompts))
        for prompt in item.prompts:
            (line,) = (text for text in prompt.text.split("\n") if text not in common and re.match(LINES, text))
            (attribute,) = prompt.groups.keys() & ATTRIBUTES
            lines.setdefault(attribute, {}).setdefault(prompt.groups[attribute], []).append(line)
    return lines


def facts(line: str) -> int:
    """Return how much a line says: its parts between punctuation, numbers, and things joined by "and"."""
    line = line.replace("gay and lesbian", "gay")
    return len(re.split(r"[:.,] | and ", line))


LINES = "Volunteering|Nationality|Age|Disability|Career breaks"
ATTRIBUTES = {"religion", "nationality", "sexual_orientation", "age", "disability", "leave"}


def test_versions_of_a_line_are_as_long_and_say_as_much() -> None:
    by_attribute = lines_by_group()
    assert by_attribute.keys() == ATTRIBUTES
    for attribute, groups in by_attribute.items():
        assert len({facts(line) for lines in groups.values() for line in lines}) == 1, attribute
        means = [sum(map(len, lines)) / len(lines) for lines in groups.values()]
        assert max(means) <= 1.2 * min(means), (attribute, means)
        # One version is not more active than another: the same office, and the same verb or none.
        roles = {re.sub(r"\W.*", "", line.partition(": ")[2]) for lines in groups.values() for line in lines}
        assert attribute not in ("religion", "sexual_orientation") or roles == {"treasurer"}


def test_nothing_tells_a_gender() -> None:
    for item in ITEMS:
        for prompt in item.prompts:
            words = set(re.findall(r"\w+", prompt.text.lower()))
            assert not {"she", "he", "her", "his", "him", "herself", "himself"} & words, prompt.text


def test_requests_differ_in_pronouns_only() -> None:
    for item in PRONOUN_ITEMS:
        assert len({prompt.text for prompt in item.prompts}) == 8
        texts = set()
        for prompt in item.prompts:
            forms = FORMS[prompt.groups["pronouns"]]
            text = re.sub(rf"\b(?:{'|'.join(sorted(forms, key=len, reverse=True))})\b", "_", prompt.text.lower())
            verbs = r"\b(?:is|are)\b|\b(?:was|were)\b|\b(?:has|have)\b|(?<=\w)e?s\b"
            texts.add(re.sub(verbs, "", text))
        assert len(texts) <= 2, texts  # the verb of singular they
