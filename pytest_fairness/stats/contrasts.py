"""Estimates of groups: of one, and of one against another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats import naming
from pytest_fairness.stats.fillings import Group, hull
from pytest_fairness.stats.intervals import (
    FEWEST_EVENTS,
    Ends,
    Spread,
    difference_interval,
    difference_spread,
    mean_interval,
    mean_spread,
    ratio_interval,
    ratio_spread,
)
from pytest_fairness.stats.naming import Name
from pytest_fairness.stats.quantiles import t_quantile
from pytest_fairness.stats.sums import Part
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

StrictTail = Callable[[float], float]
"""From a tail to the smaller one at which all of a family hold together."""

NO_VARIATION = "all outcomes are equal and their range is not known: no variation to judge by"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all estimates of one sample share."""

    confidence: float
    slice: Mapping[str, str]

    @property
    def tail(self) -> float:
        return (1 - self.confidence) / 2

    def estimate(self, name: Name, value: float, ends: Ends, **more: Any) -> Estimate:
        low, high = ends
        return Estimate(*name, value, low, high, confidence=self.confidence, slice=self.slice, **more)

    def invalid(self, name: Name, reason: str, **more: Any) -> Estimate:
        return self.estimate(name, math.nan, (math.nan, math.nan), invalid=reason, **more)


def counted(groups: Sequence[Group], items: int) -> dict[str, Any]:
    """What an estimate says of its groups, whatever it came to."""
    return {
        "items": items,
        "sources": int(np.count_nonzero(np.sum([group.missing.counts[0] for group in groups], axis=0))),
        "attempts": sum(group.attempts for group in groups),
        "ungraded": {group.name: group.ungraded for group in groups},
        "groups": {} if len(groups) == 1 else {group.name: group.graded.value for group in groups},
    }


def noted(name: Name, groups: Sequence[Group]) -> Name:
    """The name, saying where labels have corrected it."""
    labels = sum(group.judged.labels for group in groups if group.judged is not None)
    return naming.corrected_name(name, labels) if labels else name


def mean_estimate(
    setting: Setting,
    name: Name,
    group: Group,
    items: int,
    breakdown: LazyBreakdown | None = None,
    strict_tail: StrictTail | None = None,
) -> Estimate:
    """A rate, or a mean; ``strict_tail`` as in `ratio_estimate`."""
    counts = counted([group], items) | {"breakdown": breakdown}
    if group.graded.binary:
        counts["count"] = int(group.graded.totals[0].sum())
    name = noted(name, [group])
    if reason := invalid_reason([group]):
        return setting.invalid(name, reason, **counts)
    ends = hull(mean_interval, [group], setting.tail)
    found = mean_spread(group.graded)
    counts |= _ends_at(setting, partial(hull, mean_interval, [group]), strict_tail)
    counts["repetition_share"] = _repetition_share([group.graded], found.error)
    return _finished(setting, name, group.graded.value, ends, found, [group], **counts)


def difference_estimate(
    setting: Setting,
    name: Name,
    first: Group,
    second: Group,
    items: int,
    breakdown: LazyBreakdown,
    strict_tail: StrictTail | None = None,
) -> Estimate:
    """The rate or mean of one group less that of another; ``strict_tail`` as in `ratio_estimate`."""
    counts = counted([first, second], items) | {"breakdown": breakdown}
    name = noted(name, [first, second])
    if reason := invalid_reason([first, second]):
        return setting.invalid(name, reason, **counts)
    value = first.graded.value - second.graded.value
    ends = hull(difference_interval, [first, second], setting.tail)
    found = difference_spread(first.graded, second.graded)
    counts |= _ends_at(setting, partial(hull, difference_interval, [first, second]), strict_tail)
    counts["repetition_share"] = _repetition_share([first.graded, second.graded], found.error)
    return _finished(setting, name, value, ends, found, [first, second], **counts)


