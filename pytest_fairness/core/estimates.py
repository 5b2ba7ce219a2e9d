"""A number with its interval, compared as Python compares numbers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pytest_fairness.core.arithmetic import WithoutArithmetic, finite_bound
from pytest_fairness.core.breakdown import LazyBreakdown
from pytest_fairness.core.decisions import (
    OPERATORS,
    OPPOSITES,
    Comparable,
    Decision,
    Verdict,
    current_recorder,
    refused,
)
from pytest_fairness.core.errors import FairnessError, MisuseError, short_repr
from pytest_fairness.core.estimate_tables import TabularEstimates
from pytest_fairness.core.formatting import checked_title, counted, decimals, format_level, format_subject, number
from pytest_fairness.core.limits import SampleChange
from pytest_fairness.core.marks import NOT_MARKED, RANKS, MarkScale
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.significance import two_sided

Ends = Callable[[float], tuple[float, float]]
"""A function from the probability to err on either side (0.025 for a 95% interval) to the ends of an interval."""
Projection = Callable[[float, SampleChange], tuple[float, float, float]]
"""A function from the same and a change of the sample to both ends and the standard error."""

_VERDICTS = {
    Decision.TRUE: Verdict.FAIR,
    Decision.FALSE: Verdict.UNFAIR,
    Decision.UNDECIDED: Verdict.UNDECIDED,
    Decision.INVALID: Verdict.INVALID,
}


class ComparableNumber(Comparable, WithoutArithmetic, TabularEstimates):
    """A value that a threshold compares with a number."""

    __slots__ = ()

    _noun = "an estimate"
    _other = "a number"

    @abstractmethod
    def deciding(self, op: str, bound: float) -> Estimate:
        """Return the estimate that decides a comparison: of a family a member, a broken one first."""

    def decide(self, op: str, bound: float) -> Verdict:
        """Return the verdict of a threshold that compares this with one number: for notebooks and scripts.

        >>> rate = Estimate("rate(harmful)", "rate of harmful", value=0.01, low=0.004, high=0.017)
        >>> rate.decide("<=", 0.02).value, rate.decide("<=", 0.015).value, rate.decide("<=", 0.003).value
        ('fair', 'undecided', 'unfair')

        Args:
            op: ``<``, ``<=``, ``>`` or ``>=``.
            bound: A finite number.

        Returns:
            As the interval decides it, at its own confidence; invalid where no value could break it, or keep it. A
            threshold keeps a tenth of its error for later runs: its first run has the interval of ``confidence=0.955``.

        Raises:
            FairnessError: For another operator, and in a threshold's test, which compares by ``assert``.
        """
        if op not in OPERATORS:
            raise FairnessError(f"{op!r} compares nothing here: write one of {', '.join(OPERATORS)}")
        if current_recorder() is not None:
            raise FairnessError(
                f"decide is for notebooks and scripts: write `assert ... {op} {bound:g}` in a threshold"
            )
        bound = finite_bound(bound)
        deciding = self.deciding(op, bound)
        says_nothing = deciding.always(op, bound) or deciding.never(op, bound)
        return Verdict.INVALID if says_nothing else _VERDICTS[deciding.decision(op, bound)]

    def _answer(self, op: str, bound: object) -> bool:
        finite = finite_bound(bound)
        recorder = current_recorder()
        if recorder is None:
            return OPERATORS[op](self.deciding(op, finite).value, finite)
        return recorder.answer(self, op, finite)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(ComparableNumber):
    """A metric's value with its interval, and what it was computed from.

    In a threshold test a comparison is decided by the interval; elsewhere by ``value``.

    >>> rate = Estimate("rate(hired)", "rate of hired", value=0.5, low=0.42, high=0.58, items=150, attempts=300)
    >>> rate
    <rate of hired: 0.500 (95% CI 0.420 to 0.580); 150 items, 300 attempts>
    >>> 0.4 <= rate <= 0.6
    True
    >>> rate == 0.5
    Traceback (most recent call last):
    MisuseError: an estimate equals nothing, since it has an interval: compare it by < or >
    """

    metric: str
    """Short and stable, as in the results file: ``ratio(advance; gender: female/male)``."""
    title: str
    """A title for readers: ``ratio of advance, female to male``."""
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
    agreed: bool = False
    """Whether all clusters agree, so that it has no error but by the width of its interval."""
    df: float = math.inf
    """Degrees of freedom of ``error``."""
    items: int = 0
    sources: int = 0
    """Independent sources, where items share some: what the interval counts. As many as items where they do not."""
    equal_sources: float = 0.0
    """The sources of equal size that its sources are worth; 0 where it is not known."""
    fewest_sources: int = 0
    """The sources of equal size of which a claim is likely to find enough that differ, or enough events; 0 where it
    needs none."""
    levels: int = 0
    """The number of levels of a crossed factor, in the group with the fewest; 0 without one."""
    levels_unit: str = ""
    """The noun for them: ``values of name in each group``."""
    attempts: int = 0
    ungraded: Mapping[str, int] = field(default_factory=dict)
    """Ungraded attempts per group, or under ``all`` where the metric has no groups."""
    count: int | None = None
    """The attempts for which a rate's outcome is true; None for every other metric."""
    groups: Mapping[str, float] = field(default_factory=dict)
    """The value of each group that was compared."""
    slice: Mapping[str, str] = field(default_factory=dict)
    """The selection of ``measured.where(...)``."""
    invalid: str = ""
    """The reason that nothing can be concluded from it; empty where something can."""
    observed: float = math.nan
    """The value in the sample where it is invalid: for tables, since nothing may compare it."""
    suspect: str = ""
    """The reason that only a failing comparison counts: one that holds, or is open, is invalid instead."""
    sparse: str = ""
    """The reason that a comparison which holds is left open: there are too few events to claim it."""
    label_share: float | None = None
    """The part of the squared error that comes from labels: endless labels would remove it."""
    labels: int = 0
    """The number of labels of the group that has the fewest; 0 where labels correct nothing."""
    label_worth: float = 1.0
    """The number of labels of equal chances that each of them is worth, in the group where it is worth least."""
    repetition_share: float | None = None
    """The share of the squared error that more repetitions could remove, 0 to 1; None where it is not known."""
    kind: MetricKind = MetricKind.CUSTOM
    span: tuple[float, float] | None = None
    """The lowest and the highest value that the metric can have, whatever is answered; None where not known."""
    absolute: bool = False
    """Whether the value is a size, without its sign: ``abs(estimate)``."""
    signed: Estimate | None = None
    """The estimate that a size is of; None for one that is no size."""
    negated: bool = False
    """Whether the value has the opposite sign: ``-estimate``, or ``-abs(estimate)``."""
    parity: float | None = None
    """The value where groups are alike; None for a metric that compares none."""
    log_scale: bool = False
    """Whether the interval is made on the logarithm."""
    family: str = ""
    """The metric without the groups that it compares: what the members of a family share. Empty: ``metric``."""
    base: str = ""
    """The metric without ``abs`` and ``minus``. Empty: ``metric``."""
    attribute: str | None = None
    """The attribute whose groups are compared."""
    grade: str = ""
    """The grade that it is taken of; empty where a function makes its outcome, or where there are several."""
    equals: Any = None
    """The value of that grade that is counted, where it holds text."""
    outcomes: tuple[tuple[Any, Any], ...] = ()
    """The outcomes that it is taken of: names of grades or functions, each with the value that is counted."""
    title_note: str = ""
    """The end of ``title`` that another title keeps: what a reader must know of how it was estimated."""
    against_baseline: bool = False
    """Whether it compares this sample with a baseline."""
    ends_at: Ends | None = None
    """``low`` and ``high`` at any probability to err on either side; None where they are known at one only."""
    strict_at: Ends | None = None
    """The same of ``strict_low`` and ``strict_high``; None: ``ends_at``."""
    projection: Projection | None = None
    """The interval of a changed sample; None where its error alone shows it."""
    strict_tail: float | None = None
    """The probability to err on either side of a claim of unfairness, at a look; None: that of the interval."""
    scale: MarkScale | None = None
    """The scale of its mark; None: it is not marked."""
    column: str = ""
    """The head of its column in the terminal's table of slices; empty where it stands in none."""
    breakdown: LazyBreakdown | None = None
    """Its groups, the item that shows it best, and what each item adds; None where these are not known."""

    @property
    def mark(self) -> Mark:
        """``A`` to ``D`` from the pessimistic end of the interval: ``estimate.mark >= "B"``."""
        return Mark(self)

    @property
    def family_name(self) -> str:
        """The metric without the groups that it compares."""
        return self.family or self.metric

    @property
    def strict_ends(self) -> tuple[float, float]:
        """The ends for claims of unfairness."""
        low = self.low if self.strict_low is None else self.strict_low
        return low, self.high if self.strict_high is None else self.strict_high

    def marked(self, scale: MarkScale) -> Estimate:
        """Return the same estimate with another scale for its mark.

        Args:
            scale: The ranges of the marks, in the units of the estimate.

        Raises:
            FairnessError: The scale is no `MarkScale`.
        """
        if not isinstance(scale, MarkScale):
            raise FairnessError(f"the scale is {short_repr(scale)}: write MarkScale(A=..., B=..., C=...)")
        return replace(self, scale=scale)

    def titled(self, title: str) -> Estimate:
        """Return the same estimate with a title of its own, in every output.

        >>> rate = Estimate("rate(flag_3)", "rate of flag 3", value=0.25, low=0.14, high=0.4)
        >>> rate.titled("replies to A that do not show which question was asked")
        <replies to A that do not show which question was asked: 0.250 (95% CI 0.140 to 0.400); 0 items, 0 attempts>

        Args:
            title: What was estimated, in plain words: one line of 1 to 100 characters.

        Raises:
            FairnessError: The title is empty, too long, or has a line break or control character.
        """
        return replace(self, title=f"{checked_title(title)}{self.title_note}")

    @property
    def letter(self) -> str:
        """The letter of its mark; ``-`` where it has none."""
        value = self.value
        if self.scale is None or self.invalid or math.isnan(value):
            return NOT_MARKED
        low = -math.inf if math.isnan(self.low) else min(self.low, value)
        high = math.inf if math.isnan(self.high) else max(self.high, value)
        touched = self.scale.touched(low, high)
        if touched == {"D"}:
            return "D"
        is_vague = self.suspect or self.sparse or math.isinf(value) or len(touched) > 2
        return NOT_MARKED if is_vague else max(touched)

    def deciding(self, op: str, bound: float) -> Estimate:  # noqa: ARG002 - a family's answer depends on them
        """Return the estimate itself."""
        return self

    def corrected(self, asserted: int) -> Estimate:
        """Return the estimate as one of several that a test asserts, by Bonferroni.

        The test is unfair where one of them lies outside its bounds: each may claim that at its share of the error.

        Args:
            asserted: The number of estimates that the test asserts, from 1.

        Returns:
            The estimate with its ends for claims of unfairness at tail / ``asserted``; unchanged where its ends are
            known at one confidence only.
        """
        tail = (self.strict_tail or (1 - self.confidence) / 2) / asserted
        return replace(self._with_strict(tail), strict_tail=tail)

    def at_look(self, strict_tail: float) -> Estimate:
        """Return the estimate at one of several looks; claims of fairness and of unfairness spend errors of their own.

        Args:
            strict_tail: The probability to err on either side of a claim of unfairness. That of a claim of fairness
                is the interval's own.

        Where its ends are known at one confidence only, and that is lower, it supports no claim of unfairness.
        """
        if self.ends_at is not None or (1 - self.confidence) / 2 <= strict_tail:
            estimate = self._with_strict(strict_tail)
        else:
            estimate = replace(self, strict_low=-math.inf, strict_high=math.inf)
        return replace(estimate, strict_tail=strict_tail)

    def as_claimed(self) -> Estimate:
        """Return the estimate with the interval by which a look calls it unfair, where that is the narrower one."""
        if self.strict_tail is None or 2 * self.strict_tail <= 1 - self.confidence or self.strict_low is None:
            return self
        low, high = self.strict_ends
        return replace(self, low=low, high=high, confidence=round(1 - 2 * self.strict_tail, 12))

    def with_ends(self, ends: Callable[[float, float], tuple[float, float]]) -> Estimate:
        """Return the estimate with other ends, at every confidence.

        Args:
            ends: A function from its ends to the others.
        """
        low, high = ends(self.low, self.high)
        has_strict = self.strict_low is not None or self.strict_high is not None
        strict_low, strict_high = ends(*self.strict_ends) if has_strict else (None, None)
        return replace(
            self,
            span=None if self.span is None else ends(*self.span),
            low=low,
            high=high,
            strict_low=strict_low,
            strict_high=strict_high,
            ends_at=_mapped(self.ends_at, ends),
            projection=_projected(self.projection, ends),
            strict_at=_mapped(self.strict_at, ends),
        )

    def _with_strict(self, tail: float) -> Estimate:
        ends = self.strict_at or self.ends_at
        if ends is None:
            return self
        low, high = ends(tail)
        return replace(self, strict_low=low, strict_high=high)

    def always(self, op: str, bound: float) -> bool:
        """Return whether every value that the metric can have satisfies a comparison.

        Args:
            op: ``<``, ``<=``, ``>`` or ``>=``.
            bound: A finite number.
        """
        return self.span is not None and all(OPERATORS[op](end, bound) for end in self.span)

    def never(self, op: str, bound: float) -> bool:
        """Return whether no value that the metric can have satisfies a comparison."""
        return self.always(OPPOSITES[op], bound)

    def is_beyond(self, bound: float) -> bool:
        """Return whether a bound lies outside of the values that the metric can have, not at their end."""
        return self.span is not None and not self.span[0] <= bound <= self.span[1]

    def decision(self, op: str, bound: float) -> Decision:
        """Return the decision of the interval on a comparison.

        Args:
            op: ``<``, ``<=``, ``>`` or ``>=``.
            bound: A finite number.

        Returns:
            True where the interval lies within the bound, false where the one for claims of unfairness lies beyond
            it, else undecided; invalid where nothing can be concluded.
        """
        if self.invalid or math.isnan(self.value):
            return Decision.INVALID
        decision = self.by_interval(op, bound)
        if decision is Decision.FALSE:
            return decision
        if self.suspect:
            return Decision.INVALID
        return Decision.UNDECIDED if self.sparse else decision

    def by_interval(self, op: str, bound: float) -> Decision:
        """Return the decision of its interval, whatever other claims it may support."""
        holds = OPERATORS[op]
        strict_low, strict_high = self.strict_ends
        upwards = op in (">", ">=")
        if holds(self.low if upwards else self.high, bound):
            return Decision.TRUE
        # Undecidable ends (infinite or nan) fail both tests and leave it undecided.
        if (strict_high < bound if upwards else strict_low > bound) or (
            op in ("<", ">") and (strict_high if upwards else strict_low) == bound
        ):
            return Decision.FALSE
        return Decision.UNDECIDED

    @property
    def null(self) -> float | None:
        """The value of which `p_value` is by default: that where groups are alike. None of flips: answers vary."""
        return None if self.kind is MetricKind.FLIPS else self.parity

    def p_value(self, value: float | None = None) -> float:
        """Return the two-sided p-value of one value of the metric: for notebooks and scripts.

        It is the smallest probability to err at which the interval excludes the value: at most 0.05 exactly where the
        95% interval does. Like the interval it holds however the ungraded answers of a group are filled in.

        >>> from pytest_fairness import Measured
        >>> hires = {"f": 4, "m": 5}
        >>> rows = [{"item": n, "sex": sex, "hired": n % 10 < hires[sex]} for n in range(50) for sex in hires]
        >>> gap = Measured.from_rows(rows, item="item", groups=["sex"]).difference("hired", by="sex", of="f", to="m")
        >>> round(gap.p_value(), 3), round(gap.p_value(-0.2), 3)
        (0.009, 0.079)

        Args:
            value: The value; by default that of a metric whose groups are alike: 0 of a difference, 1 of a ratio.

        Returns:
            From 2e-9, below which no interval is exact, to 1. nan where nothing can be concluded from the estimate, and
            where its interval is known at one confidence only.

        Raises:
            FairnessError: No value is given, and the metric compares no groups, or counts flips; or the metric cannot
                have the value.
        """
        null = self.null if value is None else finite_bound(value)
        if null is None:
            reason = "a fair model has some" if self.kind is MetricKind.FLIPS else "it compares no groups"
            raise FairnessError(f"{self.title}: {reason}: name the value, as in p_value(0.5)")
        if self.is_beyond(null):
            low, high = self.span or (-math.inf, math.inf)
            raise FairnessError(f"{self.title} is never {null:g}: name a value from {low:g} to {high:g}")
        if self.invalid or self.ends_at is None:
            return math.nan
        return two_sided(self.ends_at, null, self.error)

    def __repr__(self) -> str:
        numbers = f"invalid: {self.invalid}" if self.invalid else self.text()
        return f"<{format_subject(self)}: {numbers}; {self.counts}>"

    def __format__(self, spec: str) -> str:
        """Return the value as a number is formatted, for messages: ``f"the ratio is {ratio:.2f}"``."""
        return format(self.value, spec) if spec else str(self)

    def text(self, bounds: Iterable[float] = ()) -> str:
        """Return the value and its interval: ``0.712 (95% CI 0.634 to 0.798)``.

        Args:
            bounds: Numbers from which the value and the ends must be distinguishable.
        """
        digits = decimals((self.value, self.low, self.high), list(bounds))
        low, high = number(self.low, digits), number(self.high, digits)
        return f"{number(self.value, digits)} ({format_level(self.confidence)} CI {low} to {high})"

    @property
    def counts(self) -> str:
        """The sizes of its sample: ``100 items, 3,000 attempts, 5 ungraded``."""
        ungraded = sum(self.ungraded.values())
        counts = f"{counted(self.items, 'item')}, {counted(self.attempts, 'attempt')}"
        return f"{counts}, {ungraded:,} ungraded" if ungraded else counts

    def __abs__(self) -> Estimate:
        """Return the size of a signed gap: ``abs(measured.difference(...)) < 0.05``."""

        def ends(low: float, high: float) -> tuple[float, float]:
            # The ends of the size, from those of the gap.
            inside = low <= 0 <= high
            return (0.0 if inside else min(abs(low), abs(high))), max(abs(low), abs(high))

        return replace(
            self.with_ends(ends),
            metric=f"abs {self.metric}",
            base=self.base or self.metric,
            family=f"abs {self.family}" if self.family else "",
            title=f"absolute {self.title}",
            value=abs(self.value),
            observed=abs(self.observed),
            absolute=True,
            signed=self if self.signed is None else self.signed,
            negated=False,
            parity=None if self.parity is None else abs(self.parity),
            scale=None if self.scale is None else self.scale.absolute(),
            breakdown=_turned(self.breakdown) if self.value < 0 else self.breakdown,
        )

    def __neg__(self) -> Estimate:
        return replace(
            self.with_ends(lambda low, high: (-high, -low)),
            metric=f"minus {self.metric}",
            base=self.base or self.metric,
            family=f"minus {self.family}" if self.family else "",
            title=f"minus {self.title}",
            value=-self.value,
            observed=-self.observed,
            negated=not self.negated,
            parity=None if self.parity is None else -self.parity,
            log_scale=False,
            scale=None if self.scale is None else -self.scale,
            breakdown=_turned(self.breakdown),
        )


