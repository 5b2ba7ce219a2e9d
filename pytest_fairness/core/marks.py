"""Marks: A healthy, B cautionary, C critical, D catastrophic.

A mark says how bad a value is, where a verdict says whether it may be released. It is taken
from the pessimistic end of an interval, and nothing earns a better one by being measured less.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_fairness.core.comparisons import (
    Comparable,
    Comparison,
    Condition,
    Decision,
    answer_condition,
    is_recording,
    key_of,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import subject_text

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate

NOT_MARKED = "-"
_RANKS = {mark: rank for rank, mark in enumerate(("A", "B", "C", NOT_MARKED, "D"))}
"""Marks from best to worst. A missing mark ranks as D, which is only worse to look at."""
_DECISIONS = tuple(Decision)

Range = tuple[float | None, float | None]


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

    Raises `FairnessError` for a mark without a range, for a range that is none, and for
    ranges that leave no value to be a D.
    """

    A: Range | Sequence[Range]
    B: Range | Sequence[Range]
    C: Range | Sequence[Range]

    def __post_init__(self) -> None:
        for mark in "ABC":
            object.__setattr__(self, mark, _ranges(mark, getattr(self, mark)))
        if self.region("C") == [(-math.inf, math.inf)]:
            raise FairnessError("scale: A, B and C hold every value: leave some to be a D")

    def mark(self, value: float) -> str:
        """``A`` to ``D``; ``-`` for a value that is not finite."""
        if not math.isfinite(value):
            return NOT_MARKED
        holding = (mark for mark in "ABC" if any(low <= value <= high for low, high in getattr(self, mark)))
        return next(holding, "D")

    def touched(self, low: float, high: float) -> set[str]:
        """Return the marks of all values from ``low`` to ``high``, ``A`` to ``D``."""
        # Finite, so that what lies beyond every number is open and no value of its own.
        low, high = (min(max(end, -sys.float_info.max), sys.float_info.max) for end in (low, high))
        turns = [end for mark in "ABC" for span in getattr(self, mark) for end in span]
        # A mark holds from one end of a range to the next: what lies beside each shows them all.
        neighbors = [
            value for end in turns for value in (end, *(math.nextafter(end, to) for to in (-math.inf, math.inf)))
        ]
        return {self.mark(value) for value in (low, high, *neighbors) if low <= value <= high}

    def region(self, mark: str) -> list[tuple[float, float]]:
        """Return the ranges in which a value has this mark or a better one, in order and without overlaps."""
        merged: list[tuple[float, float]] = []
        for low, high in sorted(span for better in "ABC" if better <= mark for span in getattr(self, better)):
            if merged and low <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        return merged

    def __neg__(self) -> MarkScale:
        return MarkScale(*([(-high, -low) for low, high in getattr(self, mark)] for mark in "ABC"))

    def of_size(self) -> MarkScale | None:
        """Return the scale of a value's size. None where its sides differ: it could be either."""
        sizes = all(low >= 0 for low, _ in self.region("C"))
        even = all(self.region(mark) == (-self).region(mark) for mark in "ABC")
        return self if sizes or even else None


def _ranges(mark: str, given: Range | Sequence[Range]) -> tuple[tuple[float, float], ...]:
    one = len(given) == 2 and not any(isinstance(end, Sequence) for end in given)
    spans: Sequence[Range] = [given] if one else given  # type: ignore[list-item, assignment]  # told apart above
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
"""The scale of a ratio, whichever way round it is."""
DIFFERENCES = MarkScale(A=(-0.05, 0.05), B=(-0.1, 0.1), C=(-0.2, 0.2))
"""The scale of a difference of rates."""
CORRELATIONS = MarkScale(A=(-0.1, 0.1), B=(-0.3, 0.3), C=(-0.5, 0.5))
"""None, small, medium, large: the sizes of Cohen (1988)."""


