"""Regression on the answers of earlier models: a control variate for a sample of a larger set of items.

A sample of n items estimates a metric; earlier models have answered all N items. Their metric over the sample minus
that over all items estimates the part of the error that comes from the draw of the items. The estimate minus lambda
times that difference has the same expectation whatever the earlier answers are, since the sample was drawn at random:
a poor history costs precision only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_fairness.stats.columns import Codes, Floats
from pytest_fairness.stats.linear_estimate import FEWEST_DIFFERING, UNBOUNDED, Ends, EndsAt, LinearEstimate, differing

if TYPE_CHECKING:
    from pytest_fairness.stats.outcome_vectors import GroupOutcomes

FEWEST_CLUSTERS = 15
"""Number of sampled clusters from which the coefficient lambda is estimated."""
FEWEST_EVENTS = 8.0
"""Effective events of each group from which the linear estimate is valid by itself, as in comparisons of rates."""


@dataclass(frozen=True, slots=True)
class ClusterMap:
    """The clusters of a sample as clusters of all items."""

    clusters: Codes
    """The cluster of all items that holds each cluster of the sample."""
    size: int
    """The number of clusters of all items."""

    def summed(self, influences: Floats, codes: Codes | None = None) -> Floats:
        """Return influences of clusters of the sample by cluster of all items.

        Args:
            influences: By cluster of the sample.
            codes: Which clusters of the sample these are; None for all.

        Returns:
            Sums, shape (clusters of all items,).
        """
        clusters = self.clusters if codes is None else self.clusters[codes]
        return np.bincount(clusters, weights=influences, minlength=self.size).astype(np.float64)


@dataclass(frozen=True, slots=True)
class EarlierGroups:
    """Groups of the answers of earlier models: to all items, and to those of the sample."""

    clusters: ClusterMap
    whole: Sequence[GroupOutcomes]
    """The groups over all items."""
    part: Sequence[GroupOutcomes]
    """The groups over the items of the sample."""


@dataclass(frozen=True, slots=True)
class EarlierEstimate:
    """A metric of earlier models' answers."""

    estimate: LinearEstimate
    """The metric as a linear estimate."""
    influences: Floats
    """The influence of each cluster of all items."""
    unseen: EndsAt | None
    """A function from a tail to the ends with an unseen share of clusters at an extreme; None without extremes."""


@dataclass(frozen=True, slots=True)
class Regression:
    """The influences of clusters, regressed on the errors that the draw of the items made in the earlier estimate."""

    slope: float
    """The lambda of all clusters."""
    slopes: Floats
    """The lambda for each cluster, from all other clusters (cross-fitting)."""
    residuals: Floats
    """The residual of each cluster's influence."""

    @classmethod
    def of(cls, influences: Floats, drawn: Floats) -> Regression | None:
        """Return the regression; None where earlier answers do not correlate positively with the sample's.

        Args:
            influences: Of clusters on the estimate.
            drawn: Of the same clusters on the earlier metric of the sample minus that of all items.

        Source:
            cov(d, x) / var(x), as in control variates; cross-fitting as in Zrnic and Candes 2024 (arXiv:2309.16598).
        """
        products, squares = influences * drawn, np.square(drawn)
        product_sum, spread = float(products.sum()), float(squares.sum())
        if product_sum <= 0 or spread <= 0:
            return None
        others = np.maximum(spread - squares, spread * 1e-9)
        slopes = np.maximum((product_sum - products) / others, 0.0)
        return cls(product_sum / spread, slopes, influences - slopes * drawn)

    @property
    def variance(self) -> float:
        """The variance of an estimate that is adjusted by it."""
        return float(np.square(self.residuals).sum())


