"""Comparison of two results of one threshold: their difference, and whether the new one is worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.significance import holm
from pytest_fairness.core.threshold_results import InfluenceResult, ThresholdResult
from pytest_fairness.stats.run_differences import TAIL, Difference, ReportedEstimate, change_in_gap, difference, sign_of

VERDICTS = ("fair", "undecided", "unfair", "invalid")
"""Verdicts from best to worst: an invalid one never counts as better than a valid one."""
MARKS: dict[str | None, int] = {"A": 0, "B": 1, "C": 2, None: 3, "D": 3}
"""Ranks of marks; a row without a mark ranks as a D."""


@dataclass(frozen=True, slots=True)
class RowComparison:
    """The comparison of one threshold in a column with the same threshold in the reference column."""

    new: ThresholdResult
    old: ThresholdResult
    reason: str = ""
    """The reason that there is no difference; empty where there is one."""
    comparable: bool = True
    """Whether both compare the same metric with the same bounds, so that their verdicts can be compared."""
    difference: Difference | None = None
    log: bool = False
    """Whether the difference is a factor, of two ratios."""
    side: int = 0
    """1 if the new estimate is worse than the old one, -1 if it is better; 0 if that is not known."""
    p_value: float = 1.0
    """The p-value of the claim that it is worse, or better."""
    p_holm: float = 1.0
    """The p-value after Holm's correction over the compared thresholds of this column."""

    @property
    def significant_side(self) -> int:
        """``side`` if the difference is significant, else 0."""
        return self.side if self.p_holm <= 2 * TAIL else 0

    @property
    def turns(self) -> tuple[int, int, int]:
        """The changes of the verdict, the mark and the difference: 1 if worse, -1 if better, else 0."""
        if not self.comparable:
            return 0, 0, 0
        verdict = VERDICTS.index(self.new.verdict) - VERDICTS.index(self.old.verdict)
        marked = self.new.estimate.scale is not None and self.old.estimate.scale is not None
        mark = MARKS[self.new.estimate.mark] - MARKS[self.old.estimate.mark] if marked else 0
        return sign_of(verdict), sign_of(mark), self.significant_side

    @property
    def turn(self) -> int:
        """1 if anything got worse, -1 if nothing did and something got better, else 0."""
        return 1 if 1 in self.turns else min(self.turns)

    @property
    def is_perhaps_worse(self) -> bool:
        """Whether its verdict or mark is worse, and chance may explain that of its estimate."""
        return self.turn > 0 and self.difference is not None and self.significant_side <= 0

    @property
    def severity(self) -> tuple[int, int, float]:
        """A sort key, worst first: the new verdict, the new mark, the p-value."""
        return -VERDICTS.index(self.new.verdict), -MARKS[self.new.estimate.mark], self.p_holm


def against(
    new: ThresholdResult,
    old: ThresholdResult,
    new_influences: InfluenceResult | None,
    old_influences: InfluenceResult | None,
) -> RowComparison:
    """Return the comparison of a threshold's row with that of its reference, given the influences of their clusters."""
    if reason := _reason_not_comparable(new, old):
        return RowComparison(new, old, reason, comparable=False)
    if reason := _reason_without_difference(new, old):
        return RowComparison(new, old, reason)
    estimates = [
        _reported_estimate(row, influences) for row, influences in ((new, new_influences), (old, old_influences))
    ]
    first, second = estimates
    change = difference(first, second)
    if change is None:
        return RowComparison(new, old, "a ratio of zero is infinitely far from any other")
    side, p_value = _direction(new, first, second, change)
    return RowComparison(new, old, difference=change, log=first.log, side=side, p_value=p_value)


def apply_holm(line: Sequence[RowComparison | None]) -> list[RowComparison | None]:
    """Return the comparisons of one column, with Holm's correction over those that have a difference."""
    indices = [index for index, row in enumerate(line) if row is not None and row.difference is not None]
    p_values = dict(
        zip(indices, holm([row.p_value for row in line if row is not None and row.difference]), strict=True)
    )
    return [
        replace(row, p_holm=p_values[index]) if row is not None and index in p_values else row
        for index, row in enumerate(line)
    ]


