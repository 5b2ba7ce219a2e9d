"""Comparisons of estimates in a threshold test, and the record of one evaluation that answers them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TypeVar

from pytest_fairness.core.decisions import (
    DECISIONS,
    OPPOSITES,
    Comparable,
    Decision,
    current_recorder,
    is_library,
    is_users,
    use_recorder,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimate_families import EstimateFamily, unsealed_family
from pytest_fairness.core.estimates import Estimate, Mark, marked_estimates
from pytest_fairness.core.formatting import format_bound, format_subject
from pytest_fairness.core.marks import RANKS, MarkScale
from pytest_fairness.core.overrides import BoundsOverride
from pytest_fairness.core.sealed_estimates import SealedEstimate, unsealed

_Recorded = TypeVar("_Recorded")

LOWEST_CONFIDENCE = 0.8
"""Lowest confidence of the intervals of a probe, and of every estimate in a threshold test."""
_EVALUATION = str(Path(__file__).with_name("dependence.py"))
"""The file that calls the user's test: the search for the test's line ends at its frame."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of one estimate with one number."""

    estimate: Estimate
    op: str
    bound: float
    decision: Decision
    instead_of: float | None = None
    """The test's own number, where the project overrides it; else None."""
    members: tuple[tuple[Estimate, str, float], ...] = field(default=(), compare=False, repr=False)
    """All members of its family, with operator and bound, where it decides for a family and does not hold."""

    def reversed(self) -> Comparison:
        """Return the opposite comparison, with its own decision."""
        members = tuple((estimate, OPPOSITES[op], bound) for estimate, op, bound in self.members)
        comparison = compare(self.estimate, OPPOSITES[self.op], self.bound)
        return replace(comparison, instead_of=self.instead_of, members=members)

    def corrected(self, asserted: int) -> Comparison:
        """Return the comparison with the error of a claim of unfairness divided by the number of asserted metrics."""
        if asserted == 1:
            return self
        comparison = compare(self.estimate.corrected(asserted), self.op, self.bound)
        members = tuple((estimate.corrected(asserted), op, bound) for estimate, op, bound in self.members)
        return replace(comparison, instead_of=self.instead_of, members=members)

    def of_members(self) -> list[Comparison]:
        """Return the comparison of each member of its family; without a family, the comparison itself."""
        return [compare(estimate, op, bound) for estimate, op, bound in self.members] or [self]


def compare(value: Estimate | EstimateFamily, op: str, bound: float) -> Comparison:
    """Return a comparison with its decision; for a family, that of the deciding member.

    >>> rate = Estimate("rate(harmful)", "rate of harmful", value=0.01, low=0.004, high=0.017)
    >>> compare(rate, "<=", 0.02).decision.value
    'true'
    """
    estimate = value.deciding(op, bound)
    decision = estimate.decision(op, bound)
    if isinstance(value, Estimate) or decision is Decision.TRUE:
        return Comparison(estimate, op, bound, decision)
    return Comparison(estimate, op, bound, decision, members=tuple((member, op, bound) for _, member in value.items()))


@dataclass(frozen=True, slots=True)
class Condition:
    """One check of a threshold test by ``<``, ``<=``, ``>`` or ``>=``.

    It consists of one comparison of an estimate, or of a family's deciding member; or of two, for both ends of the
    range of a mark.
    """

    text: str
    """The text in messages: ``ratio of advance, female to male >= 0.8``."""
    comparisons: tuple[Comparison, ...]
    opposite: bool = False
    """Whether it is the opposite of its key's condition, as ``rate < 0.8`` is of ``rate >= 0.8``."""
    family: str = ""
    """The text of a family's condition as it must hold: ``family >= 0.8``; empty for one estimate."""
    line: int | None = None
    """The line in the user's file."""
    asserted: tuple[Estimate, ...] = ()
    """All estimates of the condition; for a family every member. Empty: those of its comparisons."""
    of_mark: bool = False
    """Whether its bounds are the ends of a mark's range, which nobody wrote as bounds of this metric."""

    @property
    def decision(self) -> Decision:
        """The decision of its comparisons together: the worst of them."""
        return min((comparison.decision for comparison in self.comparisons), key=DECISIONS.index)

    def as_needed(self, needed: bool, asserted: int = 1) -> Condition:  # noqa: FBT001 - the answer to its key
        """Return the condition as it must hold for the test to pass: reversed where the test negates it."""
        comparisons = [comparison.corrected(asserted) for comparison in self.comparisons]
        if needed == self.opposite:
            # A negated mark needs one of its two ends not to hold: the one that is farthest from holding. If the
            # mark is open, so is its negation.
            reversals = [comparison.reversed() for comparison in comparisons]
            farthest = max(reversals, key=lambda comparison: DECISIONS.index(comparison.decision))
            is_open = len(reversals) > 1 and self.decision in (Decision.INVALID, Decision.UNDECIDED)
            comparisons = [replace(farthest, decision=self.decision) if is_open else farthest]
        return replace(self, comparisons=tuple(comparisons))


