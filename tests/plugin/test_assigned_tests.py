"""Tests that xdist has assigned to a worker, and those behind them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fairness.plugin.compat import WorkerQueue
from pytest_fairness.plugin.session.work_plan import AssignedTests, PlannedTest


def later(worker: str, workers: int) -> set[int]:
    """Return the indices of the later tests of a worker, of 100, of which the first 10 are assigned to it."""
    config = SimpleNamespace(workerinput={"workerid": worker, "workercount": workers})
    torun = SimpleNamespace(_items=list(range(10)))
    sample: Any = None
    assigned = AssignedTests(
        WorkerQueue(SimpleNamespace(config=config, torun=torun, item_index=None, nextitem_index=None))
    )
    assigned.planned |= {index: PlannedTest(None, sample, (index,)) for index in range(100)}
    assigned.take_new()
    return {test.items[0] for test in assigned.later_tests()}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_each_worker_has_its_part_of_the_later_tests(workers: int) -> None:
    """Regression: all workers asked for the same ones, and claimed them in vain where another had done so."""
    parts = [later(f"gw{number}", workers) for number in range(workers)]
    assert set.union(*parts) == set(range(10, 100))
    assert sum(map(len, parts)) == 90


def test_worker_in_place_of_a_crashed_one_has_a_part() -> None:
    assert later("gw3", 2) == later("gw1", 2)
    assert later("remote", 2) == later("gw0", 2)
