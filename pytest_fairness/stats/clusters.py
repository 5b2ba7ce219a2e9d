"""Sums over clusters, from which rates, means, differences and ratios are computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pytest_fairness.core.limits import SampleChange
from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.crossed_effects import ItemEffect
from pytest_fairness.stats.linear_estimate import IDENTITY, Scale, combined, effective_number, negligible

FEWEST_EVENTS = 5
"""Smallest number of effective events, and of clusters with an event, for which a variance is trusted."""
PILED_UP = 1 / 3
"""Smallest share of whole numbers at their largest or smallest value that looks like the end of a rating scale.

By simulation a ratio of ratings of which 40 to 80% are 7 is called fair on its bound in 7 to 12%, if 5% of one group's
items are all 1; with the scale declared in up to 3%. `test_ratings_at_an_undeclared_ceiling_are_never_fair`.
"""
EVENTS = (0.0, 1.0)
"""The span of outcomes that are true or false. Ratings from 1 to 5 that are all 1 are no events."""


class ClusterSums:
    """The graded attempts of one group (or of all): their sums over clusters, and their mean.

    Args:
        values: The outcome of each attempt; none is nan.
        clusterings: The clusters by source; with a crossed factor also by its level, and by cell of the two.
        span: The range that an outcome can have; None where it is unknown.
        prompts: The prompt of each attempt; None where it is unknown.
        item_effect: The effects that are subtracted before the sums by level and by cell.
        weights: Of propensities, the share of each attempt that is graded.
        items: The item of each attempt, where several may be of one source.
    """

    def __init__(
        self,
        values: Floats,
        clusterings: Sequence[Clustering],
        span: tuple[float, float] | None,
        prompts: Clustering | None = None,
        item_effect: ItemEffect | None = None,
        weights: Floats | None = None,
        items: Clustering | None = None,
    ) -> None:
        self._values, self._prompts, self._items, self._weights = values, prompts, items, weights
        self.count: float = len(values) if weights is None else float(weights.sum())
        self.span = span
        self.binary = weights is None and span == EVENTS and bool(np.all((values == 0) | (values == 1)))
        self.rate = self.binary
        """Whether its mean is a rate; a corrected rate is one, though corrected outcomes are not 0 or 1."""
        self.is_propensity = weights is not None and span == (0.0, 1.0)
        """Whether its mean is one of probabilities."""
        self.half_variance_slope = 0.0
        """Half the derivative of the mean's variance by the mean, where the labels that correct it cause one."""
        self.is_nested = item_effect is not None
        """Whether the levels of the crossed factor occur in one group alone, as names do."""
        self.own_share = 0.0 if item_effect is None or not self.count else float(item_effect.share.mean())
        """The share of the variance by level or by cell that is the attempts' own, not their items'."""
        centered = values
        if item_effect is not None and self.count:
            centered = values - item_effect.values + item_effect.values.mean()
        summands = [values, centered] if weights is None else [values * weights, centered * weights]
        self.totals: list[Floats] = [
            np.bincount(clusters.codes, weights=summands[index > 0], minlength=clusters.size).astype(np.float64)
            for index, clusters in enumerate(clusterings)
        ]
        self.counts: list[Floats] = [
            np.bincount(clusters.codes, weights=weights, minlength=clusters.size).astype(np.float64)
            for clusters in clusterings
        ]
        self.value = float(np.average(values, weights=weights)) if self.count else float("nan")
        self._deviations: dict[Scale, list[Floats]] = {}

    @cached_property
    def sources(self) -> int:
        """The number of sources with an attempt in this group."""
        return int(np.count_nonzero(self.counts[0]))

    @cached_property
    def levels(self) -> int:
        """The number of levels of the crossed factor with an attempt in this group."""
        return int(np.count_nonzero(self.counts[1])) if len(self.counts) > 1 else 0

    @cached_property
    def cells(self) -> int:
        """The number of cells of source and level with an attempt in this group."""
        return int(np.count_nonzero(self.counts[2])) if len(self.counts) > 2 else 0

    @cached_property
    def deviations(self) -> list[Floats]:
        """The influence of each cluster on the mean, per clustering: the squares sum to the jackknife variance.

        The jackknife of Tukey 1958 with clusters left out whole; zero for a cluster without attempts here.
        """
        return [
            _jackknife_influences(self._without(total, count), count)
            for total, count in zip(self.totals, self.counts, strict=True)
        ]

    def deviations_on(self, link: Scale) -> list[Floats]:
        """Return the influence of each cluster on a function of the mean, which has a finite value there.

        By the slope of the function, in place of a jackknife, where it has no value for the mean without some
        cluster, and for a crossed factor: without one of few levels a logarithm is far from linear, and the effects
        that two groups share would not cancel.

        Args:
            link: The function: the mean itself, its logarithm, or the logarithm of its odds.
        """
        if link is IDENTITY:
            return self.deviations
        if link not in self._deviations:
            influences = [deviations * link.slope(self.value) for deviations in self.deviations]
            without = link.every(self._without(self.totals[0], self.counts[0]))
            if np.all(np.isfinite(without)):
                influences[0] = _jackknife_influences(without, self.counts[0])
            self._deviations[link] = influences
        return self._deviations[link]

    @cached_property
    def variance(self) -> float:
        """Variance of the mean."""
        return combined([float(np.square(deviations).sum()) for deviations in self.deviations], self.own_share)

    @property
    def prompt_influences(self) -> Floats | None:
        """The influence of each prompt on the mean, to first order: they add up to zero.

        nan for a prompt without attempts here; None where prompts are unknown.
        """
        if self._prompts is None or not self.count:
            return None
        size = self._prompts.size
        weights = np.ones(len(self._values)) if self._weights is None else self._weights
        sums = np.bincount(self._prompts.codes, weights=weights * (self._values - self.value), minlength=size)
        attempts = np.bincount(self._prompts.codes, minlength=size)
        influences: Floats = np.where(attempts > 0, sums / self.count, np.nan)
        return influences

    @cached_property
    def repeated(self) -> float | None:
        """The part of `variance` that is chance between repetitions: infinitely many would remove it.

        The sum over prompts of m s^2 / N^2, with s^2 the variance within a prompt that is sent m times, N
        attempts in all. Prompts that are sent once have no such variance, and are assumed to have that of the
        others; None where they hold half of the attempts, or more.
        """
        if self._prompts is None:
            return None
        size = self._prompts.size
        counts = np.bincount(self._prompts.codes, minlength=size)
        means = np.bincount(self._prompts.codes, weights=self._values, minlength=size) / np.maximum(counts, 1)
        squares = np.square(self._values - means[self._prompts.codes])
        within = np.bincount(self._prompts.codes, weights=squares, minlength=size)
        is_repeated = counts > 1
        attempts = int(counts[is_repeated].sum())
        if 2 * attempts <= self.count:
            return None
        total = float((counts[is_repeated] * within[is_repeated] / (counts[is_repeated] - 1)).sum())
        return total / attempts / self.count

    @cached_property
    def event_clusters(self) -> float:
        """The number of sources with an outcome of the rarer kind, by their part of the attempts.

        Where all have equal sizes, that is their number. Small ones show little of the variance.
        """
        rarer = self.totals[0] if self.value <= 0.5 else self.counts[0] - self.totals[0]
        return self.equal_sources * float(self.counts[0][rarer > 0].sum()) / self.count

    @cached_property
    def counts_clusters(self) -> bool:
        """Whether the trials of a rate are its clusters: each is one attempt, or too few differ for a variance."""
        # test_ratio_of_rates_needs_five_events
        single_attempts = self.count == self.sources and not self.levels
        # test_events_in_few_items_are_as_good_as_one_each
        few_events = self.binary and self.event_clusters < FEWEST_EVENTS
        return single_attempts or few_events or negligible(self.variance, self.sources)

    @cached_property
    def equal_sources(self) -> float:
        """The number of sources of equal size that its sources are worth (`effective_number`)."""
        return effective_number(self.counts[0])

    @cached_property
    def trials(self) -> float:
        """The number of trials that its sources are worth, if the attempts of each agree.

        As many as if all sources were as large as those of the outcome that is found in the larger ones (as Fay and
        Feuer 1997, Statistics in Medicine 16, 791-801, weigh rates). If all have one outcome, sizes make no difference.
        """
        sizes, sums = self.counts[0], (self.totals[0], self.counts[0] - self.totals[0])
        if not all(outcome.any() for outcome in sums):
            return float(self.sources)
        return self.count * min(float(outcome.sum() / (outcome @ sizes)) for outcome in sums)

    @cached_property
    def effective(self) -> float:
        """Effective number of attempts: independent ones with the same variance of the mean, at most `count`."""
        if self.levels and negligible(self.variance, self.sources):
            return float(min(self.levels, self.sources))
        if self.counts_clusters:
            return self.trials
        variance = self.value * (1 - self.value) if self.binary else float(self._values.var())
        return min(variance / self.variance, float(self.count)) if self.variance > 0 else float(self.sources)

    def growth(self, change: SampleChange) -> float:
        """Return the factor of the effective number in a changed sample.

        Where all attempts agree, levels that recur over sources count, and more sources repeat them.
        """
        if not self.levels or self.levels == self.cells or not negligible(self.variance, self.sources):
            return change.sources
        return min(self.levels * change.levels, self.sources * change.sources) / min(self.levels, self.sources)

    @cached_property
    def items(self) -> float:
        """The number of independent items for the unseen share; the sources where it is unknown.

        At most the effective number of attempts, and at least the sources, as many as they are worth.
        """
        if self._items is None or self.counts_clusters:
            return self.equal_sources
        # test_items_of_a_source_bound_an_unseen_harm
        return max(min(float(len(np.unique(self._items.codes))), self.effective), self.equal_sources)

    @cached_property
    def centrality(self) -> float:
        """The distance of the mean from the nearer end of the span, in the standard deviation of the attempts or a
        tenth of the span, whichever is more.

        It is under one where grades are rare, zero-inflated or at a ceiling, and 0 without a span.
        """
        if self.span is None or not self.count or not (deviation := float(self._values.std())):
            return 0.0
        distance = min(self.value - self.span[0], self.span[1] - self.value)
        # test_sign_of_rare_harms_widens_the_interval
        return distance / max(deviation, (self.span[1] - self.span[0]) / 10)

    @cached_property
    def undeclared_end(self) -> tuple[float, float] | None:
        """The largest or smallest of whole numbers without a span, where many are piled up there, with their share."""
        values = self._values
        if self.span is not None or not self.count or np.any(values != np.round(values)):
            return None
        numbers, counts = np.unique(values, return_counts=True)
        share, end = max((counts[index] / len(values), float(numbers[index])) for index in (0, -1))
        return (end, float(share)) if len(numbers) > 1 and share >= PILED_UP else None

    @property
    def events(self) -> float:
        """The effective number of events, or of attempts without one, whichever is less."""
        return self.effective * min(self.value, 1 - self.value)

    @cached_property
    def shares(self) -> list[Floats]:
        """Share of the attempts in each cluster, per clustering."""
        return [count / self.count for count in self.counts]

    def _without(self, total: Floats, count: Floats) -> Floats:
        """Return the mean without each cluster in turn."""
        remaining = self.count - count
        with np.errstate(all="ignore"):
            without: Floats = np.where(remaining > 0, (total.sum() - total) / remaining, self.value)
        return np.where(count > 0, without, self.value)


def _jackknife_influences(without: Floats, count: Floats) -> Floats:
    """Return the influence of each cluster from the values without it: the squares sum to the variance."""
    present = count > 0
    number = np.count_nonzero(present)
    if number < 2:
        return np.zeros_like(without)
    centered = without[present].mean() - without
    influences: Floats = np.where(present, centered * np.sqrt((number - 1) / number), 0.0)
    return influences
