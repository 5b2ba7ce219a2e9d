"""Estimates as a value and the influence of each cluster, from which every interval and claim is computed.

A rate, a mean, a difference, a ratio, a correlation or any other metric is represented by its value and by what
each cluster adds to its error, on the scale where the error is closest to normal. The ends of its interval at any
tail, and the claims that it may support, follow from these alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from pytest_fairness.core.limits import UNCHANGED, SampleChange
from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.quantiles import exact_ends, jeffreys_ends, t_quantile, unseen_share

Ends = tuple[float, float]
"""Lower and upper end of an interval."""
EndsAt = Callable[[float], Ends]
"""A function from the probability to err on either side (0.025 for a 95% interval) to both ends."""

ProjectedEnds = Callable[[float, SampleChange], Ends]
"""The same of a sample that was changed."""

UNBOUNDED = (-math.inf, math.inf)
FEWEST_DIFFERING = 6.0
"""Effective number of clusters that differ, from which a claim of fairness may rest on their variance."""
SKEWED = 0.5
"""Skewness of clusters from which an error has a longer side."""
FEWEST_SOURCES = 20
"""Number of clusters of which as many differ in 80% of samples, if their influences are normal."""
FEWEST_BOUNDED = 3.0
"""The same number where it is known how far an unseen cluster could lie."""
FARTHER = 2.0
"""Distance of an unseen cluster where no span is known, over that of the farthest observed cluster."""
ROUNDING = 1e-9
"""Relative tolerance for sums of floating-point numbers."""
NO_ERROR = "its error is no finite number: it supports no claim"
LARGEST_LOG = 700.0
"""Largest logarithm of a number that a float can represent; a tail of 1e-9 with few clusters exceeds it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale on which an interval is computed: logarithm, logit or identity, by the span of the value.

    >>> Scale.by_span((0.0, math.inf)).kind, Scale.by_span((-1.0, 1.0)).kind, Scale.by_span(None).kind
    ('log', 'logit', 'identity')
    >>> correlation = Scale.by_span((-1.0, 1.0))  # the logit is twice Fisher's z, so the ends are the same
    >>> round(correlation.to(0.5) / math.atanh(0.5), 9), round(correlation.back(correlation.to(0.5)), 9)
    (2.0, 0.5)
    """

    kind: str = "identity"
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def by_span(cls, span: Ends | None) -> Scale:
        """Return the scale for a value that cannot leave a span; None for an unknown span."""
        low, high = span or UNBOUNDED
        if math.isinf(low):
            return cls()
        return cls("log", low) if math.isinf(high) else cls("logit", low, high)

    def to(self, value: float) -> float:
        """Return the value on the scale; infinite at an end of the span."""
        if self.kind == "identity":
            return float(value)
        if self.kind == "log":
            return _log(value - self.low)
        return _log(value - self.low) - _log(self.high - value)

    def every(self, values: Any) -> Any:
        """Return an array of values on the scale; infinite at an end of the span and beyond."""
        if self.kind == "identity":
            return values
        with np.errstate(all="ignore"):
            scaled: Floats = np.log(np.maximum(values - self.low, 0.0))
            return scaled - np.log(np.maximum(self.high - values, 0.0)) if self.kind == "logit" else scaled

    def back(self, position: float) -> float:
        """Return the value at a position on the scale."""
        if self.kind == "identity":
            return position
        if self.kind == "log":
            return self.low + math.exp(position) if position < LARGEST_LOG else math.inf
        share = 1 / (1 + math.exp(-position)) if position > -LARGEST_LOG else 0.0
        return self.low + (self.high - self.low) * share

    def slope(self, value: float) -> float:
        """Return the derivative of the position by the value."""
        if self.kind == "identity":
            return 1.0
        slope = 1 / (value - self.low)
        return slope + 1 / (self.high - value) if self.kind == "logit" else slope

    def curvature(self, value: float) -> float:
        """Return the second derivative of the position by the value, over the squared slope, with its sign changed."""
        if self.kind == "identity":
            return 0.0
        return (self.low + self.high - 2 * value) / (self.high - self.low) if self.kind == "logit" else 1.0

    def holds(self, value: float) -> bool:
        """Return whether the value has a finite position."""
        return math.isfinite(self.to(value))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf if value <= 0 else math.nan


IDENTITY = Scale()
LOG = Scale("log")
LOGIT = Scale("logit")


@dataclass(frozen=True, slots=True)
class SecondOrder:
    """Second-order terms of a function of sums, which are known from the function and not from the sample's scatter."""

    constant: float = 0.0
    """The move of both ends that does not depend on the quantile."""
    square: float = 0.0
    """That by the squared quantile: the second-order term one error along the influences."""
    below: float = 0.0
    """The distance by which the bias at the lower end takes it further down, from 0."""
    above: float = 0.0
    """The same at the upper end, upwards."""

    @property
    def bias(self) -> float:
        """Half the sum of the second differences by cluster."""
        return self.square - self.constant

    def extensions(self, quantile: float, error: float) -> Ends:
        """Return how much further the ends reach below and above than by the linear term with moves.

        Where the second-order term exceeds the linear one, the function turns within its interval, as the square of a
        difference of about zero: then the farther end is as far as both together.

        >>> SecondOrder(square=0.01).extensions(2.0, 0.1), SecondOrder(square=0.1).extensions(2.0, 0.1)
        ((0.0, 0.0), (0.0, 0.2))
        """
        # test_square_of_a_small_difference_reaches_the_square_of_its_end
        excess = abs(self.square) * quantile**2 - quantile * error
        below, above = (max(excess, 0.0) if sign * self.square > 0 else 0.0 for sign in (-1, 1))
        # test_bias_of_a_deviation_over_groups_is_that_at_its_end
        return self.below + below, self.above + above


