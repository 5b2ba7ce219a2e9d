"""Metrics that are any function of sums over the sample, with an interval by the jackknife."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.linear_estimate import IDENTITY, UNBOUNDED, Ends, EndsAt, LinearEstimate, Scale, degrees
from pytest_fairness.stats.quantiles import unseen_share

ROUNDING = 1e-9
"""Slack by which sums of floating-point numbers may leave a range, as a share of its ends."""
DIRECTIONS = 32
"""Number of directions in which a kink is searched for."""
FAR_STEP = 1.0
"""Standard errors of the sums along which a kink is searched for.

By simulation what passes errs in at most 2%: maxima of two and of ten groups, 0 to 3 errors apart.
"""
NEAR_STEP = 0.25
"""Standard errors of the value from which its second-order term is taken."""
ROUGH = 0.15
"""Deviation of second differences from those of a smooth function, in standard errors, that shows a kink."""

Function = Callable[[Any], Any]
"""A function from sums, by name as attributes, to a number; arrays of sums give an array where it can take them."""


class UndefinedError(ArithmeticError):
    """The function has no value for these sums."""


@dataclass(frozen=True, slots=True)
class Functional:
    """A function, and the names of its sums in the order of their columns."""

    function: Function
    names: Sequence[str]
    symmetric: bool = False
    """Whether its error is known to have no tail longer than the other."""
    smooth: bool = False
    """Whether it is taken to have no kink, so that none is searched for."""
    extremes: Callable[[Floats], Sequence[Floats]] | None = None
    """A function from the numbers per attempt to those of clusters that would move it most."""

    def at(self, sums: Floats) -> Floats:
        """Return the function's values for rows of sums, shape (rows, names) to (rows,); nan where it has none."""
        with np.errstate(all="ignore"):
            values = self._together(sums)
            return np.array([self._alone(row) for row in sums]) if values is None else values

    def _together(self, sums: Floats) -> Floats | None:
        """Return all rows at once, or None for a function that takes only single numbers."""
        if len(sums) < 3:
            return None
        try:
            values = np.asarray(self.function(self._named(sums.T)), dtype=np.float64)
        except (TypeError, ValueError, ArithmeticError):
            return None
        if values.shape != (len(sums),):
            return None
        # A function that mixes rows (a maximum over all, say) is found out by its ends.
        alone = [self._alone(sums[0]), self._alone(sums[-1])]
        return values if np.allclose(values[[0, -1]], alone, rtol=1e-9, atol=1e-12, equal_nan=True) else None

    def _alone(self, sums: Floats) -> float:
        try:
            return float(self.function(self._named(sums)))
        except (ArithmeticError, ValueError):  # math.log of a negative number is a ValueError
            return math.nan

    def _named(self, columns: Floats) -> SimpleNamespace:
        return SimpleNamespace(**dict(zip(self.names, columns, strict=True)))


def linearize(
    functional: Functional, values: Floats, clusterings: Sequence[Clustering], span: Ends | None = None
) -> LinearEstimate:
    """Return a functional as a linear estimate.

    Args:
        functional: A function of sums.
        values: Numbers per attempt, shape (attempts, names), none nan.
        clusterings: By source; with a crossed factor also by it and by cell.
        span: The range that the function cannot leave; it chooses the scale.

    Raises:
        UndefinedError: The sums, or those without one cluster, give no number.
        FairnessError: The value lies outside of its span.
    """
    whole = values.sum(axis=0)
    value = float(functional.at(whole[np.newaxis])[0])
    if not math.isfinite(value):
        raise UndefinedError(f"its value is {value:g}: a division by zero, or a root of a negative number?")
    check_span(value, span)
    scale = Scale.by_span(span)
    if not math.isfinite(scale.to(value)):  # at an end of its span, where a logarithm is infinite
        if functional.extremes is not None:
            raise UndefinedError(f"its value is {value:g}, and nothing varies about that")
        scale = Scale()
    sums = [cluster_sums(values, clustering) for clustering in clusterings]
    without = [functional.at(whole - totals) for totals, _ in sums]
    if not np.all(np.isfinite(without[0])):
        bad = np.count_nonzero(~np.isfinite(without[0]))
        raise UndefinedError(f"it has no value without {bad:,} of its items or sources: a division by zero?")
    sources = len(without[0])
    unseen: EndsAt | None = None
    if functional.extremes is not None:
        unseen = partial(unseen_ends, functional, values, sources, functional.extremes(values))
    elif span is not None and all(map(math.isfinite, span)):
        unseen = partial(mixed_ends, value, sources, span)
    deviations = [influences(values_without, value, scale) for values_without in without]
    return LinearEstimate(
        value,
        deviations,
        [degrees(np.square(counts / len(values))) for _, counts in sums],
        sources,
        scale,
        span,
        curvature=(0.0, 0.0) if functional.symmetric else curvature(functional, *sums[0], deviations[0], scale),
        symmetric=functional.symmetric,
        unseen=unseen,
    )


