"""Estimates of one group, and of one group compared with another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.limits import SampleChange
from pytest_fairness.stats import metric_names
from pytest_fairness.stats.calibration.estimators import CorrectedSums
from pytest_fairness.stats.clusters import FEWEST_EVENTS, ClusterSums
from pytest_fairness.stats.columns import UNDECLARED
from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.linear_estimate import (
    IDENTITY,
    LOG,
    LOGIT,
    NO_ERROR,
    UNBOUNDED,
    Ends,
    LinearEstimate,
    Scale,
    effective_number,
)
from pytest_fairness.stats.metric_names import MetricName
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, imputations
from pytest_fairness.stats.quantiles import t_quantile
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

StrictTail = Callable[[float], float]
"""A function from a tail to the smaller tail at which all members of a family hold together."""

NO_VARIATION = "all outcomes are equal and their range is not known: no variation to judge by"

EVENTS_FOR_POWER = 6.7
"""Expected number of events of which at least `FEWEST_EVENTS` occur in 80% of runs (Poisson)."""

SIGNS = (1, -1)
"""The signs of the first and the second group in a difference."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings that all estimates of one sample share."""

    confidence: float
    slice: Mapping[str, str]
    note: str = ""
    """The end of the titles of estimates."""
    crossed: str = ""
    """The attribute that is a crossed factor."""

    @property
    def tail(self) -> float:
        """The probability to err on either side of an interval."""
        return (1 - self.confidence) / 2

    def _add_note(self, name: MetricName) -> MetricName:
        return replace(name, note=f"{name.note}{self.note}")

    def _levels_unit(self, where: str) -> str:
        return f"{self.crossed if self.crossed.startswith(UNDECLARED) else f'values of {self.crossed}'}{where}"

    def invalid(self, name: MetricName, reason: str, value: float = math.nan, **more: Any) -> Estimate:
        """Return an estimate that supports no claim, with the reason."""
        return Estimate(
            **self._add_note(name).fields(),
            value=value,
            low=math.nan,
            high=math.nan,
            confidence=self.confidence,
            slice=self.slice,
            invalid=reason,
            **more,
        )

    def estimate(
        self, name: MetricName, imputed: Sequence[LinearEstimate], strict_tail: StrictTail | None = None, **more: Any
    ) -> Estimate:
        """Return the estimate with its ends, its error and the claims that it supports.

        Args:
            name: The parts of its name.
            imputed: The estimate from graded attempts, then those under each imputation of the ungraded ones. The
                interval holds for all of them (Manski's 2003 worst-case bounds, with sampling error).
            strict_tail: Of a member of a family, the tail at which claims of unfairness are made.
            more: Fields of the estimate.
        """
        graded = imputed[0]

        def ends_at(tail: float) -> Ends:
            ends = [estimate.ends(tail) for estimate in imputed]
            return min(low for low, _ in ends), max(high for _, high in ends)

        def project(tail: float, change: SampleChange) -> tuple[float, float, float]:
            ends = [estimate.ends(tail, change) for estimate in imputed[: None if change.ungraded else 1]]
            return min(low for low, _ in ends), max(high for _, high in ends), graded.error_of(change)

        low, high = ends_at(self.tail)
        if low == high or (math.isinf(low) and math.isinf(high) and low < high):
            reason = NO_VARIATION if math.isfinite(graded.natural_error) else NO_ERROR
            return self.invalid(name, more.pop("invalid", "") or reason, graded.value, **more)
        more["sparse"] = more.get("sparse") or graded.open
        # test_few_varying_clusters_support_no_claim
        if graded.open and not graded.bounded:  # nothing bounds the error of a claim of unfairness either
            more |= {"strict_low": -math.inf, "strict_high": math.inf, "strict_at": lambda _: UNBOUNDED}
        elif strict_tail is not None:
            strict_low, strict_high = ends_at(strict_tail(self.tail))
            more |= {
                "strict_low": strict_low,
                "strict_high": strict_high,
                "strict_at": lambda tail: ends_at(strict_tail(tail)),
            }
        error = graded.natural_error or (high - low) / 2 / t_quantile(self.tail, graded.df)
        error = error if math.isfinite(error) else math.nan
        return Estimate(
            **self._add_note(name).fields(),
            value=graded.value,
            low=low,
            high=high,
            confidence=self.confidence,
            slice=self.slice,
            error=error,
            agreed=graded.natural_error == 0,
            fewest_sources=max(graded.fewest_sources, more.pop("fewest_sources", 0)),
            df=graded.df,
            ends_at=ends_at,
            projection=project,
            levels_unit=self._levels_unit(more.pop("levels_unit", "")),
            **more,
        )


