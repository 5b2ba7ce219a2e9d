"""Sums over clusters: all that a rate, a mean, a difference or a ratio is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.crossed_effects import ItemEffect
from pytest_fairness.stats.linear_estimate import combined, negligible

FEWEST_EVENTS = 5
"""Effective events, and clusters with an event, from which a variance is trusted."""


class ClusterSums:
    """The graded attempts of one group (or of all): their sums over clusters, and their mean.

    ``values`` are numbers per attempt, none nan; ``clusterings`` say to which source each
    belongs, then (with a crossed factor) to which level of it and to which cell of the two.
    ``prompts`` says, where it is known, which are repetitions of one prompt; ``center`` what to
    take out of them before they are summed by the crossed factor and by the cells; ``weights``, of propensities, which
    share of each is graded; ``items``, where several may be of one source, of which item each is.
    """

    def __init__(
        self,
        values: Floats,
        clusterings: Sequence[Clustering],
        span: tuple[float, float] | None,
        prompts: Clustering | None = None,
        center: ItemEffect | None = None,
        weights: Floats | None = None,
        items: Clustering | None = None,
    ) -> None:
        self._values, self._prompts, self._items = values, prompts, items
        self.count: float = len(values) if weights is None else float(weights.sum())
        self.span = span
        self.binary = weights is None and bool(np.all((values == 0) | (values == 1)))
        self.rate = self.binary
        """Whether its mean is a rate: of a corrected part also where its values are none of 0 and 1."""
        self.is_propensity = weights is not None and span == (0.0, 1.0)
        """Whether its mean is one of probabilities."""
        self.bend = 0.0
        """Half of how fast its mean's variance grows with the mean, where `deviations` do not tell."""
        self.is_nested = center is not None
        """Whether the levels of the crossed factor stand in one group alone, as names do."""
        self.own_share = 0.0 if center is None or not self.count else float(center.share.mean())
        """Of the variance by crossed factor or by cell, what is the attempts' own and not their center's."""
        centered = values if center is None or not self.count else values - center.values + center.values.mean()
        added = [values, centered] if weights is None else [values * weights, centered * weights]
        self.totals: list[Floats] = [
            np.bincount(c.codes, weights=added[index > 0], minlength=c.size).astype(np.float64)
            for index, c in enumerate(clusterings)
        ]
        self.counts: list[Floats] = [
            np.bincount(c.codes, weights=weights, minlength=c.size).astype(np.float64) for c in clusterings
        ]
        self.value = float(np.average(values, weights=weights)) if self.count else float("nan")

    @cached_property
    def sources(self) -> int:
        """The number of sources with an attempt in this part."""
        return int(np.count_nonzero(self.counts[0]))

    @cached_property
    def levels(self) -> int:
        """The number of levels of the crossed factor with an attempt in this part."""
        return int(np.count_nonzero(self.counts[1])) if len(self.counts) > 1 else 0

    @cached_property
    def deviations(self) -> list[Floats]:
        """The influence of each cluster on the mean, per clustering: the squares sum to the jackknife variance.

        The jackknife of Tukey 1958 with clusters left out whole; zero for a cluster without attempts here.
        """
        return [
            _scaled(self._without(total, count), count) for total, count in zip(self.totals, self.counts, strict=True)
        ]

    @cached_property
    def log_deviations(self) -> list[Floats]:
        """The influence of each cluster on the logarithm of a positive mean.

        By its slope where it is not finite without a cluster.

        By the slope as well for a crossed factor: without one of few levels the logarithm is far from straight, and
        what two groups share would not cancel.
        """
        influences = [deviations / self.value for deviations in self.deviations]
        without = self._without(self.totals[0], self.counts[0])
        if np.all(without > 0):
            influences[0] = _scaled(np.log(without), self.counts[0])
        return influences

    @cached_property
    def variance(self) -> float:
        """Variance of the mean."""
        return combined([float(np.square(deviations).sum()) for deviations in self.deviations], self.own_share)

    @cached_property
    def repeated(self) -> float | None:
        """The part of `variance` that is chance between repetitions: endless repetitions would remove it.

        The sum over prompts of m s^2 / N^2, with s^2 the variance within a prompt asked m times, N
        attempts in all. Prompts with one answer have none of their own and are taken to be like the others;
        None where they hold half of the attempts, or more.
        """
        if self._prompts is None:
            return None
        size = self._prompts.size
        counts = np.bincount(self._prompts.codes, minlength=size)
        means = np.bincount(self._prompts.codes, weights=self._values, minlength=size) / np.maximum(counts, 1)
        squares = np.square(self._values - means[self._prompts.codes])
        within = np.bincount(self._prompts.codes, weights=squares, minlength=size)
        several = counts > 1
        repeated = int(counts[several].sum())
        if 2 * repeated <= self.count:
            return None
        total = float((counts[several] * within[several] / (counts[several] - 1)).sum())
        return total / repeated / self.count

    @cached_property
    def event_clusters(self) -> int:
        """The number of sources that hold an outcome of the rarer kind."""
        others = self.counts[0] - self.totals[0]
        return int(np.count_nonzero((self.totals[0] if self.value <= 0.5 else others) > 0))

    @cached_property
    def counts_clusters(self) -> bool:
        """Return whether the trials of a rate are its clusters: each is one attempt, or too few show any likeness."""
        alone = self.count == self.sources and not self.levels
        few = self.binary and self.event_clusters < FEWEST_EVENTS
        return alone or few or negligible(self.variance, self.sources)

    @cached_property
    def effective(self) -> float:
        """Effective number of attempts: independent ones with the same variance of the mean, at most those made."""
        if self.levels and negligible(self.variance, self.sources):
            return float(min(self.levels, self.sources))
        if self.counts_clusters:
            return float(self.sources)
        spread = self.value * (1 - self.value) if self.binary else float(self._values.var())
        return min(spread / self.variance, float(self.count)) if self.variance > 0 else float(self.sources)

    @cached_property
    def items(self) -> float:
        """The number of items that could each be of an unseen kind; the sources where it is unknown.

        At most the effective number of attempts, and at least the sources.
        """
        if self._items is None or self.counts_clusters:
            return float(self.sources)
        return max(min(float(len(np.unique(self._items.codes))), self.effective), float(self.sources))

    @property
    def events(self) -> float:
        """The effective number of events or of others, whichever are fewer."""
        return self.effective * min(self.value, 1 - self.value)

    @cached_property
    def shares(self) -> list[Floats]:
        """Share of the attempts in each cluster, per clustering."""
        return [count / self.count for count in self.counts]

    def _without(self, total: Floats, count: Floats) -> Floats:
        """Return the mean without each cluster in turn."""
        left = self.count - count
        with np.errstate(all="ignore"):
            without: Floats = np.where(left > 0, (total.sum() - total) / left, self.value)
        return np.where(count > 0, without, self.value)


def _scaled(without: Floats, count: Floats) -> Floats:
    present = count > 0
    number = np.count_nonzero(present)
    if number < 2:
        return np.zeros_like(without)
    centered = without[present].mean() - without
    scaled: Floats = np.where(present, centered * np.sqrt((number - 1) / number), 0.0)
    return scaled
