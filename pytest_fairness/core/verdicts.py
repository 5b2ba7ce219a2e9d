"""The verdict of a threshold test, from its comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fairness.core.comparisons import Comparison, ComparisonRecorder, Condition, key_of
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.dependence import (
    CHANGES,
    Dependence,
    Evaluation,
    Evaluator,
    depends_on,
    find_passing,
    override_problem,
    with_overrides,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.formatting import format_bound, format_subject
from pytest_fairness.core.limits import Limit
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.overrides import BoundsOverride
from pytest_fairness.core.seal_results import SealResult
from pytest_fairness.core.sensitivity import ControlResponse, JudgedSlice, SliceState
from pytest_fairness.core.user_turns import UserTurnsResult

NOTHING_COMPARED = "nothing was compared: assert an estimate of `measured` against a number"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A verdict and what led to it."""

    verdict: Verdict
    comparisons: Sequence[Comparison] = ()
    """Each as it must hold: reversed where the test negates it."""
    estimates: Sequence[Estimate] = ()
    deciding: Comparison | None = None
    """The comparison to show first: the one that broke, stayed open, or held most narrowly."""
    failure: BaseException | None = None
    """The exception whose traceback leads to the user's line."""
    reason: str = ""
    """The reason of a verdict that no comparison explains, or more about one."""
    mistake: str = ""
    """The reason that the test could not be fair on any data; empty where it could."""
    asserted: int = 1
    """The number of metrics that the test asserts: a claim of unfairness has its share of the error."""
    clustering: str = ""
    """The attribute that its intervals are clustered by though nobody has declared that; empty where there is none."""
    sensitivity: str = ""
    """The reason that answers inside the bounds are not fair: no response to a control, or an unmeasured slice."""
    responses: tuple[ControlResponse, ...] = ()
    """The responses to the probe's controls."""
    slices: tuple[JudgedSlice, ...] = ()
    """The declared slices of its sample, each with a veto."""
    responders: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The models that answered the compared groups, where servers name several, with their numbers of answers."""
    user_turns: tuple[UserTurnsResult, ...] = ()
    """The turns of a played user in the compared groups; empty where no model plays the user."""
    tables: tuple[int, ...] = ()
    """The numbers of rows of the tables that its test computes from, in place of its probe's sample."""
    seal: SealResult | None = None
    """The seal of its project, with the parts in which it differs; None in a project without one."""
    claims: int = 1
    """The number of claims of unfairness, the pooled one and those of slices, that share the error."""
    limit: Limit | None = None
    """The limit of an undecided one; None where it is not known."""
    larger: float = 1.0
    """The size of the full sample over that of the part which ``sampling`` takes."""
    sampling: str = ""
    """The option that takes a part of the sample; empty where all items are measured."""
    dependence: Dependence | None = None
    """The conditions that the test depends on, for `judge` on other data."""

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The lowest and the highest value that the deciding estimate was allowed, where compared."""
        return _ends((comparison.op, comparison.bound) for comparison in self.about_deciding)

    @property
    def bounds_of_test(self) -> tuple[float | None, float | None] | None:
        """The test's own bounds for the deciding estimate, where the project overrides them; else None."""
        if not any(comparison.instead_of is not None for comparison in self.about_deciding):
            return None
        return _ends((comparison.op, comparison.instead_of) for comparison in self.about_deciding)

    @property
    def straddles(self) -> bool:
        """Return whether an interval straddles a bound; if not, an undecided verdict has another reason."""
        return any(
            comparison.estimate.by_interval(comparison.op, comparison.bound) is Decision.UNDECIDED
            for comparison in self.about_deciding
        )

    @property
    def claimed(self) -> list[Comparison]:
        """The comparisons of the pooled claim, and of the slices that are unfair."""
        vetoes = (part for part in self.slices if part.state is SliceState.UNFAIR)
        return [*self.comparisons, *(comparison for part in vetoes for comparison in part.comparisons)]

    @property
    def about_deciding(self) -> list[Comparison]:
        """Every comparison of the deciding metric, each operator and bound once."""
        if self.deciding is None:
            return []
        estimate = self.deciding.estimate
        comparisons: dict[tuple[str, float], Comparison] = {}
        for comparison in self.claimed:
            is_same = comparison.estimate is estimate or (
                comparison.estimate.metric == estimate.metric and comparison.estimate.slice == estimate.slice
            )
            if is_same:
                comparisons.setdefault((comparison.op, comparison.bound), comparison)
        return sorted(comparisons.values(), key=lambda comparison: comparison.bound)


def _ends(limits: Iterable[tuple[str, float | None]]) -> tuple[float | None, float | None]:
    """Return the lower and the upper limit of operators with their bounds."""
    low = high = None
    for op, bound in limits:
        if op in (">", ">="):
            low = bound
        else:
            high = bound
    return low, high