def _fewest_sources(groups: Sequence[GroupOutcomes], link: Scale) -> int:
    """Return the number of sources of which enough hold an event in 80% of runs; 0 for estimates that need none."""
    if link is IDENTITY or not all(group.graded.rate for group in groups):
        return 0
    needs = []
    for part in (group.graded for group in groups):
        events = part.effective * (part.value if link is LOG else min(part.value, 1 - part.value))
        needs.append(part.equal_sources * EVENTS_FOR_POWER / events if 0 < events < FEWEST_EVENTS else 0.0)
    return math.ceil(max(needs))


def group_counts(groups: Sequence[GroupOutcomes], items: int) -> dict[str, Any]:
    """Return the fields of an estimate that describe its groups."""
    sizes = np.sum([group.missing.counts[0] for group in groups], axis=0)
    sources = int(np.count_nonzero(sizes))
    # An outcome of none or of all is as likely in a source of any size (`ClusterSums.trials`).
    is_whole = all(group.graded.binary and group.graded.value in (0, 1) for group in groups)
    return {
        "items": items,
        "levels": min((group.missing.levels for group in groups), default=0),
        "levels_unit": " in each group" if all(group.missing.is_nested for group in groups) else "",
        "sources": sources,
        "equal_sources": float(sources) if is_whole or not sources else effective_number(sizes),
        "attempts": sum(group.attempts for group in groups),
        "ungraded": {group.name: math.ceil(round(group.ungraded, 6)) for group in groups},
        "groups": {} if len(groups) == 1 else {group.name: group.graded.value for group in groups},
    }


def annotate_name(name: MetricName, groups: Sequence[GroupOutcomes]) -> MetricName:
    """Return the name, with a note where labels correct the estimate."""
    labels = sum(group.judge_accuracy.labels for group in groups if group.judge_accuracy is not None)
    return metric_names.corrected_name(name, labels) if labels else name


def mean_estimate(
    setting: Setting,
    name: MetricName,
    group: GroupOutcomes,
    items: int,
    breakdown: LazyBreakdown | None = None,
    strict_tail: StrictTail | None = None,
) -> Estimate:
    """Return the rate or mean of one group; arguments as for `contrast_estimate`."""
    count = int(group.graded.totals[0].sum()) if group.graded.binary else None
    return contrast_estimate(setting, name, [group], items, breakdown, strict_tail, count=count)


def contrast_estimate(
    setting: Setting,
    name: MetricName,
    groups: Sequence[GroupOutcomes],
    items: int,
    breakdown: LazyBreakdown | None,
    strict_tail: StrictTail | None = None,
    *,
    link: Scale = IDENTITY,
    graded: LinearEstimate | None = None,
    **more: Any,
) -> Estimate:
    """Return the rate or mean of one group, or the difference, ratio or odds ratio of two.

    Args:
        setting: The settings of the sample.
        name: The parts of its name.
        groups: One group, or two.
        items: The number of items with an attempt of one of the groups.
        breakdown: The function that gives the estimate's breakdown.
        strict_tail: Of a member of a family, the tail at which claims of unfairness are made.
        link: The function of their means in which the comparison of two groups is linear: see `contrast`.
        graded: The estimate from graded attempts, if it is computed already.
        more: Fields of the estimate.
    """
    counts = group_counts(groups, items) | {"breakdown": breakdown} | more
    name = annotate_name(name, groups)
    if reason := comparison_reason(groups, link):
        if len(groups) == 1 and groups[0].graded.count:
            counts["observed"] = groups[0].graded.value
        return setting.invalid(name, reason, **counts)
    imputed = list(imputations(groups))
    signs = SIGNS[: len(groups)]
    estimates = [graded or contrast(imputed[0], signs, link), *(contrast(parts, signs, link) for parts in imputed[1:])]
    parts = [group.graded for group in groups]
    counts["repetition_share"] = _repetition_share(parts, estimates[0].error, link)
    counts |= _label_counts(groups, estimates[0].error, link)
    counts["sparse"] = sparse_reason(groups, link)
    counts["fewest_sources"] = _fewest_sources(groups, link)
    counts["suspect"] = suspect_reason(groups, setting.tail)
    counts["span"] = _possible_span(parts, link)
    return setting.estimate(name, estimates, strict_tail, **counts)


