"""Prompts that an option of the run left out: which groups they would have added, and to which slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_fairness.core.items import ProbeItem

Described = Sequence[Mapping[str, str]]
"""The groups of a prompt, and its and its item's other attributes, as texts."""

LeftOut = Mapping[str, Sequence[Described]]
"""Descriptions of prompts by the option that left them out, as the user wrote it; builtins, for the store."""


def left_out(by_option: Mapping[str, Iterable[ProbeItem]], measured: Iterable[ProbeItem]) -> LeftOut:
    """Return what describes prompts that were left out, each once, and none that is measured.

    Prompts without groups add none, and are not named.

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
    """Yield each prompt with groups, with what distinguishes it from others."""
    for prompt in item.prompts:
        if prompt.groups:
            about = {**item.metadata, **prompt.metadata}
            groups = {name: str(group) for name, group in prompt.groups.items() if group is not None}
            others = {name: str(value) for name, value in about.items() if value is not None and name not in groups}
            yield (tuple(sorted(groups.items())), tuple(sorted(others.items()))), (groups, others)
