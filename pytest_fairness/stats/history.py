"""Regression on the answers of earlier models: a control variate for a sample of a larger set of items.

A sample of n items estimates a metric; earlier models have answered all N items. Their metric over the sample less
that over all items is the share of the error which the draw of the items has made, as far as these models see it.
The estimate less lambda times that difference has the same expectation whatever the earlier answers are, since the
sample was drawn by chance: bad history costs precision only.
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
from pytest_fairness.stats.quantiles import exact_ends

if TYPE_CHECKING:
    from pytest_fairness.stats.outcome_vectors import GroupOutcomes

FEWEST_CLUSTERS = 15
"""Sampled clusters from which a coefficient is estimated from them."""
FEWEST_EVENTS = 8.0
"""Effective events of each group from which the linear estimate holds by itself, as in comparisons of rates."""


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
        """
        of = self.clusters if codes is None else self.clusters[codes]
        return np.bincount(of, weights=influences, minlength=self.size).astype(np.float64)


@dataclass(frozen=True, slots=True)
class EarlierGroups:
    """Groups of the answers of earlier models: to all items, and to those of the sample."""

    clusters: ClusterMap
    whole: Sequence[GroupOutcomes]
    part: Sequence[GroupOutcomes]


@dataclass(frozen=True, slots=True)
class EarlierEstimate:
    """A metric of earlier models' answers."""

    estimate: LinearEstimate
    """The bank as a linear estimate."""
    influences: Floats
    """The influence of each cluster of the bank."""
    unseen: EndsAt | None
    """The ends that an unseen share of clusters at an extreme would give; None where no extreme is known."""


@dataclass(frozen=True, slots=True)
class Regression:
    """The influences of clusters, regressed on what the draw of the items did to the earlier estimate."""

    slope: float
    """The lambda of all clusters."""
    slopes: Floats
    """The lambda for each cluster, from all other clusters (cross-fitting)."""
    residuals: Floats
    """The rest of each cluster's influence."""

    @classmethod
    def of(cls, influences: Floats, drawn: Floats) -> Regression | None:
        """Return the regression; None where earlier answers do not go the way of the sample's.

        Source:
            cov(d, x) / var(x), as in control variates; cross-fitting as in Zrnic and Candes 2024 (arXiv:2309.16598).
        """
        products, squares = influences * drawn, np.square(drawn)
        across, spread = float(products.sum()), float(squares.sum())
        if across <= 0 or spread <= 0:
            return None
        others = np.maximum(spread - squares, spread * 1e-9)
        slopes = np.maximum((across - products) / others, 0.0)
        return cls(across / spread, slopes, influences - slopes * drawn)

    @property
    def variance(self) -> float:
        """The variance of an estimate that is adjusted by it."""
        return float(np.square(self.residuals).sum())


def adjusted(
    plain: LinearEstimate,
    influences: Floats,
    unseen: EndsAt | None,
    whole: EarlierEstimate,
    part: EarlierEstimate,
    events: float = math.inf,
) -> LinearEstimate | None:
    """Return an estimate less lambda times that of the draw by earlier answers; None where that gains nothing.

    The variance is cross-fitted: the residual of each cluster is taken with the lambda of all other clusters.

    Args:
        plain: The estimate of the sample.
        influences: Its influences by cluster of the bank.
        unseen: What an unseen share of its clusters at an extreme would give; None where no extreme is known.
        whole: The same metric of earlier answers to all items.
        part: The same of earlier answers to the items of the sample.
        events: Effective events of its groups, the fewest.

    Source:
        Angelopoulos, Duchi and Zrnic 2023 (PPI++, arXiv:2311.01453).
    """
    if not _is_usable(plain, unseen, whole, part, events):
        return None
    regression = Regression.of(influences, part.influences - whole.influences)
    if regression is None or regression.variance >= plain.variance or _copies(regression, influences, part):
        return None
    to = plain.scale.to
    position = to(plain.value) - regression.slope * (to(part.estimate.value) - to(whole.estimate.value))
    low, high = plain.span or UNBOUNDED
    if not low < plain.scale.back(position) < high:
        return None
    closer = _moved(plain, unseen, part, regression, position)
    # An unseen share counts for the sample and for its history: with few clusters it may make all of the interval.
    return closer if _width(closer) < _width(plain) else None


def _is_usable(
    plain: LinearEstimate, unseen: EndsAt | None, whole: EarlierEstimate, part: EarlierEstimate, events: float
) -> bool:
    """Return whether the sample is large enough for a coefficient, and all three estimates are finite and alike."""
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


def _copies(regression: Regression, influences: Floats, part: EarlierEstimate) -> bool:
    """Return whether too few sampled clusters differ from their history to estimate how many in all do."""
    sampled = (influences != 0) | (part.influences != 0)
    return differing((influences - regression.slopes * part.influences)[sampled]) < FEWEST_DIFFERING


def _moved(
    plain: LinearEstimate, unseen: EndsAt | None, part: EarlierEstimate, regression: Regression, position: float
) -> LinearEstimate:
    """Return the estimate at another position of its scale, with the residuals of a regression for its error."""
    value, variance = plain.scale.back(position), regression.variance
    trials = value * (1 - value) / variance if plain.trials else 0.0
    exact = plain.exact
    if plain.trials:
        exact = partial(exact_ends, value, trials)
    elif exact is not None:
        exact = partial(_shrunk, plain, exact, position, math.sqrt(variance / plain.variance))
    if unseen is not None and part.unseen is not None:
        unseen = partial(_both, plain, unseen, part, regression.slope, position)
    return replace(
        plain,
        value=value,
        influences=[regression.residuals],
        trials=trials,
        counts_clusters=False,
        exact=exact,
        unseen=unseen,
    )


def _width(estimate: LinearEstimate) -> float:
    """Return the width of the 95% interval."""
    low, high = estimate.ends(0.025)
    return high - low


def _shrunk(plain: LinearEstimate, ends: EndsAt, position: float, factor: float, tail: float) -> Ends:
    """Return ends as far from another position as an interval reaches, times a factor."""
    scale, middle = plain.scale, plain.scale.to(plain.value)
    low, high = (scale.to(end) - middle for end in ends(tail))
    return scale.back(position + factor * low), scale.back(position + factor * high)


def _both(
    plain: LinearEstimate, unseen: EndsAt, part: EarlierEstimate, slope: float, position: float, tail: float
) -> Ends:
    """Return ends for an unseen share of clusters at an extreme, to which earlier models answered at the other one."""
    scale = plain.scale
    low, high = (scale.to(end) - scale.to(plain.value) for end in unseen(tail))
    assert part.unseen is not None  # noqa: S101 - for the type; the caller has looked
    below, above = (scale.to(end) - scale.to(part.estimate.value) for end in part.unseen(tail))
    return scale.back(position + low - slope * above), scale.back(position + high - slope * below)
