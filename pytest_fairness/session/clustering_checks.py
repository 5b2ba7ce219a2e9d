"""Whether a threshold's items are as independent as its interval takes them to be."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.comparisons import key_of
from pytest_fairness.core.verdicts import Judgement
from pytest_fairness.session.rehearsal import rehearse

if TYPE_CHECKING:
    from pytest_fairness.stats.measured import Measured

MOST_ATTEMPTS = 20_000
"""Of a sample that is checked in an ordinary run; ``--fairness-certify`` checks larger ones as well."""
SECONDS = 1.0
"""Of computing, for a threshold in an ordinary run."""


def check_clustering(
    item: pytest.Function, measured: Measured, judgement: Judgement, seconds: float = math.inf
) -> list[str]:
    """Return a line for each attribute whose values the attempts of a threshold share, and vary by.

    Args:
        item: The threshold.
        measured: Its sample.
        judgement: Its verdict on that sample.
        seconds: Of computing; attributes that would take longer are not checked.
    """
    from pytest_fairness.stats.clustering import find_alike

    estimate = judgement.deciding.estimate if judgement.deciding else None
    if estimate is None or not estimate.error > 0 or "baseline" in item.fixturenames:
        return []
    key = key_of(estimate)
    until = time.process_time() + seconds

    def error(sample: Measured) -> float:
        if time.process_time() > until:
            return math.nan
        again = rehearse(item, sample, judgement.dependence)
        known = [*again.estimates, *(comparison.estimate for comparison in again.comparisons)]
        return next((each.error for each in known if key_of(each) == key), math.nan)

    return [alike.text for alike in find_alike(measured, error)]
