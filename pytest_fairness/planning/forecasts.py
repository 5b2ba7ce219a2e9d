"""Forecasts of the deciding estimate of a threshold in a planned run, by the normal approximation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from pytest_fairness.core.comparisons import key_of
from pytest_fairness.core.dry_run_results import DetectableValues, NeededLabels
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.verdicts import Judgment

if TYPE_CHECKING:
    from pytest_fairness.stats.simulation import Gap

GAP = 0.75
"""The ratio of a simulated unfair model, as a share of the bound: 0.6 for a bound of 0.8."""
ROUNDS = 5
"""The iterations for a detectable ratio, whose error depends on it."""
FURTHEST = 100.0
"""The largest detectable ratio."""
OTHER_GAP = 0.6
"""The ratio of a simulated unfair model for bounds of other metrics."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The deciding estimate of a threshold in a planned run, on the log scale for a ratio."""

    estimate: Estimate
    """One simulated estimate, for its names and groups."""
    value: float
    """The assumed true value."""
    error: float
    df: float
    share: float | None
    """The share of the squared error that more repetitions could remove."""
    bounds: tuple[float | None, float | None]

    @classmethod
    def from_judgments(cls, judgments: Sequence[Judgment], pilot: Judgment | None) -> Forecast | None:
        """Return the forecast from simulated runs of the planned size.

        Args:
            judgments: The judgments of the simulated runs.
            pilot: The judgment of the pilot, whose value is the truth. None: parity is the truth.

        Returns:
            The forecast; None if no estimate with an error decided a run.
        """
        deciding = [
            (estimate, judgment) for judgment in judgments if (estimate := _deciding_estimate(judgment)) is not None
        ]
        if not deciding:
            return None
        key = Counter(key_of(estimate) for estimate, _ in deciding).most_common(1)[0][0]
        most_frequent = [(estimate, judgment) for estimate, judgment in deciding if key_of(estimate) == key]
        estimates = [estimate for estimate, _ in most_frequent]
        first, (low, high) = estimates[0], most_frequent[0][1].bounds
        pilot_values = {key_of(estimate): estimate.value for estimate in (pilot.estimates if pilot else ())}
        value = pilot_values.get(key, first.parity)
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
        """Return a bias between the compared groups that the threshold should detect; None without groups."""
        from pytest_fairness.stats.simulation import Gap

        groups = list(self.estimate.groups)
        if len(groups) < 2 or self.estimate.kind is MetricKind.FLIPS:  # whose groups are pairs of prompts
            return None
        low, high = self.bounds
        if not self.estimate.log_scale:
            return Gap(groups[0], OTHER_GAP)
        group, bound = (groups[0], math.exp(low)) if low is not None else (groups[1], math.exp(-(high or 0.0)))
        return Gap(group, self._rate_ratio(min(1.0, GAP * bound)))

    @property
    def _mean_rate(self) -> float | None:
        """The mean rate of the groups; None unless each is between 0 and 1."""
        rates = list(self.estimate.groups.values())
        return sum(rates) / len(rates) if len(rates) > 1 and all(0 < rate < 1 for rate in rates) else None

    def _rate_ratio(self, value: float) -> float:
        """Return the ratio of two rates where the metric has a value, a ratio or odds ratio."""
        from pytest_fairness.stats.power import rate_ratio

        mean = self._mean_rate
        return value if mean is None else rate_ratio(self.estimate.kind, value, mean)

    def times_needed(self) -> float | None:
        """Return the number of items for *fair* in 80% of runs, as a multiple of the planned number."""
        from pytest_fairness.stats.power import items_for

        return items_for(self.value, self.error, self.df, self.bounds, self.tail)

    def labels_needed(self, labeled: Judgment) -> NeededLabels | None:
        """Return the labels of each group for *fair* in 80% of runs of the planned size.

        Args:
            labeled: The judgment of the pilot with its labels, whose value is the truth.

        Returns:
            None if no estimate with labels decided. ``needed`` is None if a group would need more labels than answers.
        """
        from pytest_fairness.stats.calibration.correction import FEWEST_LABELS
        from pytest_fairness.stats.power import labels_for

        estimate = _deciding_estimate(labeled)
        if estimate is None or not estimate.labels or estimate.label_share is None:
            return None
        is_log = estimate.log_scale
        value, low, high = estimate.value, *labeled.bounds
        if is_log:
            value, low, high = _log(value) or 0.0, _log(low), _log(high)
        elif estimate.absolute:
            low = None if high is None else -high
        error = estimate.error / (estimate.value if is_log else 1)
        # The planned run has items of its own, and the labels of the pilot.
        item_variance = self.error**2
        label_variance = error**2 * estimate.label_share
        variance = item_variance + label_variance
        share = label_variance / variance
        times = labels_for(value, math.sqrt(variance), estimate.df, (low, high), self.tail, share)
        if times is None:
            return NeededLabels(has=estimate.labels, needed=None)
        fewest = math.ceil(FEWEST_LABELS / estimate.label_worth)  # a label chosen by doubt counts for less
        needed = max(math.ceil(times * estimate.labels), fewest)
        answers = self.estimate.attempts / max(len(self.estimate.groups), 1)
        return NeededLabels(has=estimate.labels, needed=needed if needed <= answers else None)

    def narrow_band(self) -> str:
        """Return a note if the bounds are narrower than the interval; else an empty text."""
        from pytest_fairness.stats.power import is_narrow
        from pytest_fairness.stats.quantiles import t_quantile

        if not is_narrow(self.error, self.df, self.bounds, self.tail):
            return ""
        half_width = t_quantile(self.tail, self.df) * self.error
        middle = sum(end or 0.0 for end in self.bounds) / 2
        ends = [middle - half_width, middle + half_width]
        if self.estimate.log_scale:
            ends = [math.exp(min(end, math.log(FURTHEST))) for end in ends]
        least, most = self.estimate.span or (-math.inf, math.inf)
        ends = [max(ends[0], least), min(ends[1], most)]
        interval = f"about {ends[0]:.3g} to {ends[1]:.3g}"
        return f"its bounds are narrower than its interval, {interval}: no value is fair at this size"

    def detectable(self) -> DetectableValues:
        """Return the values nearest to the bounds that are unfair in 80% of runs."""
        below, above = self._detectable_ends((self.error, self.error))
        if self.estimate.log_scale:
            for _ in range(ROUNDS):  # the error grows with the distance, and the distance with the error
                below, above = self._detectable_ends((self._error_at(below), self._error_at(above)))
                if max(abs(below or 0.0), abs(above or 0.0)) > math.log(FURTHEST):
                    break  # it diverges: with so few items no ratio is detectable
            furthest = math.log(FURTHEST)
            below, above = (None if end is None or abs(end) > furthest else math.exp(end) for end in (below, above))
        elif self.estimate.absolute:
            below = None
        least, most = self.estimate.span or (-math.inf, math.inf)
        return DetectableValues(
            metric=self.estimate.title,
            below=below if below is not None and below >= least else None,
            above=above if above is not None and above <= most else None,
        )

    def _detectable_ends(self, errors: tuple[float, float]) -> tuple[float | None, float | None]:
        from pytest_fairness.stats.power import detectable

        ends = [detectable(error, self.df, self.bounds, self.tail) for error in errors]
        return ends[0][0], ends[1][1]

    def _error_at(self, log: float | None) -> float:
        """Return the error of the logarithm of a ratio, if one group's rate is lower by that ratio.

        It is computed from the binomial variances of the logarithms of rates, or of those of their odds.
        """
        from pytest_fairness.stats.power import rate_variance

        mean = self._mean_rate
        if log is None or mean is None:
            return self.error
        pairs = list(self.estimate.groups.values())[:2], (mean, mean * self._rate_ratio(math.exp(-abs(log))))
        variance, lower_variance = (sum(rate_variance(self.estimate.kind, rate) for rate in pair) for pair in pairs)
        return self.error * math.sqrt(lower_variance / variance)


def _deciding_estimate(judgment: Judgment) -> Estimate | None:
    """Return the deciding estimate, if it has a usable error."""
    if judgment.deciding is None:
        return None
    estimate = judgment.deciding.estimate
    is_usable = not estimate.invalid and 0 < estimate.error < math.inf and math.isfinite(estimate.value)
    return estimate if is_usable and (not estimate.log_scale or estimate.value > 0) else None


def _log(value: float | None) -> float | None:
    return None if value is None or value <= 0 else math.log(value)
