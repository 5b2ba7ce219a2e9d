"""Metrics that a third party's code computes from whole items, each with an interval all the same.

Such code is no function of sums, so nothing can be taken out of its result: it is run again
without each of up to 100 groups of items (the delete-a-group jackknife: Kott 2001, Journal of
Official Statistics 17, 521-526).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.comparisons import for_threshold
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.stats.columns import Codes, Floats
from pytest_fairness.stats.custom_metrics import check_span, influences
from pytest_fairness.stats.group_estimates import group_counts
from pytest_fairness.stats.linear_estimate import IDENTITY, Ends, LinearEstimate
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.metric_names import metric_name
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector
from pytest_fairness.stats.outcomes import NO_ATTEMPTS
from pytest_fairness.stats.quantiles import unseen_share
from pytest_fairness.stats.selection import Selection
from pytest_fairness.stats.validity import invalid_reason, suspect_reason
from pytest_fairness.stats.worst_case import group

MOST_GROUPS = 100
"""Number of groups of items that are left out in turn: an error by 100 groups is itself uncertain by 7%."""

Items = Sequence[Sequence[GradedAttempt]]


class ExternalMetricAdapter(Protocol):
    """The interface of a third party's metrics."""

    grade: str
    """The grade it reads."""

    @property
    def values(self) -> Sequence[Any]:
        """The grades that an attempt can have; empty where nobody can list them."""
        ...

    def prepared(self, attempts: Sequence[GradedAttempt]) -> Any:
        """Return one item, from its graded attempts, as `calculate` takes it."""
        ...

    def calculate(self, items: Sequence[Any]) -> Mapping[str, float]:
        """Return every metric by its name, nan where it has no value."""
        ...

    def kind(self, attempt: GradedAttempt) -> Hashable:
        """Return the kind of an attempt: among those of one kind a grade moves every metric the same way."""
        ...


@dataclass(frozen=True, slots=True)
class _Reach:
    """Distances that metrics can move, downwards (at most 0) and upwards; one number a metric."""

    below: Floats
    above: Floats


