"""Custom metrics: functions of sums over the sample, with intervals by the jackknife."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from pytest_fairness.core.errors import FairnessError, NoSuchNameError, did_you_mean, short_repr
from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.linear_estimate import (
    FEWEST_DIFFERING,
    IDENTITY,
    ROUNDING,
    UNBOUNDED,
    Ends,
    EndsAt,
    LinearEstimate,
    Scale,
    SecondOrder,
    degrees,
    differing,
    effective_number,
    negligible,
)
from pytest_fairness.stats.quantiles import unseen_share

LEAST_SPREAD = 1e-12
"""Part of a sum of squares below which a spread is zero but for rounding."""
DIRECTIONS = 32
"""Number of directions in which a kink is searched for."""
FAR_STEP = 1.0
"""Distance within which a kink is searched for, in standard errors of the sums.

See `tests/benchmarks/kinks.py`: with it, maxima, minima and absolute values err in at most 3.1%.
"""
STEPS = 32
"""Number of steps on either side in which the slope is followed."""
NEAR_STEP = 0.25
"""Step of the second difference that gives the second-order term, in standard errors of the value."""
END_STEP = 2.0
"""Distance at which the bias at an end of the interval is computed, in standard errors of the value."""
NEGLIGIBLE_BIAS = 0.1
"""Bias in standard errors up to which error rates hardly change (Cochran 1977, Sampling Techniques, section 1.8)."""
LARGEST_CHANGE = 0.15
"""Largest change of the slope from step to step, in standard errors of the value by one of the sums.

By `tests/benchmarks/kinks.py` logarithms of odds ratios have at most 0.06, absolute values of differences 1 to 2.
"""

Function = Callable[[Any], Any]
"""A function from sums, which are attributes by name, to a number; or from arrays of sums to an array."""


class UndefinedError(ArithmeticError):
    """The function has no value for these sums."""


class Sums(SimpleNamespace):
    """The sums of a metric, as attributes; a name that is none of them is one line."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NoSuchNameError(f"the metric has no sum {name!r}: {did_you_mean(name, vars(self))}")


@dataclass(frozen=True, slots=True)
class Functional:
    """A function of sums, with the names of the sums in the order of their columns."""

    function: Function
    names: Sequence[str]
    symmetric: bool = False
    """Whether the distribution of its error is known to be symmetric."""
    smooth: bool = False
    """Whether it is known to have no kink, so that none is searched for."""
    extremes: Callable[[Floats], Sequence[Floats]] | None = None
    """A function from the summands of attempts to the mean summands of clusters that would change it most."""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise FairnessError(
                f"a metric is {short_repr(self.function)}: give a function of sums, or the name of a registered metric"
            )

    def at(self, sums: Floats) -> Floats:
        """Return the function's values for rows of sums, shape (rows, names) to (rows,); nan where it has none."""
        with np.errstate(all="ignore"):
            values = self._vectorized(sums)
            return np.array([self._value(row) for row in sums]) if values is None else values

    def _vectorized(self, sums: Floats) -> Floats | None:
        """Return the values of all rows at once; None for a function that takes only single numbers."""
        if len(sums) < 3:
            return None
        try:
            values = np.asarray(self.function(self._named(sums.T)), dtype=np.float64)
        except (TypeError, ValueError, ArithmeticError):
            return None
        if values.shape != (len(sums),):
            return None
        # A function that mixes rows, such as a maximum over all, gives other values for single rows.
        for value, row in zip(values[[0, -1]].tolist(), (sums[0], sums[-1]), strict=True):
            single = self._value(row)
            both_undefined = math.isnan(value) and math.isnan(single)
            if not (both_undefined or math.isclose(value, single, rel_tol=1e-9, abs_tol=1e-12)):
                return None
        return values

    def _value(self, sums: Floats) -> float:
        try:
            value = self.function(self._named(sums))
        except (ArithmeticError, ValueError):  # math.log of a negative number is a ValueError
            return math.nan
        try:
            return float("" if isinstance(value, str) else value)
        except (TypeError, ValueError, OverflowError):
            raise FairnessError(f"the metric's function gave {short_repr(value)}: it must give a number") from None

    def _named(self, columns: Floats) -> Sums:
        return Sums(**dict(zip(self.names, columns, strict=True)))


