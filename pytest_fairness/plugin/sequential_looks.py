"""Interim looks at a threshold: the size of each sample, and the error probability that it may spend.

Adding evidence because a verdict was undecided is a look. Looks that are declared before the run share the error
probability: each is evaluated at the tail that its share leaves. With ``--fairness-anytime`` the intervals hold at
every size of the sample, however often it grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.probe import Probe

if TYPE_CHECKING:
    from pytest_fairness.stats.sequential import Spending


class Size(NamedTuple):
    """The size of the sample of a look."""

    items: int
    repetitions: int
    attempts: int
    clusters: int
    """The sources of its items; the items where they have none."""


@dataclass(frozen=True)
class Look:
    """One of the looks that a threshold was allowed before its run."""

    number: int
    """Counted from 1."""
    plan: tuple[Size, ...]
    """The size of each look's sample: fixed before the first."""
    tail: float
    """The probability to err on either side, over all looks of all runs."""
    run: int = 1
    """The number of the evaluated run of the threshold on this model, counted from 1."""
    anytime: int | None = None
    """The number of clusters that anytime-valid intervals are tuned to; None for intervals of a fixed sample."""

    @property
    def of(self) -> int:
        """The number of looks that are allowed."""
        return len(self.plan)

    @property
    def size(self) -> Size:
        """The size of this look's sample."""
        return self.plan[self.number - 1]

    @cached_property
    def own_tail(self) -> float:
        """The probability to err on either side of this look's intervals, by which it is called fair."""
        from pytest_fairness.stats.sequential import Spending

        return self._tail(Spending.LATE)

    @cached_property
    def strict_tail(self) -> float:
        """The probability to err on either side at which this look is called unfair."""
        from pytest_fairness.stats.sequential import Spending

        return self._tail(Spending.EVEN)

    @property
    def confidence(self) -> float:
        """The confidence of this look's intervals."""
        return round(1 - 2 * self.own_tail, 12)

    def design(self, probe: Probe) -> tuple[list[ProbeItem], int]:
        """Return the items and repetitions of this look."""
        return sorted(_first(probe, self.size.items), key=lambda item: item.id), self.size.repetitions

    def _tail(self, spending: Spending) -> float:
        from pytest_fairness.stats.sequential import anytime_tail, look_tails, run_tail

        tail = run_tail(self.run, self.tail)
        if self.anytime is not None:
            return anytime_tail(self.size.clusters, self.anytime, tail)
        return look_tails([size.attempts for size in self.plan], tail, spending)[self.number - 1]


def planned(probe: Probe, repetitions: int, looks: int, *, items_only: bool = False) -> tuple[Size, ...]:
    """Return the sizes of the looks, each with as many more attempts as the first has.

    Args:
        probe: The first look has its items, later ones also those in reserve.
        repetitions: Attempts per prompt at the first look; later looks have more where no items are left.
        looks: The maximum number. A look that would add nothing, since counts are whole numbers, is left out.
        items_only: Whether later looks add no repetitions, so that only clusters are added.
    """
    first, most = len(probe.items), len(probe.items) + len(probe.reserve)
    sizes: list[Size] = []
    for number in range(1, looks + 1):
        items = min(first * number, most)
        repeated = repetitions if items_only else math.floor(repetitions * first * number / items + 0.5)
        chosen = _first(probe, items)
        size = Size(items, repeated, repeated * sum(len(item.prompts) for item in chosen), _clusters(chosen, probe))
        if not sizes or size.attempts > sizes[-1].attempts:
            sizes.append(size)
    return tuple(sizes)


def declared_clusters(probe: Probe) -> int:
    """Return how many clusters a probe has where nothing is filtered or sampled."""
    return _clusters([*probe.items, *probe.reserve, *probe.filtered], probe)


def _first(probe: Probe, number: int) -> list[ProbeItem]:
    return [*probe.items, *probe.reserve[: number - len(probe.items)]]


def _clusters(items: Iterable[ProbeItem], probe: Probe) -> int:
    by_source = probe.arguments.get("sources", "random") == "random"
    return len({(True, item.source) if by_source and item.source is not None else (False, item.id) for item in items})


def items_limit(judgment: Judgment, look: Look, probe: Probe) -> str:
    """Return why no number of repetitions would decide a threshold, if its estimate holds; empty where some might.

    The error between items remains with any number of repetitions: error * sqrt(1 - share).
    """
    if judgment.deciding is None or look.size.items < len(probe.items) + len(probe.reserve):
        return ""
    estimate = judgment.deciding.estimate
    if estimate.repetition_share is None or estimate.invalid:
        return ""
    last = replace(look, number=look.of)
    tail = max(last.own_tail, last.strict_tail)
    left = NormalDist().inv_cdf(1 - tail) * estimate.error * math.sqrt(max(0.0, 1 - estimate.repetition_share))
    distance = min(abs(estimate.value - comparison.bound) for comparison in judgment.about_deciding)
    return "more repetitions cannot decide it: its items limit it" if distance < left else ""
