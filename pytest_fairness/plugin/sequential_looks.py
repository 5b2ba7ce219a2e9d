"""Interim looks at a threshold: the size of each sample, and its part of the error probability.

A threshold is looked at again when its verdict was undecided. The looks are declared before the run and share the error
probability: each is evaluated at the tail of its share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.limits import Limit, LimitKind
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.probe import Probe

if TYPE_CHECKING:
    from pytest_fairness.stats.sequential import Spending

MOST_LOOKS = 8
"""The most looks of ``--fairness-resolve``; each adds as many attempts as the first."""


class Size(NamedTuple):
    """The size of the sample of a look."""

    items: int
    repetitions: int
    attempts: int
    clusters: int
    """The number of sources of its items, or of items without a source."""


@dataclass(frozen=True)
class Look:
    """One of the looks at a threshold that were declared before its run."""

    number: int
    """The number of the look, counted from 1."""
    plan: tuple[Size, ...]
    """The size of each look's sample, fixed before the first."""
    tail: float
    """The probability to err on either side, over all looks and runs."""
    run: int = 1
    """The number of the evaluated run of the threshold on this model, counted from 1."""

    @property
    def total(self) -> int:
        return len(self.plan)

    @property
    def size(self) -> Size:
        """The size of this look's sample."""
        return self.plan[self.number - 1]

    @cached_property
    def own_tail(self) -> float:
        """The probability to err on either side of this look's intervals, by which a threshold is fair."""
        from pytest_fairness.stats.sequential import Spending

        return self._tail(Spending.LATE)

    @cached_property
    def strict_tail(self) -> float:
        """The probability to err on either side by which a threshold is unfair at this look."""
        from pytest_fairness.stats.sequential import Spending

        return self._tail(Spending.EVEN)

    @property
    def confidence(self) -> float:
        """The confidence of this look's intervals."""
        return round(1 - 2 * self.own_tail, 12)

    @property
    def next_share(self) -> float:
        """The error probability of the next run over that of this one."""
        from pytest_fairness.stats.sequential import run_tail

        return run_tail(self.run + 1, self.tail) / run_tail(self.run, self.tail)

    def design(self, probe: Probe) -> tuple[list[ProbeItem], int]:
        """Return the items and repetitions of this look."""
        return sorted(select_items(probe, self.size.items), key=lambda item: item.id), self.size.repetitions

    def _tail(self, spending: Spending) -> float:
        from pytest_fairness.stats.sequential import look_tails, run_tail

        tail = run_tail(self.run, self.tail)
        return look_tails([size.attempts for size in self.plan], tail, spending)[self.number - 1]


def plan_looks(probe: Probe, repetitions: int, looks: int, *, items_only: bool = False) -> tuple[Size, ...]:
    """Return the sizes of the looks, each with as many additional attempts as the first has.

    Args:
        probe: The probe; its items are the first look, those in reserve are added later.
        repetitions: Attempts per prompt at the first look; later looks have more if no items are left.
        looks: The maximum number of looks. One that would add no attempt, by rounding, is left out.
        items_only: Whether later looks add only items, and no repetitions.
    """
    first, most = len(probe.items), len(probe.items) + len(probe.reserve)
    sizes: list[Size] = []
    for number in range(1, looks + 1):
        items = min(first * number, most)
        look_repetitions = repetitions if items_only else math.floor(repetitions * first * number / items + 0.5)
        look_items = select_items(probe, items)
        attempts = look_repetitions * sum(len(item.prompts) for item in look_items)
        size = Size(items, look_repetitions, attempts, _count_clusters(look_items, probe))
        if not sizes or size.attempts > sizes[-1].attempts:
            sizes.append(size)
    return tuple(sizes)


def count_clusters(probe: Probe) -> int:
    """Return the number of clusters of the items that a probe measures."""
    return _count_clusters(probe.items, probe)


def select_items(probe: Probe, number: int) -> list[ProbeItem]:
    """Return the items of a look that has so many."""
    return [*probe.items, *probe.reserve[: number - len(probe.items)]]


def _count_clusters(items: Iterable[ProbeItem], probe: Probe) -> int:
    by_source = probe.arguments.get("sources", "random") == "random"
    return len({(True, item.source) if by_source and item.source is not None else (False, item.id) for item in items})


def explain_limit(judgment: Judgment, look: Look, probe: Probe) -> str:
    """Return a note if no further look would decide a threshold, given its estimate; else an empty text.

    The error between items or sources remains with any number of repetitions, and what the names or formats of a few
    levels add remains with any number of items. The note names the limit of the judgment, as its advice does.
    """
    from pytest_fairness.stats.limits import stays_open

    if judgment.deciding is None:
        return ""
    last = replace(look, number=look.total)
    tail = max(last.own_tail, last.strict_tail)
    estimate, bounds = judgment.deciding.estimate, [comparison.bound for comparison in judgment.about_deciding]
    grows = look.size.items < len(probe.items) + len(probe.reserve)
    if (grows and look.total == 1) or not stays_open(estimate, bounds, tail, grows=grows):
        return ""
    if look.total == 1 and judgment.limit is not None and judgment.limit.kind == LimitKind.UNGRADED:
        # `test_more_items_are_not_advised_where_ungraded_answers_hold_an_end`: the advice names them, no look follows.
        return ""
    what = "" if judgment.limit is None else _limiting(judgment.limit)
    if not grows:
        return f"more repetitions cannot decide it{what}"
    is_of_levels = judgment.limit is not None and judgment.limit.kind == LimitKind.LEVELS
    return f"more items cannot decide it{what}" if is_of_levels else ""


def _limiting(limit: Limit) -> str:
    """Return what the end of a note says to limit a threshold: nothing where its value does, on the bound.

    >>> _limiting(Limit(kind=LimitKind.SIZE, unit="sources", has=10, needs=40))
    ': its sources limit it'
    """
    if limit.kind == LimitKind.BOUND:
        return ""
    if limit.kind == LimitKind.UNGRADED:
        return ": its ungraded answers limit it"
    return f": its {limit.unit} limit it"
