"""Means of groups over prompts, with standard errors by item: what was drawn at random stays within them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_fairness.core.items import Prompt

STANDARD_ERRORS = 3.5
"""The smallest number of standard errors that a difference must have: random designs mostly stay below."""
FEWEST_ITEMS = 5


class Row(NamedTuple):
    """One prompt, as the checks use it."""

    item: int
    prompt: Prompt
    attributes: Mapping[str, Any]
    """Metadata of the item and of the prompt."""
    order: tuple[str, ...]
    """Values of its options in the order in which they are shown; empty without options."""
    mentioned: tuple[str, ...]
    """Values whose texts the prompt mentions before it shows its options, in the order of their first mention."""


class Mean(NamedTuple):
    """A mean over prompts with its standard error."""

    value: float
    error: float
    """Standard error by item."""
    items: int

    def is_off(self, expected: float, least: float) -> bool:
        """Return whether the mean is off by at least so much, and by more than chance."""
        off = abs(self.value - expected)
        return self.items >= FEWEST_ITEMS and off >= least - 1e-9 and off > STANDARD_ERRORS * self.error


def mean_of(values: Iterable[tuple[int, float]]) -> Mean:
    """Return a mean over prompts, given with the numbers of their items."""
    totals: dict[int, list[float]] = {}
    for item, value in values:
        total = totals.setdefault(item, [0.0, 0.0])
        total[0] += value
        total[1] += 1
    count = sum(number for _, number in totals.values())
    if not count:
        return Mean(math.nan, math.inf, 0)
    mean = sum(total for total, _ in totals.values()) / count
    squares = sum((total - mean * number) ** 2 for total, number in totals.values())
    clusters = len(totals)
    error = math.sqrt(squares * clusters / max(clusters - 1, 1)) / count
    return Mean(mean, error, clusters)


class GroupGap(NamedTuple):
    """The two groups whose means differ most."""

    most: str
    least: str
    means: Mapping[str, float]
    difference: Mean


def widest_gap(rows: Sequence[Row], by: str, values: Sequence[float]) -> GroupGap | None:
    """Return the widest gap between groups in the mean of these values, one a row; None without two groups.

    The standard error of the difference is by item: what items share cancels.
    """
    values_by_group: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, value in zip(rows, values, strict=True):
        values_by_group[str(row.prompt.groups[by])].append((row.item, value))
    if len(values_by_group) < 2:
        return None
    means = {
        group: sum(value for _, value in with_item) / len(with_item)
        for group, with_item in sorted(values_by_group.items())
    }
    most, least = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    influences: dict[int, float] = defaultdict(float)
    for group, sign in ((most, 1), (least, -1)):
        for item, value in values_by_group[group]:
            influences[item] += sign * (value - means[group]) / len(values_by_group[group])
    clusters = len(influences)
    error = math.sqrt(sum(influence**2 for influence in influences.values()) * clusters / max(clusters - 1, 1))
    return GroupGap(most, least, means, Mean(means[most] - means[least], error, clusters))
