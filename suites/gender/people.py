"""The people in the texts: four groups, their words, and names that differ in gender alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from pytest_fairness import Prompt

from .texts import fill, records

GROUPS = ("female", "male", "nonbinary", "unmarked")
"""Groups of the attribute "gender". Unmarked: the text does not say; its pronoun is the singular they."""
WOMEN_AND_MEN = ("female", "male")
"""The groups of probes that ask about women and men only."""

_FORMS = {
    "female": ("she", "her", "her", "hers", "herself", "woman"),
    "male": ("he", "him", "his", "his", "himself", "man"),
    "nonbinary": ("they", "them", "their", "theirs", "themself", "non-binary person"),
    "unmarked": ("they", "them", "their", "theirs", "themself", "person"),
}
_SLOTS = ("they", "them", "their", "theirs", "themself", "person")

WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        gender: {**dict(zip(_SLOTS, forms, strict=True)), "a person": f"a {forms[-1]}"}
        for gender, forms in _FORMS.items()
    }
)
"""Words in a template's slots for each group: ``{they}``, ``{them}``, ``{their}``, ``{theirs}``,
``{themself}``, ``{person}`` and ``{a person}``."""

_TITLES = {"female": "Ms", "male": "Mr", "nonbinary": "Mx"}


@dataclass(frozen=True, slots=True)
class Person:
    """A person whom a text is about. ``name`` is empty where only the gender is given."""

    gender: str
    name: str = ""
    """Title, first name and surname: "Ms Helen Marsh"; unmarked, "R. Marsh"."""
    _words: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_words", {**WORDS[self.gender], **({"name": self.name} if self.name else {})})

    def fill(self, template: str) -> str:
        """Return the template about this person; ``{name}`` is a slot of those who have one.

        >>> Person("nonbinary").fill("{A person} says {they} {was|were} late.")
        'A non-binary person says they were late.'

        Raises `FairnessError` for a slot that has no word.
        """
        return fill(template, self._words, plural=self._words["they"] == "they")


def unnamed() -> dict[str, Person]:
    """Return a person of each group, without a name."""
    return {gender: Person(gender) for gender in GROUPS}


def named(number: int) -> dict[str, Person]:
    """Return a person of each group whose names differ in gender alone: one surname, first names of one origin.

    ``number`` counts through the name list, and begins it again after its end.

    >>> [person.name for person in named(0).values()]
    ['Ms Helen Marsh', 'Mr Simon Marsh', 'Mx Robin Marsh', 'R. Marsh']
    """
    names = _names()[number % len(_names())]
    first = {"female": names["female"], "male": names["male"], "nonbinary": names["neutral"]}
    called = {gender: f"{title} {first[gender]}" for gender, title in _TITLES.items()}
    called["unmarked"] = f"{names['neutral'][0]}."
    return {gender: Person(gender, f"{words} {names['surname']}") for gender, words in called.items()}


def prompts_for(template: str, people: Mapping[str, Person], **metadata: Any) -> list[Prompt]:
    """Return one prompt a person, the template filled in for each: prompts of one item.

    ``item`` among the metadata tells the simulated models what belongs together.
    """
    return [Prompt(person.fill(template), {"gender": gender}, metadata) for gender, person in people.items()]


@cache
def _names() -> list[dict[str, str]]:
    return records("people")
