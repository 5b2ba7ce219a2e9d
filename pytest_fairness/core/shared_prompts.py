"""Prompts that occur in several items: they are sent once, and one answer is one observation.

Prompts that differ in blanks at their ends, or in the Unicode form of a letter, are one observation as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from unicodedata import normalize

from pytest_fairness.core.items import ProbeItem, Prompt


def connected_components(memberships: Iterable[tuple[int, Hashable]], size: int) -> list[int]:
    """Return the smallest node in the connected component of each node, by union-find.

    Args:
        memberships: Pairs of a node and a set that contains it; nodes of one set are connected.
        size: The number of nodes, which are numbered from 0.

    >>> connected_components([(0, "a"), (1, "b"), (2, "b"), (2, "c"), (3, "c")], 4)
    [0, 1, 1, 1]
    """
    parents = list(range(size))

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = node = parents[parents[node]]
        return node

    first_nodes: dict[Hashable, int] = {}
    for node, group in memberships:
        first, second = sorted((root(first_nodes.setdefault(group, node)), root(node)))
        parents[second] = first
    return [root(node) for node in range(size)]


def wording(prompt: Prompt) -> Hashable:
    """Return the roles and texts of a prompt in one Unicode form, without blanks at the ends.

    >>> wording(Prompt("Soll Zoë bleiben?")) == wording(Prompt("Soll Zoe\u0308 bleiben?\\n"))
    True
    """
    return tuple((message["role"], normalize("NFC", message["content"]).strip()) for message in prompt.messages)


def look_alikes(prompts: Iterable[Prompt]) -> dict[int, Hashable]:
    """Return the wordings of prompts that other prompts have in another writing, by the prompts' `id`."""
    wordings: dict[int, Hashable] = {}
    writings: dict[Hashable, set[Hashable]] = {}
    for prompt in prompts:
        words = wordings[id(prompt)] = hash(wording(prompt))
        writings.setdefault(words, set()).add(hash(tuple(message["content"] for message in prompt.messages)))
    return {name: words for name, words in wordings.items() if len(writings[words]) > 1}


def describe_sharing(items: Sequence[ProbeItem]) -> str:
    """Return how many items count as one, since they share prompts, in one line; empty where none do.

    >>> from pytest_fairness.core.items import Prompt
    >>> describe_sharing([ProbeItem("a", [Prompt("Who?"), Prompt("Why?")]), ProbeItem("b", [Prompt("Who?")])])
    '1 prompt stands in several items: 2 items count as 1'
    """
    items_by_text: dict[Hashable, set[int]] = {}
    for number, item in enumerate(items):
        for prompt in item.prompts:
            items_by_text.setdefault(wording(prompt), set()).add(number)
    shared = {text: numbers for text, numbers in items_by_text.items() if len(numbers) > 1}
    if not shared:
        return ""
    memberships = [(number, text) for text, numbers in shared.items() for number in sorted(numbers)]
    counts = len(set(connected_components(memberships, len(items))))
    prompts = "1 prompt stands" if len(shared) == 1 else f"{len(shared):,} prompts stand"
    return f"{prompts} in several items: {len(items):,} items count as {counts:,}"
