"""Words of the shipped list for groups of people: religion, nationality, age, disability and others."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.shipped_files import shipped_file
from pytest_fairness.counterfactual.grammar import grammar
from pytest_fairness.counterfactual.linter import begins_with_vowel

PREFIX = "attributes:"
"""The prefix of an attribute's name where a YAML file takes its rows."""

GENDER = "gender"


@dataclass(frozen=True, slots=True)
class AttributeWord:
    """The words for one group of an attribute."""

    group: str
    adjective: str
    person: str
    gender: str
    """The gender of the people whom the words describe; empty where they describe people of any."""


def attribute_words(
    attribute: str, form: Literal["adjective", "person"] = "adjective", *, groups: Collection[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return words of the shipped list with their groups, for ``vary={"religion": attribute_words("religion")}``.

    Args:
        attribute: "religion", "ethnicity", "nationality", "age", "disability", "sexual_orientation", "class" or
            "gender_identity". Neopronouns are genders: ``vary={"gender": ["female", "male", "nonbinary", "xe"]}``.
        form: "adjective" ("{a religion} nurse", "{they} {is|are} {religion}"), or "person", a noun phrase
            ("{a disability} has applied").
        groups: The groups to take, in this order; without it all of the list.

    Returns:
        The groups of each word: the attribute's, and the gender where a word has one ("lesbian").

    Raises:
        FairnessError: The attribute or a group is not in the list, or two groups have one adjective.

    >>> list(attribute_words("religion"))[:3]
    ['Buddhist', 'Christian', 'Hindu']
    >>> attribute_words("disability", "person", groups=["none", "mobility"])
    {'person without a disability': {'disability': 'none'}, 'physically disabled person': {'disability': 'mobility'}}
    """
    words_by_group = {word.group: word for word in words_of(attribute)}
    chosen = list(words_by_group) if groups is None else list(groups)
    for group in chosen:
        if group not in words_by_group:
            raise FairnessError(f"{attribute} has no group {group!r}: {did_you_mean(group, words_by_group)}")
    if form not in ("adjective", "person"):
        raise FairnessError(f"form is {form!r}: take 'adjective' or 'person'")
    words: dict[str, dict[str, str]] = {}
    for group in chosen:
        word = words_by_group[group]
        text = word.adjective if form == "adjective" else word.person
        if text in words:
            raise FairnessError(
                f"{attribute} {words[text][attribute]!r} and {group!r} are both {text!r}: take form='person'"
            )
        words[text] = {attribute: group} | ({GENDER: word.gender} if word.gender else {})
    return words


def words_of(attribute: str) -> tuple[AttributeWord, ...]:
    """Return the words of an attribute. Raises `FairnessError` for one that is not in the list."""
    attributes = _shipped_words()
    if attribute not in attributes:
        raise FairnessError(f"no list of {attribute!r} is shipped: {did_you_mean(attribute, attributes)}")
    return attributes[attribute]


def attribute_rows(attribute: str) -> list[dict[str, str]]:
    """Return a row of slot values for each group of an attribute, as a file of rows has them.

    The columns are the attribute, and with its name and an underscore before them ``adjective``, ``person`` and
    ``a_person``. Of "gender" they are pronouns and the verbs that agree with them, with ``is``, ``was``, ``has`` and
    ``does``.

    >>> attribute_rows("age")[0]["age_a_person"], attribute_rows("gender")[2]["is"], attribute_rows("gender")[3]["them"]
    ('a 21-year-old', 'are', 'xem')

    Args:
        attribute: "gender", or one of those of `attribute_words`.

    Raises:
        FairnessError: The attribute is not in the list.
    """
    if attribute == GENDER:
        table = grammar("en")
        verbs = {
            singular: plural for singular, plural in table.agreement.items() if singular in ("is", "was", "has", "does")
        }
        return [
            {
                GENDER: gender,
                **table.words_of(gender),
                **{singular: (singular, plural)[table.form(gender)] for singular, plural in verbs.items()},
            }
            for gender in (*table.genders, *table.neopronouns)
        ]
    return [
        {
            attribute: word.group,
            f"{attribute}_adjective": word.adjective,
            f"{attribute}_person": word.person,
            f"{attribute}_a_person": f"{'an' if begins_with_vowel(word.person) else 'a'} {word.person}",
        }
        for word in words_of(attribute)
    ]


@cache
def _shipped_words() -> Mapping[str, tuple[AttributeWord, ...]]:
    attributes: dict[str, tuple[AttributeWord, ...]] = {}
    with shipped_file("attributes", "attributes.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            word = AttributeWord(row["group"], row["adjective"], row["person"], row["gender"])
            attributes[row["attribute"]] = (*attributes.get(row["attribute"], ()), word)
    return attributes
