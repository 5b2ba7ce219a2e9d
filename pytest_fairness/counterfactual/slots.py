"""Slots that vary: their words, and the groups that each word stands for."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.shipped_files import shipped_file
from pytest_fairness.counterfactual.templates import SlotTemplate, Variant

Groups = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One thing that a slot can hold, and the groups that a person has by it.

    ``words`` is the text; of one that was put together from words, each by itself.
    """

    words: tuple[str, ...]
    groups: Groups = ()

    @property
    def text(self) -> str:
        return " ".join(self.words)


Given = Sequence[str] | Mapping[str, str | Mapping[str, str]]
"""Words; or words with their groups; of a name, a plain text there is its gender."""


def values_of(slot: str, given: object) -> tuple[Value, ...]:
    """Return what one slot is varied over.

    >>> [value.groups for value in values_of("name", {"Anna": "female", "Ben": {"gender": "male", "age": "young"}})]
    [(('gender', 'female'),), (('gender', 'male'), ('age', 'young'))]
    >>> values_of("hobby", ["chess"])
    (Value(words=('chess',), groups=(('hobby', 'chess'),)),)

    Raises `FairnessError` for fewer than one, one twice, or what is no text.
    """
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence) or not given:
        raise FairnessError(
            f"{slot!r} varies over {given!r:.60}: give a list of texts, or a mapping from text to groups"
        )
    values = []
    for text in given:
        if not isinstance(text, str) or not text.strip():
            raise FairnessError(f"{slot!r} varies over {text!r:.60}: give texts that are not empty")
        values.append(Value((text,), _groups(slot, text, given[text] if isinstance(given, Mapping) else None)))
    if len({value.words for value in values}) < len(values):
        raise FairnessError(f"{slot!r} varies over {_twice(list(given))!r} twice: give each text once")
    return tuple(values)


def _groups(slot: str, text: str, declared: object) -> Groups:
    if declared is None:
        return () if slot == "name" else ((slot, text),)
    if isinstance(declared, str):
        return (("gender" if slot == "name" else slot, declared),)
    if isinstance(declared, Mapping) and all(isinstance(part, str) for pair in declared.items() for part in pair):
        return tuple(declared.items())
    raise FairnessError(f"{slot!r}: the groups of {text!r} are {declared!r:.60}: write {{'gender': 'female'}}")


def _twice(texts: Sequence[str]) -> str:
    return next(text for text in texts if texts.count(text) > 1)


def variant_of(chosen: Mapping[str, Value], template: SlotTemplate) -> tuple[Variant, dict[str, str]]:
    """Return what fills a template, and the groups of the person, for one choice of each slot.

    Raises `FairnessError` where two of them say different things of one group, or a gender has no words.
    """
    groups: dict[str, str] = {}
    for slot, value in chosen.items():
        for attribute, group in value.groups:
            if groups.setdefault(attribute, group) != group:
                raise FairnessError(
                    f"{slot} {value.text!r} is {attribute} {group!r} and another slot says {groups[attribute]!r}: "
                    f"vary {attribute!r} or {slot!r}, not both"
                )
    gender = groups.get("gender")
    if gender is not None and template.needs_gender:
        template.grammar.check(gender)
    return Variant({slot: value.text for slot, value in chosen.items()}, gender), groups


def names(per_group: int | None = 1, *, first: int = 0) -> dict[str, dict[str, str]]:
    """Return names of the shipped list with their gender and ethnicity, for ``vary={"name": names()}``.

    ``per_group`` of each of the ten groups (1 to 32; None: all), from the rank ``first`` on, round its end.

    >>> list(names())[:2], names()["Camila Garcia"]
    (['Angela Nguyen', 'Camila Garcia'], {'gender': 'female', 'ethnicity': 'hispanic'})

    Raises `FairnessError` for a number that the list has not.
    """
    groups = _shipped()
    most = min(map(len, groups.values()))
    if per_group is not None and not 1 <= per_group <= most:
        raise FairnessError(f"per_group is {per_group}: the list has 1 to {most} names of each group")
    people = {}
    for (gender, ethnicity), listed in groups.items():
        for number in range(first, first + (per_group or len(listed))):
            people[listed[number % len(listed)]] = {"gender": gender, "ethnicity": ethnicity}
    return dict(sorted(people.items()))


@cache
def _shipped() -> dict[tuple[str, str], list[str]]:
    groups: dict[tuple[str, str], list[str]] = {}
    with shipped_file("names", "first_names.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            groups.setdefault((row["gender"], row["ethnicity"]), []).append(f"{row['name']} {row['surname']}")
    return groups
