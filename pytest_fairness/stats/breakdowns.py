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
from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.custom_metrics import Functional, UndefinedError, linearize
from pytest_fairness.stats.group_estimates import mean_estimate
from pytest_fairness.stats.metric_names import mean_name
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector
from pytest_fairness.stats.selection import Selection


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """The groups of an attribute, as one estimate or the members of a family compare them."""

    sample: Selection
    vector: OutcomeVector
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
            influences=contrast_influences(self.sample, first.graded, second.graded, log=log),
        )

    def estimates(self) -> dict[str, Estimate]:
        """Return the rate or mean of each group, as `Measured.where` and then `rate` or `mean` give it."""
        return {group.name: self._estimate(group) for group in self.groups}

    def _estimate(self, of: GroupOutcomes) -> Estimate:
        setting = replace(self.sample.setting, slice={**self.sample.setting.slice, self.by: of.name})
        items = len(np.unique(self.sample.columns.items.codes[self.sample.rows_of(self.by, of.name)]))
        kind = MetricKind.RATE if self.vector.binary else MetricKind.MEAN
        return mean_estimate(setting, mean_name(kind, self.vector.name), of, items)

    def example(self, first: str, second: str) -> Callable[[int], ExampleItem | None]:
        """Return the item in which these two groups differ most, by the direction asked for."""
        rows = [self.sample.rows_of(self.by, name) for name in (first, second)]
        return partial(examples.find_pair_example, self.sample.columns, self.vector, (first, second), rows)


def _influences(sample: Selection, deviations: Floats, counts: Floats) -> dict[str, float]:
    """Return deviations of clusters, by the name of those that have attempts."""
    present = np.flatnonzero(counts).tolist()
    names = list(_cluster_names(sample))
    return {names[code]: float(deviations[code]) for code in present}


def _cluster_names(sample: Selection) -> Iterator[str]:
    """Yield the name of each cluster: its item's id, or its source."""
    attempts, codes = sample.columns.attempts, sample.clusterings[0].codes
    if not attempts:  # arrays, whose names nobody has said
        yield from map(str, range(sample.clusterings[0].size))
        return
    items = [attempts[row].item for row in np.unique(codes, return_index=True)[1]]
    by_item = np.array_equal(codes, sample.columns.items.codes)
    sources = set() if by_item else {item.source for item in items}
    for item in items:
        if not by_item and item.source is not None:
            yield item.source
        else:
            yield f"{item.id} (item)" if item.id in sources else item.id


def contrast_influences(
    sample: Selection, first: ClusterSums, second: ClusterSums, *, log: bool
) -> Mapping[str, float]:
    """Return what each cluster adds to the error of a difference of two means, or of their logarithms."""
    if not first.count or not second.count or (log and not min(first.value, second.value) > 0):
        return {}
    one, other = (part.log_deviations[0] if log else part.deviations[0] for part in (first, second))
    return _influences(sample, one - other, first.counts[0] + second.counts[0])


def mean_breakdown(sample: Selection, vector: OutcomeVector, everyone: GroupOutcomes) -> Breakdown:
    """Return the breakdown of a rate or a mean."""
    part = everyone.graded
    return Breakdown(
        example_towards=mean_example(sample, vector),
        influences=_influences(sample, part.deviations[0], part.counts[0]) if part.count else {},
    )


def mean_example(sample: Selection, vector: OutcomeVector) -> Callable[[int], ExampleItem | None]:
    """Return the item that moves a rate or a mean furthest, by the direction asked for."""
    values = vector.values[sample.rows]
    sums = np.column_stack([np.where(np.isnan(values), np.nan, 1.0), values])
    return partial(examples.find_example, sample.columns, sample.rows, examples.MEAN, sums, vector)


def functional_breakdown(
    sample: Selection, functional: Functional, values: Floats, span: tuple[float, float] | None
) -> Breakdown:
    """Return the breakdown of a function of sums of ``values`` per attempt, shape (attempts, sums)."""
    kept = ~np.isnan(values[:, 0])
    if not kept.any():
        return Breakdown()
    here = sample.clusterings[0][sample.rows[kept]]
    try:
        made = linearize(functional, values[kept], [here], span)
    except UndefinedError:
        influences: Mapping[str, float] = {}
    else:
        counts = np.bincount(here.codes, minlength=here.size).astype(np.float64)
        deviations = np.zeros(here.size)
        deviations[counts > 0] = made.influences[0] / made.scale.slope(made.value)
        influences = _influences(sample, deviations, counts)
    return Breakdown(
        example_towards=partial(examples.find_example, sample.columns, sample.rows, functional, values, None),
        influences=influences,
    )