def ratio_reason(first: Group, second: Group) -> str:
    """Why two groups have no ratio; empty where they have."""
    if reason := invalid_reason([first, second]):
        return reason
    binary = first.graded.binary and second.graded.binary
    if not binary and min(first.lowest.value, second.lowest.value, first.graded.value, second.graded.value) <= 0:
        return (
            f"a mean of {first.name} or {second.name} is not above zero: their ratio is not defined, take a difference"
        )
    if first.graded.value == 0 and second.graded.value == 0:
        return f"no events of {first.name} nor of {second.name}: their ratio is not defined"
    return ""


def ratio_estimate(
    setting: Setting,
    name: Name,
    first: Group,
    second: Group,
    items: int,
    breakdown: LazyBreakdown,
    strict_tail: StrictTail | None = None,
) -> Estimate:
    """A ratio; as a member of a family it has wider ends, at ``strict_tail`` of a tail, for claims of unfairness."""
    counts = counted([first, second], items) | {"breakdown": breakdown}
    name = noted(name, [first, second])
    if reason := ratio_reason(first, second):
        return setting.invalid(name, reason, **counts)
    one, other = first.graded, second.graded
    ends_at = partial(hull, ratio_interval, [first, second])
    ends = ends_at(setting.tail)
    counts |= _ends_at(setting, ends_at, strict_tail)
    for group in (first, second):
        if group.graded.rate and group.graded.effective * group.graded.value < FEWEST_EVENTS:
            counts["sparse"] = f"fewer than {FEWEST_EVENTS} effective events of {group.name}"
    if one.value == 0 or other.value == 0:
        error = ends[1] / 2 / t_quantile(setting.tail, math.inf) if other.value else math.nan
        value = 0.0 if one.value == 0 else math.inf
        return setting.estimate(
            name, value, ends, error=error, suspect=suspect_reason([first, second], setting.tail), **counts
        )
    value = one.value / other.value
    log = ratio_spread(one, other)
    found = Spread(value * log.error, log.df)
    counts["repetition_share"] = _repetition_share([one, other], log.error, relative=True)
    return _finished(setting, name, value, ends, found, [first, second], **counts)


def _ends_at(setting: Setting, ends_at: Callable[[float], Ends], strict_tail: StrictTail | None) -> dict[str, Any]:
    """The ends at any tail, and the wider ones of a member of a family."""
    if strict_tail is None:
        return {"ends_at": ends_at}
    low, high = ends_at(strict_tail(setting.tail))

    def strict_at(tail: float) -> Ends:
        return ends_at(strict_tail(tail))

    return {"ends_at": ends_at, "strict_low": low, "strict_high": high, "strict_at": strict_at}


def _repetition_share(parts: Sequence[Part], error: float, *, relative: bool = False) -> float | None:
    """What part of a squared error more repetitions could remove; ``relative``: of the error of a logarithm."""
    repeated = [part.repeated for part in parts]
    if error == 0 or any(variance is None for variance in repeated):
        return None
    slopes = [1 / part.value if relative else 1.0 for part in parts]
    total = sum(slope**2 * (variance or 0.0) for slope, variance in zip(slopes, repeated, strict=True))
    return min(1.0, total / error**2)


def _finished(
    setting: Setting,
    name: Name,
    value: float,
    ends: Ends,
    found: Spread,
    of: Sequence[Group],
    **counts: Any,
) -> Estimate:
    if math.isinf(ends[0]) and math.isinf(ends[1]):
        return setting.invalid(name, NO_VARIATION, **counts)
    error = found.error
    if error == 0:  # what the interval gives away
        error = (ends[1] - ends[0]) / 2 / t_quantile(setting.tail, found.df)
    counts.setdefault("sparse", next((each.judged.open for each in of if each.judged and each.judged.open), ""))
    suspect = suspect_reason(of, setting.tail)
    return setting.estimate(name, value, ends, error=error, df=found.df, suspect=suspect, **counts)
