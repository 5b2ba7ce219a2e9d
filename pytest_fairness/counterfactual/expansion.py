"""Expansion of a template into one item: a prompt for every combination of the values of its slots."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.lint import lint
from pytest_fairness.counterfactual.slots import SlotValues, Value, values_of, variant_of
from pytest_fairness.counterfactual.templates import SlotTemplate


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
