"""Prompts that stand in several items: they are asked once, and one answer is one observation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from pytest_fairness.core.items import ProbeItem


def merged(held: Iterable[tuple[int, Hashable]], size: int) -> list[int]:
    """Return, for each of ``size`` numbered things the smallest that it is one with.

    Those that hold something in common.

    A union-find: what two of them share with a third makes the two one as well.

    >>> merged([(0, "a"), (1, "b"), (2, "b"), (2, "c"), (3, "c")], 4)
    [0, 1, 1, 1]
    """
    parents = list(range(size))

    def root(thing: int) -> int:
        while parents[thing] != thing:
            parents[thing] = thing = parents[parents[thing]]
        return thing

    holders: dict[Hashable, int] = {}
    for thing, what in held:
        first, second = sorted((root(holders.setdefault(what, thing)), root(thing)))
        parents[second] = first
    return [root(thing) for thing in range(size)]


def sharing(items: Sequence[ProbeItem]) -> str:
    """Return how many items count as one, since they share prompts, in one line; empty where none do.

    >>> from pytest_fairness.core.items import Prompt
    >>> sharing([ProbeItem("a", [Prompt("Who?"), Prompt("Why?")]), ProbeItem("b", [Prompt("Who?")])])
    '1 prompt stands in several items: 2 items count as 1'
    """
    holders: dict[Hashable, set[int]] = {}
    for number, item in enumerate(items):
        for prompt in item.prompts:
            text = tuple((message["role"], message["content"]) for message in prompt.messages)
            holders.setdefault(text, set()).add(number)
    shared = {text: numbers for text, numbers in holders.items() if len(numbers) > 1}
    if not shared:
        return ""
    held = [(number, text) for text, numbers in shared.items() for number in sorted(numbers)]
    counts = len(set(merged(held, len(items))))
    prompts = "1 prompt stands" if len(shared) == 1 else f"{len(shared):,} prompts stand"
    return f"{prompts} in several items: {len(items):,} items count as {counts:,}"