def judge(
    test: Callable[[], object],
    *,
    scale: MarkScale | None = None,
    bounds: BoundsOverride | None = None,
    dependence: Dependence | None = None,
    endings: tuple[type[BaseException], ...] = (),
    failures: tuple[type[BaseException], ...] = (AssertionError,),
    strict_tail: float | None = None,
    reports: bool = True,
) -> Judgment:
    """Run a threshold test and return the judgment of its comparisons, each decided by its interval.

    The test is evaluated once with the answers of its intervals, and again with each condition that
    it checks answered the opposite way. A condition that cannot fail the test by itself makes
    it invalid. The same evaluations show which answer each condition needs, so a negated
    comparison is judged as the one that must hold. Then it is fair where all of them hold,
    unfair where one is broken, invalid where one cannot be measured, and else undecided.

    Args:
        test: Called several times; what it prints after the first time is dropped.
        scale: For the marks of all its estimates; without, each has that of its metric.
        bounds: What the project sets in place of the numbers that it compares with.
        dependence: The conditions that it depends on, from a judgment of the same test on other data.
        endings: Exceptions that end the test without failing it, as those of a skip.
        failures: Exceptions by which the test fails once it has compared something.
        strict_tail: The probability to err on either side of a claim of unfairness; without, that of the intervals.
        reports: Whether its estimates are for a report; else those that it records by functions are not computed.

    Returns:
        The judgment. A `FairnessError` (an unknown group, say) makes it invalid.

    Raises:
        BaseException: The test raised it, and it is no failed assertion.

    >>> from pytest_fairness.core.sealed_estimates import SealedEstimate
    >>> rho = SealedEstimate(Estimate("ratio", "ratio", value=0.9, low=0.75, high=1.05))
    >>> def test():
    ...     assert rho >= 0.8
    >>> judge(test).verdict.value
    'undecided'
    >>> def unasserted():
    ...     return rho >= 0.5
    >>> judge(unasserted).verdict.value
    'invalid'
    """
    evaluator = Evaluator(test, scale, endings=endings, failures=failures, strict_tail=strict_tail, reports=reports)
    first = evaluator.evaluate()
    if isinstance(first.failure, FairnessError) or not first.given:
        reason = str(first.failure) if isinstance(first.failure, FairnessError) else NOTHING_COMPARED
        return _invalid(first, reason)
    passing_run = (first, None) if not first.fails else find_passing(evaluator, first)
    if passing_run is None:
        # Not the comparison that failed first, but what still fails where all of them hold.
        failure = replace(evaluator, reports=False).under({}, default=True).failure
        return replace(_invalid(first, f"it fails whatever it compares{_failure_text(failure)}"), failure=failure)
    passing, default = passing_run
    if refusal := first.record.refusal or passing.record.refusal:
        return replace(_invalid(first, refusal, dependence), mistake=refusal)
    if dependence is None or not passing.given.keys() <= dependence.needs.keys():
        dependence = depends_on(evaluator, passing, default)
    if dependence.problem:
        return replace(_invalid(first, dependence.problem, dependence), mistake=dependence.problem)
    if bounds is not None:
        evaluator = with_overrides(evaluator, bounds, dependence.needs, passing.record)
        first, passing = evaluator.evaluate(), evaluator.under(passing.given, default)
        if problem := _override_problem(bounds, first, passing, dependence):
            return _invalid(first, problem, dependence)
    return _judge_conditions(evaluator, first, passing, dependence)


def _override_problem(bounds: BoundsOverride, first: Evaluation, passing: Evaluation, dependence: Dependence) -> str:
    """Return why a test cannot be judged by the bounds of the project; empty where it can."""
    failure = first.failure or passing.failure
    if isinstance(failure, FairnessError):
        return str(failure)
    conditions = [condition.as_needed(dependence.needs[key]) for key, condition in passing.record.conditions.items()]
    return override_problem(bounds, [comparison for condition in conditions for comparison in condition.comparisons])


