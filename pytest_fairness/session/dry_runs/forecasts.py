"""The estimate that decides a threshold, as it will be in a run that is not made yet: by the normal approximation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import Judgement

if TYPE_CHECKING:
    from pytest_fairness.stats.simulation import Gap

GAP = 0.75
"""Of a bound: the ratio of a model that a threshold should find unfair; 0.6 for a bound of 0.8."""
ROUNDS = 5
"""Until a detectable ratio and its error agree."""
FURTHEST = 100.0
"""A ratio beyond which none is called detectable."""
OTHER_GAP = 0.6
"""Where the bounds are not those of a ratio."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The estimate that decides a threshold, in a run as planned; logarithms where it is a ratio."""

    estimate: Estimate
    """One of them, for its names."""
    value: float
    """The truth."""
    error: float
    df: float
    share: float | None
    """Of the squared error, what more repetitions could remove."""
    bounds: tuple[float | None, float | None]

    @classmethod
    def of(cls, judgements: Sequence[Judgement], pilot: Judgement | None) -> Forecast | None:
        """From rehearsals of the planned size; None where nothing with an error decided them.

        The truth is what the pilot has measured, else no difference between groups.
        """
        deciding = [(estimate, judgement) for judgement in judgements if (estimate := _decided(judgement)) is not None]
        if not deciding:
            return None
        most = Counter(_kind(estimate) for estimate, _ in deciding).most_common(1)[0][0]
        alike = [(estimate, judgement) for estimate, judgement in deciding if _kind(estimate) == most]
        estimates = [estimate for estimate, _ in alike]
        first, (low, high) = estimates[0], alike[0][1].bounds
        told = {_kind(estimate): estimate.value for estimate in (pilot.estimates if pilot else ())}
        value = told.get(most, _at_parity(first))
        if value is None:
            value = median(estimate.value for estimate in estimates)
        errors = [estimate.error / (estimate.value if _is_ratio(first) else 1) for estimate in estimates]
        if _is_ratio(first):
            value, low, high = _log(value) or 0.0, _log(low), _log(high)
        elif _is_size(first):
            low = None if high is None else -high
        shares = [estimate.repetition_share for estimate in estimates if estimate.repetition_share is not None]
        df = median(estimate.df for estimate in estimates)
        return cls(first, value, median(errors), df, median(shares) if shares else None, (low, high))

    @property
    def tail(self) -> float:
        return (1 - self.estimate.confidence) / 2

    def gap(self) -> Gap | None:
        """A bias between the groups that are compared which the threshold should find; None where there are none."""
        from pytest_fairness.stats.simulation import Gap

        groups = list(self.estimate.groups)
        if len(groups) < 2:
            return None
        low, high = self.bounds
        if not _is_ratio(self.estimate):
            return Gap(groups[0], OTHER_GAP)
        if low is not None:
            return Gap(groups[0], min(1.0, GAP * math.exp(low)))
        return Gap(groups[1], min(1.0, GAP / math.exp(high or 0.0)))

    def times_needed(self) -> float | None:
        """How many times as many items make *fair* 80% probable, by the normal approximation."""
        from pytest_fairness.stats.planning import needed

        return needed(self.value, self.error, self.df, self.bounds, self.tail)

    def detectable(self) -> dict[str, Any]:
        """The values nearest to the bounds that are found unfair in 80% of runs."""
        below, above = self._detectable((self.error, self.error))
        if _is_ratio(self.estimate):
            for _ in range(ROUNDS):  # what lies further away is less well known, which moves it further
                below, above = self._detectable((self._error_at(below), self._error_at(above)))
                if max(abs(below or 0.0), abs(above or 0.0)) > math.log(FURTHEST):
                    break  # it runs away: so few items find no ratio at all
            furthest = math.log(FURTHEST)
            below, above = (None if end is None or abs(end) > furthest else math.exp(end) for end in (below, above))
        elif _is_size(self.estimate):
            below = None
        return {"metric": self.estimate.title, "below": below, "above": above}

    def _detectable(self, errors: tuple[float, float]) -> tuple[float | None, float | None]:
        from pytest_fairness.stats.planning import detectable

        ends = [detectable(error, self.df, self.bounds, self.tail) for error in errors]
        return ends[0][0], ends[1][1]

    def _error_at(self, log: float | None) -> float:
        """Of the logarithm of a ratio that has this value, when one group's rate is that much lower.

        By the binomial variance of the logarithm of a rate, (1 - rate) / rate: rarer is less well known.
        """
        rates = list(self.estimate.groups.values())
        if log is None or len(rates) < 2 or not all(0 < rate < 1 for rate in rates):
            return self.error
        mean = sum(rates) / len(rates)
        lower = mean * math.exp(-abs(log))
        now, then = (sum((1 - rate) / rate for rate in pair) for pair in (rates[:2], (mean, lower)))
        return self.error * math.sqrt(then / now)


def _decided(judgement: Judgement) -> Estimate | None:
    """The estimate that decided, where it has an error to go by."""
    if judgement.deciding is None:
        return None
    estimate = judgement.deciding.estimate
    sound = not estimate.invalid and 0 < estimate.error < math.inf and math.isfinite(estimate.value)
    return estimate if sound and (not _is_ratio(estimate) or estimate.value > 0) else None


def _kind(estimate: Estimate) -> tuple[str, str]:
    return estimate.metric, repr(sorted(estimate.slice.items()))


def _is_ratio(estimate: Estimate) -> bool:
    return estimate.metric.startswith(("ratio(", "worst_ratio("))


def _is_size(estimate: Estimate) -> bool:
    return estimate.metric.startswith("abs ")


def _at_parity(estimate: Estimate) -> float | None:
    """The value without any difference between groups; None for what compares none."""
    if _is_ratio(estimate):
        return 1.0
    return 0.0 if estimate.metric.removeprefix("abs ").startswith("difference(") else None


def _log(value: float | None) -> float | None:
    return None if value is None or value <= 0 else math.log(value)