def _reason_not_comparable(new: ThresholdResult, old: ThresholdResult) -> str:
    if not (new.estimate.metric and old.estimate.metric):
        return ""
    if new.is_of_propensities != old.is_of_propensities:
        kinds = ("propensities", "drawn answers")
        now, before = kinds if new.is_of_propensities else kinds[::-1]
        return f"these are {now}, in the reference {before}"
    if (
        (_metric_without_groups(new) != _metric_without_groups(old))
        if new.estimate.base and old.estimate.base
        else (new.estimate.metric != old.estimate.metric)
    ):
        return "another metric was compared"
    if new.pooled_slice != old.pooled_slice:
        return "another part of the sample was compared"
    if _bounds(new) != _bounds(old):
        return "its bounds were others"
    return ""


def _metric_without_groups(row: ThresholdResult) -> str:
    """Return the metric without its groups, which follow from the data where all pairs are compared."""
    return row.estimate.family or row.estimate.metric


def _bounds(row: ThresholdResult) -> list[tuple[str, float]]:
    return [(comparison.op, comparison.bound) for comparison in row.comparisons]


def _reason_without_difference(new: ThresholdResult, old: ThresholdResult) -> str:
    if None in (new.estimate.value, old.estimate.value, new.estimate.confidence, old.estimate.confidence):
        return "it was not measured in both"
    if not (new.estimate.base and old.estimate.base):
        return "results of version 0.1 lack the kind of a metric"
    if new.deciding_slice != old.deciding_slice:
        now, before = (row.deciding_slice_name or "all slices" for row in (new, old))
        return f"decided by {now}, in the reference by {before}"
    if new.estimate.metric != old.estimate.metric and not (
        _is_magnitude(new) and set(new.estimate.groups) == set(old.estimate.groups)
    ):
        now, before = (" and ".join(row.estimate.groups) for row in (new, old))
        return f"another pair of groups decided: {now}, not {before}"
    if new.estimate.against_baseline:
        return "each was held against a baseline of its own"
    return ""


def _is_magnitude(row: ThresholdResult) -> bool:
    """Return whether the value is a magnitude: an absolute gap, or the smaller rate over the larger."""
    is_ratio = row.estimate.kind in (MetricKind.RATIO, MetricKind.ODDS_RATIO)
    all_pairs = is_ratio and row.estimate.attribute is not None and row.reference is None
    return all_pairs or row.estimate.absolute or row.estimate.kind is MetricKind.WORST_RATIO


def _reported_estimate(row: ThresholdResult, influences: InfluenceResult | None) -> ReportedEstimate:
    log = row.estimate.log_scale
    value, low, high = (
        _scaled(end, log=log)
        for end in (
            _default(row.estimate.value, math.nan),
            _default(row.estimate.low, -math.inf),
            _default(row.estimate.high, math.inf),
        )
    )
    details: dict[str, Any] = {
        "confidence": row.estimate.confidence,
        "ungraded": sum(row.estimate.ungraded.values()),
        "log": log,
    }
    if influences is not None and influences.log == log:
        details |= {"influences": influences.values, "error": influences.error or 0.0}
    return ReportedEstimate(value, low, high, **details)


def _scaled(value: float, *, log: bool) -> float:
    if not log:
        return value
    return math.log(value) if value > 0 else -math.inf


def _direction(
    row: ThresholdResult, new: ReportedEstimate, old: ReportedEstimate, change: Difference
) -> tuple[int, float]:
    """Return 1 if a difference is for the worse, else -1, and the p-value of that claim."""
    low, high = row.bounds
    if _is_magnitude(row):
        return change_in_gap(new, old, 0.0)
    if low is not None and high is not None:
        return change_in_gap(new, old, _best_value(_scaled(low, log=new.log), _scaled(high, log=new.log)))
    upwards = sign_of(change.value - (1.0 if new.log else 0.0))
    return (-upwards if low is not None else upwards), change.p_value


def _best_value(low: float, high: float) -> float:
    """Return the best value between two bounds: 0, no difference, if it lies between them, else their mean."""
    return 0.0 if low < 0 < high else (low + high) / 2


def _default(value: float | None, edge: float) -> float:
    return edge if value is None else value