def _judge_conditions(evaluator: Evaluator, first: Evaluation, passing: Evaluation, dependence: Dependence) -> Judgment:
    """Return the judgment of a test each of whose conditions can fail it."""
    conditions = passing.record.conditions
    asserted = _count_asserted(conditions.values())
    needed = {key: condition.as_needed(dependence.needs[key], asserted) for key, condition in conditions.items()}
    comparisons = [comparison for condition in needed.values() for comparison in condition.comparisons]
    if not comparisons:  # a later call of the test compares nothing
        return replace(_invalid(first, CHANGES, dependence), mistake=CHANGES)
    written = [
        comparison for condition in needed.values() if not condition.of_mark for comparison in condition.comparisons
    ]
    if problem := _contradiction(comparisons) or _unreachable(comparisons) or _tautology(comparisons, written):
        return replace(_invalid(first, problem, dependence), mistake=problem)

    def with_decision(decision: Decision) -> list[Comparison]:
        return [comparison for comparison in comparisons if comparison.decision is decision]

    broken, invalid, still_open = map(with_decision, (Decision.FALSE, Decision.INVALID, Decision.UNDECIDED))
    if not broken and not invalid and (reason := _left_out_reason([first.record, passing.record], comparisons)):
        return _invalid(first, reason, dependence)
    if broken:
        verdict, deciding = Verdict.UNFAIR, _reached(broken, needed, first)
        deciding = replace(deciding, estimate=deciding.estimate.as_claimed())
    elif invalid:
        verdict, deciding = Verdict.INVALID, invalid[0]
    elif still_open:
        verdict, deciding = Verdict.UNDECIDED, still_open[0]
    elif first.fails:
        return replace(_invalid(first, CHANGES, dependence), mistake=CHANGES)
    else:
        verdict, deciding = Verdict.FAIR, min(comparisons, key=_margin)
    failure = first.failure
    if failure is None and verdict is not Verdict.FAIR and evaluator.reports:
        # The line to show is the one at which the test fails if its open conditions do not hold.
        answers = {
            key: dependence.needs[key] != (condition.decision is not Decision.TRUE) for key, condition in needed.items()
        }
        failure = replace(evaluator, reports=False).under(answers).failure
    recorded = list({**first.record.estimates, **passing.record.estimates}.values())
    return Judgment(
        verdict, comparisons, recorded, deciding, failure,
        asserted=asserted, dependence=dependence, tables=tuple(sorted(first.record.tables | passing.record.tables)),
    )  # fmt: skip


def _invalid(first: Evaluation, reason: str, dependence: Dependence | None = None) -> Judgment:
    record = first.record
    return Judgment(
        Verdict.INVALID,
        record.comparisons,
        list(record.estimates.values()),
        failure=first.failure,
        reason=reason,
        dependence=dependence,
    )


def _count_asserted(conditions: Iterable[Condition]) -> int:
    """Return how many metrics a test asserts; the members of a family, whose claims are corrected together, are one."""
    estimates = [comparison.estimate for condition in conditions for comparison in condition.comparisons]
    return len({_metric_key(estimate) for estimate in estimates})


def _metric_key(estimate: Estimate) -> str:
    """Return a key of a metric and its slice; members of a family share it."""
    return key_of(estimate, None if estimate.strict_at is None else estimate.family_name)


def _contradiction(comparisons: Iterable[Comparison]) -> str:
    """Return why no value could satisfy all comparisons of one metric; empty where one could."""
    least: dict[str, float] = {}
    most: dict[str, float] = {}
    strict: set[tuple[str, float]] = set()
    for comparison in comparisons:
        # Two metrics of one name (of two lambdas, for example) are distinguished by their values.
        key = _metric_key(comparison.estimate) + (
            "" if comparison.estimate.strict_at else f" {comparison.estimate.value!r}"
        )
        if comparison.op in (">", ">="):
            least[key] = max(comparison.bound, least.get(key, -math.inf))
        else:
            most[key] = min(comparison.bound, most.get(key, math.inf))
        strict |= {(key, comparison.bound)} if comparison.op in ("<", ">") else set()
        low, high = least.get(key, -math.inf), most.get(key, math.inf)
        if low > high or (low == high and (key, low) in strict):
            ends = ("above", "below") if low == high else ("at least", "at most")
            bounds = f"{ends[0]} {format_bound(low)} and {ends[1]} {format_bound(high)}"
            return f"no value is {bounds}: {comparison.estimate.metric} can never be fair"
    return ""


def _unreachable(comparisons: Iterable[Comparison]) -> str:
    """Return why no value could satisfy one of the comparisons; empty where some value could satisfy each."""
    for comparison in comparisons:
        if comparison.estimate.never(comparison.op, comparison.bound):
            return f"{_range_of([comparison])} never holds{_hint([comparison])}"
    return ""


def _tautology(comparisons: Iterable[Comparison], written: Iterable[Comparison]) -> str:
    """Return why no value could break the comparisons of one metric; empty where some value could.

    A bound that is the end of what the metric can be says nothing, but may stand beside another one, as in
    `0.9 <= rate <= 1`. One beyond that end is a mistake in itself: `0.01 <= rate <= 5`.

    Args:
        comparisons: All comparisons of the test.
        written: Those whose bounds are numbers of the test or the project.
    """
    by_metric: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_metric.setdefault(_metric_key(comparison.estimate), []).append(comparison)
    for of_metric in [*by_metric.values(), *([one] for one in written if one.estimate.is_beyond(one.bound))]:
        if all(comparison.estimate.always(comparison.op, comparison.bound) for comparison in of_metric):
            return f"{_range_of(of_metric)} always holds{_hint(of_metric)}"
    return ""