@dataclass(frozen=True)
class LinearEstimate:
    """A value with the influence of each cluster on its error."""

    value: float
    """The estimate, in its own units."""
    influences: Sequence[Floats]
    """Per clustering (by source; with a crossed factor by level and by cell), what each cluster adds to the
    error on the scale: the squares sum to the jackknife variance (Tukey 1958)."""
    dfs: Sequence[float]
    """Degrees of freedom of each of these variances."""
    clusters: int
    """The number of independent clusters."""
    scale: Scale = IDENTITY
    """The scale on which the interval is made."""
    span: Ends | None = None
    """The range that the value cannot leave."""
    own_share: float = 0.0
    """The share of a crossed factor's variance that is the attempts' own, not their items' (`ItemEffect.share`)."""
    curvature: Ends = (0.0, 0.0)
    """The shift of both ends by the scale's curvature: a constant, and a factor of the squared quantile."""
    second_order: SecondOrder | None = None
    """The second-order terms of a function of sums; None for everything else."""
    symmetric: bool = False
    """Whether the distribution of the error is known to be symmetric."""
    trials: float = 0.0
    """The effective number of attempts of a rate; 0 for everything else."""
    counts_clusters: bool = False
    """Whether each of these trials is a cluster, so that no variance has to be known."""
    counts_until: float = math.inf
    """The factor of the number of sources from which enough hold an event, so that the variance counts."""
    events: float = math.inf
    """The number of events behind it where that is known: few events explain why few clusters differ."""
    unclustered: float = 0.0
    """Variance that no cluster explains."""
    size: float = 1.0
    """The size of the numbers behind it on the scale, by which their rounding is known."""
    farther: float = FARTHER
    """The largest distance of an unseen cluster, over that of the farthest observed, where no span bounds it."""
    unseen: EndsAt | None = None
    """The function from a tail to the values that an unseen share of clusters at the extreme would give."""
    unseen_changed: ProjectedEnds | None = None
    """The same of a larger sample; None where an unseen share of its sources sets them (`_unseen_of`)."""
    exact_until: float = math.inf
    """The factor of the number of sources from which rates hold enough events to do without `exact`; infinite for
    rates of none or all."""
    growth: Callable[[SampleChange], float] = attrgetter("sources")
    """The function from a change to the factor of the number that bounds an unseen share."""
    exact_trials: float = 0.0
    """The number of trials of a rate whose exact ends are its least interval; 0 where it has none."""
    exact: EndsAt | None = None
    """The function from a tail to ends that stay valid with few events."""
    farthest: EndsAt | None = None
    """The function from a tail to ends that hold by themselves, so that none need lie farther out."""
    shift: Ends = (0.0, 0.0)
    """The amounts that ungraded answers add below (at most 0) and above."""
    sparse: str = ""
    """The reason why no claim of fairness may rest on it; empty where one may."""
    derived: EndsAt | None = None
    """The function from a tail to ends that are computed from those of other estimates, as for an absolute value or
    the difference of two gaps."""

    @cached_property
    def variance(self) -> float:
        """Variance on the scale: by source, or two ways; 0 where all clusters agree but for rounding."""
        variance = combined(self._squares, self.own_share)
        return 0.0 if negligible(variance, self.clusters, self.size) else variance + self.unclustered

    @cached_property
    def _squares(self) -> list[float]:
        """The sum of the squared influences, per clustering."""
        return [float(np.square(influences).sum()) for influences in self.influences]

    @cached_property
    def _skewness(self) -> float:
        """The skewness of the influences by source."""
        return skewness(self.influences[0])

    @cached_property
    def differing(self) -> float:
        """The effective number of clusters that differ, m = (sum d^2)^2 / sum d^4."""
        return differing(self.influences[self.leading])

    @cached_property
    def leading(self) -> int:
        """The index of the clustering with most of the variance, whose clusters show how few differ and how skewed
        they are: 1, the crossed factor, where it adds more variance than the sources have.
        """
        by_source, *others = self._squares
        # test_few_names_that_differ_make_no_claim
        return int(bool(others) and combined(self._squares, self.own_share) > 2 * by_source)

    @cached_property
    def error(self) -> float:
        """Standard error on the scale.

        Where only a few clusters differ, the variance is underestimated: it is inflated as if two more than the
        observed m differed. By simulation, 95% intervals without this cover down to 90% where a dozen paired items
        differ; with four more instead of two, they cover over 99%. No correction where m is as for normal influences
        (m = df / 3) or half of that, nor where known events account for it.
        """
        return self._error_of(UNCHANGED)

    def _error_of(self, change: SampleChange) -> float:
        """Return the standard error on the scale of a changed sample."""
        variance = self.variance
        if change is not UNCHANGED and variance:
            variance = combined(self._squares_of(change), self.own_share) + self.unclustered / change.sources
        error = math.sqrt(variance) * change.error
        if not error or not self.differing:
            return error
        times = self._times(change)[self.leading]
        # test_few_items_that_differ_make_the_error_larger
        inflation = 2 / self.differing - 2 / min(self.dfs[self.leading] / 6, self.events)
        return error * math.sqrt(1 + max(0.0, inflation) / times)

    def _squares_of(self, change: SampleChange) -> list[float]:
        """Return the sum of the squared influences of a changed sample, per clustering.

        What levels add beyond their cells shrinks with their number only, all else with that of the sources.
        """
        if len(self._squares) == 1:
            return [self._squares[0] / change.sources]
        by_source, by_level, by_cell = self._squares
        cells = by_cell / change.sources
        excess = max(by_level - by_cell, 0.0) / change.levels
        return [by_source / change.sources, min(by_level, by_cell) / change.sources + excess, cells]

    def _times(self, change: SampleChange) -> list[float]:
        """Return the factor of the number of clusters, per clustering."""
        return [change.sources, change.levels, change.sources][: len(self._squares)]

    @cached_property
    def df(self) -> float:
        """Degrees of freedom by Satterthwaite 1946, over the terms of the variance: V^2 / sum V_k^2 / df_k."""
        return self._df_of(UNCHANGED)

    def _df_of(self, change: SampleChange) -> float:
        dfs = [df * times for df, times in zip(self.dfs, self._times(change), strict=False)]
        if len(self._squares) == 1 or not self.variance:
            return dfs[0]
        squares = self._squares_of(change)
        variance = combined(squares, self.own_share) + self.unclustered / change.sources
        terms = sum(square**2 / df for square, df in zip(squares, dfs, strict=True))
        return max(1.0, min(variance**2 / terms, dfs[0])) if terms > 0 else dfs[0]

    @cached_property
    def skew(self) -> Ends:
        """Shift of the ends for a quantile q: constant + square * q^2, upwards where positive.

        For a mean with influences d (Johnson 1978): K (1 + 2 q^2) / (6 V) with V = sum d^2, K = sum d^3;
        the scale's curvature is added (Hall 1992, The Bootstrap and Edgeworth Expansion, 3.10).
        """
        if self.symmetric:
            return 0.0, 0.0
        influences, variance = self.influences[self.leading], self._squares[self.leading]
        if variance <= 0:
            return 0.0, 0.0
        # test_skewed_mean_has_the_johnson_interval
        third = float((influences**3).sum()) / (6 * variance)
        return third + self.curvature[0], 2 * third + self.curvature[1]

    @property
    def natural_error(self) -> float:
        """Standard error in the units of the value, by the delta method."""
        return self.error / self.scale.slope(self.value) if self.error else 0.0

    @property
    def bounded(self) -> bool:
        """Return whether it is known how far an unseen cluster could lie."""
        return self.trials > 0 or self.unseen is not None or self.exact is not None

    def ends(self, tail: float, change: SampleChange = UNCHANGED) -> Ends:
        """Return both ends of its interval.

        Args:
            tail: The probability to err on either side: 0.025 for a 95% interval.
            change: A change of the sample, for the ends of a larger one that repeats it.

        Returns:
            Lower and upper end, in the units of the value. Infinite where nothing is known.
        """
        if self.derived is not None:
            return self._nearer(self.derived(tail), math.sqrt(change.sources) / change.error)
        error = self._error_of(change)
        if not math.isfinite(error):
            return UNBOUNDED
        if self.trials:
            low, high = self._rate_ends_of(tail, change)
        elif self.error > 0:
            quantile = t_quantile(tail, self._df_of(change))
            constant, square = self.skew
            below, above = reaches(quantile, error, (constant / change.sources, square / change.sources))
            if self.second_order is not None:
                further_below, further_above = self.second_order.extensions(quantile, self.error)
                below += further_below / change.sources
                above += further_above / change.sources
            position = self.scale.to(self.value)
            low, high = self.scale.back(position - below), self.scale.back(position + above)
        elif self.unseen is None and self.exact is None:
            return UNBOUNDED
        else:
            low = high = self.value
        for outer in (self._unseen_of(tail, change), self._exact_of(tail, change)):
            low, high = min(low, outer[0]), max(high, outer[1])
        if self.farthest is not None and change is UNCHANGED:
            least, most = self.farthest(tail)
            low, high = max(low, least), min(high, most)
        if change.ungraded:
            low, high = low + self.shift[0], high + self.shift[1]
        least, most = self.span or UNBOUNDED
        return min(max(low, least), self.value), max(min(high, most), self.value)

    def error_of(self, change: SampleChange) -> float:
        """Return the standard error of a changed sample in the units of the value."""
        return self.natural_error * self._error_of(change) / self.error if self.error else 0.0

    def _unseen_of(self, tail: float, change: SampleChange) -> Ends:
        """Return the ends that an unseen share of clusters would give, of a changed sample.

        A share of g times as many sources is unseen with as much probability as that of these with tail^(1/g).
        """
        if self.unseen_changed is not None:
            return self.unseen_changed(tail, change)
        if self.unseen is not None:
            return self.unseen(tail ** (1 / change.sources))
        return self._unseen_farther(tail, change.sources)

    def _exact_of(self, tail: float, change: SampleChange) -> Ends:
        """Return ends that stay valid with few events, of a changed sample."""
        if self.exact_trials and change.sources < self.counts_until:
            return exact_ends(self.value, self.exact_trials * change.sources / change.error**2, tail)
        if self.exact is None:
            return self.value, self.value
        # test_agreeing_pairs_of_few_items_need_more_items: mirrored ends at tails above one half
        if not self.error and change.sources >= self.exact_until:
            return self.value, self.value
        is_extreme = not self.error and math.isinf(self.exact_until)
        if is_extreme or not self.scale.holds(self.value):  # as an unseen share of sources
            return self.exact(tail ** (1 / self.growth(change)))
        return self._nearer(self.exact(tail), math.sqrt(change.sources) / change.error)

    def _nearer(self, ends: Ends, times: float) -> Ends:
        """Return ends that are so many times nearer to the value, on the scale."""
        if times == 1 or not self.scale.holds(self.value):
            return ends
        position = self.scale.to(self.value)
        low, high = (position + (self.scale.to(end) - position) / times for end in ends)
        return self.scale.back(low), self.scale.back(high)

    def _unseen_farther(self, tail: float, times: float = 1.0) -> Ends:
        """Return the value with an unseen share of clusters, where no span is known.

        They are assumed to lie on the longer side of the error, twice as far out as any observed cluster.

        By simulation with log-normal grades and 12 to 300 clusters, of which 6 differ, the upper end is passed in
        at most 2.7% of runs, without it in up to 5%. Normal grades have no longer side: they keep Student's t.
        """
        influences = self.influences[0]
        # test_rate_of_single_answers_has_the_clopper_pearson_interval
        if self.counts_clusters or self.symmetric or not self.error or round(abs(self._skewness), 9) < SKEWED:
            return self.value, self.value
        # test_long_tail_triples_the_reach_of_an_unseen_share
        share = self.farther * self.clusters * unseen_share(times * self.clusters, tail)
        move = share * float(influences.max() if self._skewness > 0 else influences.min())
        if (
            self.scale.kind == "log"
        ):  # the mean of one group changes in proportion: the numerator's, or the denominator's
            move = math.copysign(math.log1p(abs(move)), move)
        end = self.scale.back(self.scale.to(self.value) + move)
        return min(end, self.value), max(end, self.value)

    def rate_ends(self, tail: float) -> Ends:
        """Return the ends of a rate: exact where each trial is a cluster, else Jeffreys' at n (z / t)^2 trials.

        n is the effective number of attempts.
        """
        return self._rate_ends_of(tail, UNCHANGED)

    def _rate_ends_of(self, tail: float, change: SampleChange) -> Ends:
        if not self.error or (self.counts_clusters and change.sources < self.counts_until):
            return exact_ends(self.value, self.trials * self.growth(change) / change.error**2, tail)
        trials = self.value * (1 - self.value) / self._error_of(change) ** 2
        if not self.counts_clusters:
            trials = self.trials * (self.error / self._error_of(change)) ** 2
        smaller = t_quantile(tail, math.inf) / t_quantile(tail, self._df_of(change)) if tail < 0.5 else 1.0
        return jeffreys_ends(self.value, trials * smaller**2, tail)

    @property
    def open(self) -> str:
        """The reason that it supports no claim of fairness; empty where it supports one.

        The variance is estimated from the clusters that differ. Where all agree, an unseen share of them is bounded
        exactly, and ends that stay valid with few events need no variance.
        """
        if not math.isfinite(self.error):
            return NO_ERROR
        if self.sparse or not self._needs_differing:
            return self.sparse
        # test_claims_need_six_items_that_differ_or_three_of_known_span
        needed = self._fewest_differing
        if self.differing < needed * (1 - ROUNDING):  # any three influences, of levels say, are 2 that differ
            return (
                f"about {self.differing:.1f} of {self.clusters:,} clusters make all of its error: "
                f"a claim needs at least {needed:.1f}"
            )
        return ""

    @property
    def _needs_differing(self) -> bool:
        """Whether a claim needs clusters that differ."""
        return not (self.trials or self.exact is not None or not self.error)

    @property
    def _fewest_differing(self) -> float:
        return min(FEWEST_BOUNDED, self.clusters / 3) if self.bounded else FEWEST_DIFFERING

    @property
    def fewest_sources(self) -> int:
        """The number of clusters of equal size of which most samples have enough that differ; 0 if none have to."""
        if not self._needs_differing:
            return 0
        likely = FEWEST_SOURCES if not self.bounded and len(self.influences) == 1 else 0
        lacking = self._fewest_differing / self.differing if self.differing else 0.0
        return max(likely, math.ceil(self.clusters * lacking) if lacking > 1 else 0)


