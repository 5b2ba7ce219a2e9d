"""Estimates of groups: of one, and of one against another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats import metric_names
from pytest_fairness.stats.calibration.estimators import CorrectedSums
from pytest_fairness.stats.clusters import FEWEST_EVENTS, ClusterSums
from pytest_fairness.stats.contrasts import contrast, unseen_ends
from pytest_fairness.stats.history import EarlierEstimate, EarlierGroups, adjust_by_history
from pytest_fairness.stats.linear_estimate import NO_ERROR, UNBOUNDED, Ends, EndsAt, LinearEstimate
from pytest_fairness.stats.metric_names import MetricName
from pytest_fairness.stats.outcome_vectors import GroupOutcomes
from pytest_fairness.stats.quantiles import t_quantile
from pytest_fairness.stats.validity import invalid_reason, suspect_reason
from pytest_fairness.stats.worst_case import fillings

StrictTail = Callable[[float], float]
"""A function from a tail to the smaller one at which all of a family hold together."""

NO_VARIATION = "all outcomes are equal and their range is not known: no variation to judge by"


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings that all estimates of one sample share."""

    confidence: float
    slice: Mapping[str, str]
    note: str = ""
    """The end of the titles of estimates."""

    @property
    def tail(self) -> float:
        return (1 - self.confidence) / 2

    def _noted(self, name: MetricName) -> MetricName:
        return replace(name, note=f"{name.note}{self.note}")

    def invalid(self, name: MetricName, reason: str, value: float = math.nan, **more: Any) -> Estimate:
        """Return an estimate that makes no claim, with the reason."""
        return Estimate(
            **self._noted(name).fields(),
            value=value,
            low=math.nan,
            high=math.nan,
            confidence=self.confidence,
            slice=self.slice,
            invalid=reason,
            **more,
        )

    def estimate(
        self, name: MetricName, fillings: Sequence[LinearEstimate], strict_tail: StrictTail | None = None, **more: Any
    ) -> Estimate:
        """Return the estimate with its ends, its error and whether a claim may rest on it.

        Args:
            name: What it is called.
            fillings: As graded, then with the ungraded attempts filled in each way: the interval holds for all
                (Manski's 2003 worst-case bounds, with sampling error).
            strict_tail: Of a member of a family: where claims of unfairness are made.
            more: Fields of the estimate.
        """
        graded = fillings[0]

        def ends_at(tail: float) -> Ends:
            ends = [filling.ends(tail) for filling in fillings]
            return min(low for low, _ in ends), max(high for _, high in ends)

        low, high = ends_at(self.tail)
        if low == high or (math.isinf(low) and math.isinf(high) and low < high):
            reason = NO_VARIATION if math.isfinite(graded.natural_error) else NO_ERROR
            return self.invalid(name, more.pop("invalid", "") or reason, graded.value, **more)
        more["sparse"] = more.get("sparse") or graded.open
        if graded.open and not graded.bounded:  # then nothing bounds the error of the opposite claim either
            more |= {"strict_low": -math.inf, "strict_high": math.inf, "strict_at": lambda _: UNBOUNDED}
        elif strict_tail is not None:
            strict = ends_at(strict_tail(self.tail))
            more |= {"strict_low": strict[0], "strict_high": strict[1]}
            more["strict_at"] = lambda tail: ends_at(strict_tail(tail))
        error = graded.natural_error or (high - low) / 2 / t_quantile(self.tail, graded.df)
        error = error if math.isfinite(error) else math.nan
        return Estimate(
            **self._noted(name).fields(),
            value=graded.value,
            low=low,
            high=high,
            confidence=self.confidence,
            slice=self.slice,
            error=error,
            df=graded.df,
            ends_at=ends_at,
            **more,
        )


def group_counts(groups: Sequence[GroupOutcomes], items: int) -> dict[str, Any]:
    """Return the part of an estimate about its groups, whatever its verdict."""
    return {
        "items": items,
        "sources": int(np.count_nonzero(np.sum([group.missing.counts[0] for group in groups], axis=0))),
        "attempts": sum(group.attempts for group in groups),
        "ungraded": {group.name: math.ceil(round(group.ungraded, 6)) for group in groups},
        "groups": {} if len(groups) == 1 else {group.name: group.graded.value for group in groups},
    }


def annotate_name(name: MetricName, groups: Sequence[GroupOutcomes]) -> MetricName:
    """Return the name, saying where labels have corrected it."""
    labels = sum(group.judged.labels for group in groups if group.judged is not None)
    return metric_names.corrected_name(name, labels) if labels else name


def mean_estimate(
    setting: Setting,
    name: MetricName,
    group: GroupOutcomes,
    items: int,
    breakdown: LazyBreakdown | None = None,
    strict_tail: StrictTail | None = None,
    earlier: EarlierGroups | None = None,
) -> Estimate:
    """Return a rate or a mean."""
    count = int(group.graded.totals[0].sum()) if group.graded.binary else None
    return contrast_estimate(setting, name, [group], items, breakdown, strict_tail, earlier=earlier, count=count)


