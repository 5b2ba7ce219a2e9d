"""Results of the check that drawn answers agree with propensities, as the results file has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.serialization import JsonRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreementResult(JsonRecord):
    """One value of a grade in the prompts of one group, by propensities and by drawn answers."""

    attribute: str
    """Empty for prompts without groups."""
    group: str
    value: str
    propensity: float
    outside: float
    """The probability that fell on no option."""
    drawn: float
    answers: int
    """The drawn answers, the ungraded ones among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementResult(JsonRecord):
    """A check that drawn answers agree with propensities of the same prompts."""

    suite: str
    probe: str
    model: str
    grade: str
    other_run: str
    """The earlier run that measured the other kind."""
    prompts: int
    """Those that were measured both ways."""
    agrees: bool
    p_value: float
    reason: str = ""
    """The disagreement in words; empty where they agree."""
    groups: Sequence[GroupAgreementResult] = ()
