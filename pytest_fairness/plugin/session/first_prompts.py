"""Prompts of a large probe that are sent first, and what is known of the answers to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.digests import digest

if TYPE_CHECKING:
    from pytest_fairness.core.items import ProbeItem, Prompt

LARGE = 200
"""Number of attempts of a probe from which on its first answers are read ahead."""
MOST = 24
"""Number of prompts that are read first: of each format, or language, its part of them, or `_OF_EACH`."""
_OF_EACH = 8


@dataclass(frozen=True, slots=True)
class FirstAnswersRead:
    """The first answers that one process has read."""

    unreadable: dict[tuple[str, str], str] = field(default_factory=dict)
    """The reason why no more is requested, by probe and model; empty for one that can be read."""
    causes: set[tuple[str, ...]] = field(default_factory=set)
    """The kind and remedy of each cause by model: it is printed once."""


def choose_prompts(items: Sequence[ProbeItem], indices: Sequence[int]) -> list[tuple[int, int]]:
    """Return the items and prompts that are read first, from the whole probe, equally many of each format.

    A probe that asks in one format, and in several languages, gives equally many of each language. They are drawn by
    digests: items that stand together in a probe are alike.

    Args:
        items: The items of a probe.
        indices: The indices of those that are measured.

    Returns:
        Indices of items, each with the index of one of its prompts.
    """
    from pytest_fairness.core.answer_formats import FORMAT  # a small probe needs it not

    attribute = next((name for name in (FORMAT, "language") if len(set(_values(items, indices, name))) > 1), "")
    values = {*_values(items, indices, attribute)}
    most = max(_OF_EACH if attribute else 0, -(-MOST // max(1, len(values))))
    chosen: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for drawn, index in sorted((digest(items[index].id), index) for index in indices):
        prompts: dict[Any, list[int]] = defaultdict(list)
        for number, prompt in enumerate(items[index].prompts):
            prompts[_value(items[index], prompt, attribute)].append(number)
        for value, numbers in prompts.items():
            if len(chosen[value]) < most:
                chosen[value].append((index, numbers[int(drawn, 16) % len(numbers)]))
        if len(chosen) == len(values) and all(len(of_value) == most for of_value in chosen.values()):
            break
    return [pair for of_value in chosen.values() for pair in of_value]


def _values(items: Sequence[ProbeItem], indices: Sequence[int], attribute: str) -> Iterator[Any]:
    return (_value(items[index], prompt, attribute) for index in indices for prompt in items[index].prompts)


def _value(item: ProbeItem, prompt: Prompt, attribute: str) -> Any:
    sources = (prompt.groups, prompt.metadata, item.metadata)
    return next((source[attribute] for source in sources if attribute in source), None)