def combined(variances: Sequence[float], own_share: float = 0.0) -> float:
    """Return one variance from those by source, by crossed factor and by cell of the two.

    Cameron, Gelbach and Miller 2011: by source plus by factor less by cell, which the first two count twice. Where
    that is less than a one-way variance, the one-way variance is used: by source, or the share ``own_share`` of that
    by factor (`ItemEffect.share`), since the factor's sums may still contain item effects, which are noise here.

    >>> combined([0.4])
    0.4
    >>> round(combined([0.4, 0.3, 0.1]), 3)
    0.6
    >>> combined([0.4, 0.9, 0.9]), round(combined([0.4, 0.9, 0.9], 0.5), 3)
    (0.4, 0.45)
    """
    if len(variances) == 1:
        return variances[0]
    by_source, by_factor, by_cell = variances
    # test_crossed_error_is_never_below_clustering_by_item
    return max(by_source + max(by_factor - by_cell, 0.0), own_share * by_factor)


def negligible(variance: float, clusters: int, size: float = 1.0) -> bool:
    """Return whether a variance is zero but for rounding, as when all clusters agree.

    Args:
        variance: The variance.
        clusters: The number of clusters.
        size: The size of the numbers behind it.
    """
    error = 1e-9 * max(size, 1.0) / max(clusters, 1)
    return variance <= error * error