def curvature(functional: Functional, sums: Floats, counts: Floats, deviations: Floats, scale: Scale) -> Ends:
    """Return by how much both ends of a functional move because it bends: constant, and times the squared quantile.

    With c its second-order term one error along its own influences, and b its bias, half the sum of its second
    differences by cluster: c - b, and c (DiCiccio and Efron 1992, Biometrika 79, 231-245). None where it has no value
    so near.

    Args:
        functional: A function of sums.
        sums: Sums of each cluster, shape (clusters, names).
        counts: Attempts of each cluster.
        deviations: Influence of each cluster on the scale.
        scale: Scale of the interval.
    """
    error = math.sqrt(float(np.square(deviations).sum()))
    if not error:
        return 0.0, 0.0
    whole, centered = sums.sum(axis=0), centered_sums(sums, counts)
    steps = np.vstack([NEAR_STEP / error * deviations @ centered, centered])
    middle, *beyond = scale.every(functional.at(np.vstack([whole, whole + steps, whole - steps])))
    above, below = np.reshape(beyond, (2, -1))
    second = (above + below - 2 * middle) / 2
    along, bias = float(second[0]) / NEAR_STEP**2, float(second[1:].sum())
    return (along - bias, along) if math.isfinite(along) and math.isfinite(bias) else (0.0, 0.0)


def influences(without: Floats, value: float, scale: Scale) -> Floats:
    """Return what each cluster adds to the error on the scale, from the values without each cluster."""
    number, scaled = len(without), scale.every(without)
    if not np.all(np.isfinite(scaled)):  # one cluster alone keeps the value from the end of its span
        scaled = without * scale.slope(value)
    influence: Floats = (scaled.mean() - scaled) * math.sqrt(max(number - 1, 0) / number)
    return influence


def unseen_ends(
    functional: Functional, values: Floats, clusters: int, hypotheses: Sequence[Floats], tail: float
) -> Ends:
    """Return ends for clusters that all agree: an unseen share of them could have been graded otherwise.

    ``hypotheses`` hold means per attempt, one array (names,) for each way to be graded.
    """
    share = unseen_share(clusters, tail)
    whole = values.sum(axis=0)
    mixed = [whole, *((1 - share) * whole + share * len(values) * means for means in hypotheses)]
    values_mixed = functional.at(np.array(mixed))
    finite = values_mixed[np.isfinite(values_mixed)]
    return float(finite.min()), float(finite.max())


def mixed_ends(value: float, clusters: int, span: Ends, tail: float) -> Ends:
    """Return the value with an unseen share of clusters at either end of its span."""
    share = unseen_share(clusters, tail)
    low, high = (value + share * (end - value) for end in span)
    return low, high


def check_span(value: float, span: Ends | None) -> None:
    """Raise `FairnessError` for a value outside of its span: then the span is wrong, and so would be its ends."""
    low, high = span or UNBOUNDED
    slack = ROUNDING * max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
    if not low - slack <= value <= high + slack:
        raise FairnessError(
            f"the metric comes to {value:.6g}, outside its span of {low:g} to {high:g}: give the range that its "
            "function cannot leave, span=(LOWEST, HIGHEST), or none"
        )


