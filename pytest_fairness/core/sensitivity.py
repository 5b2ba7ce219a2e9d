"""Assay sensitivity of a verdict: the response to a probe's controls, and the slices that have a veto.

A fair verdict is a claim of equivalence. It counts only where the same answers could have shown a gap (ICH E10,
section 1.5), and where no declared part of the sample shows one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.controls import Control
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.formatting import decimals, number


@dataclass(frozen=True, slots=True)
class ControlResponse:
    """The response of a sample's answers to one control."""

    control: Control
    decision: Decision
    """True where the answers follow the control, false where they do not, else undecided."""
    at_least: float
    """The smallest response that counts, in the units of the estimate."""
    odds_ratio: float | None = None
    """The odds ratio of decisions that amounts to, at their rates; None for a grade that holds numbers."""
    estimate: Estimate | None = None
    """The difference of the two levels; None where there is none."""
    constant: str = ""
    """The one value of all answers at both levels; empty where they differ."""
    slice: tuple[str, str] | None = None
    """The attribute and value of the slice that it is about; None for the whole sample."""

    @property
    def levels(self) -> dict[str, float]:
        """The rate or mean at each level."""
        return {} if self.estimate is None else dict(self.estimate.groups)

    @property
    def text(self) -> str:
        """One sentence with the numbers of both levels.

        >>> ControlResponse(Control("advance", "case", "strong", "weak"), Decision.FALSE, 0.17, constant="true").text
        'all answers to strong and weak alike are graded true: they cannot follow `case`'
        """
        control = self.control
        of, to = control.of, control.to
        where = f" where {self.slice[0]} is {self.slice[1]}" if self.slice else ""
        if self.constant:
            estimate = self.estimate
            count = "" if estimate is None else f"{estimate.attempts - sum(estimate.ungraded.values()):,} "
            answers = f"all {count}answers to {of} and {to} alike are graded {self.constant}"
            return f"{answers}{where}: they cannot follow `{control.by}`"
        if self.estimate is None or self.estimate.invalid:
            reason = self.estimate.invalid if self.estimate is not None else "it was not measured"
            return f"whether the answers follow `{control.by}` ({of}, {to}){where} is not known: {reason}"
        digits = decimals((self.estimate.low, self.estimate.high), (self.at_least,))
        rates = ", ".join(f"{level} {number(value, digits)}" for level, value in self.levels.items())
        follow = {Decision.TRUE: "follow", Decision.FALSE: "do not depend on"}.get(self.decision, "may not depend on")
        low, high, at_least = (number(end, digits) for end in (self.estimate.low, self.estimate.high, self.at_least))
        counts = f"at least {at_least} counts"
        counts += "" if self.odds_ratio is None else f", an odds ratio of {self.odds_ratio:g}"
        size = f"difference {low} to {high}; {counts}"
        return f"the answers {follow} `{control.by}`{where} ({rates}; {size})"


class SliceState(StrEnum):
    """The states of a slice."""

    UNFAIR = "unfair"
    NO_VETO = "no veto"
    """It has too few sources for an interval."""
    UNMEASURED = "unmeasured"
    INSIDE = "inside"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class JudgedSlice:
    """One slice of a threshold's sample: the values of the pooled claim in it."""

    by: str
    value: str
    state: SliceState
    comparisons: Sequence[Comparison] = ()
    """The comparisons of the whole test, each as it must hold."""
    reason: str = ""
    """The reason that it has no veto, or was not measured."""

    @property
    def name(self) -> str:
        """Attribute and value: ``religion muslim``."""
        return f"{self.by} {self.value}"

    @property
    def deciding(self) -> Comparison | None:
        """The comparison to show: the one that broke, or stayed open."""
        order = (Decision.FALSE, Decision.INVALID, Decision.UNDECIDED, Decision.TRUE)
        return min(self.comparisons, key=lambda comparison: order.index(comparison.decision), default=None)
