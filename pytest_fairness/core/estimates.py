"""A number with its interval, compared as Python compares numbers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.bounds import family_of
from pytest_fairness.core.comparisons import (
    OPERATORS,
    OPPOSITES,
    Comparable,
    Comparison,
    Condition,
    Decision,
    conclude,
    key_of,
    listening,
    note_read,
    own_bound,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.marks import Mark, Scale
from pytest_fairness.core.numerals import described, subject_text

if TYPE_CHECKING:
    from pytest_fairness.core.breakdown import LazyBreakdown
    from pytest_fairness.core.verdicts import Verdict

Ends = Callable[[float], tuple[float, float]]
"""From the probability to err on either side (0.025 for a 95% interval) to both ends of an interval."""


class _Comparable(Comparable):
    """What is compared with a number."""

    __slots__ = ()

    _noun = "an estimate"
    _other = "a number"

    @property
    @abstractmethod
    def _compared(self) -> str:
        """The metric that is compared; of a family, what its members have in common."""

    @abstractmethod
    def _compare(self, op: str, bound: float) -> Comparison:
        """The comparison with its decision."""

    @abstractmethod
    def _condition(self, op: str, bound: float, comparison: Comparison) -> bool:
        """The answer to a comparison."""

    def decide(self, op: str, bound: float) -> Verdict:
        """Return the verdict of a threshold that compares this with one number: for notebooks and scripts.

        >>> rate = Estimate("rate(harmful)", "rate of harmful", value=0.01, low=0.004, high=0.017)
        >>> rate.decide("<=", 0.02).value, rate.decide("<=", 0.015).value, rate.decide("<=", 0.003).value
        ('fair', 'undecided', 'unfair')

        Args:
            op: ``<``, ``<=``, ``>`` or ``>=``.
            bound: A finite number.

        Returns:
            As the interval decides it, at its own confidence. A threshold keeps a tenth of its error for
            later runs: its first run has the interval of ``confidence=0.955``.

        Raises:
            FairnessError: For another operator, and in a threshold's test, which compares by ``assert``.
        """
        from pytest_fairness.core.verdicts import judge

        if op not in OPERATORS:
            raise FairnessError(f"{op!r} compares nothing here: write one of {', '.join(OPERATORS)}")
        if listening():
            raise FairnessError(
                f"decide is for notebooks and scripts: write `assert ... {op} {bound:g}` in a threshold"
            )

        def test() -> None:
            if not OPERATORS[op](self, bound):  # type: ignore[arg-type]  # it compares as a number does
                raise AssertionError

        return judge(test).verdict

    def _decide(self, op: str, bound: object) -> bool:
        if not isinstance(bound, Real) or isinstance(bound, bool) or not math.isfinite(bound):
            raise TypeError(
                f"an estimate is compared with a finite number, not with {bound!r}; "
                "for two estimates take their difference or ratio as a metric of its own"
            )
        number = float(bound)
        own = own_bound(self._compared, op, number)
        comparison = self._compare(op, number if own is None else own)
        if own is not None:
            comparison = replace(comparison, instead_of=number)
        return self._condition(op, number, comparison)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(_Comparable):
    """A metric's value with its interval, and what it was computed from.

    In a threshold test a comparison is decided by the interval; elsewhere by ``value``.

    >>> rate = Estimate("rate(hired)", "rate of hired", value=0.5, low=0.42, high=0.58, items=150, attempts=300)
    >>> rate
    <rate of hired: 0.500 (95% CI 0.420 to 0.580); 150 items, 300 attempts>
    >>> 0.4 <= rate <= 0.6
    True
    >>> rate == 0.5
    Traceback (most recent call last):
    TypeError: an estimate has an interval and equals nothing; compare it with <, <=, > or >=
    """

    metric: str
    """Short and stable, as in the results file: ``ratio(advance; gender: female/male)``."""
    title: str
    """As a sentence has it: ``ratio of advance, female to male``."""
    value: float
    low: float
    """Lower end; it holds however the ungraded answers of a group are filled in."""
    high: float
    strict_low: float | None = None
    """Lower end for claims of unfairness; a family's is simultaneous over its members. None: ``low``."""
    strict_high: float | None = None
    confidence: float = 0.95
    error: float = math.nan
    """Standard error, in the units of ``value``."""
    df: float = math.inf
    """Degrees of freedom of ``error``."""
    items: int = 0
    sources: int = 0
    """Independent sources, where items share some: what the interval counts. As many as items where they do not."""
    attempts: int = 0
    ungraded: Mapping[str, int] = field(default_factory=dict)
    """Ungraded attempts per group, or under ``all`` where the metric has no groups."""
    count: int | None = None
    """Of a rate: for how many attempts it is true; None for everything else."""
    groups: Mapping[str, float] = field(default_factory=dict)
    """The value of each group that was compared."""
    slice: Mapping[str, str] = field(default_factory=dict)
    """What ``measured.where(...)`` selected."""
    invalid: str = ""
    """Why nothing can be concluded from it; empty where something can."""
    suspect: str = ""
    """Why only a comparison that fails may be believed: one that holds, or is open, is invalid instead."""
    sparse: str = ""
    """Why a comparison that holds is left open: there are too few events to claim it."""
    repetition_share: float | None = None
    """What share of the squared error more repetitions could remove: 0 to 1; None where nobody knows."""
    ends_at: Ends | None = None
    """``low`` and ``high`` at any probability to err on either side; None where they are known at one only."""
    strict_at: Ends | None = None
    """The same of ``strict_low`` and ``strict_high``; None: ``ends_at``."""
    strict_tail: float | None = None
    """The probability to err on either side of a claim of unfairness, at a look; None: that of the interval."""
    scale: Scale | None = None
    """What its mark is taken from; None: it is not marked."""
    breakdown: LazyBreakdown | None = None
    """What it is made of: its groups, the item that shows it best, what each item adds; None where nobody knows."""

    @property
    def mark(self) -> Mark:
        """``A`` to ``D`` from the pessimistic end of the interval: ``estimate.mark >= "B"``."""
        return Mark(self)

    def marked(self, scale: Scale) -> Estimate:
        """The same estimate with another scale for its mark."""
        return replace(self, scale=scale)

    @property
    def _compared(self) -> str:
        return self.metric

    def _compare(self, op: str, bound: float) -> Comparison:
        return Comparison(self, op, bound, self._decision(op, bound))

    def _condition(self, op: str, bound: float, comparison: Comparison) -> bool:
        opposite = op in ("<", ">")
        name = f"{key_of(self)} {OPPOSITES[op] if opposite else op} {bound!r}"
        text = f"{subject_text(self)} {op} {comparison.bound:g}"
        return conclude(name, Condition(text, (comparison,), opposite=opposite))

    def corrected(self, asserted: int) -> Estimate:
        """The estimate as one of several that a test asserts: its ends for claims of unfairness at tail / ``asserted``.

        By Bonferroni: the test is unfair where one of them lies outside its bounds. Unchanged where its ends are
        known at one confidence only.
        """
        if self.strict_tail is None:
            return self._with_strict((1 - self.confidence) / 2 / asserted)
        return replace(self._with_strict(self.strict_tail / asserted), strict_tail=self.strict_tail / asserted)

    def at_look(self, strict_tail: float) -> Estimate:
        """The estimate at one of several looks, which claims of fairness and of unfairness spend the error of apart.

        Args:
            strict_tail: The probability to err on either side of a claim of unfairness. That of a claim of fairness
                is the interval's own.

        Where its ends are known at one confidence only, and that is lower, it supports no claim of unfairness.
        """
        known = self.ends_at is not None or (1 - self.confidence) / 2 <= strict_tail
        found = self._with_strict(strict_tail) if known else replace(self, strict_low=-math.inf, strict_high=math.inf)
        return replace(found, strict_tail=strict_tail)

    def as_claimed(self) -> Estimate:
        """The estimate with the interval by which a look calls it unfair, where that is the narrower one."""
        if self.strict_tail is None or 2 * self.strict_tail <= 1 - self.confidence or self.strict_low is None:
            return self
        confidence = round(1 - 2 * self.strict_tail, 12)
        return replace(
            self,
            low=self.strict_low,
            high=self.high if self.strict_high is None else self.strict_high,
            confidence=confidence,
        )

    def _with_strict(self, tail: float) -> Estimate:
        at = self.strict_at or self.ends_at
        if at is None:
            return self
        low, high = at(tail)
        return replace(self, strict_low=low, strict_high=high)

    def watched(self) -> Estimate:
        """The same estimate for a threshold test: a look at its numbers is recorded."""
        found: Estimate = object.__new__(_Watched)
        for each in fields(self):
            object.__setattr__(found, each.name, getattr(self, each.name))
        return found

    def _decision(self, op: str, bound: float) -> Decision:
        if self.invalid or math.isnan(self.value):
            return Decision.INVALID
        decision = self._by_interval(op, bound)
        if decision is Decision.FALSE:
            return decision
        if self.suspect:
            return Decision.INVALID
        return Decision.UNDECIDED if self.sparse else decision

    def _by_interval(self, op: str, bound: float) -> Decision:
        holds = OPERATORS[op]
        strict_low = self.low if self.strict_low is None else self.strict_low
        strict_high = self.high if self.strict_high is None else self.strict_high
        upwards = op in (">", ">=")
        if holds(self.low if upwards else self.high, bound):
            return Decision.TRUE
        # Undecidable ends (infinite or nan) fail both tests and leave it undecided.
        if (strict_high < bound if upwards else strict_low > bound) or (
            op in ("<", ">") and (strict_high if upwards else strict_low) == bound
        ):
            return Decision.FALSE
        return Decision.UNDECIDED

    def __repr__(self) -> str:
        return f"<{described(self)}>"

    def __abs__(self) -> Estimate:
        """The size of a signed gap: ``abs(measured.difference(...)) < 0.05``."""

        def ends(low: float, high: float) -> tuple[float, float]:
            # Of the size, from those of the gap.
            inside = low <= 0 <= high
            return (0.0 if inside else min(abs(low), abs(high))), max(abs(low), abs(high))

        low, high = ends(self.low, self.high)
        strict: dict[str, Any] = {}
        if self.strict_low is not None and self.strict_high is not None:
            strict["strict_low"], strict["strict_high"] = ends(self.strict_low, self.strict_high)
        return replace(
            self,
            metric=f"abs {self.metric}",
            title=f"size of {self.title}",
            value=abs(self.value),
            low=low,
            high=high,
            **strict,
            ends_at=_mapped(self.ends_at, ends),
            strict_at=_mapped(self.strict_at, ends),
            scale=None if self.scale is None else self.scale.of_size(),
            breakdown=_turned(self.breakdown) if self.value < 0 else self.breakdown,
        )

    def __neg__(self) -> Estimate:
        return replace(
            self,
            metric=f"minus {self.metric}",
            title=f"minus {self.title}",
            value=-self.value,
            low=-self.high,
            high=-self.low,
            strict_low=None if self.strict_high is None else -self.strict_high,
            strict_high=None if self.strict_low is None else -self.strict_low,
            ends_at=_mapped(self.ends_at, lambda low, high: (-high, -low)),
            strict_at=_mapped(self.strict_at, lambda low, high: (-high, -low)),
            scale=None if self.scale is None else -self.scale,
            breakdown=_turned(self.breakdown),
        )


