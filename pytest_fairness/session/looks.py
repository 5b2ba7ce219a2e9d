"""How often a threshold may be looked at, and on how large a sample each time.

Adding evidence because a verdict was undecided is a look. Looks that are declared before
the run share the probability to err: each is judged at the tail that its share leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import pytest

from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.verdicts import Judgement
from pytest_fairness.session.probes import Probe
from pytest_fairness.session.settings import Settings


@dataclass(frozen=True)
class Look:
    """One of the looks that a threshold was allowed before its run."""

    number: int
    """From 1."""
    of: int
    tail: float
    """The probability to err on either side, over all looks of all runs."""
    run: int = 1
    """Which judged run of the threshold on this model it is part of, from 1."""

    @cached_property
    def own_tail(self) -> float:
        """The probability to err on either side that this look is judged at."""
        from pytest_fairness.stats.sequential import look_tails, run_tail

        return look_tails(self.of, run_tail(self.run, self.tail))[self.number - 1]

    @property
    def confidence(self) -> float:
        """Of this look's intervals."""
        return round(1 - 2 * self.own_tail, 12)

    def design(self, probe: Probe, repetitions: int) -> tuple[list[ProbeItem], int]:
        """The items and repetitions of this look: its number times the first sample, in new items while there are."""
        first = len(probe.items)
        number = min(first * self.number, first + len(probe.reserve))
        items = sorted([*probe.items, *probe.reserve[: number - first]], key=lambda item: item.id)
        return items, math.ceil(repetitions * first * self.number / number)


def items_limit(judgement: Judgement, look: Look, probe: Probe) -> str:
    """Why no number of repetitions would decide a threshold, if its estimate holds; empty where some might.

    The error that is left between items when each is asked for ever: error * sqrt(1 - share).
    """
    if judgement.deciding is None or len(probe.items) * look.number < len(probe.items) + len(probe.reserve):
        return ""
    estimate = judgement.deciding.estimate
    if estimate.repetition_share is None or estimate.invalid:
        return ""
    last = replace(look, number=look.of).own_tail
    left = NormalDist().inv_cdf(1 - last) * estimate.error * math.sqrt(max(0.0, 1 - estimate.repetition_share))
    distance = min(abs(estimate.value - comparison.bound) for comparison in judgement.about_deciding)
    return "more repetitions cannot decide it: its items limit it" if distance < left else ""


_TAKEN: pytest.StashKey[tuple[Look, bool]] = pytest.StashKey()
"""The last look that was taken at a test, and whether it decided."""


def looks(item: pytest.Function, settings: Settings, tail: float) -> Iterator[Look]:
    """The looks that this execution of a threshold may take, in order.

    With ``--fairness-resolve`` all of them, as far as the caller goes on. Under
    pytest-rerunfailures one: each rerun of an undecided threshold is the next look.
    """
    if "baseline" in item.fixturenames:  # another sample than the baseline's cannot be compared with it
        yield _take(item, Look(1, 1, tail))
        return
    if settings.resolve:
        yield from (_take(item, Look(number, settings.looks, tail)) for number in range(1, settings.looks + 1))
        return
    of = 1 + _reruns(item)
    last, decided = item.stash.get(_TAKEN, (Look(0, of, tail), False))
    number = last.number if decided else min(last.number + 1, of)
    yield _take(item, Look(number, of, tail))


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
