"""The evidence map in the results file: clauses of laws and standards, and the thresholds that bear on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pytest_fairness.core.serialization import JsonRecord

DISCLAIMER = (
    "This table lists verdicts that may serve as evidence for a clause. It is never a claim of compliance, "
    "and no legal advice. Whether a clause applies, and is met, is for your own counsel to decide."
)
"""The sentence that stands with every table of evidence."""
MOST_DAYS = 180
"""Days after which a clause that was read is to be read again: laws change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceThreshold(JsonRecord):
    """A threshold on one model that bears on a clause."""

    id: str
    title: str
    model: str = ""
    verdict: str
    """The verdict of this run, ``unfair``, ``invalid`` and ``not judged`` too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceResult(JsonRecord):
    """A clause, and the thresholds of a run that bear on it."""

    framework: str
    clause: str
    subject: str
    """The requirement of the clause, in short."""
    relation: str
    """The contribution of a verdict to it, and its limits."""
    status: str = ""
    """Its dates and changes, as far as they are known."""
    source: str
    """The address of its text."""
    as_of: str = ""
    """The day on which the entry was checked against its text: YYYY-MM-DD; empty if it has none."""
    where: str
    """The file and the line of the entry."""
    thresholds: Sequence[EvidenceThreshold] = ()

    def is_stale(self, moment: str) -> bool:
        """Return whether the entry was checked against its text over 180 days before a moment.

        Args:
            moment: The moment, in ISO 8601: the start of a run, so that its outputs do not change with the days.

        >>> entry = EvidenceResult(
        ...     framework="", clause="", subject="", relation="", source="", where="", as_of="2026-11-30"
        ... )
        >>> entry.is_stale("2027-05-29T10:00:00+00:00"), entry.is_stale("2027-05-30T10:00:00+00:00")
        (False, True)
        """
        if not self.as_of:
            return False
        return (datetime.fromisoformat(moment).date() - date.fromisoformat(self.as_of)).days > MOST_DAYS
