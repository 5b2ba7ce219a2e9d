"""Metrics that are any function of sums over the sample, with an interval by the jackknife."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.intervals import Ends, Spread
from pytest_fairness.stats.jackknife import combined, degrees, negligible, sparse_factor
from pytest_fairness.stats.skewness import STRAIGHT, mean_skew

Function = Callable[[Any], Any]
"""From sums, by name as attributes, to a number; arrays of sums give an array where it can take them."""


class UndefinedError(ArithmeticError):
    """The function has no value for these sums."""


@dataclass(frozen=True, slots=True)
class Functional:
    """A function, and the names of its sums in the order of their columns."""

    function: Function
    names: Sequence[str]
    symmetric: bool = False
    """Whether its error is known to have no tail longer than the other."""

    def at(self, sums: Floats) -> Floats:
        """The function's values for rows of sums, shape (rows, names) to (rows,); nan where it has none."""
        with np.errstate(all="ignore"):
            values = self._together(sums)
            return np.array([self._alone(row) for row in sums]) if values is None else values

    def _together(self, sums: Floats) -> Floats | None:
        """All rows at once, or None for a function that takes only single numbers."""
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
        except ArithmeticError:
            return math.nan

    def _named(self, columns: Floats) -> SimpleNamespace:
        return SimpleNamespace(**dict(zip(self.names, columns, strict=True)))


def estimated(functional: Functional, values: Floats, clusterings: Sequence[Clustering]) -> tuple[float, Spread]:
    """The value of a functional and its error, from numbers per attempt (attempts, names), none nan.

    Raises `UndefinedError` where the sums, or those without one cluster, give no number.
    """
    whole = float(functional.at(values.sum(axis=0)[np.newaxis])[0])
    if not math.isfinite(whole):
        raise UndefinedError(f"its value is {whole:g}: a division by zero?")
    deviations, dfs = [], []
    for clustering in clusterings:
        scaled, df = jackknifed(functional, values, clustering)
        deviations.append(scaled)
        dfs.append(df)
    sources = len(deviations[0])
    variance = combined([float(np.square(each).sum()) for each in deviations])
    if negligible(variance, sources):
        return whole, Spread(0.0, dfs[0])
    # The function's own curvature is left out: where events are few its noise makes an interval twice as wide.
    skew = STRAIGHT if functional.symmetric else mean_skew(deviations[0])
    return whole, Spread(math.sqrt(variance * sparse_factor(deviations[0], dfs[0])), min(dfs[:2]), skew)


def slope(function: Callable[[float], float], at: float) -> float:
    """By how much a function of one number grows there with its argument."""
    return (function(at + 1e-6) - function(at - 1e-6)) / 2e-6


def interval(value: float, found: Spread, tail: float) -> Ends:
    """Student's t, with both ends moved towards the longer tail."""
    return found.ends(value, tail)


def unseen_ends(
    functional: Functional, values: Floats, sources: int, hypotheses: Sequence[Floats], tail: float
) -> Ends:
    """Ends for clusters that all agree: an unseen share of them could have been graded otherwise.

    ``hypotheses`` hold means per attempt, one array (names,) for each way to be graded.
    """
    share = 1 - tail ** (1 / max(sources, 1))
    whole = values.sum(axis=0)
    mixed = [whole, *((1 - share) * whole + share * len(values) * means for means in hypotheses)]
    found = functional.at(np.array(mixed))
    finite = found[np.isfinite(found)]
    return float(finite.min()), float(finite.max())


def jackknifed(functional: Functional, values: Floats, clustering: Clustering) -> tuple[Floats, float]:
    """What each cluster that has attempts adds to the error, as in `Part.deviations`, and its degrees of freedom.

    Raises `UndefinedError` where the sums without one cluster give no number.
    """
    counts = np.bincount(clustering.codes, minlength=clustering.size)
    present = counts > 0
    sums = np.column_stack(
        [np.bincount(clustering.codes, weights=column, minlength=clustering.size)[present] for column in values.T]
    )
    without = functional.at(values.sum(axis=0) - sums)
    if not np.all(np.isfinite(without)):
        bad = np.count_nonzero(~np.isfinite(without))
        raise UndefinedError(f"it has no value without {bad:,} of its items or sources: a division by zero?")
    number = len(without)
    scaled: Floats = (without.mean() - without) * math.sqrt(max(number - 1, 0) / number)
    return scaled, degrees(np.square(counts[present] / len(values)))


def correlation(sums: Any) -> Any:
    """Fisher's z of Pearson's correlation, from sums of x, y, their squares, their product and their number."""
    spread_x = sums.xx - sums.x**2 / sums.n
    spread_y = sums.yy - sums.y**2 / sums.n
    return np.arctanh((sums.xy - sums.x * sums.y / sums.n) / np.sqrt(spread_x * spread_y))


CORRELATION = Functional(correlation, ("n", "x", "y", "xx", "yy", "xy"), symmetric=True)


def correlation_columns(first: Floats, second: Floats) -> Floats:
    """What `CORRELATION` sums; centred, so that large means cost no digits."""
    x, y = first - np.nanmean(first), second - np.nanmean(second)
    return np.column_stack([np.where(np.isnan(x), np.nan, 1.0), x, y, x * x, y * y, x * y])
