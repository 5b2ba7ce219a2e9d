"""Slots that vary: their words, and the groups that each word stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.linter import lint
from pytest_fairness.counterfactual.name_lists import NameList
from pytest_fairness.counterfactual.templates import SlotTemplate, Variant

Groups = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a slot, and the groups of a person that it implies.

    ``words`` are the parts of the text: one, or every word of a text that a strategy drew as a list of words.
    """

    words: tuple[str, ...]
    groups: Groups = ()

    @property
    def text(self) -> str:
        return " ".join(self.words)


SlotValues = Sequence[str] | Mapping[str, str | Mapping[str, str]]
"""Texts, or texts with their groups; a plain text as the groups of a name is its gender."""


def values_of(slot: str, given: object) -> tuple[Value, ...]:
    """Return the values over which one slot is varied.

    >>> [value.groups for value in values_of("name", {"Anna": "female", "Ben": {"gender": "male", "age": "young"}})]
    [(('gender', 'female'),), (('gender', 'male'), ('age', 'young'))]
    >>> values_of("hobby", ["chess"])
    (Value(words=('chess',), groups=(('hobby', 'chess'),)),)

    Raises `FairnessError` where there is no value, one is repeated, or one is no text.
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
        duplicate = next(text for text in given if list(given).count(text) > 1)
        raise FairnessError(f"{slot!r} varies over {duplicate!r} twice: give each text once")
    return tuple(values)


def _groups(slot: str, text: str, declared: object) -> Groups:
    if declared is None:
        return () if slot == "name" else ((slot, text),)
    if isinstance(declared, str):
        return (("gender" if slot == "name" else slot, declared),)
    if isinstance(declared, Mapping) and all(isinstance(part, str) for pair in declared.items() for part in pair):
        return tuple(declared.items())
    raise FairnessError(f"{slot!r}: the groups of {text!r} are {declared!r:.60}: write {{'gender': 'female'}}")


def variant_of(chosen: Mapping[str, Value], template: SlotTemplate) -> tuple[Variant, dict[str, str]]:
    """Return the filling of a template, and the groups of the person, for one choice of each slot.

    Raises `FairnessError` where two slots contradict each other on a group, or a gender has no words.
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


def names(per_group: int | None = 1, *, first: int = 0, language: str = "en") -> dict[str, dict[str, str]]:
    """Return names of a shipped list with their gender and ethnicity, for ``vary={"name": names()}``.

    Args:
        per_group: Names of each group, 1 to 32 in English and 1 to 12 in other languages; None for all.
        first: The rank of the first name in its group; after the last name follows the first one again.
        language: The language of the text, as in `NameList.read`: names of groups in its country.

    Returns:
        The groups of each name.

    >>> list(names())[:2], names()["Asha Patel"]
    (['Amit Patel', 'Asha Patel'], {'gender': 'female', 'ethnicity': 'asian'})
    >>> list(names(language="de"))[0]
    'Agnieszka Nowak'

    Raises:
        FairnessError: ``per_group`` is out of range, or there is no list for the language.
    """
    shipped = NameList.read(language=language)
    groups = {group: shipped.of(group) for group in shipped.groups}
    most = min(map(len, groups.values()))
    if per_group is not None and not 1 <= per_group <= most:
        raise FairnessError(f"per_group is {per_group}: the list has 1 to {most} names of each group")
    people = {}
    for (gender, ethnicity), listed in groups.items():
        for number in range(first, first + (per_group or len(listed))):
            people[listed[number % len(listed)].text] = {"gender": gender, "ethnicity": ethnicity}
    return dict(sorted(people.items()))


def counterfactuals(
    template: str,
    vary: Mapping[str, SlotValues],
    *,
    language: str = "en",
    id: str | None = None,
    source: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> ProbeItem:
    """Return one item that holds the template in every variant, well formed, its groups set and its slots declared.

    Where several slots are varied, every combination is a prompt, except those in which two slots name different
    genders.

    Args:
        template: A text with slots in braces (see `SlotTemplate`).
        vary: The values of each slot: a list of texts, or a mapping from text to groups. For a name, a plain text is
            its gender: ``{"Anna": "female"}``; `names` returns those of the shipped list. The slot ``gender`` occurs in
            no text: pronouns, titles and forms of verbs follow it.
        language: "en", "de" or "es".
        id: The id of the item; by default made from the template.
        source: The source of the item.
        metadata: Metadata of every prompt.

    Returns:
        The item.

    >>> people = {"Emily Walsh": "female", "Robin Hay": "nonbinary"}
    >>> item = counterfactuals("{name} has applied. Is {their} CV good?", {"name": people})
    >>> [(prompt.text, prompt.groups["gender"]) for prompt in item.prompts]
    [('Emily Walsh has applied. Is her CV good?', 'female'), ('Robin Hay has applied. Is their CV good?', 'nonbinary')]

    Raises:
        FairnessError: A slot is unknown, a gender has no words, or prompts differ in more than their slots (`lint`).
    """
    chosen = {slot: values_of(slot, slot_values) for slot, slot_values in vary.items()}
    if not chosen:
        raise FairnessError("nothing is varied: write vary={'gender': ['female', 'male']}, say")
    parsed = SlotTemplate(template, chosen, language)
    variants = [
        variant_of(choice, parsed)
        for choice in (dict(zip(chosen, values, strict=True)) for values in product(*chosen.values()))
        if not _contradicts(choice)
    ]
    if not variants:
        raise FairnessError("no combination of what is varied is about one person: each names two genders")
    prompt_metadata = {"language": language, **(metadata or {})}
    prompts = [
        Prompt(filled.text, groups, prompt_metadata, slots=filled.slots)
        for filled, (_, groups) in zip(parsed.fill([variant for variant, _ in variants]), variants, strict=True)
    ]
    item = ProbeItem(id or _id_of(template), prompts, source)
    lint(item)
    return item


def _contradicts(choice: Mapping[str, Value]) -> bool:
    groups: dict[str, str] = {}
    return any(
        groups.setdefault(attribute, group) != group for value in choice.values() for attribute, group in value.groups
    )


def _id_of(template: str) -> str:
    """Return the first words of a template and a digest, which distinguishes it from others that begin alike."""
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in template).split()
    return f"{'-'.join(words[:5]).lower() or 'item'}-{Prompt(template).digest[:6]}"