class Mark(Comparable):
    """The mark of an estimate, or the worst of a family's; ``str()`` gives ``A`` to ``D``, or ``-``.

    The worst mark that the interval touches; but an interval that touches three is not
    marked (``-``), nor is an estimate that is invalid or too sparse. That ranks as a D.

    It is compared with a letter, and better is greater. In a threshold test the answer is
    that of the estimate against the ends of the letter's ranges; elsewhere that of the letters.

    >>> from pytest_fairness import Estimate
    >>> ratio = Estimate("ratio", "ratio", value=0.86, low=0.78, high=0.95, scale=RATIOS)
    >>> str(ratio.mark), ratio.mark >= "B", ratio.mark > "B"
    ('B', True, False)

    Raises `FairnessError` when compared where the estimate has no scale, and `TypeError`
    for what every mark is, or none: at least D, better than A.
    """

    __slots__ = ("_estimates", "_letter")

    _noun = "a mark"
    _other = "a letter"

    def __init__(self, *estimates: Estimate) -> None:
        self._estimates = estimates
        self._letter = max(map(_letter, estimates), key=_RANKS.__getitem__)

    def __str__(self) -> str:
        return self._letter

    def __repr__(self) -> str:
        return f"<mark {self}>"

    def _decide(self, op: str, bound: object) -> bool:
        if not isinstance(bound, str) or bound not in ("A", "B", "C", "D"):
            raise TypeError(f"a mark is compared with one of the letters A to D, not with {bound!r}")
        # `> "C"` is `>= "B"`; `<= "C"` and `< "B"` are `not >= "B"`.
        index = "ABCD".index(bound) - (op in (">", "<="))
        if not 0 <= index < 3:
            always = "always" if op in (">=", "<=") else "never"
            raise TypeError(f"mark {op} {bound!r} {always} holds: compare with a letter that some marks fall short of")
        at_least = self._is_at_least("ABC"[index])
        return at_least if op in (">", ">=") else not at_least

    def _is_at_least(self, letter: str) -> bool:
        for estimate in self._estimates:
            if estimate.scale is None:
                raise FairnessError(
                    f"{estimate.title} has no scale of marks: give one, threshold(probe=..., scale=Scale(A=..., ...))"
                )
        if not is_recording():
            return _RANKS[self._letter] <= _RANKS[letter]
        claims = [_claims(estimate, letter) for estimate in self._estimates]
        # Of a family the member that decides, both of its ends: what is shown are two bounds.
        deciding = min(claims, key=_standing)
        family = f'family.mark >= "{letter}"' if len(claims) > 1 else ""
        text = f'mark of {subject_text(deciding[0].estimate)} >= "{letter}"'
        first = self._estimates[0]
        name = key_of(first, first.family_name if family else None)
        condition = Condition(text, tuple(deciding), family=family, asserted=self._estimates)
        return answer_condition(f"mark of {len(claims)} {name} >= {letter}", condition)


def _letter(estimate: Estimate) -> str:
    value = estimate.value
    if estimate.scale is None or estimate.invalid or math.isnan(value):
        return NOT_MARKED
    low = -math.inf if math.isnan(estimate.low) else min(estimate.low, value)
    high = math.inf if math.isnan(estimate.high) else max(estimate.high, value)
    touched = estimate.scale.touched(low, high)
    if touched == {"D"}:
        return "D"
    vague = estimate.suspect or estimate.sparse or math.isinf(value) or len(touched) > 2
    return NOT_MARKED if vague else max(touched)


def _claims(estimate: Estimate, letter: str) -> list[Comparison]:
    """Return the comparisons that say together that an estimate has this mark or a better one."""
    assert estimate.scale is not None  # noqa: S101 - refused before

    def inside(low: float, high: float) -> list[Comparison]:
        ends = [(">=", low), ("<=", high)]
        return [estimate._compare(op, end) for op, end in ends if math.isfinite(end)]

    def nearness(span: tuple[float, float]) -> tuple[int, float]:
        away = max(span[0] - estimate.value, estimate.value - span[1], 0.0)
        return _standing(inside(*span))[0], -away

    claims = inside(*max(estimate.scale.region(letter), key=nearness))
    if _standing(claims)[0] == len(_DECISIONS) - 1 and _RANKS[_letter(estimate)] > _RANKS[letter]:
        vague = replace(estimate, sparse="its interval touches three marks, so that it has none: more would narrow it")
        return [vague._compare(claim.op, claim.bound) for claim in claims]
    return claims


def _standing(claims: Sequence[Comparison]) -> tuple[int, float]:
    """Return how far comparisons hold together: refuted, invalid, undecided, held; then by the nearest end."""
    ends = [
        claim.estimate.low - claim.bound if claim.op == ">=" else claim.bound - claim.estimate.high for claim in claims
    ]
    return min(_DECISIONS.index(claim.decision) for claim in claims), min(ends)


def aggregate(marks: Iterable[str]) -> str | None:
    """Return one mark for several: their second-worst, or one better than their worst where that is worse.

    So two D's are a D, and a single one among others makes a C. A mark that is alone counts
    as it is; without any there is None. What is not marked ranks as a D.

    >>> aggregate(["A", "D", "A"]), aggregate(["D", "B", "D"]), aggregate(["A", "B", "A"]), aggregate([])
    ('C', 'D', 'A', None)
    """
    ranks = sorted((_RANKS[mark] for mark in marks), reverse=True)
    if len(ranks) > 1:
        one_better = max(min(ranks[0], _RANKS[NOT_MARKED]) - 1, 0)
        ranks = [max(ranks[1], one_better)]
    return next((mark for mark, rank in _RANKS.items() if [rank] == ranks), None)
