"""Breakdowns of estimates into groups, clusters and an example item, computed on access: see `core.breakdown`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pytest_fairness.core.breakdown import Breakdown, ExampleItem, LazyBreakdown
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats import examples
from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Columns, Floats, Rows
from pytest_fairness.stats.custom_metrics import Functional, UndefinedError, linear
from pytest_fairness.stats.group_estimates import Setting, mean_estimate
from pytest_fairness.stats.metric_names import mean_name
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector


@dataclass(frozen=True, slots=True)
class SampleSource:
    """The attempts that an estimate was made of."""

    columns: Columns
    rows: Rows
    clustering: Clustering
    """The first: the items or sources of all attempts in ``columns``."""
    setting: Setting

    def rows_of(self, by: str, group: str) -> Rows:
        """Return the attempts of one group."""
        attribute = self.columns.attribute(by)
        code = attribute.labels.index(group) if group in attribute.labels else len(attribute.labels)
        rows: Rows = self.rows[attribute.codes[self.rows] == code]
        return rows

    def influences(self, deviations: Floats, counts: Floats) -> dict[str, float]:
        """Return deviations of clusters, by the name of those that have attempts."""
        present = np.flatnonzero(counts).tolist()
        names = list(self._names())
        return {names[code]: float(deviations[code]) for code in present}

    def _names(self) -> Iterator[str]:
        """Yield the name of each cluster: its item's id, or its source."""
        attempts, codes = self.columns.attempts, self.clustering.codes
        if not attempts:  # arrays, whose names nobody has said
            yield from map(str, range(self.clustering.size))
            return
        items = [attempts[row].item for row in np.unique(codes, return_index=True)[1]]
        by_item = np.array_equal(codes, self.columns.items.codes)
        sources = set() if by_item else {item.source for item in items}
        for item in items:
            if not by_item and item.source is not None:
                yield item.source
            else:
                yield f"{item.id} (item)" if item.id in sources else item.id


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """The groups of an attribute, as one estimate or the members of a family compare them."""

    origin: SampleSource
    reading: OutcomeVector
    by: str
    groups: Sequence[GroupOutcomes]
    to: str | None

    def broken_down(self, *pair: GroupOutcomes, log: bool = False) -> LazyBreakdown:
        """Return the breakdown of a difference or (``log``) ratio of two groups; without a pair, of the groups."""
        return partial(self._broken_down, pair, log=log)

    def _broken_down(self, pair: Sequence[GroupOutcomes], *, log: bool) -> Breakdown:
        whole = Breakdown(self.to, self.estimates(), log=log)
        if not pair:
            return whole
        first, second = pair
        return replace(
            whole,
            example_towards=self.example(first.name, second.name),
            influences=contrast_influences(self.origin, first.graded, second.graded, log=log),
        )

    def estimates(self) -> dict[str, Estimate]:
        """Return the rate or mean of each group, as `Measured.where` and then `rate` or `mean` give it."""
        return {group.name: self._estimate(group) for group in self.groups}

    def _estimate(self, of: GroupOutcomes) -> Estimate:
        setting = replace(self.origin.setting, slice={**self.origin.setting.slice, self.by: of.name})
        items = len(np.unique(self.origin.columns.items.codes[self.origin.rows_of(self.by, of.name)]))
        kind = MetricKind.RATE if self.reading.binary else MetricKind.MEAN
        return mean_estimate(setting, mean_name(kind, self.reading.name), of, items)

    def example(self, first: str, second: str) -> Callable[[int], ExampleItem | None]:
        """Return the item in which these two groups differ most, by the direction asked for."""
        rows = [self.origin.rows_of(self.by, name) for name in (first, second)]
        return partial(examples.of_two, self.origin.columns, self.reading, (first, second), rows)


def contrast_influences(
    origin: SampleSource, first: ClusterSums, second: ClusterSums, *, log: bool
) -> Mapping[str, float]:
    """Return what each cluster adds to the error of a difference of two means, or of their logarithms."""
    if not first.count or not second.count or (log and not min(first.value, second.value) > 0):
        return {}
    one, other = (part.log_deviations[0] if log else part.deviations[0] for part in (first, second))
    return origin.influences(one - other, first.counts[0] + second.counts[0])


def of_mean(origin: SampleSource, reading: OutcomeVector, everyone: GroupOutcomes) -> Breakdown:
    """Return the breakdown of a rate or a mean."""
    part = everyone.graded
    return Breakdown(
        example_towards=mean_example(origin, reading),
        influences=origin.influences(part.deviations[0], part.counts[0]) if part.count else {},
    )


def mean_example(origin: SampleSource, reading: OutcomeVector) -> Callable[[int], ExampleItem | None]:
    """Return the item that moves a rate or a mean furthest, by the direction asked for."""
    values = reading.values[origin.rows]
    sums = np.column_stack([np.where(np.isnan(values), np.nan, 1.0), values])
    return partial(examples.of_one, origin.columns, origin.rows, examples.MEAN, sums, reading)


def of_functional(
    origin: SampleSource, functional: Functional, values: Floats, span: tuple[float, float] | None
) -> Breakdown:
    """Return the breakdown of a function of sums of ``values`` per attempt, shape (attempts, sums)."""
    kept = ~np.isnan(values[:, 0])
    if not kept.any():
        return Breakdown()
    here = origin.clustering[origin.rows[kept]]
    try:
        made = linear(functional, values[kept], [here], span)
    except UndefinedError:
        influences: Mapping[str, float] = {}
    else:
        counts = np.bincount(here.codes, minlength=here.size).astype(np.float64)
        deviations = np.zeros(here.size)
        deviations[counts > 0] = made.influences[0] / made.scale.slope(made.value)
        influences = origin.influences(deviations, counts)
    return Breakdown(
        example_towards=partial(examples.of_one, origin.columns, origin.rows, functional, values, None),
        influences=influences,
    )