def linearize(
    functional: Functional, values: Floats, clusterings: Sequence[Clustering], span: Ends | None
) -> LinearEstimate:
    """Return a functional as a linear estimate.

    Args:
        functional: A function of sums.
        values: The summands of each attempt, shape (attempts, names), none nan.
        clusterings: The clusters by source; with a crossed factor also by its level and by cell.
        span: The range that the function cannot leave; it determines the scale.

    Raises:
        UndefinedError: The function has no value for the sums, or for those without one cluster.
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
        undefined = np.count_nonzero(~np.isfinite(without[0]))
        raise UndefinedError(f"it has no value without {undefined:,} of its items or sources: a division by zero?")
    sources = len(without[0])
    deviations = [influences(values_without, value, scale) for values_without in without]
    number = unseen_number(deviations[0], sums[0][1], sums[0][1])
    unseen: EndsAt | None = None
    if functional.extremes is not None:
        unseen = partial(unseen_ends, functional, values, number, functional.extremes(values))
    # test_equal_numbers_may_be_exceeded_within_a_span
    elif span is not None and all(map(math.isfinite, span)):
        unseen = partial(unseen_span_ends, value, number, span)
    # test_metric_bends_as_the_logarithm_of_its_mean
    terms = SecondOrder() if functional.symmetric else second_order(functional, *sums[0], deviations[0], scale)
    return LinearEstimate(
        value,
        deviations,
        [degrees(np.square(counts)) for _, counts in sums],
        sources,
        scale,
        span,
        curvature=(terms.constant, terms.square),
        second_order=terms,
        symmetric=functional.symmetric,
        size=abs(value) if scale == Scale() else 1.0,
        unseen=unseen,
    )


def second_order(functional: Functional, sums: Floats, counts: Floats, deviations: Floats, scale: Scale) -> SecondOrder:
    """Return the second-order terms of a functional; zeros where it has no value so near.

    DiCiccio and Efron 1992, Biometrika 79, 231-245: c is its second-order term one error along its own influences, b
    is its bias, half the sum of its second differences by cluster. Both ends move by c - b and by c times the squared
    quantile. A bias that matters is computed at either end as well: an end is the value at which the estimate would
    just be rejected, so the bias there counts.

    Args:
        functional: A function of sums.
        sums: The sums of each cluster, shape (clusters, names).
        counts: The number of attempts of each cluster.
        deviations: The influence of each cluster on the scale.
        scale: The scale of the interval.
    """
    error = math.sqrt(float(np.square(deviations).sum()))
    if not error:
        return SecondOrder()
    whole, centered = sums.sum(axis=0), centered_sums(sums, counts)
    along = deviations @ centered / error

    def half_difference(base: Floats, steps: Floats) -> float:
        """Return half the sum of the second differences along some steps."""
        with np.errstate(invalid="ignore"):
            middle, *others = scale.every(functional.at(np.vstack([base, base + steps, base - steps])))
            above, below = np.reshape(others, (2, -1))
            return float((above + below - 2 * middle).sum()) / 2

    square = half_difference(whole, NEAR_STEP * along[np.newaxis]) / NEAR_STEP**2
    own = half_difference(whole, centered)
    if not (math.isfinite(square) and math.isfinite(own)):
        return SecondOrder()
    # test_bias_of_a_deviation_over_groups_is_that_at_its_end
    if abs(own) <= NEGLIGIBLE_BIAS * error:
        return SecondOrder(square - own, square)
    at_ends = [half_difference(whole + position * along, centered) for position in (-END_STEP, END_STEP)]
    further = [end - own if math.isfinite(end) else 0.0 for end in at_ends]
    return SecondOrder(square - own, square, max(further[0], 0.0), max(-further[1], 0.0))


def influences(without: Floats, value: float, scale: Scale) -> Floats:
    """Return the influence of each cluster on the scale, from the values without each cluster (Tukey 1958)."""
    number, scaled = len(without), scale.every(without)
    # test_interval_is_never_clipped_past_the_value
    if not np.all(np.isfinite(scaled)):  # without some cluster the value is at an end of its span
        scaled = without * scale.slope(value)
    with np.errstate(invalid="ignore"):
        influence: Floats = (scaled.mean() - scaled) * math.sqrt(max(number - 1, 0) / number)
    return influence


def unseen_number(deviations: Floats, counts: Floats, sizes: Floats, *, agree: bool = True) -> float:
    """Return the number of clusters from which an unseen share is computed.

    Where few differ by their size, it is that of clusters of equal size. If all agree, sizes make no difference: then a
    share of clusters of any size is as likely to be unseen.

    Args:
        deviations: The influence of each group of clusters that is left out.
        counts: The number of attempts of each group.
        sizes: The number of attempts of each cluster.
        agree: Whether clusters agree if none has an influence; a function that is cut off at some value hides how they
            differ.
    """
    # test_unseen_share_counts_all_sources_where_all_agree
    if agree and negligible(float(np.square(deviations).sum()), len(sizes)):
        return float(len(sizes))
    # test_few_large_sources_may_leave_as_much_unseen
    return effective_number(sizes) if differing(deviations, counts) < FEWEST_DIFFERING else float(len(sizes))


def unseen_ends(
    functional: Functional, values: Floats, clusters: float, hypotheses: Sequence[Floats], tail: float
) -> Ends:
    """Return the lowest and highest value with an unseen share of clusters that were graded otherwise.

    Args:
        functional: A function of sums.
        values: The summands of each attempt, shape (attempts, names).
        clusters: The number of clusters, of equal size.
        hypotheses: The mean summands of unseen clusters, one array (names,) for each possible grade.
        tail: The probability that such a share is unseen.
    """
    share = unseen_share(clusters, tail)
    whole = values.sum(axis=0)
    sums = [whole, *((1 - share) * whole + share * len(values) * means for means in hypotheses)]
    metrics = functional.at(np.array(sums))
    finite = metrics[np.isfinite(metrics)]
    return float(finite.min()), float(finite.max())


def unseen_span_ends(value: float, clusters: float, span: Ends, tail: float) -> Ends:
    """Return the value with an unseen share of clusters at either end of its span."""
    share = unseen_share(clusters, tail)
    low, high = (value + share * (end - value) for end in span)
    return low, high


def read_span(span: object) -> Ends | None:
    """Return the span of a metric.

    Raises:
        FairnessError: It is no pair of numbers, the lower one first.
    """
    if span is None:
        return None
    try:
        low, high = (math.nan if isinstance(end, str) else float(end) for end in span)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        low = high = math.nan
    if not low < high:
        raise FairnessError(f"the span of a metric is {short_repr(span)}: write span=(LOWEST, HIGHEST), two numbers")
    return low, high


def check_span(value: float, span: Ends | None) -> None:
    """Raise `FairnessError` for a value outside of its span: then the span is wrong, and so would be its ends."""
    low, high = span or UNBOUNDED
    tolerance = ROUNDING * max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
    if not low - tolerance <= value <= high + tolerance:
        raise FairnessError(
            f"the metric comes to {value:.6g}, outside its span of {low:g} to {high:g}: give the range that its "
            "function cannot leave, span=(LOWEST, HIGHEST), or none"
        )


def has_kink(functional: Functional, values: Floats, clustering: Clustering, estimate: LinearEstimate) -> bool:
    """Return whether a function has a kink within the error of its sums: a maximum, a minimum, an absolute value.

    Neither the error nor the interval of the linear estimate holds there (Fang and Santos 2019). At a kink the slope
    changes at once. That of a smooth function, however curved, changes little over a small step. So the slope is
    followed along random directions, in small steps, for the value itself and on the scale of its interval. A function
    whose bias exceeds the reach of its error has a turning point at its value, as the square of a difference of zero.

    Args:
        functional: A function of sums.
        values: The summands of each attempt, shape (attempts, names), none nan.
        clustering: The clusters by source.
        estimate: The function as a linear estimate.
    """
    terms = estimate.second_order
    # test_square_of_a_difference_of_zero_is_invalid
    if terms is not None and abs(terms.bias) > END_STEP * estimate.error:
        return True
    centered = centered_sums(*cluster_sums(values, clustering))
    steps = FAR_STEP * np.random.default_rng(0).choice((-1.0, 1.0), (DIRECTIONS, len(centered))) @ centered
    whole = values.sum(axis=0)
    # test_contrast_of_log_odds_ratios_of_few_items_is_valid
    halves = np.where((values >= 0).all(axis=0) & (steps != 0), whole / 2, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.fmin.reduce(halves / np.abs(steps), axis=1, initial=1.0)
    positions = np.linspace(-1.0, 1.0, 2 * STEPS + 1)
    along = positions[:, np.newaxis, np.newaxis] * (reach[:, np.newaxis] * steps)
    metrics = functional.at((whole + along).reshape(-1, len(whole))).reshape(len(positions), DIRECTIONS)
    return all(
        _slope_jumps(scale.every(metrics), reach, scale.to(estimate.value), error)
        for scale, error in ((IDENTITY, estimate.natural_error), (estimate.scale, estimate.error))
    )


def _slope_jumps(metrics: Floats, reach: Floats, value: float, error: float) -> bool:
    """Return whether the slope changes much from one step to the next, or has no value.

    Args:
        metrics: The metric at each position along each direction, shape (positions, directions).
        reach: The distance to the farthest position of each direction.
        value: The metric of the sample, on the same scale.
        error: Its standard error.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.diff(metrics, axis=0) * STEPS / reach
        changes = np.abs(np.diff(slopes, axis=0)).max(axis=0)
    changes = changes[np.isfinite(changes)]
    tolerance = ROUNDING * max(1.0, abs(value))
    return not len(changes) or math.sqrt(float(np.square(changes).mean())) > LARGEST_CHANGE * error + tolerance


