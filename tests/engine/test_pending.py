"""Waits of tests for an exchange with the store: each has the interpreter to itself, but only for a moment."""

from __future__ import annotations

import threading
import time

import pytest

from pytest_fairness.engine import pending
from pytest_fairness.engine.pending import PendingResults


def test_test_waits_for_an_exchange_with_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "_LONGEST_WRITE", 60.0)
    results, order = PendingResults(), list[str]()

    def run_test() -> None:
        results.until_idle()
        order.append("test")

    test = threading.Thread(target=run_test)
    with results.writing():
        test.start()
        time.sleep(0.05)
        order.append("written")
    test.join()
    assert order == ["written", "test"]


def test_tests_continue_during_a_slow_exchange() -> None:
    results = PendingResults()
    with results.writing():
        for _ in range(2):
            results.until_idle()


def test_tests_do_not_wait_for_an_engine_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: each test after an interrupt waited for 50 ms, and the last of many for a worker's end."""
    monkeypatch.setattr(pending, "_LONGEST_WORK", 3600.0)
    results = PendingResults()
    results.is_idle.clear()  # as its loop left it
    results.closed = True
    results.until_idle()
