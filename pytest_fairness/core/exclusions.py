"""Prompts that an option of the run left out, described by their groups and other attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_fairness.core.items import ProbeItem

Described = Sequence[Mapping[str, str]]
"""The groups of a prompt, and the other attributes of it and its item, as texts."""

LeftOut = Mapping[str, Sequence[Described]]
"""Descriptions of prompts by the option that left them out, as the user wrote it; builtin types, for the store."""


def left_out(by_option: Mapping[str, Iterable[ProbeItem]], measured: Iterable[ProbeItem]) -> LeftOut:
    """Return the distinct descriptions of prompts that were left out, except those of measured prompts.

    Prompts without groups are not described.

    >>> from pytest_fairness.core.items import Prompt
    >>> south, north = (ProbeItem(n, [Prompt("?", {"sex": "f"})], metadata={"region": n}) for n in ("south", "north"))
    >>> left_out({"--fairness-where region=south": [north]}, [south])
    {'--fairness-where region=south': [({'sex': 'f'}, {'region': 'north'})]}
    """
    seen = {key for item in measured for key, _ in _descriptions(item)}
    descriptions: dict[str, list[Described]] = {}
    for option, items in by_option.items():
        for item in items:
            for key, described in _descriptions(item):
                if key not in seen:
                    seen.add(key)
                    descriptions.setdefault(option, []).append(described)
    return descriptions


def _descriptions(item: ProbeItem) -> Iterator[tuple[object, Described]]:
    """Yield a key and the description of each prompt that has groups."""
    for prompt in item.prompts:
        if prompt.groups:
            metadata = {**item.metadata, **prompt.metadata}
            groups = {name: str(group) for name, group in prompt.groups.items() if group is not None}
            others = {name: str(value) for name, value in metadata.items() if value is not None and name not in groups}
            yield (tuple(sorted(groups.items())), tuple(sorted(others.items()))), (groups, others)