def contrast_estimate(
    setting: Setting,
    name: MetricName,
    groups: Sequence[GroupOutcomes],
    items: int,
    breakdown: LazyBreakdown | None,
    strict_tail: StrictTail | None = None,
    *,
    log: bool = False,
    earlier: EarlierGroups | None = None,
    **more: Any,
) -> Estimate:
    """Return the rate or mean of one group, of one less that of another, or (``log``) of one over that of another.

    ``earlier`` holds the same groups of the answers of earlier models, by which it is adjusted where that helps.
    """
    counts = group_counts(groups, items) | {"breakdown": breakdown} | more
    name = annotate_name(name, groups)
    if reason := comparison_reason(groups, log=log):
        return setting.invalid(name, reason, **counts)
    ways = list(fillings(groups))
    estimates = [contrast(parts, (1, -1)[: len(groups)], log=log) for parts in ways]
    graded = [group.graded for group in groups]
    counts["repetition_share"] = _repetition_share(graded, estimates[0].error, relative=log)
    counts |= _label_counts(groups, estimates[0].error, relative=log)
    counts["sparse"] = sparse_reason(groups, log=log)
    counts["suspect"] = suspect_reason(groups, setting.tail)
    counts["span"] = _possible_span(graded, log=log)
    if earlier is not None and (closer := _adjusted(estimates, ways, groups, earlier, log=log)):
        estimates, counts["repetition_share"] = closer, None
        name = metric_names.history_name(name, sum(group.attempts for group in earlier.whole))
    return setting.estimate(name, estimates, strict_tail, **counts)


def _possible_span(parts: Sequence[ClusterSums], *, log: bool) -> Ends | None:
    """Return the lowest and the highest value of a rate, a difference of rates or a ratio; None for other numbers."""
    if log:
        return 0.0, math.inf
    if not all(part.rate or part.is_propensity for part in parts):
        return None
    return (0.0, 1.0) if len(parts) == 1 else (-1.0, 1.0)


def _adjusted(
    estimates: Sequence[LinearEstimate],
    ways: Sequence[Sequence[ClusterSums]],
    groups: Sequence[GroupOutcomes],
    earlier: EarlierGroups,
    *,
    log: bool,
) -> list[LinearEstimate] | None:
    """Return estimates adjusted by earlier answers; None where they are no closer, or their error not known."""
    kinds = [*groups, *earlier.whole, *earlier.part]
    if any(group.judged is not None or group.graded.is_propensity for group in kinds):
        return None
    if any(comparison_reason(of, log=log) for of in (earlier.whole, earlier.part)):
        return None
    signs = (1, -1)[: len(groups)]

    def earlier_estimate(of: Sequence[GroupOutcomes]) -> EarlierEstimate:
        parts = [group.graded for group in of]
        estimate = contrast(parts, signs, log=log)
        return EarlierEstimate(estimate, estimate.influences[0], _unseen(parts, log=log))

    whole, part = earlier_estimate(earlier.whole), earlier_estimate(earlier.part)
    made: list[LinearEstimate] = []
    for plain, parts in zip(estimates, ways, strict=True):
        if math.isinf(plain.value) or len(plain.influences[0]) != len(earlier.clusters.clusters):
            return None
        events = min(part.events for part in parts) if all(part.binary for part in parts) else math.inf
        influences = earlier.clusters.summed(plain.influences[0])
        closer = adjust_by_history(plain, influences, _unseen(parts, log=log), whole, part, events)
        if closer is None and not made:
            return None
        made.append(plain if closer is None else closer)
    return made


def _unseen(parts: Sequence[ClusterSums], *, log: bool) -> EndsAt | None:
    """Return what an unseen share of prompts at an extreme would give; None where no extreme is known."""
    if any(part.span is None for part in parts):
        return None
    return partial(unseen_ends, parts, (1, -1)[: len(parts)], log=log)


def sparse_reason(groups: Sequence[GroupOutcomes], *, log: bool) -> str:
    """Return why the counts of these groups support no claim of fairness; empty where they do."""
    for group in groups:
        if group.judged is not None and group.judged.open:
            return group.judged.open
        if log and group.graded.rate and group.graded.effective * group.graded.value < FEWEST_EVENTS:
            return f"fewer than {FEWEST_EVENTS} effective events of {group.name}"
    return ""


def comparison_reason(groups: Sequence[GroupOutcomes], *, log: bool) -> str:
    """Return why groups have no difference or (``log``) no ratio; empty where they have one."""
    reason = invalid_reason(groups)
    if reason or not log:
        return reason
    first, second = groups
    binary = first.graded.binary and second.graded.binary
    if not binary and min(first.lowest.value, second.lowest.value, first.graded.value, second.graded.value) <= 0:
        return (
            f"a mean of {first.name} or {second.name} is not above zero: their ratio is not defined, take a difference"
        )
    if first.graded.value == 0 and second.graded.value == 0:
        return f"no events of {first.name} nor of {second.name}: their ratio is not defined"
    return ""


def _label_counts(groups: Sequence[GroupOutcomes], error: float, *, relative: bool) -> dict[str, Any]:
    """Return what part of a squared error more labels could remove, and the fewest labels of a group."""
    judged = [(group.graded, group.judged) for group in groups if group.judged is not None]
    if not judged or len(judged) < len(groups) or not error > 0:
        return {}
    parts = [part for part, _ in judged if isinstance(part, CorrectedSums)]
    total = sum(part.label_variance / (part.value**2 if relative else 1.0) for part in parts)
    return {
        "label_share": min(1.0, total / error**2),
        "labels": min(accuracy.labels for _, accuracy in judged),
        "label_worth": min(accuracy.worth / max(accuracy.labels, 1) for _, accuracy in judged),
    }


def _repetition_share(parts: Sequence[ClusterSums], error: float, *, relative: bool) -> float | None:
    """Return what part of a squared error more repetitions could remove; ``relative``: of the error of a logarithm."""
    repeated = [part.repeated for part in parts]
    if error == 0 or any(variance is None for variance in repeated):
        return None
    slopes = [1 / part.value if relative else 1.0 for part in parts]
    total = sum(slope**2 * (variance or 0.0) for slope, variance in zip(slopes, repeated, strict=True))
    return min(1.0, total / error**2)