class ExternalMetrics(Mapping[str, Estimate]):
    """The estimates of all metrics of a calculator, by name.

    Items are left out whole, those of one source, or with an answer in common, together.
    Ungraded attempts are left to the calculator; the ends hold for the worst way to grade those of each kind
    of attempt. Where (almost) no group of items differs, an unseen share of the items could have been graded
    otherwise: the ends reach that far. ``scales`` are for marks, ``spans`` the ranges that metrics
    cannot leave, ``slice`` what the results file says of each. Each estimate that is taken is recorded
    by the threshold test.

    Raises `FairnessError` where the calculator fails on the whole sample.
    """

    def __init__(
        self,
        measured: Measured,
        calculator: ExternalMetricAdapter,
        scales: Mapping[str, MarkScale] | None = None,
        spans: Mapping[str, tuple[float, float]] | None = None,
        slice: Mapping[str, str] | None = None,
    ) -> None:
        self._calculator = calculator
        self._scales = scales or {}
        self._spans = spans or {}
        self._setting = replace(measured.selection.setting, slice={**(slice or {}), **measured.selection.setting.slice})
        self._items = _by_item(measured.selection)
        self._count = measured.items
        self._clusters = _clusters_of(measured.selection)
        self.prepared: Sequence[Any] = [calculator.prepared(attempts) for attempts in self._items]
        self._groups = _groups(measured.selection, calculator.grade)
        self._whole: Mapping[str, float] = {}
        self._invalid = invalid_reason(self._groups[:1])
        if not self._invalid:
            self._measure()

    def _measure(self) -> None:
        try:
            self._whole = dict(self._calculator.calculate(self.prepared))
        except Exception as error:  # somebody else's code
            raise FairnessError(f"the metrics cannot be computed: {type(error).__name__}: {error}") from error
        self._names = list(self._whole)
        self._values = np.array([self._whole[name] for name in self._names], dtype=np.float64)
        self._every = np.vstack([self._values, self._without_each()])
        self._ungraded = self._reach_of_ungraded()
        self._unseen = self._reach_of_unseen()

    @property
    def _sources(self) -> int:
        """The number of clusters of items."""
        return int(self._clusters.max(initial=-1)) + 1

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of one metric. Raises `FairnessError` for a name that is none."""
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
        value, without = float(self._values[index]), self._every[1:, index]
        if not (math.isfinite(value) and np.isfinite(without).all()):
            reason = f"{name} has no value" if not math.isfinite(value) else f"{name} has no value without some items"
            return self._setting.invalid(metric_name(name), reason, value, **counts)
        span = counts["span"] = self._spans.get(name)
        check_span(value, span)
        made = self._linear(index, span)
        if (of_size := self._of_size(index)) is not None:
            # A jackknife sees no error at the bend of a size: its interval is that of what it is the size of.
            signed = self._linear(of_size[0], self._spans.get(self._names[of_size[0]]))
            made = replace(signed, value=value, derived=partial(_size_ends, signed, of_size[1]))
        return self._setting.estimate(metric_name(name), [made], **counts, suspect=self._suspect(self._setting.tail))

    def _linear(self, index: int, span: Ends | None) -> LinearEstimate:
        value, without = float(self._values[index]), self._every[1:, index]
        deviations = influences(without, value, IDENTITY)
        below, above = float(self._ungraded.below[index]), float(self._ungraded.above[index])
        unseen = partial(self._unseen_ends, index) if self._calculator.values else None
        degrees = max(len(deviations) - 1.0, 1.0)
        return LinearEstimate(
            value, [deviations], [degrees], self._sources, span=span, unseen=unseen, shift=(below, above)
        )

    def _unseen_ends(self, index: int, tail: float) -> Ends:
        # Linear in the share: it is computed at the confidence of the sample, and asked for at others.
        share = unseen_share(self._sources, tail) / unseen_share(self._sources, self._setting.tail)
        value = float(self._values[index])
        return value + share * float(self._unseen.below[index]), value + share * float(self._unseen.above[index])

    def _of_size(self, index: int) -> tuple[int, float] | None:
        """Return the metric that this one is the size of, and its center.

        A jackknife sees no error at the bend of a size.

        Found by their values, the whole's and those without each group of items.
        """
        for center in (0.0, 0.5):
            sizes = np.abs(self._every - center)
            for other in range(len(self._names)):
                alike = other != index and np.allclose(sizes[:, other], self._every[:, index], rtol=0, atol=1e-12)
                if (
                    alike
                    and np.ptp(self._every[:, index]) > 0
                    and (self._every[:, other] != self._every[:, index]).any()
                ):
                    return other, center
        return None

    def _suspect(self, tail: float) -> str:
        if not self._calculator.values and self._groups[0].ungraded:
            return f"{self._groups[0].ungraded:,} attempts are ungraded and could have had any grade"
        return suspect_reason(self._groups[1:] or self._groups, tail)

    def _without_each(self) -> Floats:
        """Return the metrics without each group of items in turn: shape (groups, metrics)."""
        number = min(self._sources, MOST_GROUPS)
        codes = (np.random.default_rng(0).permutation(self._sources) % number)[self._clusters]
        return np.array(
            [self._run([self.prepared[at] for at in np.flatnonzero(codes != of).tolist()]) for of in range(number)]
        )

    def _reach_of_ungraded(self) -> _Reach:
        kinds: dict[Hashable, set[int]] = {}
        for index, attempts in enumerate(self._items):
            for attempt in attempts:
                if attempt.grades[self._calculator.grade].ungraded:
                    kinds.setdefault(self._calculator.kind(attempt), set()).add(index)
        below, above = np.zeros(len(self._names)), np.zeros(len(self._names))
        for kind, places in kinds.items():
            effects = [self._effect(places, value, partial(self._is_open, kind)) for value in self._calculator.values]
            below += np.min([below * 0, *effects], axis=0)
            above += np.max([above * 0, *effects], axis=0)
        return _Reach(below, above)

    def _is_open(self, kind: Hashable, attempt: GradedAttempt) -> bool:
        ungraded = attempt.grades[self._calculator.grade].ungraded is not None
        return ungraded and self._calculator.kind(attempt) == kind

    def _reach_of_unseen(self) -> _Reach:
        """Return how far metrics move if an unseen share of the items had been graded otherwise, all with one value."""
        number = math.ceil(unseen_share(self._sources, self._setting.tail) * len(self._items))
        places = set(np.random.default_rng(1).permutation(len(self._items))[:number].tolist())
        effects = [self._effect(places, value, lambda _: True) for value in self._calculator.values]
        zero = self._values * 0
        return _Reach(np.min([zero, *effects], axis=0), np.max([zero, *effects], axis=0))

    def _effect(self, places: set[int], value: Any, chosen: Callable[[GradedAttempt], bool]) -> Floats:
        items = list(self.prepared)
        for index in places:
            filled = [
                replace(attempt, grades={**attempt.grades, self._calculator.grade: Grade(value)})
                if chosen(attempt)
                else attempt
                for attempt in self._items[index]
            ]
            items[index] = self._calculator.prepared(filled)
        return np.nan_to_num(self._run(items) - self._values)

    def _run(self, items: Sequence[Any]) -> Floats:
        try:
            metrics = self._calculator.calculate(items)
        except (ArithmeticError, LookupError, TypeError, ValueError):  # too few items for somebody else's code
            metrics = {}
        return np.array([metrics.get(name, math.nan) for name in self._names], dtype=np.float64)


def _by_item(selection: Selection) -> list[list[GradedAttempt]]:
    attempts = selection.columns.attempts
    if not attempts and selection.columns.count:
        raise FairnessError(NO_ATTEMPTS)
    by_item: dict[str, list[GradedAttempt]] = {}
    for row in selection.rows.tolist():
        by_item.setdefault(attempts[row].item.id, []).append(attempts[row])
    return list(by_item.values())


def _clusters_of(selection: Selection) -> Codes:
    """Return the cluster of each item, numbered from 0; in the order of `_by_item`."""
    codes: dict[str, int] = {}
    for row in selection.rows.tolist():
        codes.setdefault(selection.columns.attempts[row].item.id, int(selection.clusterings[0].codes[row]))
    return np.unique(list(codes.values()), return_inverse=True)[1].astype(np.int64)


def _groups(selection: Selection, grade: str) -> list[GroupOutcomes]:
    """Return all attempts, then those about each gender where the prompts name whom they are about."""
    attempts = selection.columns.attempts
    graded = np.array([math.nan if attempt.grades[grade].ungraded else 1.0 for attempt in attempts])
    reading = OutcomeVector("", graded, graded, graded, None)
    groups = [group("all", reading, selection.rows, selection.clusterings)]
    if all("gender" in attempts[row].prompt.groups for row in selection.rows.tolist()):
        names = selection.groups("gender") if len(selection.rows) else ()
        groups += [group(name, reading, selection.rows_of("gender", name), selection.clusterings) for name in names]
    return groups


def _size_ends(signed: LinearEstimate, center: float, tail: float) -> Ends:
    """Return ends of the size of a value about a center, from those of the value."""
    low, high = (end - center for end in signed.ends(tail))
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
