"""Verdicts in words: the same in the terminal, in a failure and in the report."""

from __future__ import annotations

import math

from pytest_fairness.core.numerals import counts_text, estimate_text, span_text, subject_text
from pytest_fairness.core.verdicts import Judgement, Verdict, growth_to_decide


def bounds_text(judgement: Judgement) -> str:
    """The bounds of the deciding estimate: ``0.8 to 1.2``, ``>= 0.8``, or nothing."""
    low, high = judgement.bounds
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return " and ".join(f"{c.op} {c.bound:g}" for c in judgement.about_deciding)


def advice(judgement: Judgement) -> str:
    """What would decide an undecided threshold."""
    if judgement.deciding is None:
        return judgement.reason
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
    if judgement.bounds_of_test is not None:
        message += f"; the bounds are the project's own, the suite has {span_text(judgement.bounds_of_test)}"
    if judgement.verdict is Verdict.UNDECIDED:
        message += f"; {advice(judgement)}"
    return message