def differing(influences: Floats, sizes: Floats | None = None) -> float:
    """Return the effective number of clusters that differ, m = (sum d^2)^2 / sum d^4; 0 where none does.

    Args:
        influences: The influence d of each cluster.
        sizes: The size of each. With w their shares, m is at most (sum d^2)^2 / (sum d^4 / w) / sum w^2: where only
            small clusters differ, they show little of the variance.

    >>> differing(np.array([3.0, 0.0, -3.0, 0.0]))
    2.0
    >>> round(differing(np.array([0.0, 0.0, 1.0, -1.0]), np.array([100.0, 100.0, 1.0, 1.0])), 2)
    0.02
    """
    squares = np.square(influences)
    total, fourths = float(squares.sum()), np.square(squares)
    if not (total > 0 and (fourth := float(fourths.sum())) > 0):
        return 0.0
    if sizes is not None:
        shares = sizes / sizes.sum()
        present = shares > 0
        fourth = max(fourth, float((fourths[present] / shares[present]).sum() * np.square(shares).sum()))
    return total**2 / fourth


def effective_number(sizes: Floats) -> float:
    """Return the number of clusters of equal size that clusters of these sizes are worth (Kish 1965).

    (sum n)^2 / sum n^2: the few that hold most attempts determine a mean, however many small ones there are.

    >>> effective_number(np.full(8, 5.0)), round(effective_number(np.array([100.0, 1.0, 1.0, 1.0, 1.0])), 2)
    (8.0, 1.08)
    """
    return float(sizes.sum() ** 2 / np.square(sizes).sum())


