"""The order in which thresholds matter."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fairness.core.acceptance_results import ACCEPTED
from pytest_fairness.core.results import ThresholdResult
from pytest_fairness.report.release import NOT_JUDGED

WORST_FIRST = ("unfair", "invalid", "undecided", ACCEPTED, "flaky", NOT_JUDGED, "fair")


def effective_verdict(row: ThresholdResult) -> str:
    """Return a row's verdict, or ``flaky`` or ``accepted`` where that kept it from failing."""
    return row.outcome if row.outcome in ("flaky", ACCEPTED) else row.verdict


def rank(row: ThresholdResult) -> int:
    """Return the rank of a row, from 0, the worst."""
    return WORST_FIRST.index(effective_verdict(row))


def worst_first(rows: Iterable[ThresholdResult]) -> list[ThresholdResult]:
    """Return rows of the results file in the order in which they matter."""
    return sorted(rows, key=rank)