@dataclass(slots=True)
class ComparisonRecorder:
    """The conditions, estimates and reads of one evaluation of a threshold test."""

    answers: Mapping[str, bool] = field(default_factory=dict)
    """Answers to conditions by their keys."""
    default: bool | None = None
    """The answer to all other conditions. None: that of the interval, and true where it is open."""
    scale: MarkScale | None = None
    """The scale of the marks of all estimates; None: each has its own."""
    bounds: BoundsOverride | None = None
    """The project's bounds in place of the test's numbers."""
    negated: Collection[tuple[str, str, float]] = ()
    """Metric, operator and bound of the comparisons that must not hold."""
    strict_tail: float | None = None
    """The probability to err on either side of a claim of unfairness; None: that of the intervals."""
    reports: bool = True
    """Whether the estimates are for a report: else functions that `Measured.record` is given are not called."""
    is_reporting: bool = False
    """Whether such a function is being called: it must not compare."""
    show: Callable[[str], str] = str
    """The function from the text of an estimate to the one that the test reads."""
    reads_texts: bool = False
    """Whether the test has read the text of an estimate."""
    conditions: dict[str, Condition] = field(default_factory=dict)
    given: dict[str, bool] = field(default_factory=dict)
    """The answer to each key, in the order in which the conditions were last checked."""
    estimates: dict[str, Estimate] = field(default_factory=dict)
    """The estimates in the report, by metric and slice: compared, or recorded by `record_estimates`."""
    refusal: str = ""
    """The first thing that the test did and a threshold must not do."""
    unmeasured: list[Estimate] = field(default_factory=list)
    """Estimates that the test computed for more than the report, and of which nothing can be concluded."""
    tables: set[int] = field(default_factory=set)
    """The numbers of rows of the tables that the test computes from."""
    _values_by_name: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    """The values of the different estimates that share a name."""

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons of all conditions."""
        return [comparison for condition in self.conditions.values() for comparison in condition.comparisons]

    def answer(self, value: Comparable, op: str, bound: float | str) -> bool:
        """Record a comparison and return the answer that this evaluation gives to it.

        Raises:
            FairnessError: A function that is only called for a report compares: other evaluations would lack it.
        """
        if self.is_reporting:
            raise FairnessError("a function that `record` is given compares an estimate: compare it outside of it")
        name, condition = self._condition(value, op, bound)
        key = self._key(name, condition)
        if key not in self.conditions:
            self.conditions[key] = replace(condition, line=_users_line())
            self.record(condition.asserted or [comparison.estimate for comparison in condition.comparisons])
        holds = self.answers.get(key, self.given.pop(key, None))
        if holds is None:
            natural = condition.decision is not Decision.FALSE if self.default is None else self.default
            holds = natural != condition.opposite
        self.given[key] = holds
        return holds != condition.opposite

    def text_shown(self, text: str) -> str:
        """Return the text of a value as the evaluation shows it, and record that the test reads it."""
        self.reads_texts = True
        return self.show(text)

    def seal(self, estimate: Estimate) -> Estimate:
        """Return an estimate that the test computes, without access to its numbers."""
        if not self.is_reporting:
            self.note_unmeasured(estimate)
        return SealedEstimate(estimate)

    def note_refusal(self, reason: str) -> None:
        """Note that the test did what a threshold must not do: it may catch the error."""
        self.refusal = self.refusal or reason

    def note_unmeasured(self, estimate: Estimate) -> None:
        """Note an estimate of which nothing can be concluded: that must not be why the test leaves it out."""
        if estimate.invalid:
            self.unmeasured.append(estimate)

    def record(self, estimates: Iterable[Estimate]) -> None:
        """Record estimates for the report. One that is recorded again keeps its column."""
        for estimate in estimates:
            earlier = self.estimates.get(key_of(estimate))
            column = estimate.column or (earlier.column if earlier is not None else "")
            self.estimates[key_of(estimate)] = replace(estimate, column=column) if column else estimate

    def _condition(self, value: Comparable, op: str, bound: float | str) -> tuple[str, Condition]:
        """Return the condition of a comparison, and a name that is the same in every evaluation of the test.

        The name consists of metric, slice, operator and the test's own bound, even where the project overrides it.
        """
        if isinstance(value, Mark):
            return _mark_condition(value, str(bound))
        assert isinstance(value, Estimate | EstimateFamily)  # noqa: S101 - nothing else is compared
        if not (isinstance(value, SealedEstimate) if isinstance(value, Estimate) else value.is_sealed):
            self.note_refusal(f"{_subject(value)} was not computed by this test: compare what `measured` gives it")
        value = unsealed(value) if isinstance(value, Estimate) else unsealed_family(value)
        number = float(bound)
        first = value if isinstance(value, Estimate) else next(iter(dict(value.items()).values()))
        override = self._overriding_bound(value, first, op, number)
        comparison = compare(value, op, number if override is None else override)
        if override is not None:
            comparison = replace(comparison, instead_of=number)
        text = f"{format_subject(comparison.estimate)} {op} {format_bound(comparison.bound)}"
        if isinstance(value, Estimate):
            opposite = op in ("<", ">")
            name = f"{key_of(value)} {OPPOSITES[op] if opposite else op} {number!r}"
            return name, Condition(text, (comparison,), opposite=opposite)
        name = f"family of {len(value)} {key_of(first, first.family_name)} {op} {number!r}"
        members = tuple(member for _, member in value.items())
        return name, Condition(text, (comparison,), family=f"family {OPPOSITES[op]} {number:g}", asserted=members)

    def _overriding_bound(
        self, value: Estimate | EstimateFamily, first: Estimate, op: str, bound: float
    ) -> float | None:
        """Return the project's bound for a metric, by its name or its family's; None where it sets none."""
        if self.bounds is None:
            return None
        names = (first.metric, first.family_name) if isinstance(value, Estimate) else (first.family_name,)
        return self.bounds.instead_of(names, OPPOSITES[op] if (names[0], op, bound) in self.negated else op)

    def _key(self, name: str, condition: Condition) -> str:
        # Different estimates with one name, such as those of two lambdas, are different conditions.
        numbers = tuple(repr(comparison.estimate.value) for comparison in condition.comparisons)
        values = self._values_by_name.setdefault(name, [])
        if numbers not in values:
            values.append(numbers)
        return f"{name} #{values.index(numbers)}"


def _subject(value: Estimate | EstimateFamily) -> str:
    return "a family" if isinstance(value, EstimateFamily) else format_subject(value)


@contextmanager
def recording(record: ComparisonRecorder | None = None) -> Iterator[ComparisonRecorder]:
    """Record all comparisons and estimates within the block.

    A comparison that Python cannot make, such as `float.__ge__(0.8, estimate)`, is an error there, as from Python 3.14
    on: its value, NotImplemented, counts as true.
    """
    record = ComparisonRecorder() if record is None else record
    with use_recorder(record), warnings.catch_warnings():
        warnings.filterwarnings("error", "NotImplemented should not be used", DeprecationWarning)
        yield record


def _current() -> ComparisonRecorder | None:
    recorder = current_recorder()
    return recorder if isinstance(recorder, ComparisonRecorder) else None


def has_result() -> bool:
    """Return whether an estimate was compared, or its text read, since the recording began."""
    record = _current()
    return record is not None and bool(record.conditions or record.reads_texts)


def for_threshold(estimate: Estimate) -> Estimate:
    """Return an estimate with the settings of the threshold test that is evaluated; unchanged outside of one.

    These are the test's scale and the error that its look may spend; its numbers can be compared and not read. The
    estimate is recorded for the report by comparisons and `record_estimates`.

    Raises:
        FairnessError: Its confidence is lower than a probe's can be: a table that the test reads has its own.
    """
    record = _current()
    if record is None:
        return estimate
    if estimate.confidence < LOWEST_CONFIDENCE:
        raise FairnessError(
            f"confidence is {estimate.confidence:g}: a threshold needs intervals of at least {LOWEST_CONFIDENCE:g}"
        )
    if record.scale is not None:
        estimate = replace(estimate, scale=record.scale)
    if record.strict_tail is not None:
        estimate = estimate.at_look(record.strict_tail)
    return record.seal(estimate)


def note_table(rows: int) -> None:
    """Note that the threshold test that is evaluated, if any, computes from a table in place of its sample."""
    record = _current()
    if record is not None:
        record.tables.add(rows)


def refuse_in_threshold(reason: str) -> None:
    """Refuse what a threshold's test must not do, though it may catch the error; elsewhere nothing happens.

    Raises:
        FairnessError: A threshold's test is evaluated.
    """
    record = _current()
    if record is not None:
        record.note_refusal(reason)
        raise FairnessError(reason)


def for_report(function: Callable[[], _Recorded]) -> list[_Recorded]:
    """Return what a function returns, which must not compare; nothing unless a test is evaluated for a report."""
    record = _current()
    if record is None or not record.reports:
        return []
    outer, record.is_reporting = record.is_reporting, True
    try:
        return [function()]
    finally:
        record.is_reporting = outer


def record_estimates(estimates: Iterable[Estimate], column: str = "") -> None:
    """Record estimates for the report of the threshold test that is evaluated, if any.

    Args:
        estimates: The estimates.
        column: The head of their column in the terminal's table of slices, if they stand in one.
    """
    record = _current()
    if record is not None:
        recorded = [unsealed(estimate) for estimate in estimates]
        recorded = [replace(estimate, column=column) for estimate in recorded] if column else recorded
        record.record(recorded)
        only_shown = {_unmeasured_key(estimate) for estimate in recorded if estimate.invalid}
        record.unmeasured[:] = [one for one in record.unmeasured if _unmeasured_key(one) not in only_shown]


def _unmeasured_key(estimate: Estimate) -> tuple[str, str, int]:
    return key_of(estimate), estimate.invalid, estimate.attempts


def key_of(estimate: Estimate, metric: str | None = None) -> str:
    """Return the key of an estimate: its metric, or else the given name of a family, with its slice."""
    where = sorted((str(name), str(value)) for name, value in estimate.slice.items())
    return f"{metric or estimate.metric} {where}"


def _mark_condition(mark: Mark, letter: str) -> tuple[str, Condition]:
    """Return the condition that a mark is at least a letter, with its name."""
    claims = [_claims(estimate, letter) for estimate in marked_estimates(mark)]
    # For a family, both ends are those of the deciding member: the report shows two bounds.
    deciding = min(claims, key=_standing)
    family = f'family.mark >= "{letter}"' if len(claims) > 1 else ""
    text = f'mark of {format_subject(deciding[0].estimate)} >= "{letter}"'
    first = marked_estimates(mark)[0]
    name = key_of(first, first.family_name if family else None)
    if len(claims) > 1 and _standing(deciding)[0] < len(DECISIONS) - 1:
        members = tuple((claim.estimate, claim.op, claim.bound) for comparisons in claims for claim in comparisons)
        deciding = [replace(claim, members=members) for claim in deciding]
    condition = Condition(text, tuple(deciding), family=family, asserted=marked_estimates(mark), of_mark=True)
    return f"mark of {len(claims)} {name} >= {letter}", condition


def _claims(estimate: Estimate, letter: str) -> list[Comparison]:
    """Return the comparisons that hold together where an estimate has this mark or a better one."""
    assert estimate.scale is not None  # noqa: S101 - refused before

    def inside(low: float, high: float) -> list[Comparison]:
        ends = [(">=", low), ("<=", high)]
        return [compare(estimate, op, end) for op, end in ends if math.isfinite(end)]

    def nearness(span: tuple[float, float]) -> tuple[int, float]:
        away = max(span[0] - estimate.value, estimate.value - span[1], 0.0)
        return _standing(inside(*span))[0], -away

    claims = inside(*max(estimate.scale.region(letter), key=nearness))
    if _standing(claims)[0] == len(DECISIONS) - 1 and RANKS[estimate.letter] > RANKS[letter]:
        unmarked = replace(
            estimate, sparse="its interval touches three marks, so that it has none: more would narrow it"
        )
        return [compare(unmarked, claim.op, claim.bound) for claim in claims]
    return claims


def _standing(claims: Sequence[Comparison]) -> tuple[int, float]:
    """Return how far comparisons hold together: refuted, invalid, undecided, held; then by the nearest end."""
    ends = [
        claim.estimate.low - claim.bound if claim.op == ">=" else claim.bound - claim.estimate.high for claim in claims
    ]
    return min(DECISIONS.index(claim.decision) for claim in claims), min(ends)


def _users_line() -> int | None:
    """Return the line that compares: the innermost one, if there is one outside of libraries of assertions."""
    frame: FrameType | None = sys._getframe(2)
    line = None
    while frame is not None and frame.f_code.co_filename != _EVALUATION:
        if is_users(frame.f_code.co_filename):
            if not is_library(frame.f_code.co_filename):
                return frame.f_lineno
            line = line or frame.f_lineno
        frame = frame.f_back
    return line
