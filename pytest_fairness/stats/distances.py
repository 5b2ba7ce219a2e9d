"""How much further from parity one gap between two groups is than another, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from statistics import fmean

import numpy as np

from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.intervals import (
    FEWEST_EVENTS,
    Ends,
    Spread,
    difference_interval,
    mean_interval,
    ratio_interval,
)
from pytest_fairness.stats.jackknife import combined, degrees, negligible, sparse_factor
from pytest_fairness.stats.skewness import Skew, mean_skew
from pytest_fairness.stats.sums import Part

FOR_THE_SIDE = 0.1
"""Of the probability to err: what is spent on telling to which side of parity the old gap lies."""


class Contrast:
    """A sum of means, or of their logarithms, each with a sign."""

    def __init__(self, parts: Sequence[Part], signs: Sequence[int], *, log: bool) -> None:
        self._parts = parts
        self._signs = signs
        self._log = log
        self.value = sum(sign * self._scaled(part.value) for sign, part in zip(signs, parts, strict=True))

    def ends(self, tail: float) -> Ends:
        """Student's t; with few events also the hybrid of the parts' own intervals (Donner and Zou 2012)."""
        if self.spread.error > 0:
            ends = self.spread.ends(self.value, tail)
        else:
            reach = self._unseen(tail)
            ends = self.value - reach, self.value + reach
        if not any(part.binary and part.events < FEWEST_EVENTS for part in self._parts):
            return ends
        low, high = self._hybrid(tail)
        return min(ends[0], low), max(ends[1], high)

    @cached_property
    def spread(self) -> Spread:
        """The jackknife's error, over clusters that are the same for all parts."""
        deviations = self._deviations
        sources = int(np.count_nonzero(np.sum([part.counts[0] for part in self._parts], axis=0)))
        own_share = fmean(part.own_share for part in self._parts)
        variance = combined([float(np.square(each).sum()) for each in deviations], own_share)
        if negligible(variance, sources):
            return Spread(0.0, max(sources - 1.0, 1.0))
        dfs = self._degrees()
        known = math.inf
        if self._log and all(part.binary for part in self._parts):
            known = sum(part.effective * part.value for part in self._parts)
        factor = sparse_factor(deviations[0], dfs[0], known)
        return Spread(math.sqrt(variance * factor), min(dfs), self._skew())

    @cached_property
    def _deviations(self) -> list[Floats]:
        own = [self._of(part) for part in self._parts]
        return [
            np.sum([sign * each[number] for sign, each in zip(self._signs, own, strict=True)], axis=0)
            for number in range(len(own[0]))
        ]

    def _of(self, part: Part) -> list[Floats]:
        return part.log_deviations if self._log else part.deviations

    def _scaled(self, value: float) -> float:
        if not self._log:
            return value
        return math.log(value) if value > 0 else -math.inf

    def _degrees(self) -> list[float]:
        """As in an interval of two parts: each cluster's share squared, weighted by its part's variance."""
        found = []
        for clustering in range(len(self._deviations))[:2]:
            contributions = np.zeros_like(self._deviations[clustering])
            for part in self._parts:
                weight = part.variance / part.value**2 if self._log else part.variance
                squares = np.square(part.shares[clustering])
                contributions += (weight or 1e-12) * squares / squares.sum()
            found.append(degrees(contributions))
        if len(found) > 1:
            found.append(max(sum(part.levels for part in self._parts[:2]) - 2.0, 1.0))
        return found

    def _skew(self) -> Skew:
        """The second-order term of a sum of logarithms (Hall 1992, section 3.10), or of means (Johnson 1978)."""
        both = self._deviations[0]
        constant, square = mean_skew(both)
        if not self._log:
            return Skew(constant, square)
        bend = drift = 0.0
        for sign, part in zip(self._signs, self._parts, strict=True):
            own = part.log_deviations[0]
            drift += sign * float(np.square(own).sum()) / 2
            bend += sign * float(both @ own) ** 2
        bend /= 2 * float(np.square(both).sum())
        return Skew(constant + drift - bend, square - bend)

    def _unseen(self, tail: float) -> float:
        """What the largest share of clusters could add that may differ when none of those seen did."""
        share = 1 - math.exp(math.log(tail) / min(part.sources for part in self._parts))
        widths = [span[1] - span[0] for part in self._parts if (span := part.span) is not None]
        if len(widths) < len(self._parts):
            return math.inf
        least = min(part.value for part in self._parts) if self._log else 1.0
        return share * max(widths) / least

    def _hybrid(self, tail: float) -> Ends:
        below = above = 0.0
        for sign, part in zip(self._signs, self._parts, strict=True):
            value = self._scaled(part.value)
            low, high = (self._scaled(end) for end in mean_interval(part, tail))
            down, up = (value - low, high - value) if sign > 0 else (high - value, value - low)
            below, above = math.hypot(below, down), math.hypot(above, up)
        return self.value - below, self.value + above


class Distance:
    """``|n| - |o|``: a gap n against an older one o, both logarithms of ratios (``log``) or differences.

    ``parts`` are the first and second group of the new sample, then of the old one. With
    |n| - |o| itself the interval's upper end is passed too often where o is at parity: in
    5.1% of runs for 2.5%. So where the old gap's own interval holds parity the upper end is
    that of |n - o|, which is at least as large. Elsewhere o has a side s, and the larger of
    s (n - o) and -s (n + o) counts: each must lie below, which needs no correction (an
    intersection-union test). A side that is told at ``tail`` itself is the wrong one often
    enough that 3.4% pass, 4.0% where the two runs agree closely; so it is told at a tenth of
    ``tail``, and the ends have the rest: together they err at ``tail`` at most. The lower end
    holds whichever side either gap has: Bonferroni's over the sides of n, the worse of those of o.
    """

    def __init__(self, parts: Sequence[Part], tail: float, *, log: bool) -> None:
        self._less = Contrast(parts, (1, -1, -1, 1), log=log)
        self._total = Contrast(parts, (1, -1, 1, -1), log=log)
        old = parts[2], parts[3]
        interval, parity = (ratio_interval, 1.0) if log else (difference_interval, 0.0)
        low, high = interval(*old, FOR_THE_SIDE * tail)
        self._side = 1 if low > parity else -1 if high < parity else 0

    @property
    def value(self) -> float:
        """The two-sided distance where the old gap has no side, else the larger signed one."""
        if not self._side:
            return abs(self._less.value)
        return max(self._side * self._less.value, -self._side * self._total.value)

    @property
    def error(self) -> float:
        """Standard error of the contrast that makes the value."""
        return self._deciding.error

    @property
    def df(self) -> float:
        """Its degrees of freedom."""
        return self._deciding.df

    def ends(self, tail: float) -> Ends:
        """Lower and upper end, each passed by the truth with probability ``tail`` at most."""
        rest = (1 - FOR_THE_SIDE) * tail
        less, total = self._less.ends(rest), self._total.ends(rest)
        high = {0: max(-less[0], less[1]), 1: max(less[1], -total[0]), -1: max(-less[0], total[1])}[self._side]
        less, total = self._less.ends(tail / 2), self._total.ends(tail / 2)
        return max(min(less[0], total[0]), min(-less[1], -total[1])), high

    @property
    def _deciding(self) -> Spread:
        by_less = not self._side or self._side * self._less.value >= -self._side * self._total.value
        return (self._less if by_less else self._total).spread
