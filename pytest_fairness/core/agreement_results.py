"""Agreement of sampled answers with propensities, in the results file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.serialization import JsonRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreementResult(JsonRecord):
    """The propensity and the sampled share of one value of a grade, in the prompts of one group."""

    attribute: str
    """The attribute that makes the group; empty for prompts without groups."""
    group: str
    value: str
    propensity: float
    """The mean probability of the value, over the sampled answers."""
    outside: float
    """The mean probability outside of the options."""
    drawn: float
    """The share of the sampled answers."""
    answers: int
    """The number of sampled answers, graded or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementResult(JsonRecord):
    """The check that sampled answers agree with propensities of the same prompts."""

    suite: str
    probe: str
    model: str
    grade: str
    other_run: str
    """The earlier run that measured the other kind."""
    prompts: int
    """The number of prompts with both."""
    agrees: bool
    """Whether ``p_value`` is at least 0.01."""
    p_value: float
    """That for the hypothesis that the answers are drawn from the propensities, corrected for all comparisons."""
    reason: str = ""
    """The disagreement in words; empty where they agree."""
    groups: Sequence[GroupAgreementResult] = ()
