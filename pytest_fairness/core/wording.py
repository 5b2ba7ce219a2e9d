"""Numbers and verdicts in words: the same in the terminal, in a failure and in the report."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import Judgement, Verdict, growth_to_decide


def decimals(values: Iterable[float], bounds: Iterable[float], least: int = 3) -> int:
    """How many decimals show on which side of each bound each value lies (six at most).

    >>> decimals([0.79996], [0.8])
    5
    """
    pairs = [(v, b) for v in values for b in bounds if v != b and math.isfinite(v) and math.isfinite(b)]
    for digits in range(least, 6):
        if all(round(v, digits) != round(b, digits) for v, b in pairs):
            return digits
    return 6 if pairs else least


def number(value: float, digits: int) -> str:
    """A value with that many decimals; what is not finite, in words."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:.{digits}f}"


def bounds_text(judgement: Judgement) -> str:
    """The bounds of the deciding estimate: ``0.8 to 1.2``, ``>= 0.8``, or nothing."""
    low, high = judgement.bounds
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return " and ".join(f"{c.op} {c.bound:g}" for c in judgement.about_deciding)


def estimate_text(estimate: Estimate, bounds: Iterable[float] = ()) -> str:
    """``0.712 (95% CI 0.634 to 0.798)``."""
    digits = decimals((estimate.value, estimate.low, estimate.high), list(bounds))
    low, high = number(estimate.low, digits), number(estimate.high, digits)
    level = f"{estimate.confidence * 100:.4g}% CI"
    return f"{number(estimate.value, digits)} ({level} {low} to {high})"


def subject_text(estimate: Estimate) -> str:
    """What was estimated: ``rate of hired where gender=female``."""
    where = ", ".join(f"{name}={value}" for name, value in estimate.slice.items())
    return f"{estimate.title}{f' where {where}' if where else ''}"


def counts_text(estimate: Estimate) -> str:
    """What it was computed from: ``100 items, 3,000 attempts, 5 ungraded``."""
    ungraded = sum(estimate.ungraded.values())
    counts = f"{estimate.items:,} items, {estimate.attempts:,} attempts"
    return f"{counts}, {ungraded:,} ungraded" if ungraded else counts


def described(estimate: Estimate) -> str:
    """An estimate as it shows itself outside a threshold."""
    numbers = f"invalid: {estimate.invalid}" if estimate.invalid else estimate_text(estimate)
    return f"{subject_text(estimate)}: {numbers}; {counts_text(estimate)}"


def advice(judgement: Judgement) -> str:
    """What would decide an undecided threshold."""
    if judgement.deciding is None:
        return ""
    estimate = judgement.deciding.estimate
    if not judgement.straddles and (reason := judgement.reason or estimate.sparse):
        return reason
    # Where items share sources, the sources are what an interval counts: more items of each hardly narrow it.
    now, unit = (estimate.sources, "sources") if 0 < estimate.sources < estimate.items else (estimate.items, "items")
    growth = growth_to_decide(estimate, [c.bound for c in judgement.about_deciding])
    if growth is None:
        return f"it lies on the bound, more {unit} would hardly decide it"
    needed = max(now + 1, math.ceil(now * growth))
    text = f"about {needed:,} {unit} in all (now {now:,}) give an 80% chance of a verdict if the estimate holds"
    return f"{judgement.reason}; {text}" if judgement.reason else text


def explanation(judgement: Judgement) -> str:
    """The message of a threshold that is not fair: verdict and numbers first."""
    verdict = judgement.verdict.value
    if judgement.deciding is None:
        return f"{verdict}: {judgement.reason}"
    estimate = judgement.deciding.estimate
    subject = subject_text(estimate)
    if judgement.verdict is Verdict.INVALID and (estimate.invalid or estimate.suspect):
        return f"{verdict}: {estimate.invalid or estimate.suspect}; {subject}"
    bounds = bounds_text(judgement)
    two_sided = " to " in bounds
    relation = {
        Verdict.UNFAIR: f"outside {bounds}" if two_sided else f"against {bounds}",
        Verdict.UNDECIDED: f"straddles a bound of {bounds}" if two_sided else f"straddles {bounds}",
    }.get(judgement.verdict, f"against {bounds}")
    if judgement.verdict is Verdict.UNDECIDED and not judgement.straddles:
        relation = f"inside {bounds}" if two_sided else f"against {bounds}"
    numbers = estimate_text(estimate, [c.bound for c in judgement.about_deciding])
    message = f"{verdict}: {numbers}, {relation}: {subject}; {counts_text(estimate)}"
    if judgement.verdict is Verdict.UNDECIDED:
        message += f"; {advice(judgement)}"
    return message
