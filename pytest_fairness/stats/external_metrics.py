"""Metrics that third-party code computes from whole items, with intervals by a delete-a-group jackknife.

Such code is no function of sums, so the influence of an item cannot be read from its result. It is run again
without each of up to 100 groups of items (Kott 2001, Journal of Official Statistics 17, 521-526).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.comparisons import for_threshold
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.stats.columns import Codes, Floats
from pytest_fairness.stats.custom_metrics import check_span, influences, unseen_number
from pytest_fairness.stats.group_estimates import group_counts
from pytest_fairness.stats.linear_estimate import IDENTITY, ROUNDING, UNBOUNDED, Ends, LinearEstimate, degrees
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.metric_names import metric_name
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector, group
from pytest_fairness.stats.outcomes import NO_ATTEMPTS
from pytest_fairness.stats.quantiles import t_quantile, unseen_share
from pytest_fairness.stats.selection import Selection
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

MOST_GROUPS = 100
"""Largest number of groups of items that are left out in turn: with 100, an error is itself uncertain by 7%."""
HALVES = 39
"""Number of random halves of the sample: a value beyond all of theirs has a probability of 1 in 40 on either side."""
LARGEST_DEPARTURE = 0.5
"""Departure of halves from what single groups of items explain, in errors, from which these may hide an error."""


class ExternalMetricAdapter(Protocol):
    """The interface of a third party's metrics."""

    grade: str
    """The name of the grade that the metrics read."""

    @property
    def values(self) -> Sequence[Any]:
        """All values that the grade can have; empty where they cannot be listed."""
        ...

    def is_unread(self, value: Any) -> bool:
        """Return whether the third party's own grader could not grade an answer, whatever value it gave it."""
        ...

    def prepare(self, attempts: Sequence[GradedAttempt]) -> Any:
        """Return one item, from its graded attempts, in the form that `calculate` takes."""
        ...

    def calculate(self, items: Sequence[Any]) -> Mapping[str, float]:
        """Return every metric by its name, nan where it has no value."""
        ...

    def kind(self, attempt: GradedAttempt) -> Hashable:
        """Return the kind of an attempt: a grade moves every metric in the same direction for all of one kind."""
        ...


@dataclass(frozen=True, slots=True)
class _Shifts:
    """The largest shifts of each metric downwards (at most 0) and upwards, shape (metrics,)."""

    below: Floats
    above: Floats