def cluster_sums(values: Floats, clustering: Clustering) -> tuple[Floats, Floats]:
    """Return the sums of each cluster that has attempts, shape (clusters, names), and its number of attempts."""
    counts = np.bincount(clustering.codes, minlength=clustering.size)
    present = counts > 0
    sums = [np.bincount(clustering.codes, weights=column, minlength=clustering.size)[present] for column in values.T]
    return np.column_stack(sums), counts[present].astype(np.float64)


def centered_sums(sums: Floats, counts: Floats) -> Floats:
    """Return the sums of each cluster, less the average sums of as many attempts."""
    centered: Floats = sums - np.outer(counts / counts.sum(), sums.sum(axis=0))
    return centered


def correlation(sums: Any) -> Any:
    """Return Pearson's correlation from sums of x, y, their squares, their product and their number."""
    with np.errstate(invalid="ignore", divide="ignore"):
        spread_x, spread_y = (
            np.where(spread > LEAST_SPREAD * squares, spread, np.nan)
            for squares, spread in ((sums.xx, sums.xx - sums.x**2 / sums.n), (sums.yy, sums.yy - sums.y**2 / sums.n))
        )
        return np.clip((sums.xy - sums.x * sums.y / sums.n) / np.sqrt(spread_x * spread_y), -1.0, 1.0)


def correlation_corners(columns: Floats) -> list[Floats]:
    """Return the mean summands of unseen clusters with both outcomes at an extreme."""
    ends = [(float(column.min()), float(column.max())) for column in columns.T[1:3]]
    return [np.array([1.0, x, y, x * x, y * y, x * y]) for x in ends[0] for y in ends[1]]


CORRELATION = Functional(
    correlation, ("n", "x", "y", "xx", "yy", "xy"), symmetric=True, smooth=True, extremes=correlation_corners
)


def correlation_columns(first: Floats, second: Floats) -> Floats:
    """Return the summands of `CORRELATION`, from centered outcomes: the squares of large ones would lose digits."""
    x, y = first - np.nanmean(first), second - np.nanmean(second)
    return np.column_stack([np.where(np.isnan(x), np.nan, 1.0), x, y, x * x, y * y, x * y])
