"""Results of probes: the responses of a model's answers to controls, their levels, and remarks on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.core.threshold_results import ResponseResult


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeResult(JsonRecord):
    """One grade over all answers to a probe, to be read beside its verdicts: no interval, and nothing imputed."""

    grade: str
    graded: int
    mean: float | None = None
    """Its mean; the rate of a grade that is true or false; None for a grade that holds text."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """The share of each value of a grade that holds text; empty where it has many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatResult(JsonRecord):
    """The answers to a probe in one answer format."""

    attempts: int
    graded: int
    """Attempts without an ungraded grade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult(JsonRecord):
    """The competence of a model at a probe, over its whole sample."""

    suite: str
    probe: str
    model: str
    attempts: int
    sensitivity: str
    """Whether its answers follow the controls: ``shown``, ``not shown``, ``absent``; ``no control`` without any."""
    responses: Sequence[ResponseResult] = ()
    """Its responses to the controls of the probe."""
    grades: Sequence[GradeResult] = ()
    formats: Mapping[str, FormatResult] = field(default_factory=dict)
    """Numbers of answers by format; empty for a probe with one."""
    remarks: Sequence[str] = ()
    """Sentences on answers from which nothing can follow: all alike, by position, without a tool call, unread."""
