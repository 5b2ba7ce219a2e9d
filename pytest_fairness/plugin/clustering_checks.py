"""Checks that the items of a threshold are as independent as its interval assumes."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.comparisons import key_of
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.evaluation import evaluate_on

if TYPE_CHECKING:
    from pytest_fairness.stats.measured import Measured

MOST_ATTEMPTS = 20_000
"""The largest sample that an ordinary run checks; ``--fairness-certify`` checks larger ones as well."""
SECONDS = 1.0
"""CPU time for a threshold in an ordinary run."""


def check_clustering(
    item: pytest.Function, measured: Measured, judgment: Judgment, seconds: float = math.inf
) -> list[str]:
    """Return a line for each attribute whose values the attempts of a threshold share, and vary by.

    Args:
        item: The threshold.
        measured: Its sample.
        judgment: Its verdict on that sample.
        seconds: Of computing; attributes that would take longer are not checked.
    """
    from pytest_fairness.stats.clustering import find_alike

    estimate = judgment.deciding.estimate if judgment.deciding else None
    if estimate is None or not estimate.error > 0 or "baseline" in item.fixturenames:
        return []
    if estimate.value in (estimate.low, estimate.high):  # a rate of 0 or 1: nothing varies, so nothing varies together
        return []
    key = key_of(estimate)
    until = time.process_time() + seconds

    def error(sample: Measured) -> float:
        if time.process_time() > until:
            return math.nan
        again = evaluate_on(item, sample, judgment.dependence)
        estimates = [*again.estimates, *(comparison.estimate for comparison in again.comparisons)]
        return next((estimate.error for estimate in estimates if key_of(estimate) == key), math.nan)

    return [alike.text for alike in find_alike(measured, error)]