def _range_of(comparisons: Sequence[Comparison]) -> str:
    """Return the values of a metric and its bounds: ``rate(ok) has values from 0 to 1: >= 10``."""
    estimate = comparisons[0].estimate
    low, high = estimate.span or (-math.inf, math.inf)
    bounds = " and ".join(f"{comparison.op} {format_bound(comparison.bound)}" for comparison in comparisons)
    return f"{estimate.metric} has values from {low:g} to {high:g}: {bounds}"


def _hint(comparisons: Sequence[Comparison]) -> str:
    """Return what may be meant by a bound above 1 of a share, or of a difference of shares."""
    estimate = comparisons[0].estimate
    is_rate = not estimate.kind.log_scale and estimate.kind is not MetricKind.CORRELATION
    is_share = is_rate and estimate.span is not None and estimate.span[1] == 1
    percent = next((abs(one.bound) for one in comparisons if 1 < abs(one.bound) <= 100), 5.0)
    if not is_share or all(abs(comparison.bound) <= 1 for comparison in comparisons):
        return ""
    larger = (
        ""
        if estimate.equals is not None or estimate.kind is MetricKind.RATE
        else (", and a number that may be larger needs `extremes`")
    )
    return f"; a share of {percent:g}% is {percent / 100:g}{larger}"


def _reached(broken: Sequence[Comparison], needed: Mapping[str, Condition], first: Evaluation) -> Comparison:
    """Return the broken comparison at which the test has failed, where it is one of them."""
    for key in reversed(first.given):
        for comparison in needed[key].comparisons if key in needed else ():
            if comparison.decision is Decision.FALSE:
                return comparison
    return broken[0]


def _left_out_reason(records: Sequence[ComparisonRecorder], comparisons: Sequence[Comparison]) -> str:
    """Return that the test computes an estimate which cannot be measured, and does not compare it; empty if not."""
    compared = {key_of(comparison.estimate) for comparison in comparisons}
    for estimate in (estimate for record in records for estimate in record.unmeasured):
        if key_of(estimate) not in compared:
            return (
                f"{estimate.invalid}: {format_subject(estimate)} is computed and not compared, and what was not "
                "measured must not be left out: compare it, show it by measured.record(...), or name the group in "
                "the mark's exclude="
            )
    return ""


def _failure_text(failure: BaseException | None) -> str:
    text = str(failure).strip().partition("\n")[0] if failure else ""
    return f": {text}" if text else ""


def _margin(comparison: Comparison) -> float:
    """Return how narrowly a comparison held, in standard errors."""
    distance = abs(comparison.estimate.value - comparison.bound)
    error = comparison.estimate.error
    return distance / error if error > 0 else math.inf


def flip_probability(estimate: Estimate, bounds: Sequence[float]) -> float | None:
    """Return the chance that a rerun of equal size puts the point on the other side of the nearest bound.

    Predictive: both runs carry the error, so Phi(-z / sqrt 2). None where it cannot be computed.

    >>> rho = Estimate("ratio", "ratio", value=0.9, low=0.8, high=1.0, error=0.05)
    >>> round(flip_probability(rho, [0.8]), 3)
    0.079
    """
    from statistics import NormalDist

    if estimate.invalid or not estimate.error > 0:
        return None
    distance = min(abs(estimate.value - bound) for bound in bounds)
    return NormalDist().cdf(-distance / estimate.error / math.sqrt(2))


def outside_probability(comparisons: Sequence[Comparison]) -> float | None:
    """Return the probability that the value of a rerun of equal size lies outside the bounds; None if unknown.

    It is predictive: both runs have an error, so the values differ with a standard deviation of sqrt(2) errors.
    """
    from statistics import NormalDist

    estimate = comparisons[0].estimate
    if estimate.invalid or not estimate.error > 0:
        return None
    rerun = NormalDist(estimate.value, estimate.error * 2**0.5)
    lower = [comparison.bound for comparison in comparisons if comparison.op in (">", ">=")]
    upper = [comparison.bound for comparison in comparisons if comparison.op in ("<", "<=")]
    inside = (rerun.cdf(min(upper)) if upper else 1.0) - (rerun.cdf(max(lower)) if lower else 0.0)
    return min(1.0, 1 - max(inside, 0.0))


def limiting_ends(estimate: Estimate) -> tuple[float, float]:
    """Return the ends of an estimate with endless items: its value, moved by ungraded answers as far as they may."""
    if estimate.ends_at is None or not sum(estimate.ungraded.values()):
        return estimate.value, estimate.value
    return estimate.ends_at(0.5)
