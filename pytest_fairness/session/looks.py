"""How often a threshold may be looked at, and on how large a sample each time.

Adding evidence because a verdict was undecided is a look. Looks that are declared before
the run share the probability to err: each is judged at the tail that its share leaves. With
``--fairness-anytime`` the intervals hold at every size of the sample, however often it grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.verdicts import Judgement
from pytest_fairness.session.probes import Probe
from pytest_fairness.session.settings import Settings

if TYPE_CHECKING:
    from pytest_fairness.session.baseline import LazyBaseline
    from pytest_fairness.session.measuring import LazyMeasured
    from pytest_fairness.stats.sequential import Spending


class Size(NamedTuple):
    """How large the sample of a look is."""

    items: int
    repetitions: int
    attempts: int
    clusters: int
    """The sources of its items; the items where they have none."""


@dataclass(frozen=True)
class Look:
    """One of the looks that a threshold was allowed before its run."""

    number: int
    """From 1."""
    plan: tuple[Size, ...]
    """The size of each look's sample: fixed before the first."""
    tail: float
    """The probability to err on either side, over all looks of all runs."""
    run: int = 1
    """Which judged run of the threshold on this model it is part of, from 1."""
    anytime: int | None = None
    """The number of clusters that intervals which hold at any time are tuned to; None: those of a fixed sample."""

    @property
    def of(self) -> int:
        """How many looks there may be."""
        return len(self.plan)

    @property
    def size(self) -> Size:
        """Of this look's sample."""
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
        """Of this look's intervals."""
        return round(1 - 2 * self.own_tail, 12)

    def design(self, probe: Probe) -> tuple[list[ProbeItem], int]:
        """The items and repetitions of this look."""
        return sorted(_first(probe, self.size.items), key=lambda item: item.id), self.size.repetitions

    def _tail(self, spending: Spending) -> float:
        from pytest_fairness.stats.sequential import anytime_tail, look_tails, run_tail

        tail = run_tail(self.run, self.tail)
        if self.anytime is not None:
            return anytime_tail(self.size.clusters, self.anytime, tail)
        return look_tails([size.attempts for size in self.plan], tail, spending)[self.number - 1]


def planned(probe: Probe, repetitions: int, looks: int, *, items_only: bool = False) -> tuple[Size, ...]:
    """Return the sizes of at most so many looks, each with as many attempts more as the first has.

    Args:
        probe: The first look has its items, later ones also those in reserve.
        repetitions: Of the first look; later ones have more where there are no more items.
        looks: The most there may be. A look that would add nothing, since counts are whole numbers, is left out.
        items_only: Whether no repetitions are added: what the clusters of a sequence count.
    """
    first, most = len(probe.items), len(probe.items) + len(probe.reserve)
    found: list[Size] = []
    for number in range(1, looks + 1):
        items = min(first * number, most)
        repeated = repetitions if items_only else math.floor(repetitions * first * number / items + 0.5)
        chosen = _first(probe, items)
        size = Size(items, repeated, repeated * sum(len(item.prompts) for item in chosen), _clusters(chosen, probe))
        if not found or size.attempts > found[-1].attempts:
            found.append(size)
    return tuple(found)


def declared_clusters(probe: Probe) -> int:
    """Return how many clusters a probe has where nothing is filtered or sampled."""
    return _clusters([*probe.items, *probe.reserve, *probe.filtered], probe)


def _first(probe: Probe, number: int) -> list[ProbeItem]:
    return [*probe.items, *probe.reserve[: number - len(probe.items)]]


def _clusters(items: Iterable[ProbeItem], probe: Probe) -> int:
    by_source = probe.arguments.get("sources", "random") == "random"
    return len({(True, item.source) if by_source and item.source is not None else (False, item.id) for item in items})


def items_limit(judgement: Judgement, look: Look, probe: Probe) -> str:
    """Why no number of repetitions would decide a threshold, if its estimate holds; empty where some might.

    The error that is left between items when each is asked for ever: error * sqrt(1 - share).
    """
    if judgement.deciding is None or look.size.items < len(probe.items) + len(probe.reserve):
        return ""
    estimate = judgement.deciding.estimate
    if estimate.repetition_share is None or estimate.invalid:
        return ""
    last = replace(look, number=look.of)
    tail = max(last.own_tail, last.strict_tail)
    left = NormalDist().inv_cdf(1 - tail) * estimate.error * math.sqrt(max(0.0, 1 - estimate.repetition_share))
    distance = min(abs(estimate.value - comparison.bound) for comparison in judgement.about_deciding)
    return "more repetitions cannot decide it: its items limit it" if distance < left else ""


_TAKEN: pytest.StashKey[tuple[Look, bool]] = pytest.StashKey()
"""The last look that was taken at a test, and whether it decided."""


def looks(item: pytest.Function, settings: Settings, measured: LazyMeasured) -> Iterator[Look]:
    """The looks that this execution of a threshold may take, in order.

    With ``--fairness-resolve`` all of them, as far as the caller goes on. Under
    pytest-rerunfailures one: each rerun of an undecided threshold is the next look.
    """
    most = settings.looks if settings.resolve else 1 + _reruns(item)
    first = measured.first_look(most)
    if "baseline" in item.fixturenames and most > 1:
        baseline: Any = item.funcargs["baseline"]
        first = _within(baseline, first) or measured.first_look(1)
    if settings.resolve:
        yield from (_take(item, replace(first, number=number)) for number in range(1, first.of + 1))
        return
    last, decided = item.stash.get(_TAKEN, (None, False))
    taken = 0 if last is None else last.number
    number = taken if decided else min(taken + 1, first.of)
    yield _take(item, replace(first, number=number))


def _within(baseline: LazyBaseline, first: Look) -> Look | None:
    """The first of those looks that a baseline's sample holds; None where it holds none, or one alone."""
    reached = [
        size for number, size in enumerate(first.plan, start=1) if baseline.reaches(replace(first, number=number))
    ]
    return replace(first, plan=tuple(reached)) if len(reached) > 1 else None


def note_decided(item: pytest.Function) -> None:
    """The last look has decided: a rerun looks at the same evidence once more."""
    look, _ = item.stash[_TAKEN]
    item.stash[_TAKEN] = look, True


def _take(item: pytest.Function, look: Look) -> Look:
    item.stash[_TAKEN] = look, False
    return look


def _reruns(item: pytest.Function) -> int:
    """How often pytest-rerunfailures would run a failing test again."""
    if not item.config.pluginmanager.hasplugin("rerunfailures"):
        return 0
    from pytest_rerunfailures import get_reruns_count  # type: ignore[import-untyped]

    return min(int(get_reruns_count(item) or 0), 19)