class ExternalMetrics(Mapping[str, Estimate]):
    """The estimates of all metrics of third-party code, by name.

    Items are left out whole, and together where they share a source or an answer.
    Ungraded attempts are left to the third-party code; the ends hold for the worst grades of the attempts of each
    kind. Where (almost) no group of items differs, an unseen share of the items could have been graded
    otherwise: the ends are moved as far. A threshold test records each estimate that it reads.

    Args:
        measured: The sample.
        adapter: The third-party code.
        scales: The scale of marks of some metrics.
        spans: The range that some metrics cannot leave.
        slice: Keys and values that the results file adds to the slice of each estimate.

    Raises:
        FairnessError: The third-party code fails on the whole sample.
    """

    def __init__(
        self,
        measured: Measured,
        adapter: ExternalMetricAdapter,
        scales: Mapping[str, MarkScale] | None = None,
        spans: Mapping[str, tuple[float, float]] | None = None,
        slice: Mapping[str, str] | None = None,
    ) -> None:
        self._adapter = adapter
        self._scales = scales or {}
        self._spans = spans or {}
        self._setting = replace(measured.selection.setting, slice={**(slice or {}), **measured.selection.setting.slice})
        self._items = _attempts_by_item(measured.selection)
        self._count = measured.items
        self._clusters = _item_clusters(measured.selection)
        self._sizes: Floats = np.bincount(self._clusters, weights=list(map(len, self._items))).astype(np.float64)
        self._left_out = _random_groups(len(self._sizes))
        self.prepared_items: Sequence[Any] = [adapter.prepare(attempts) for attempts in self._items]
        self._groups = _groups(measured.selection, adapter)
        self._whole: Mapping[str, float] = {}
        self._invalid = invalid_reason(self._groups[:1])
        if not self._invalid:
            self._measure()

    def _measure(self) -> None:
        """Compute the metrics of the sample, their jackknife replicates and their worst-case shifts."""
        try:
            self._whole = dict(self._adapter.calculate(self.prepared_items))
        except Exception as error:  # third-party code may raise anything
            raise FairnessError(f"the metrics cannot be computed: {type(error).__name__}: {error}") from error
        self._names = list(self._whole)
        self._values = np.array([self._whole[name] for name in self._names], dtype=np.float64)
        self._replicates = self._jackknife_replicates()
        self._halves, self._half_values = self._half_samples()
        self._ungraded = self._ungraded_shifts()
        self._unseen: dict[float, _Shifts] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of one metric.

        Raises:
            FairnessError: There is no metric of that name.
        """
        if not self._invalid and name not in self._whole:
            raise FairnessError(f"there is no metric {name!r}; {did_you_mean(name, self._whole)}")
        estimate = self._estimate(name)
        return for_threshold(estimate if name not in self._scales else estimate.marked(self._scales[name]))

    def _estimate(self, name: str) -> Estimate:
        counts = group_counts(self._groups[:1], self._count) | {
            "ungraded": {group.name: group.ungraded for group in self._groups[1:] or self._groups}
        }
        if self._invalid:
            return self._setting.invalid(metric_name(name), self._invalid, **counts)
        index = self._names.index(name)
        value = float(self._values[index])
        if not (math.isfinite(value) and np.isfinite(self._replicates[:, index]).all()):
            reason = f"{name} has no value" if not math.isfinite(value) else f"{name} has no value without some items"
            return self._setting.invalid(metric_name(name), reason, value, **counts)
        span = counts["span"] = self._spans.get(name)
        check_span(value, span)
        estimate = self._linear_estimate(index, span)
        if (signed_metric := self._signed_metric(index)) is not None:
            # At its kink an absolute value has no jackknife error: its interval is that of the signed metric.
            other, center = signed_metric
            signed = self._linear_estimate(other, self._spans.get(self._names[other]))
            estimate = replace(signed, value=value, derived=partial(_absolute_ends, signed, center))
        return self._setting.estimate(metric_name(name), [estimate], **counts, suspect=self._suspect_reason())

    def _linear_estimate(self, index: int, span: Ends | None) -> LinearEstimate:
        value = float(self._values[index])
        deviations = influences(self._replicates[:, index], value, IDENTITY)
        sizes = self._sum_by_group(self._sizes)
        number = unseen_number(deviations, sizes, self._sizes, agree=self._has_one_grade)
        estimate = LinearEstimate(
            value,
            [deviations],
            [degrees(self._sum_by_group(np.square(self._sizes / self._sizes.sum())))],
            len(self._sizes),
            span=span,
            unseen=partial(self._unseen_ends, index, number) if self._adapter.values else None,
            shift=(float(self._ungraded.below[index]), float(self._ungraded.above[index])),
        )
        # test_end_of_a_cut_off_metric_is_that_of_the_metric_without_the_cut
        reach = self._hidden_reach(index, sizes / sizes.sum(), estimate.error)
        return estimate if reach is None else replace(estimate, derived=partial(_farther_ends, estimate, reach))

    @cached_property
    def _has_one_grade(self) -> bool:
        """Whether all graded attempts have the same grade."""
        graded = (attempt for attempts in self._items for attempt in attempts if _is_graded(attempt, self._adapter))
        values = [attempt.grades[self._adapter.grade].value for attempt in graded]
        return all(value == values[0] for value in values)

    def _sum_by_group(self, numbers: Floats) -> Floats:
        """Return the sums of numbers of clusters over those that are left out together."""
        return np.bincount(self._left_out, weights=numbers).astype(np.float64)

    def _unseen_ends(self, index: int, number: float, tail: float) -> Ends:
        # The shifts are computed for the sample's own tail; for another they are scaled, as if linear in the share.
        if number not in self._unseen:
            self._unseen[number] = self._unseen_shifts(number)
        shifts, share = self._unseen[number], unseen_share(number, tail) / unseen_share(number, self._setting.tail)
        value = float(self._values[index])
        return value + share * float(shifts.below[index]), value + share * float(shifts.above[index])

    def _signed_metric(self, index: int) -> tuple[int, float] | None:
        """Return the metric of which this one is the absolute distance from a center, and the center; None if none.

        It is recognized by the values of the sample and those without each group of items.
        """
        values = np.vstack([self._values, self._replicates])
        own = values[:, index]
        for center in (0.0, 0.5):
            distances = np.abs(values - center)
            for other in range(len(self._names)):
                is_distance = other != index and np.allclose(distances[:, other], own, rtol=0, atol=1e-12)
                if is_distance and np.ptp(own) > 0 and (values[:, other] != own).any():
                    return other, center
        return None

    def _suspect_reason(self) -> str:
        """Return why the sample supports no claim of fairness; empty where it supports one."""
        if not self._adapter.values and self._groups[0].ungraded:
            return f"{counted(round(self._groups[0].ungraded), 'ungraded attempt')} could have had any grade"
        return suspect_reason(self._groups[1:] or self._groups, self._setting.tail)

    def _jackknife_replicates(self) -> Floats:
        """Return the metrics without each group of items in turn: shape (groups, metrics)."""
        groups = self._left_out[self._clusters]
        return np.array(
            [
                self._calculate([self.prepared_items[index] for index in np.flatnonzero(groups != group).tolist()])
                for group in range(int(self._left_out.max()) + 1)
            ]
        )

    def _half_samples(self) -> tuple[Floats, Floats]:
        """Return which groups of items each random half lacks, shape (halves, groups), and its metrics."""
        groups, generator = int(self._left_out.max()) + 1, np.random.default_rng(2)
        lacking = np.argsort(generator.random((HALVES, groups)), axis=1) < groups // 2
        kept = ~lacking[:, self._left_out[self._clusters]]
        values = [[self.prepared_items[index] for index in np.flatnonzero(half).tolist()] for half in kept]
        return lacking.astype(np.float64), np.array([self._calculate(items) for items in values])

    def _hidden_reach(self, index: int, shares: Floats, error: float) -> Ends | None:
        """Return how far random halves of the sample move a metric that hides its error; None for any other.

        A metric that is cut off, as max(0, x) is, hardly changes without a single group of items, or not at all. Half
        a sample departs from the whole by one error, however many groups it lacks (Wu 1986).
        """
        value = float(self._values[index])
        single = (1 - shares) * (self._replicates[:, index] - value)
        explained = self._halves @ single / (1 - self._halves @ shares)
        moves = self._half_values[:, index] - value
        lacking = self._halves[0].mean()
        one_error = math.sqrt((1 - lacking) / lacking)
        moves, explained = (one_error * change[np.isfinite(moves)] for change in (moves, explained))
        if not len(moves):
            return None
        departure = float(np.sqrt(np.square(moves - explained).mean()))
        if departure <= LARGEST_DEPARTURE * error + ROUNDING * max(1.0, abs(value)) or float(moves.std()) <= error:
            return None
        return max(0.0, -float(moves.min())), max(0.0, float(moves.max()))

    def _ungraded_shifts(self) -> _Shifts:
        """Return the largest shifts of the metrics over all grades of the ungraded attempts, kind by kind."""
        kinds: dict[Hashable, set[int]] = {}
        for index, attempts in enumerate(self._items):
            for attempt in attempts:
                if not _is_graded(attempt, self._adapter):
                    kinds.setdefault(self._adapter.kind(attempt), set()).add(index)
        below, above = np.zeros(len(self._names)), np.zeros(len(self._names))
        for kind, items in kinds.items():
            shifts = [
                self._shift_by_grade(items, value, partial(self._is_ungraded, kind)) for value in self._adapter.values
            ]
            below += np.min([below * 0, *shifts], axis=0)
            above += np.max([above * 0, *shifts], axis=0)
        return _Shifts(below, above)

    def _is_ungraded(self, kind: Hashable, attempt: GradedAttempt) -> bool:
        """Return whether an attempt is of a kind, and ungraded."""
        return not _is_graded(attempt, self._adapter) and self._adapter.kind(attempt) == kind

    def _unseen_shifts(self, clusters: float) -> _Shifts:
        """Return the largest shifts of the metrics if an unseen share of the items all had one other grade."""
        number = math.ceil(unseen_share(clusters, self._setting.tail) * len(self._items))
        items = set(np.random.default_rng(1).permutation(len(self._items))[:number].tolist())
        shifts = [self._shift_by_grade(items, value, lambda _: True) for value in self._adapter.values]
        zero = self._values * 0
        return _Shifts(np.min([zero, *shifts], axis=0), np.max([zero, *shifts], axis=0))

    def _shift_by_grade(self, items: set[int], value: Any, is_chosen: Callable[[GradedAttempt], bool]) -> Floats:
        """Return the shifts of the metrics if the chosen attempts of some items had a grade."""
        prepared = list(self.prepared_items)
        for index in items:
            prepared[index] = self._adapter.prepare(
                [
                    replace(attempt, grades={**attempt.grades, self._adapter.grade: Grade(value)})
                    if is_chosen(attempt)
                    else attempt
                    for attempt in self._items[index]
                ]
            )
        return np.nan_to_num(self._calculate(prepared) - self._values)

    def _calculate(self, items: Sequence[Any]) -> Floats:
        """Return the metrics of some items; nan where they have none."""
        try:
            metrics = self._adapter.calculate(items)
        except (ArithmeticError, LookupError, TypeError, ValueError):  # too few items for the third-party code
            metrics = {}
        return np.array([metrics.get(name, math.nan) for name in self._names], dtype=np.float64)


def _attempts_by_item(selection: Selection) -> list[list[GradedAttempt]]:
    attempts = selection.columns.attempts
    if not attempts and selection.columns.count:
        raise FairnessError(NO_ATTEMPTS)
    by_item: dict[str, list[GradedAttempt]] = {}
    for row in selection.rows.tolist():
        by_item.setdefault(attempts[row].item.id, []).append(attempts[row])
    return list(by_item.values())


def _is_graded(attempt: GradedAttempt, adapter: ExternalMetricAdapter) -> bool:
    """Return whether an attempt has a grade, and one that the third party's grader could give.

    The metrics keep what the third party counts for an answer that it could not read, so that they equal its own; the
    interval covers every grade that such an answer could have had.
    """
    grade = attempt.grades[adapter.grade]
    return grade.ungraded is None and not adapter.is_unread(grade.value)


def _item_clusters(selection: Selection) -> Codes:
    """Return the cluster of each item, numbered from 0; in the order of `_attempts_by_item`."""
    codes: dict[str, int] = {}
    for row in selection.rows.tolist():
        codes.setdefault(selection.columns.attempts[row].item.id, int(selection.clusterings[0].codes[row]))
    return np.unique(list(codes.values()), return_inverse=True)[1].astype(np.int64)


def _random_groups(clusters: int) -> Codes:
    """Return the group of each cluster with which it is left out, numbered from 0: one for each if they are few."""
    groups: Codes = np.random.default_rng(0).permutation(clusters) % max(min(clusters, MOST_GROUPS), 1)
    return groups


def _groups(selection: Selection, adapter: ExternalMetricAdapter) -> list[GroupOutcomes]:
    """Return the group of all attempts; then one for each gender, where all prompts have one."""
    attempts = selection.columns.attempts
    graded = np.array([1.0 if _is_graded(attempt, adapter) else math.nan for attempt in attempts])
    vector = OutcomeVector("", graded, graded, graded, None)
    groups = [group("all", vector, selection.rows, selection.clusterings)]
    if all("gender" in attempts[row].prompt.groups for row in selection.rows.tolist()):
        names = selection.groups("gender") if len(selection.rows) else ()
        groups += [group(name, vector, selection.rows_of("gender", name), selection.clusterings) for name in names]
    return groups


def _farther_ends(estimate: LinearEstimate, reach: Ends, tail: float) -> Ends:
    """Return the ends of an estimate, no nearer than random halves reach below and above its value."""
    low, high = estimate.ends(tail)
    # The outermost of so many normal numbers is as far as this quantile of them.
    farther = t_quantile(tail, estimate.df) / t_quantile(1 / (HALVES + 1), math.inf)
    below, above = (farther * distance for distance in reach)
    least, most = estimate.span or UNBOUNDED
    low = min(low, estimate.value - below + estimate.shift[0])
    return max(low, least), min(max(high, estimate.value + above + estimate.shift[1]), most)


def _absolute_ends(signed: LinearEstimate, center: float, tail: float) -> Ends:
    """Return the ends of the absolute distance of a value from a center, from the ends of the value."""
    low, high = (end - center for end in signed.ends(tail))
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