def skewness(influences: Floats) -> float:
    """Return the third standardized moment of influences, whose mean is zero; 0 where none differs.

    >>> skewness(np.array([1.0, -1.0])), round(skewness(np.array([3.0, -1.0, -1.0, -1.0])), 3)
    (0.0, 1.155)
    """
    variance = float(np.square(influences).mean()) if len(influences) else 0.0
    return float((influences**3).mean()) / variance**1.5 if variance > 0 else 0.0


def degrees(contributions: Floats) -> float:
    """Return the degrees of freedom of a variance that is a sum over clusters of expected ``contributions``.

    Satterthwaite 1946: (sum c)^2 / sum c^2, times 1 - sum w^2, where w are the clusters' shares of the sum of sqrt(c).
    Clusters of equal size give one less than their number, however many small ones there are beside them. At least 1.

    >>> degrees(np.ones(8)), round(degrees(np.append(np.ones(3), np.full(40, 1e-9))), 2), degrees(np.ones(1))
    (7.0, 2.0, 1.0)
    """
    present = contributions[contributions > 0]
    if len(present) < 2:
        return 1.0
    effective = float(present.sum() ** 2 / np.square(present).sum())
    return max(effective * (1 - float(present.sum()) / float(np.sqrt(present).sum()) ** 2), 1.0)


