"""Differences between two rows of one threshold, and whether one is worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.results import InfluenceResult, ThresholdResult
from pytest_fairness.stats.pvalues import holm
from pytest_fairness.stats.run_differences import TAIL, Difference, ReportedEstimate, change_in_gap, difference

VERDICTS = ("fair", "undecided", "unfair", "invalid")
"""Verdicts from best to worst: what could not be judged never counts as better than what could."""
MARKS: dict[str | None, int] = {"A": 0, "B": 1, "C": 2, None: 3, "D": 3}
"""Ranks of marks; a row without a mark ranks as a D."""


@dataclass(frozen=True, slots=True)
class RowComparison:
    """One threshold in one column against the same in its reference."""

    new: ThresholdResult
    old: ThresholdResult
    reason: str = ""
    """The reason that no difference can be taken; empty where one can."""
    comparable: bool = True
    """Whether the two asked the same question, so that their verdicts may be held against each other."""
    difference: Difference | None = None
    log: bool = False
    """Whether the difference is a factor, of two ratios."""
    side: int = 0
    """1 where the new estimate is worse than the old one, -1 where it is better; 0 where that cannot be said."""
    p_value: float = 1.0
    """The p-value of the claim that it is worse, or better."""
    p_holm: float = 1.0
    """The same after Holm's correction over the thresholds that were compared of this column."""

    @property
    def significant_side(self) -> int:
        """``side`` where chance does not explain it, else 0."""
        return self.side if self.p_holm <= 2 * TAIL else 0

    @property
    def turns(self) -> tuple[int, int, int]:
        """1, -1 or 0 for the verdict, the mark and the difference: 1 where it is worse, -1 where it is
        better.
        """
        if not self.comparable:
            return 0, 0, 0
        verdict = VERDICTS.index(self.new.verdict) - VERDICTS.index(self.old.verdict)
        marked = self.new.scale is not None and self.old.scale is not None
        mark = MARKS[self.new.mark] - MARKS[self.old.mark] if marked else 0
        return _sign(verdict), _sign(mark), self.significant_side

    @property
    def turn(self) -> int:
        """1 where anything got worse, -1 where nothing did and something got better."""
        return 1 if 1 in self.turns else min(self.turns)

    @property
    def severity(self) -> tuple[int, int, float]:
        """Smaller is worse: the new verdict, the new mark, the p-value."""
        return -VERDICTS.index(self.new.verdict), -MARKS[self.new.mark], self.p_holm


def against(
    new: ThresholdResult,
    old: ThresholdResult,
    new_influences: InfluenceResult | None,
    old_influences: InfluenceResult | None,
) -> RowComparison:
    """Return a threshold's row against that of its reference, with what each cluster adds to either estimate."""
    if reason := _other_question(new, old):
        return RowComparison(new, old, reason, comparable=False)
    if reason := _no_difference(new, old):
        return RowComparison(new, old, reason)
    both = [_reported_estimate(row, influences) for row, influences in ((new, new_influences), (old, old_influences))]
    first, second = both
    change = difference(first, second)
    if change is None:
        return RowComparison(new, old, "a ratio of zero is infinitely far from any other")
    side, p_value = _worse(new, first, second, change)
    return RowComparison(new, old, difference=change, log=first.log, side=side, p_value=p_value)


def corrected(line: Sequence[RowComparison | None]) -> list[RowComparison | None]:
    """Return all of one column, with Holm's correction over those that have a difference."""
    indices = [index for index, row in enumerate(line) if row is not None and row.difference is not None]
    p_values = dict(
        zip(indices, holm([row.p_value for row in line if row is not None and row.difference]), strict=True)
    )
    return [
        replace(row, p_holm=p_values[index]) if row is not None and index in p_values else row
        for index, row in enumerate(line)
    ]


def _other_question(new: ThresholdResult, old: ThresholdResult) -> str:
    if not (new.metric and old.metric):
        return ""
    if (
        (_metric_without_groups(new) != _metric_without_groups(old))
        if new.base and old.base
        else (new.metric != old.metric)
    ):
        return "another metric was compared"
    if new.slice != old.slice:
        return "another part of the sample was compared"
    if _bounds(new) != _bounds(old):
        return "its bounds were others"
    return ""


def _metric_without_groups(row: ThresholdResult) -> str:
    """Return the metric without the groups, which are found in the data where all pairs are compared."""
    return row.family or row.metric


def _bounds(row: ThresholdResult) -> list[tuple[str, float]]:
    return [(comparison.op, comparison.bound) for comparison in row.comparisons]


def _no_difference(new: ThresholdResult, old: ThresholdResult) -> str:
    if new.estimate is None or old.estimate is None:
        return "it was not measured in both"
    if not (new.base and old.base):
        return "results of version 0.1 lack the kind of a metric"
    if new.metric != old.metric and not (_is_size(new) and set(new.groups) == set(old.groups)):
        return f"another pair of groups decided: {' and '.join(new.groups)}, not {' and '.join(old.groups)}"
    if new.against_baseline:
        return "each was held against a baseline of its own"
    return ""


def _is_size(row: ThresholdResult) -> bool:
    """Return whether the value has no sign: the size of a gap, or the smaller rate over the larger."""
    all_pairs = row.kind is MetricKind.RATIO and row.attribute is not None and row.reference is None
    return all_pairs or row.absolute or row.kind is MetricKind.WORST_RATIO


def _reported_estimate(row: ThresholdResult, influences: InfluenceResult | None) -> ReportedEstimate:
    log = row.log_scale
    value, low, high = (
        _scaled(end, log=log) for end in (_or(row.estimate, math.nan), _or(row.low, -math.inf), _or(row.high, math.inf))
    )
    details: dict[str, Any] = {"confidence": row.confidence, "ungraded": sum(row.ungraded.values()), "log": log}
    if influences is not None and influences.log == log:
        details |= {"influences": influences.values, "error": influences.error or 0.0}
    return ReportedEstimate(value, low, high, **details)


def _scaled(value: float, *, log: bool) -> float:
    if not log:
        return value
    return math.log(value) if value > 0 else -math.inf


def _worse(row: ThresholdResult, new: ReportedEstimate, old: ReportedEstimate, change: Difference) -> tuple[int, float]:
    """Return the side of no change on which a difference lies, 1 for the worse one, and the p-value of the claim."""
    low, high = row.bounds
    if _is_size(row):
        return change_in_gap(new, old, 0.0)
    if low is not None and high is not None:
        return change_in_gap(new, old, _parity(_scaled(low, log=new.log), _scaled(high, log=new.log)))
    upwards = _sign(change.value - (1.0 if new.log else 0.0))
    return (-upwards if low is not None else upwards), change.p_value


def _parity(low: float, high: float) -> float:
    """Return what lies in the middle of two bounds: no difference where they hold it, else their mean."""
    return 0.0 if low < 0 < high else (low + high) / 2


def _or(value: float | None, edge: float) -> float:
    return edge if value is None else value


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
