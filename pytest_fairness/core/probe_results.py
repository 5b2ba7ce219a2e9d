"""Results of probes: the responses of a model's answers to controls, their levels, and remarks on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fairness.core.serialization import OPTIONAL, JsonRecord
from pytest_fairness.core.threshold_results import ResponseResult


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeResult(JsonRecord):
    """One grade over all answers to a probe, to be read beside its verdicts: no interval, and nothing imputed."""

    grade: str
    graded: int
    """Answers with a value."""
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
class RepliesResult(JsonRecord):
    """The origins of the answers to a probe, as far as servers name them."""

    strays: int = 0
    """Attempts that are ungraded as ``misattributed``: their reply, or their judge's, was made for another request."""
    reason: str = ""
    """The most frequent reason, and in ``evidence`` an example with ids and headers."""
    evidence: str = ""
    from_cache: int = 0
    """Answers that a cache gave to an equal request, or that repeat one to the same prompt."""
    cache: str = ""
    """The headers, or fields, that say so."""
    identified: int = 0
    """Answers with an id of the server's."""
    repeated: int = 0
    """Those of them whose id an earlier repetition of the same prompt has."""
    served_by: Mapping[str, int] = field(default_factory=dict)
    """Answers by the name of the model, as the server gives it."""
    requested: str = field(default="", metadata=OPTIONAL)
    """The name that the server was asked for, without provider and parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult(JsonRecord):
    """The competence of a model at a probe, over its whole sample."""

    suite: str
    probe: str
    model: str
    attempts: int
    """Answers in the largest sample that a threshold has judged."""
    sensitivity: str
    """Whether its answers follow the controls: ``shown``, ``not shown``, ``absent``; ``no control`` without any."""
    responses: Sequence[ResponseResult] = ()
    """Its responses to the controls of the probe."""
    grades: Sequence[GradeResult] = ()
    formats: Mapping[str, FormatResult] = field(default_factory=dict)
    """Numbers of answers by format; empty for a probe with one."""
    remarks: Sequence[str] = ()
    """Sentences on answers from which nothing can follow: all alike, by position, without a tool call, unread."""
    replies: RepliesResult | None = field(default=None, metadata=OPTIONAL)
    """None where no server says where its answers come from."""