def has_kink(functional: Functional, values: Floats, clustering: Clustering, estimate: LinearEstimate) -> bool:
    """Return whether a function has a kink within the error of its sums: a maximum, a minimum, a size.

    Along directions in which the sums may err, h errors far, the second difference of a smooth function grows as
    h^2. At a kink it grows as h (Fang and Santos 2019), and beyond one it begins. Neither error nor interval
    of the linear estimate holds there. A kink is one on every scale, mere curvature is not: both the function
    and its place on the scale of the interval must show it.

    Args:
        functional: A function of sums.
        values: Numbers per attempt, shape (attempts, names), none nan.
        clustering: By source.
        estimate: The function as a linear estimate.
    """
    centered = centered_sums(*cluster_sums(values, clustering))
    steps = np.random.default_rng(0).choice((-1.0, 1.0), (DIRECTIONS, len(centered))) @ centered
    whole = values.sum(axis=0)
    near, far = (
        (functional.at(whole + step * steps), functional.at(whole - step * steps)) for step in (FAR_STEP / 4, FAR_STEP)
    )
    return all(
        _is_rough(scale, near, far, scale.to(estimate.value), error)
        for scale, error in ((IDENTITY, estimate.natural_error), (estimate.scale, estimate.error))
    )


def _is_rough(
    scale: Scale, near: tuple[Floats, Floats], far: tuple[Floats, Floats], middle: float, error: float
) -> bool:
    """Return whether second differences of values near and far depart from those of a smooth function, or have none."""
    with np.errstate(invalid="ignore"):
        close, wide = (scale.every(above) + scale.every(below) - 2 * middle for above, below in (near, far))
        departure = np.abs(wide - 16 * close)
    departure = departure[np.isfinite(departure)]
    rounding = ROUNDING * max(1.0, abs(middle))
    return not len(departure) or float(np.sqrt(np.square(departure).mean())) > ROUGH * error + rounding


def cluster_sums(values: Floats, clustering: Clustering) -> tuple[Floats, Floats]:
    """Return the sums of each cluster that has attempts, shape (clusters, names), and its number of attempts."""
    counts = np.bincount(clustering.codes, minlength=clustering.size)
    present = counts > 0
    sums = [np.bincount(clustering.codes, weights=column, minlength=clustering.size)[present] for column in values.T]
    return np.column_stack(sums), counts[present].astype(np.float64)


def centered_sums(sums: Floats, counts: Floats) -> Floats:
    """Return the sums of each cluster, less what as many attempts have on average."""
    centered: Floats = sums - np.outer(counts / counts.sum(), sums.sum(axis=0))
    return centered


def correlation(sums: Any) -> Any:
    """Return Pearson's correlation from sums of x, y, their squares, their product and their number."""
    spread_x = sums.xx - sums.x**2 / sums.n
    spread_y = sums.yy - sums.y**2 / sums.n
    return np.clip((sums.xy - sums.x * sums.y / sums.n) / np.sqrt(spread_x * spread_y), -1.0, 1.0)


def correlation_corners(columns: Floats) -> list[Floats]:
    """Return both outcomes at their extremes together: what an unseen cluster would add to a correlation."""
    ends = [(float(column.min()), float(column.max())) for column in columns.T[1:3]]
    return [np.array([1.0, x, y, x * x, y * y, x * y]) for x in ends[0] for y in ends[1]]


CORRELATION = Functional(
    correlation, ("n", "x", "y", "xx", "yy", "xy"), symmetric=True, smooth=True, extremes=correlation_corners
)


def correlation_columns(first: Floats, second: Floats) -> Floats:
    """Return what `CORRELATION` sums; centered, so that large means cost no digits."""
    x, y = first - np.nanmean(first), second - np.nanmean(second)
    return np.column_stack([np.where(np.isnan(x), np.nan, 1.0), x, y, x * x, y * y, x * y])