def adjust_by_history(
    plain: LinearEstimate,
    influences: Floats,
    unseen: EndsAt | None,
    whole: EarlierEstimate,
    part: EarlierEstimate,
    events: float = math.inf,
) -> LinearEstimate | None:
    """Return an estimate adjusted by earlier answers as a control variate; None where that gains nothing.

    The variance is cross-fitted: the residual of each cluster uses the lambda of all other clusters.

    Args:
        plain: The estimate of the sample.
        influences: Its influences by cluster of all items.
        unseen: A function from a tail to its ends with an unseen share of clusters at an extreme; None without known
            extremes.
        whole: The same metric of earlier answers to all items.
        part: The same metric of earlier answers to the items of the sample.
        events: The smallest number of effective events of its groups.

    Returns:
        The adjusted estimate, or None.

    Source:
        Angelopoulos, Duchi and Zrnic 2023 (PPI++, arXiv:2311.01453).
    """
    if not _is_usable(plain, unseen, whole, part, events):
        return None
    regression = Regression.of(influences, part.influences - whole.influences)
    if regression is None or regression.variance >= plain.variance or _is_copy(regression, influences, part):
        return None
    to = plain.scale.to
    position = to(plain.value) - regression.slope * (to(part.estimate.value) - to(whole.estimate.value))
    low, high = plain.span or UNBOUNDED
    if not low < plain.scale.back(position) < high:
        return None
    adjusted_estimate = _shifted(plain, unseen, part, regression, position)
    # The unseen share of both the sample and its history is added: with few clusters it may dominate the interval.
    # test_unrelated_history_hardly_moves_an_estimate
    return adjusted_estimate if _width(adjusted_estimate) < _width(plain) else None


def _is_usable(
    plain: LinearEstimate, unseen: EndsAt | None, whole: EarlierEstimate, part: EarlierEstimate, events: float
) -> bool:
    """Return whether the sample is large enough for a coefficient, and all three estimates are finite on one scale."""
    scale = plain.scale
    return (
        len(plain.influences) == 1
        and plain.variance > 0
        and plain.clusters >= FEWEST_CLUSTERS
        and events >= FEWEST_EVENTS
        and scale == whole.estimate.scale == part.estimate.scale
        and all(math.isfinite(scale.to(one.value)) for one in (plain, whole.estimate, part.estimate))
        and not plain.sparse
        and (unseen is None) == (part.unseen is None)
    )


def _is_copy(regression: Regression, influences: Floats, part: EarlierEstimate) -> bool:
    """Return whether too few sampled clusters differ from their history to estimate how many would in all."""
    sampled = (influences != 0) | (part.influences != 0)
    # test_nearly_equal_history_supports_no_adjustment
    return differing((influences - regression.slopes * part.influences)[sampled]) < FEWEST_DIFFERING


def _shifted(
    plain: LinearEstimate, unseen: EndsAt | None, part: EarlierEstimate, regression: Regression, position: float
) -> LinearEstimate:
    """Return the estimate at another position of its scale, with the residuals of a regression for its error."""
    value, variance = plain.scale.back(position), regression.variance
    trials = value * (1 - value) / variance if plain.trials else 0.0
    exact = plain.exact
    if exact is not None:
        exact = partial(_scaled_ends, plain, exact, position, math.sqrt(variance / plain.variance))
    if unseen is not None and part.unseen is not None:
        unseen = partial(_unseen_in_both, plain, unseen, part, regression.slope, position)
    return replace(
        plain,
        value=value,
        influences=[regression.residuals],
        trials=trials,
        counts_clusters=False,
        exact_trials=trials,
        exact=exact,
        unseen=unseen,
        unseen_changed=None,
    )


def _width(estimate: LinearEstimate) -> float:
    """Return the width of the 95% interval."""
    low, high = estimate.ends(0.025)
    return high - low


def _scaled_ends(plain: LinearEstimate, ends: EndsAt, position: float, factor: float, tail: float) -> Ends:
    """Return ends as far from another position as an interval reaches, times a factor."""
    scale, middle = plain.scale, plain.scale.to(plain.value)
    low, high = (scale.to(end) - middle for end in ends(tail))
    return scale.back(position + factor * low), scale.back(position + factor * high)


def _unseen_in_both(
    plain: LinearEstimate, unseen: EndsAt, part: EarlierEstimate, slope: float, position: float, tail: float
) -> Ends:
    """Return ends for an unseen share of clusters at one extreme, where earlier models answered at the other."""
    scale = plain.scale
    low, high = (scale.to(end) - scale.to(plain.value) for end in unseen(tail))
    assert part.unseen is not None  # noqa: S101 - for the type; the caller has checked it
    below, above = (scale.to(end) - scale.to(part.estimate.value) for end in part.unseen(tail))
    return scale.back(position + low - slope * above), scale.back(position + high - slope * below)
