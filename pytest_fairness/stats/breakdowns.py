"""Breakdowns of estimates into groups, clusters and an example item, computed on access: see `core.breakdown`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from pytest_fairness.core.breakdown import Breakdown, ExampleResult, LazyBreakdown
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats import examples
from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.custom_metrics import Functional, UndefinedError, linearize
from pytest_fairness.stats.group_estimates import mean_estimate
from pytest_fairness.stats.linear_estimate import IDENTITY, Scale
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

    def lazy_breakdown(self, *pair: GroupOutcomes, link: Scale = IDENTITY) -> LazyBreakdown:
        """Return a function to the breakdown of a comparison of two groups (`contrast`), or of all groups."""
        return cache(partial(self._breakdown, pair, link))

    def _breakdown(self, pair: Sequence[GroupOutcomes], link: Scale) -> Breakdown:
        breakdown = Breakdown(self.to, self.estimates(), log=link is not IDENTITY)
        if not pair:
            return breakdown
        first, second = pair
        return replace(
            breakdown,
            example_towards=self.example(first.name, second.name),
            influences=contrast_influences(self.sample, first.graded, second.graded, link),
            prompt_influences=_prompt_influences(first.graded, second.graded, link),
        )

    def estimates(self) -> dict[str, Estimate]:
        """Return the rate or mean of each group, equal to that of `Measured.where` for the group."""
        return {group.name: self._estimate(group) for group in self.groups}

    def _estimate(self, group: GroupOutcomes) -> Estimate:
        setting = replace(self.sample.setting, slice={**self.sample.setting.slice, self.by: group.name})
        items = len(np.unique(self.sample.columns.items.codes[self.sample.rows_of(self.by, group.name)]))
        kind = MetricKind.RATE if self.vector.binary else MetricKind.MEAN
        return mean_estimate(setting, mean_name(kind, self.vector.name), group, items)

    def example(self, first: str, second: str) -> Callable[[int], ExampleResult | None]:
        """Return a function from a direction to the item in which these two groups differ most."""
        rows = [self.sample.rows_of(self.by, name) for name in (first, second)]
        own, others = (self.sample.columns.own_items.codes[of_group] for of_group in rows)
        if not np.isin(own, others).any():
            return partial(examples.find_one_sided_example, self.sample.columns, self.vector, first, rows[0])
        return partial(examples.find_pair_example, self.sample.columns, self.vector, (first, second), rows)


def _influences(sample: Selection, deviations: Floats, counts: Floats) -> dict[str, float]:
    """Return the influences of the clusters that have attempts, by name."""
    present = np.flatnonzero(counts).tolist()
    names = list(_cluster_names(sample))
    return {names[code]: float(deviations[code]) for code in present}


def _cluster_names(sample: Selection) -> Iterator[str]:
    """Yield the name of each cluster: its item's id, or its source."""
    attempts, codes = sample.columns.attempts, sample.clusterings[0].codes
    if not attempts:  # arrays, whose clusters have no names
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
    sample: Selection, first: ClusterSums, second: ClusterSums, link: Scale = IDENTITY
) -> Mapping[str, float]:
    """Return the influence of each cluster on the difference of two means, or of a function of them."""
    parts = (first, second)
    if not all(part.count and link.holds(part.value) for part in parts):
        return {}
    deviations = [part.deviations_on(link)[0] for part in parts]
    return _influences(sample, deviations[0] - deviations[1], first.counts[0] + second.counts[0])


def _prompt_influences(first: ClusterSums, second: ClusterSums, link: Scale) -> Sequence[float] | None:
    """Return the influence of each prompt on a comparison; nan for a prompt of neither group."""
    own, other = first.prompt_influences, second.prompt_influences
    if own is None or other is None or not (link.holds(first.value) and link.holds(second.value)):
        return None
    influences = np.nan_to_num(own) * link.slope(first.value) - np.nan_to_num(other) * link.slope(second.value)
    shown: list[float] = np.where(np.isnan(own) & np.isnan(other), np.nan, influences).tolist()
    return shown


def mean_breakdown(sample: Selection, vector: OutcomeVector, everyone: GroupOutcomes) -> Breakdown:
    """Return the breakdown of a rate or a mean."""
    part = everyone.graded
    return Breakdown(
        example_towards=mean_example(sample, vector),
        influences=_influences(sample, part.deviations[0], part.counts[0]) if part.count else {},
    )


def mean_example(sample: Selection, vector: OutcomeVector) -> Callable[[int], ExampleResult | None]:
    """Return a function from a direction to the item that changes a rate or a mean most."""
    return _lazy_example(sample, examples.MEAN, examples.mean_sums(vector, sample.rows), vector)


def _lazy_example(
    sample: Selection, functional: Functional, values: Floats, vector: OutcomeVector | None
) -> Callable[[int], ExampleResult | None]:
    of_items = sample.reads_whole_items
    return partial(examples.find_example, sample.columns, sample.rows, functional, values, vector, of_items=of_items)


def functional_breakdown(
    sample: Selection, functional: Functional, values: Floats, span: tuple[float, float] | None
) -> Breakdown:
    """Return the breakdown of a function of sums; ``values`` are its summands, shape (attempts, sums)."""
    graded = ~np.isnan(values[:, 0])
    if not graded.any():
        return Breakdown()
    clusters = sample.clusterings[0][sample.rows[graded]]
    try:
        estimate = linearize(functional, values[graded], [clusters], span)
    except UndefinedError:
        influences: Mapping[str, float] = {}
    else:
        counts = np.bincount(clusters.codes, minlength=clusters.size).astype(np.float64)
        deviations = np.zeros(clusters.size)
        deviations[counts > 0] = estimate.influences[0] / estimate.scale.slope(estimate.value)
        influences = _influences(sample, deviations, counts)
    return Breakdown(
        example_towards=_lazy_example(sample, functional, values, None),
        influences=influences,
    )
