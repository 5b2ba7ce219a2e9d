"""The sequence of looks of a threshold's test, with reruns or ``--fairness-resolve``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from pytest_fairness.plugin.baseline import LazyBaseline
from pytest_fairness.plugin.measurement import LazyMeasured
from pytest_fairness.plugin.sequential_looks import Look
from pytest_fairness.plugin.settings import Settings

_LAST_LOOK: pytest.StashKey[tuple[Look, bool]] = pytest.StashKey()
"""The last look at a threshold, and whether it decided."""


def looks(item: pytest.Function, settings: Settings, measured: LazyMeasured) -> Iterator[Look]:
    """Yield the looks of this call of a threshold's test, in order.

    With ``--fairness-resolve`` these are all looks, until the caller stops. With pytest-rerunfailures it is one: each
    rerun of an undecided threshold is the next look.
    """
    most = settings.looks if settings.resolve else 1 + _max_reruns(item)
    first = measured.first_look(most)
    if "baseline" in item.fixturenames and most > 1:
        baseline = cast("LazyBaseline", item.funcargs["baseline"])
        first = _limit_to_baseline(baseline, first) or measured.first_look(1)
    if settings.resolve:
        yield from (_store_look(item, replace(first, number=number)) for number in range(1, first.total + 1))
        return
    last, decided = item.stash.get(_LAST_LOOK, (None, False))
    last_number = 0 if last is None else last.number
    number = last_number if decided else min(last_number + 1, first.total)
    yield _store_look(item, replace(first, number=number))


def _limit_to_baseline(baseline: LazyBaseline, first: Look) -> Look | None:
    """Return the first look of a plan with the looks that the baseline's sample covers; None for fewer than two."""
    sizes = [size for number, size in enumerate(first.plan, start=1) if baseline.covers(replace(first, number=number))]
    return replace(first, plan=tuple(sizes)) if len(sizes) > 1 else None


def record_decision(item: pytest.Function) -> None:
    """Record that the last look has decided, so that a rerun evaluates the same evidence."""
    look, _ = item.stash[_LAST_LOOK]
    item.stash[_LAST_LOOK] = look, True


def _store_look(item: pytest.Function, look: Look) -> Look:
    item.stash[_LAST_LOOK] = look, False
    return look


def _max_reruns(item: pytest.Function) -> int:
    """Return the number of times that pytest-rerunfailures reruns a failing test."""
    if not item.config.pluginmanager.hasplugin("rerunfailures"):
        return 0
    from pytest_rerunfailures import get_reruns_count  # type: ignore[import-untyped]

    return min(int(get_reruns_count(item) or 0), 19)
