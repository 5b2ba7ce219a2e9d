"""The sequence of looks that one execution of a threshold takes, under reruns and ``--fairness-resolve``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from pytest_fairness.plugin.baseline import LazyBaseline
from pytest_fairness.plugin.measurement import LazyMeasured
from pytest_fairness.plugin.sequential_looks import Look
from pytest_fairness.plugin.settings import Settings

_TAKEN: pytest.StashKey[tuple[Look, bool]] = pytest.StashKey()
"""The last look that was taken at a test, and whether it decided."""


def looks(item: pytest.Function, settings: Settings, measured: LazyMeasured) -> Iterator[Look]:
    """Yield the looks that this execution of a threshold may take, in order.

    With ``--fairness-resolve`` these are all looks, until the caller stops. Under pytest-rerunfailures it is one: each
    rerun of an undecided threshold is the next look.
    """
    most = settings.looks if settings.resolve else 1 + _reruns(item)
    first = measured.first_look(most)
    if "baseline" in item.fixturenames and most > 1:
        baseline = cast("LazyBaseline", item.funcargs["baseline"])
        first = _within(baseline, first) or measured.first_look(1)
    if settings.resolve:
        yield from (_take(item, replace(first, number=number)) for number in range(1, first.of + 1))
        return
    last, decided = item.stash.get(_TAKEN, (None, False))
    taken = 0 if last is None else last.number
    number = taken if decided else min(taken + 1, first.of)
    yield _take(item, replace(first, number=number))


def _within(baseline: LazyBaseline, first: Look) -> Look | None:
    """Return the first of those looks that a baseline's sample holds; None where it holds none, or one alone."""
    reached = [
        size for number, size in enumerate(first.plan, start=1) if baseline.reaches(replace(first, number=number))
    ]
    return replace(first, plan=tuple(reached)) if len(reached) > 1 else None


def record_decision(item: pytest.Function) -> None:
    """Record that the last look has decided: a rerun evaluates the same evidence once more."""
    look, _ = item.stash[_TAKEN]
    item.stash[_TAKEN] = look, True


def _take(item: pytest.Function, look: Look) -> Look:
    item.stash[_TAKEN] = look, False
    return look


def _reruns(item: pytest.Function) -> int:
    """Return how often pytest-rerunfailures would run a failing test again."""
    if not item.config.pluginmanager.hasplugin("rerunfailures"):
        return 0
    from pytest_rerunfailures import get_reruns_count  # type: ignore[import-untyped]

    return min(int(get_reruns_count(item) or 0), 19)
