"""Earlier runs of a threshold, in its result: how often it was outside its bounds, and how far it has drifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_fairness.core.serialization import OPTIONAL, JsonRecord, key


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierVerdict(JsonRecord):
    """The newest earlier run in which a threshold had another verdict."""

    run: str
    day: str
    """YYYY-MM-DD, in UTC."""
    verdict: str
    mark: str | None = None
    value: float | None = field(default=None, metadata=key("estimate"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryResult(JsonRecord):
    """The runs of a threshold that asked the same question, this one last."""

    runs: int
    """Those with answers of their own: at most half came from the store."""
    outside: int
    """Those of them whose estimate lay outside the bounds."""
    alike: int = 1
    """The last runs in a row with the verdict of this one, itself included, that asked for new answers; at least 1."""
    since: str = ""
    """The day of the first of these; empty where it is this one."""
    before: EarlierVerdict | None = field(default=None, metadata=OPTIONAL)
    """None where all had this verdict."""
    last: float | None = None
    """The estimate of the last run."""
    changes: Sequence[str] = ()
    """The differences from the last run, in words."""


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