def _possible_span(parts: Sequence[ClusterSums], link: Scale) -> Ends | None:
    """Return the lowest and the highest value of a rate, a mean, a difference or a ratio; None where not known."""
    if link is LOGIT:
        return 0.0, math.inf
    # Corrected outcomes may lie beyond 0 and 1; the rate does not.
    spans = [
        (0.0, 1.0) if part.rate and (part.span is None or isinstance(part, CorrectedSums)) else part.span or UNBOUNDED
        for part in parts
    ]
    (low, high), (least, most) = spans[0], spans[-1]
    if link is LOG:
        return max(low, 0.0) / most if most > 0 else 0.0, high / least if least > 0 else math.inf
    span = (low, high) if len(parts) == 1 else (low - most, high - least)
    return None if span == UNBOUNDED else span


def sparse_reason(groups: Sequence[GroupOutcomes], link: Scale) -> str:
    """Return why the counts of these groups support no claim of fairness; empty where they support one."""
    for group in groups:
        if group.judge_accuracy is not None and group.judge_accuracy.open:
            return group.judge_accuracy.open
        part = group.graded
        if part.undeclared_end is not None:
            end, share = part.undeclared_end
            return (
                f"{share:.0%} of the numbers of {group.name} are {end:g}, an end of their scale by the look of it: "
                "declare the range that they cannot leave (extremes)"
            )
        # test_ratio_of_rates_needs_five_events
        if link is not IDENTITY and part.rate and part.effective * part.value < FEWEST_EVENTS:
            return f"fewer than {FEWEST_EVENTS} effective events of {group.name}"
        # test_few_of_either_outcome_are_never_fair
        if link is LOGIT and part.rate and part.effective * (1 - part.value) < FEWEST_EVENTS:
            return f"fewer than {FEWEST_EVENTS} effective non-events of {group.name}"
    return ""


def comparison_reason(groups: Sequence[GroupOutcomes], link: Scale) -> str:
    """Return why groups have no difference, ratio or odds ratio; empty where they have one."""
    reason = invalid_reason(groups)
    if reason or link is IDENTITY:
        return reason
    first, second = groups
    binary = first.graded.binary and second.graded.binary
    if link is LOGIT:
        return _odds_ratio_reason(first, second, binary=binary)
    if not binary and min(first.lowest.value, second.lowest.value, first.graded.value, second.graded.value) <= 0:
        return (
            f"a mean of {first.name} or {second.name} is not above zero: their ratio is not defined, take a difference"
        )
    if first.graded.value == 0 and second.graded.value == 0:
        return f"no events of {first.name} nor of {second.name}: their ratio is not defined"
    return ""


def _odds_ratio_reason(first: GroupOutcomes, second: GroupOutcomes, *, binary: bool) -> str:
    """Return why two groups have no odds ratio; empty where they have one."""
    rates = [part.value for group in (first, second) for part in (group.graded, group.lowest, group.highest)]
    if not binary and not all(map(LOGIT.holds, rates)):
        return (
            f"a rate of {first.name} or {second.name} is not between 0 and 1: their odds ratio is not defined, "
            "take a difference"
        )
    if first.graded.value == second.graded.value == 0:
        return f"no events of {first.name} nor of {second.name}: their odds ratio is not defined"
    if first.graded.value == second.graded.value == 1:
        return f"only events of {first.name} and of {second.name}: their odds ratio is not defined"
    return ""


def _label_counts(groups: Sequence[GroupOutcomes], error: float, link: Scale) -> dict[str, Any]:
    """Return the fields of an estimate about labels: their share of the squared error, and the fewest of a group."""
    accuracies = [group.judge_accuracy for group in groups if group.judge_accuracy is not None]
    if not accuracies or len(accuracies) < len(groups) or not error > 0:
        return {}
    parts = [group.graded for group in groups if isinstance(group.graded, CorrectedSums)]
    total = sum(part.label_variance * link.slope(part.value) ** 2 for part in parts)
    return {
        "label_share": min(1.0, total / error**2),
        "labels": min(accuracy.labels for accuracy in accuracies),
        "label_worth": min(accuracy.effective_labels / max(accuracy.labels, 1) for accuracy in accuracies),
    }


def _repetition_share(parts: Sequence[ClusterSums], error: float, link: Scale) -> float | None:
    """Return the share of a squared error that more repetitions could remove; None where it is unknown.

    Args:
        parts: The graded attempts of each group.
        error: The standard error of the estimate; of a ratio, that of its logarithm.
        link: See `contrast`.
    """
    variances = [part.repeated for part in parts]
    if error == 0 or any(variance is None for variance in variances):
        return None
    slopes = [link.slope(part.value) for part in parts]
    total = sum(slope**2 * (variance or 0.0) for slope, variance in zip(slopes, variances, strict=True))
    return min(1.0, total / error**2)
