"""Accepted verdicts in the results file, with their reason, author, last day and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fairness.core.acceptance_states import NOT_USED
from pytest_fairness.core.serialization import OPTIONAL, JsonRecord, key


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingEstimate(JsonRecord):
    """An estimate of a threshold whose interval is not inside the bounds."""

    metric: str
    slice: Mapping[str, str] = field(default_factory=dict)
    verdict: str
    """The verdict by this estimate alone: ``unfair``, ``undecided`` or ``invalid``."""
    title: str | None = field(default=None, metadata=OPTIONAL)
    """Its title, if it decides no threshold; else None."""
    value: float | None = field(default=None, metadata=key("estimate"))
    low: float | None = None
    high: float | None = None
    bounds: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAcceptance(JsonRecord):
    """The first of several acceptances of one threshold, of which each has replaced the one before."""

    on: str
    """The day of the decision: YYYY-MM-DD."""
    value: float | None = field(metadata=key("estimate"))
    """The estimate that was accepted, the first of several."""
    renewals: int
    """The number of times it was replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceResult(JsonRecord):
    """An accepted verdict, of the file or of a flaky mark, with its state in a run."""

    threshold: str
    """The id of its test."""
    title: str
    model: str
    verdict: str
    """The verdict that was accepted."""
    estimates: Sequence[FailingEstimate] = ()
    reason: str
    by: str
    until: str
    """Its last day: YYYY-MM-DD."""
    run: str = ""
    where: str = ""
    """The file and the line of the entry, or of the test with the mark."""
    state: str = NOT_USED
    """``accepted``, ``broken``, ``expired``, ``not needed`` or ``not used``."""
    why: str = ""
    """The reason of a state other than ``accepted``."""
    first: FirstAcceptance | None = field(default=None, metadata=OPTIONAL)
    """None for an entry that has replaced none."""
    flaky: bool = False
    """Whether the flaky mark of its test wrote it, not the file of accepted verdicts."""
