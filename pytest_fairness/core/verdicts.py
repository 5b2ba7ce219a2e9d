"""From the comparisons of a threshold test to its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_fairness.core.bounds import OwnBounds
from pytest_fairness.core.comparisons import Comparison, Decision, recording
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.marks import Scale

NOTHING_COMPARED = "nothing was compared: assert an estimate of `measured` against a number"
_OPEN = (Decision.UNDECIDED, Decision.INVALID)


class Verdict(StrEnum):
    """The four states of a threshold."""

    FAIR = "fair"
    UNFAIR = "unfair"
    UNDECIDED = "undecided"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what led to it."""

    verdict: Verdict
    comparisons: Sequence[Comparison] = ()
    estimates: Sequence[Estimate] = ()
    deciding: Comparison | None = None
    """The comparison to show first: the one that broke, stayed open, or held most narrowly."""
    failure: BaseException | None = None
    """The exception whose traceback leads to the user's line."""
    reason: str = ""
    """For a verdict that no comparison explains, or more about one."""

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The lowest and the highest value that the deciding estimate was allowed, where compared."""
        low = high = None
        for comparison in self.about_deciding:
            if comparison.op in (">", ">="):
                low = comparison.bound
            else:
                high = comparison.bound
        return low, high

    @property
    def bounds_of_test(self) -> tuple[float | None, float | None] | None:
        """The bounds that the test has for it, where the project holds it against its own; else None."""
        if not any(comparison.instead_of is not None for comparison in self.about_deciding):
            return None
        low = high = None
        for comparison in self.about_deciding:
            if comparison.op in (">", ">="):
                low = comparison.instead_of
            else:
                high = comparison.instead_of
        return low, high

    @property
    def straddles(self) -> bool:
        """Whether an interval straddles a bound; if not, an undecided verdict has another reason."""
        return any(
            comparison.estimate._by_interval(comparison.op, comparison.bound) is Decision.UNDECIDED
            for comparison in self.about_deciding
        )

    @property
    def about_deciding(self) -> list[Comparison]:
        """Every comparison of the deciding metric, each operator and bound once."""
        if self.deciding is None:
            return []
        estimate = self.deciding.estimate
        found: dict[tuple[str, float], Comparison] = {}
        for comparison in self.comparisons:
            same = comparison.estimate is estimate or (
                comparison.estimate.metric == estimate.metric and comparison.estimate.slice == estimate.slice
            )
            if same:
                found.setdefault((comparison.op, comparison.bound), comparison)
        return sorted(found.values(), key=lambda comparison: comparison.bound)


def judge(test: Callable[[], object], *, scale: Scale | None = None, bounds: OwnBounds | None = None) -> Judgement:
    """Run a threshold test and say what its comparisons, decided by their intervals, come to.

    Open comparisons (undecided or invalid) are first taken as true. If the test passes
    without any, it is fair. If it fails, or passes after an open one, it is repeated with
    open comparisons taken as false: a test that fails both ways is unfair; one that only
    an open comparison turns is undecided, or invalid. Fair is never taken from the repeat.

    ``scale`` is for the marks of all its estimates; without, each has that of its metric.
    ``bounds`` stand in place of the numbers that it compares with.

    A `FairnessError` (an unknown group, say) makes it invalid; other exceptions pass through.

    >>> rho = Estimate("ratio", "ratio", value=0.9, low=0.75, high=1.05)
    >>> def test():
    ...     assert rho >= 0.8
    >>> judge(test).verdict.value
    'undecided'
    """
    with recording(assume=True, scale=scale, bounds=bounds) as first:
        failure = _run(test)
    comparisons = first.comparisons

    def judgement(verdict: Verdict, deciding: Comparison, failure: BaseException | None) -> Judgement:
        return Judgement(verdict, comparisons, first.estimates, deciding, failure)

    if isinstance(failure, FairnessError) or not comparisons:
        reason = str(failure) if isinstance(failure, FairnessError) else NOTHING_COMPARED
        return Judgement(Verdict.INVALID, comparisons, first.estimates, failure=failure, reason=reason)
    if bounds is not None and (reason := bounds.problem(comparisons, passed=failure is None)):
        return Judgement(Verdict.INVALID, comparisons, first.estimates, reason=reason)
    still_open = [comparison for comparison in comparisons if comparison.decision in _OPEN]
    if not still_open:
        return _judge_decided(comparisons, failure, judgement)
    with recording(assume=False, scale=scale, bounds=bounds) as second:
        repeated = _run(test)
    if failure is not None and repeated is not None:
        decided = [comparison for comparison in comparisons if comparison.decision not in _OPEN] or still_open
        return judgement(Verdict.UNFAIR, decided[-1], failure)
    turning = [*still_open, *(comparison for comparison in second.comparisons if comparison.decision in _OPEN)]
    invalid = [comparison for comparison in turning if comparison.decision is Decision.INVALID]
    verdict = Verdict.INVALID if invalid else Verdict.UNDECIDED
    return judgement(verdict, (invalid or turning)[0], failure or repeated)


def _judge_decided(
    comparisons: Sequence[Comparison],
    failure: BaseException | None,
    judgement: Callable[[Verdict, Comparison, BaseException | None], Judgement],
) -> Judgement:
    """Every comparison was decided by its interval."""
    if failure is not None:
        return judgement(Verdict.UNFAIR, comparisons[-1], failure)
    for comparison in comparisons:  # a negated one that failed: `not rho < 0.8`
        if comparison.estimate.suspect:
            return judgement(Verdict.INVALID, comparison, None)
        if comparison.estimate.sparse:
            return judgement(Verdict.UNDECIDED, comparison, None)
    return judgement(Verdict.FAIR, min(comparisons, key=_margin), None)


def _run(test: Callable[[], object]) -> Exception | None:
    """The assertion that failed or the mistake in what was asked of `measured`; else None."""
    try:
        test()
    except (AssertionError, FairnessError) as failure:
        return failure
    except ExceptionGroup as group:  # hypothesis has found several failures
        ours, others = group.split((AssertionError, FairnessError))
        if ours is None or others is not None:
            raise
        first: Exception = ours
        while isinstance(first, ExceptionGroup):
            first = first.exceptions[0]
        return first
    return None


def _margin(comparison: Comparison) -> float:
    """How narrowly a comparison held, in standard errors."""
    distance = abs(comparison.estimate.value - comparison.bound)
    error = comparison.estimate.error
    return distance / error if error > 0 else math.inf


def flip_probability(estimate: Estimate, bounds: Sequence[float]) -> float | None:
    """Chance that a rerun of equal size puts the point on the other side of the nearest bound.

    Predictive: both runs carry the error, so Phi(-z / sqrt 2). None where it cannot be told.

    >>> rho = Estimate("ratio", "ratio", value=0.9, low=0.8, high=1.0, error=0.05)
    >>> round(flip_probability(rho, [0.8]), 3)
    0.079
    """
    from statistics import NormalDist

    if not bounds or estimate.invalid or not estimate.error > 0:
        return None
    distance = min(abs(estimate.value - bound) for bound in bounds)
    return NormalDist().cdf(-distance / estimate.error / math.sqrt(2))


def growth_to_decide(estimate: Estimate, bounds: Sequence[float], power: float = 0.8) -> float | None:
    """How many times as many items or sources give that chance of a verdict, if the estimate holds.

    The error of an estimate shrinks with the square root of their number. None where the
    estimate lies so near a bound that more would hardly help (over 1,000 times as many).
    """
    from statistics import NormalDist

    normal = NormalDist()
    if not bounds or estimate.invalid or not estimate.error > 0:
        return None
    distance = min(abs(estimate.value - bound) for bound in bounds)
    reach = (normal.inv_cdf(0.5 + estimate.confidence / 2) + normal.inv_cdf(power)) * estimate.error
    if distance == 0 or (reach / distance) ** 2 > 1000:
        return None
    return max(1.0, (reach / distance) ** 2)
