"""Marks: A healthy, B cautionary, C critical, D catastrophic.

A mark grades how bad a value is; a verdict decides whether a model may be released. A mark is that
of the pessimistic end of an interval, so a smaller sample never gets a better one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.errors import FairnessError, short_repr

NOT_MARKED = "-"
RANKS = {mark: rank for rank, mark in enumerate(("A", "B", "C", NOT_MARKED, "D"))}
"""Marks from best to worst. A missing mark counts as a D, but sorts before it."""

Range = tuple[float | None, float | None]


@explains_construction
@dataclass(frozen=True, slots=True)
class MarkScale:
    """The ranges of the marks A, B and C, ends included; every other value is a D.

    Each mark has one range ``(low, high)`` or a list of them, in the units of the metric; an
    end of None is open. Where ranges overlap the better mark counts, so they may be nested.

    >>> ratios = MarkScale(A=(0.85, 1.18), B=(0.7, 1.43), C=(0.5, 2))
    >>> [ratios.mark(value) for value in (1.1, 0.75, 0.5, 0.1)]
    ['A', 'B', 'C', 'D']
    >>> MarkScale(A=(0.45, 0.55), B=[(0.4, 0.45), (0.55, 0.6)], C=(0.3, 0.7)).mark(0.58)
    'B'

    Raises:
        FairnessError: A mark has no range, a range is malformed, the ranges leave no value for a D,
            or a mark is narrower than a better one.
    """

    A: Range | Sequence[Range]
    B: Range | Sequence[Range]
    C: Range | Sequence[Range]

    def __post_init__(self) -> None:
        for mark in "ABC":
            object.__setattr__(self, mark, _ranges(mark, getattr(self, mark)))
        if self.region("C") == [(-math.inf, math.inf)]:
            raise FairnessError("scale: A, B and C hold every value: leave some to be a D")
        for better, mark in pairwise("ABC"):
            self._refuse_contradiction(better, mark)

    def _refuse_contradiction(self, better: str, mark: str) -> None:
        """Refuse a mark that is narrower than a better one: no value would get it.

        Raises:
            FairnessError: Its ranges lie within those of better marks. Equal ones leave the mark out.
        """
        best, own = self.region(better), _merged(getattr(self, mark))
        if self.region(mark) == best and own != best:
            raise FairnessError(
                f"scale: {mark} is {_shown(own)}, within the ranges of better marks, {_shown(best)}, so that no value "
                "gets it: a worse mark has the wider range"
            )

    def mark(self, value: float) -> str:
        """Return the mark of a value, ``A`` to ``D``; ``-`` for a value that is not finite."""
        if not math.isfinite(value):
            return NOT_MARKED
        marks = (mark for mark in "ABC" if any(low <= value <= high for low, high in getattr(self, mark)))
        return next(marks, "D")

    def touched(self, low: float, high: float) -> set[str]:
        """Return the marks of all values from ``low`` to ``high``, ``A`` to ``D``."""
        # Finite, since an open end is no value of its own.
        low, high = (min(max(end, -sys.float_info.max), sys.float_info.max) for end in (low, high))
        ends = [end for mark in "ABC" for span in getattr(self, mark) for end in span]
        # Between two ends of ranges the mark is constant: the ends and their neighbors have all marks.
        candidates = [
            value for end in ends for value in (end, *(math.nextafter(end, to) for to in (-math.inf, math.inf)))
        ]
        return {self.mark(value) for value in (low, high, *candidates) if low <= value <= high}

    def region(self, mark: str) -> list[tuple[float, float]]:
        """Return the ranges in which a value has this mark or a better one, in order and without overlaps."""
        return _merged(span for better in "ABC" if better <= mark for span in getattr(self, better))

    def __neg__(self) -> MarkScale:
        return MarkScale(*([(-high, -low) for low, high in getattr(self, mark)] for mark in "ABC"))

    def absolute(self) -> MarkScale | None:
        """Return the scale of the absolute value; None where the scale is neither symmetric nor of positive values."""
        is_positive = all(low >= 0 for low, _ in self.region("C"))
        is_symmetric = all(self.region(mark) == (-self).region(mark) for mark in "ABC")
        return self if is_positive or is_symmetric else None


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return ranges in order and without overlaps."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _shown(spans: Iterable[tuple[float, float]]) -> str:
    return ", ".join(f"({low:g}, {high:g})" for low, high in spans)


def _ranges(mark: str, given: Range | Sequence[Range]) -> tuple[tuple[float, float], ...]:
    if not isinstance(given, Iterable) or not hasattr(given, "__len__"):
        raise FairnessError(f"scale: {mark} is {short_repr(given)}: give it one range, (low, high), or a list of them")
    is_single = len(given) == 2 and not any(isinstance(end, Sequence) for end in given)
    spans: Sequence[Range] = [given] if is_single else given  # type: ignore[list-item, assignment]
    if not spans:
        raise FairnessError(f"scale: {mark} has no range: give it one, (low, high)")
    ranges = []
    for span in spans:
        try:
            low, high = (
                edge if end is None else float(end) for end, edge in zip(span, (-math.inf, math.inf), strict=True)
            )
        except (TypeError, ValueError):
            raise FairnessError(f"scale: {mark} is {span!r}: a range is (low, high), two numbers or None") from None
        if not low <= high:
            raise FairnessError(f"scale: {mark} is {span!r}: the first end must be at most the second")
        ranges.append((low, high))
    return tuple(sorted(ranges))


RATIOS = MarkScale(A=(0.85, 1 / 0.85), B=(0.7, 1 / 0.7), C=(0.5, 2))
"""The scale of a ratio, in either direction."""
ODDS_RATIOS = MarkScale(A=(0.8, 1.25), B=(2 / 3, 1.5), C=(0.4, 2.5))
"""The scale of an odds ratio, in either direction.

B ends where a ratio of rates is four fifths at a base rate of one half, (0.4 / 0.6) / (0.5 / 0.5). As Cohen's d, which
is ln(OR) sqrt(3) / pi (Chinn 2000, Statistics in Medicine 19, 3127-3131), that is 0.22, about a small effect. A ends at
0.12, about half of one, and C at 0.51, a medium one.
"""
DIFFERENCES = MarkScale(A=(-0.05, 0.05), B=(-0.1, 0.1), C=(-0.2, 0.2))
"""The scale of a difference of rates."""
CORRELATIONS = MarkScale(A=(-0.1, 0.1), B=(-0.3, 0.3), C=(-0.5, 0.5))
"""The scale of a correlation, by Cohen's (1988) effect sizes: none, small, medium, large."""


def aggregate(marks: Iterable[str]) -> str | None:
    """Return one mark for several: the worse of the second-worst, and the mark one better than the worst.

    So two D's give a D, and a single D among others gives a C. A single mark is returned as it is, None without any.
    Missing marks count as a D.

    >>> aggregate(["A", "D", "A"]), aggregate(["D", "B", "D"]), aggregate(["A", "B", "A"]), aggregate([])
    ('C', 'D', 'A', None)
    """
    ranks = sorted((RANKS[mark] for mark in marks), reverse=True)
    if len(ranks) > 1:
        one_better = max(min(ranks[0], RANKS[NOT_MARKED]) - 1, 0)
        ranks = [max(ranks[1], one_better)]
    return next((mark for mark, rank in RANKS.items() if [rank] == ranks), None)