def _mapped(ends: Ends | None, change: Callable[[float, float], tuple[float, float]]) -> Ends | None:
    return None if ends is None else lambda tail: change(*ends(tail))


def _projected(projection: Projection | None, ends: Callable[[float, float], tuple[float, float]]) -> Projection | None:
    def changed(tail: float, change: SampleChange) -> tuple[float, float, float]:
        assert projection is not None  # noqa: S101 - for the type
        low, high, error = projection(tail, change)
        return *ends(low, high), error

    return None if projection is None else changed


def _turned(breakdown: LazyBreakdown | None) -> LazyBreakdown | None:
    return None if breakdown is None else cache(lambda: breakdown().negated())


class Mark(Comparable):
    """The mark of an estimate, or the worst of a family's; ``str()`` gives ``A`` to ``D``, or ``-``.

    The worst mark that the interval touches; but an interval that touches three is not
    marked (``-``), nor is an estimate that is invalid or too sparse. That ranks as a D.

    It is compared with a letter, and better is greater. In a threshold test the answer is
    that of the estimate against the ends of the letter's ranges; elsewhere that of the letters.

    >>> from pytest_fairness.core.marks import RATIOS
    >>> ratio = Estimate("ratio", "ratio", value=0.86, low=0.78, high=0.95, scale=RATIOS)
    >>> str(ratio.mark), ratio.mark >= "B", ratio.mark > "B"
    ('B', True, False)

    Args:
        *estimates: The estimate, or the members of a family.

    Raises:
        FairnessError: It is compared and an estimate has no scale.
        MisuseError: It is compared with no letter, or with one that every mark reaches, or none: at least D, better
            than A.
    """

    __slots__ = ("_estimates", "_letter")

    _noun = "a mark"
    _other = "a letter"

    def __init__(self, *estimates: Estimate) -> None:
        self._estimates = estimates
        self._letter = max((estimate.letter for estimate in estimates), key=RANKS.__getitem__)

    def __str__(self) -> str:
        if current_recorder() is not None:
            raise refused('a threshold must not read the letter of a mark: compare it, `assert estimate.mark >= "B"`')
        return self._letter

    def __repr__(self) -> str:
        return "<a mark>" if current_recorder() is not None else f"<mark {self._letter}>"

    def _answer(self, op: str, bound: object) -> bool:
        if not isinstance(bound, str) or bound not in ("A", "B", "C", "D"):
            raise MisuseError(f"a mark is compared with one of the letters A to D, not with {short_repr(bound)}")
        index = "ABCD".index(bound) - (op in (">", "<="))
        if not 0 <= index < 3:
            always = "always" if op in (">=", "<=") else "never"
            raise MisuseError(
                f"mark {op} {bound!r} {always} holds: compare with a letter that some marks fall short of"
            )
        at_least = self._is_at_least("ABC"[index])
        return at_least if op in (">", ">=") else not at_least

    def _is_at_least(self, letter: str) -> bool:
        for estimate in self._estimates:
            if estimate.scale is None:
                raise FairnessError(
                    f"{estimate.title} has no scale of marks: give one by threshold(scale=MarkScale(A=..., ...))"
                )
        recorder = current_recorder()
        return RANKS[self._letter] <= RANKS[letter] if recorder is None else recorder.answer(self, ">=", letter)


def marked_estimates(mark: Mark) -> tuple[Estimate, ...]:
    """Return the estimates of a mark, with their numbers: one, or the members of a family."""
    return mark._estimates
