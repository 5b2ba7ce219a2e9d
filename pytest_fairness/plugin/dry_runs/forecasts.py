"""The estimate that decides a threshold, as it will be in a run that is not made yet: by the normal approximation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from pytest_fairness.core.dry_run_results import DetectableValues, NeededLabels
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import Judgment

if TYPE_CHECKING:
    from pytest_fairness.stats.simulation import Gap

GAP = 0.75
"""The ratio of a model that a threshold should find unfair, as a share of its bound: 0.6 for a bound of 0.8."""
ROUNDS = 5
"""Iterations until a detectable ratio and its error agree."""
FURTHEST = 100.0
"""A ratio beyond which none is called detectable."""
OTHER_GAP = 0.6
"""The ratio of such a model, where the bounds are not those of a ratio."""


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
    """The share of the squared error that more repetitions could remove."""
    bounds: tuple[float | None, float | None]

    @classmethod
    def of(cls, judgments: Sequence[Judgment], pilot: Judgment | None) -> Forecast | None:
        """Return the forecast of simulated runs of the planned size; None where nothing with an error decided them.

        The truth is what the pilot has measured, else no difference between groups.
        """
        deciding = [(estimate, judgment) for judgment in judgments if (estimate := _decided(judgment)) is not None]
        if not deciding:
            return None
        most = Counter(_kind(estimate) for estimate, _ in deciding).most_common(1)[0][0]
        alike = [(estimate, judgment) for estimate, judgment in deciding if _kind(estimate) == most]
        estimates = [estimate for estimate, _ in alike]
        first, (low, high) = estimates[0], alike[0][1].bounds
        pilot_values = {_kind(estimate): estimate.value for estimate in (pilot.estimates if pilot else ())}
        value = pilot_values.get(most, first.parity)
        if value is None:
            value = median(estimate.value for estimate in estimates)
        errors = [estimate.error / (estimate.value if first.log_scale else 1) for estimate in estimates]
        if first.log_scale:
            value, low, high = _log(value) or 0.0, _log(low), _log(high)
        elif first.absolute:
            low = None if high is None else -high
        shares = [estimate.repetition_share for estimate in estimates if estimate.repetition_share is not None]
        df = median(estimate.df for estimate in estimates)
        return cls(first, value, median(errors), df, median(shares) if shares else None, (low, high))

    @property
    def tail(self) -> float:
        return (1 - self.estimate.confidence) / 2

    def gap(self) -> Gap | None:
        """Return a bias between the compared groups that the threshold should find; None where there are no groups."""
        from pytest_fairness.stats.simulation import Gap

        groups = list(self.estimate.groups)
        if len(groups) < 2:
            return None
        low, high = self.bounds
        if not self.estimate.log_scale:
            return Gap(groups[0], OTHER_GAP)
        if low is not None:
            return Gap(groups[0], min(1.0, GAP * math.exp(low)))
        return Gap(groups[1], min(1.0, GAP / math.exp(high or 0.0)))

    def times_needed(self) -> float | None:
        """Return how many times as many items make *fair* 80% probable, by the normal approximation."""
        from pytest_fairness.stats.power import items_for

        return items_for(self.value, self.error, self.df, self.bounds, self.tail)

    def labels_needed(self, labeled: Judgment) -> NeededLabels | None:
        """Return the labels of each group that make *fair* 80% probable in a run of the planned size.

        Args:
            labeled: The threshold on the pilot as labels correct it: its value is taken for the truth.

        Returns:
            None where no estimate that labels correct has decided. None are needed where a group of the planned run
            would have to hold more labels than answers.
        """
        from pytest_fairness.stats.calibration.correction import FEWEST_LABELS
        from pytest_fairness.stats.power import labels_for

        estimate = _decided(labeled)
        if estimate is None or not estimate.labels or estimate.label_share is None:
            return None
        log = estimate.log_scale
        value, low, high = estimate.value, *labeled.bounds
        if log:
            value, low, high = _log(value) or 0.0, _log(low), _log(high)
        elif estimate.absolute:
            low = None if high is None else -high
        error = estimate.error / (estimate.value if log else 1)
        # The planned run has its own items, and the pilot's labels.
        own = self.error**2
        labels = error**2 * estimate.label_share
        whole = math.sqrt(own + labels)
        times = labels_for(value, whole, estimate.df, (low, high), self.tail, labels / whole**2)
        if times is None:
            return NeededLabels(has=estimate.labels, needed=None)
        fewest = math.ceil(FEWEST_LABELS / estimate.label_worth)  # labels by doubt are worth fewer
        needed = max(math.ceil(times * estimate.labels), fewest)
        answers = self.estimate.attempts / max(len(self.estimate.groups), 1)
        return NeededLabels(has=estimate.labels, needed=needed if needed <= answers else None)

    def narrow_band(self) -> str:
        """Return that its bounds are closer together than its interval is wide; empty where they are not."""
        from pytest_fairness.stats.power import is_narrow
        from pytest_fairness.stats.quantiles import t_quantile

        if not is_narrow(self.error, self.df, self.bounds, self.tail):
            return ""
        reach = t_quantile(self.tail, self.df) * self.error
        middle = sum(end or 0.0 for end in self.bounds) / 2
        ends = [middle - reach, middle + reach]
        if self.estimate.log_scale:
            ends = [math.exp(min(end, math.log(FURTHEST))) for end in ends]
        interval = f"about {ends[0]:.3g} to {ends[1]:.3g}"
        return f"its bounds are narrower than its interval, {interval}: no value is fair at this size"

    def detectable(self) -> DetectableValues:
        """Return the values nearest to the bounds that are found unfair in 80% of runs."""
        below, above = self._detectable((self.error, self.error))
        if self.estimate.log_scale:
            for _ in range(ROUNDS):  # what lies further away is less well known, which moves it further
                below, above = self._detectable((self._error_at(below), self._error_at(above)))
                if max(abs(below or 0.0), abs(above or 0.0)) > math.log(FURTHEST):
                    break  # it runs away: so few items find no ratio at all
            furthest = math.log(FURTHEST)
            below, above = (None if end is None or abs(end) > furthest else math.exp(end) for end in (below, above))
        elif self.estimate.absolute:
            below = None
        return DetectableValues(metric=self.estimate.title, below=below, above=above)

    def _detectable(self, errors: tuple[float, float]) -> tuple[float | None, float | None]:
        from pytest_fairness.stats.power import detectable

        ends = [detectable(error, self.df, self.bounds, self.tail) for error in errors]
        return ends[0][0], ends[1][1]

    def _error_at(self, log: float | None) -> float:
        """Return the error of the logarithm of a ratio that has this value, when one group's rate is that much lower.

        By the binomial variance of the logarithm of a rate, (1 - rate) / rate: rarer is less well known.
        """
        rates = list(self.estimate.groups.values())
        if log is None or len(rates) < 2 or not all(0 < rate < 1 for rate in rates):
            return self.error
        mean = sum(rates) / len(rates)
        lower = mean * math.exp(-abs(log))
        now, then = (sum((1 - rate) / rate for rate in pair) for pair in (rates[:2], (mean, lower)))
        return self.error * math.sqrt(then / now)


def _decided(judgment: Judgment) -> Estimate | None:
    """Return the estimate that decided, where it has an error to go by."""
    if judgment.deciding is None:
        return None
    estimate = judgment.deciding.estimate
    sound = not estimate.invalid and 0 < estimate.error < math.inf and math.isfinite(estimate.value)
    return estimate if sound and (not estimate.log_scale or estimate.value > 0) else None


def _kind(estimate: Estimate) -> tuple[str, str]:
    return estimate.metric, repr(sorted(estimate.slice.items()))


def _log(value: float | None) -> float | None:
    return None if value is None or value <= 0 else math.log(value)
