"""Earlier runs of a threshold, in its result: how often it was outside its bounds, and how far it has drifted."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fairness.core.serialization import JsonRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryResult(JsonRecord):
    """The runs of a threshold that asked the same question, this one last."""

    runs: int
    """Those with answers of their own: at most half came from the store."""
    outside: int
    """Those of them whose estimate lay outside the bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftResult(JsonRecord):
    """The change of a threshold since the first of its baselines, each of which was compared with the one before."""

    baseline: str
    """The run that this one was compared with."""
    first: str
    """The run of the first baseline."""
    day: str
    """The day of the first baseline: YYYY-MM-DD."""
    runs: int
    """The comparisons from that run to this one."""
    value: float | None = None
    """The product of their factors, or the sum of their differences."""