def observed_degrees(influences: Floats, clusters: int) -> float:
    """Return the degrees of freedom of a variance, estimated from its influences: 2 m / (1 - m / clusters).

    That is two over its squared relative error, where m is the effective number of clusters that differ.

    >>> observed_degrees(np.array([3.0, 0.0, -3.0, 0.0]), 4)
    8.0
    """
    effective = differing(influences)
    return 2 * effective / (1 - effective / clusters) if 0 < effective < clusters * (1 - 1e-9) else math.inf


def reaches(quantile: float, error: float, skew: Ends) -> Ends:
    """Return how far an interval reaches below and above, for a positive quantile of Student's t.

    Both ends move towards the longer tail of the error, the inner one by half: without a move the interval is too
    wide, and with a full one the noise of the skewness costs coverage where few clusters differ. No end passes the
    estimate, and the part that grows with q^2 is capped by the reach of Student's t, so that the reach never falls
    as the quantile grows.

    >>> reaches(2.0, 0.1, (0.0, 0.0))
    (0.2, 0.2)
    >>> [round(reach, 4) for reach in reaches(2.0, 0.1, (0.001, 0.002))]
    [0.1955, 0.209]
    """
    reach = quantile * error
    # test_larger_quantile_never_reaches_less_far
    shift = skew[0] + min(max(skew[1] * quantile**2, -reach), reach)
    # test_longer_side_moves_fully_and_the_other_by_half
    below, above = (max(reach - inwards, reach - inwards / 2, 0.0) for inwards in (shift, -shift))
    return below, above
