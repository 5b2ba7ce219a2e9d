"""The order in which thresholds matter."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fairness.report.release import NOT_JUDGED
from pytest_fairness.report.view import Row

WORST_FIRST = ("unfair", "invalid", "undecided", "flaky", NOT_JUDGED, "fair")


def standing(row: Row) -> str:
    """A row's verdict, or ``flaky`` where a mark kept it from failing."""
    return "flaky" if row.get("outcome") == "flaky" else str(row["verdict"])


def rank(row: Row) -> int:
    """From 0, the worst."""
    return WORST_FIRST.index(standing(row))


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """Rows of the results file in the order in which they matter."""
    return sorted(rows, key=rank)