_NUMBERS = frozenset({"value", "low", "high", "strict_low", "strict_high", "error", "groups", "count", "ends_at"})
"""What a test must not decide by in place of a comparison."""


class _Watched(Estimate):
    """An estimate in a threshold test."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name in _NUMBERS:
            note_read(self)
        return super().__getattribute__(name)


def _mapped(at: Ends | None, change: Callable[[float, float], tuple[float, float]]) -> Ends | None:
    return None if at is None else lambda tail: change(*at(tail))


def _turned(breakdown: LazyBreakdown | None) -> LazyBreakdown | None:
    return None if breakdown is None else lambda: breakdown().turned()


class Family(_Comparable):
    """Estimates that must all hold: one per group, or per pair of groups.

    ``family >= 0.8`` holds where every member's interval lies at or above 0.8, and fails
    where a member's simultaneous interval lies below. Iterating gives the members' names;
    ``family["female/male"]`` is an ordinary `Estimate`.
    """

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Estimate]) -> None:
        if not members:
            raise ValueError("a family needs at least one estimate")
        self._members = dict(members)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, name: str) -> Estimate:
        return self._members[name]

    def items(self) -> Iterator[tuple[str, Estimate]]:
        yield from self._members.items()

    @property
    def mark(self) -> Mark:
        """The worst of its members' marks."""
        return Mark(*self._members.values())

    @property
    def _compared(self) -> str:
        return family_of(next(iter(self._members.values())).metric)

    def _compare(self, op: str, bound: float) -> Comparison:
        """The comparison of the member that decides: a broken one first, then the unmeasured."""
        upwards = op in (">", ">=")
        ranks = {Decision.FALSE: 0, Decision.INVALID: 1, Decision.UNDECIDED: 2, Decision.TRUE: 3}

        def rank(estimate: Estimate) -> tuple[int, float]:
            end = estimate.low if upwards else -estimate.high
            return ranks[estimate._decision(op, bound)], end

        return min(self._members.values(), key=rank)._compare(op, bound)

    def _condition(self, op: str, bound: float, comparison: Comparison) -> bool:
        first = next(iter(self._members.values()))
        text = f"{subject_text(comparison.estimate)} {op} {comparison.bound:g}"
        name = f"family of {len(self)} {key_of(first, self._compared)} {op} {bound!r}"
        return conclude(name, Condition(text, (comparison,), family=f"family {OPPOSITES[op]} {bound:g}"))

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._members.values()))
