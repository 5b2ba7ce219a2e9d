"""Verdicts in words: the same in the terminal, in a failure and in the report."""

from __future__ import annotations

import math

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.formatting import (
    counted,
    format_rates,
    format_span,
    format_subject,
    format_tallies,
    span_text,
)
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.sensitivity import SliceState
from pytest_fairness.core.verdicts import Judgment, growth_to_decide, limiting_ends

UNEQUAL = 0.5
"""The share of sources that they are worth, below which their sizes decide, and not their number."""


def _relation(judgment: Judgment) -> str:
    """Return how the interval lies to the bounds of the deciding estimate."""
    bounds = span_text(judgment.bounds)
    two_sided = None not in judgment.bounds
    if judgment.verdict is Verdict.UNDECIDED and judgment.straddles:
        return f"crosses {'a' if two_sided else 'the'} bound of {bounds}"
    where = {Verdict.UNFAIR: "outside", Verdict.UNDECIDED: "inside"}.get(judgment.verdict)
    return f"{where} {bounds}" if where and two_sided else f"must be {bounds}"


def advice(judgment: Judgment) -> str:
    """Return what would decide an undecided threshold."""
    if judgment.sensitivity:
        return judgment.sensitivity
    if judgment.deciding is None:
        return judgment.reason
    estimate = judgment.deciding.estimate
    if not judgment.straddles and (reason := judgment.reason or estimate.sparse):
        return reason
    # Where items share sources, the sources are what an interval counts: more items of each hardly narrow it.
    now, unit = (estimate.sources, "sources") if 0 < estimate.sources < estimate.items else (estimate.items, "items")
    bounds = [c.bound for c in judgment.about_deciding]
    growth = growth_to_decide(estimate, bounds, judgment.next_share)
    narrow = narrow_band_text(judgment)
    low, high = limiting_ends(estimate)
    if low < high and any(low <= bound <= high for bound in bounds):
        text = f"its ungraded answers alone can move it across the bound: more {unit} will not help"
    elif growth is None:
        text = "" if narrow else f"the estimate is on the bound: more {unit} will not help"
    else:
        worth = estimate.equal_sources or now
        has, of_size = f"has {now:,}", ""
        if worth < UNEQUAL * now:
            has, of_size = f"{has}, so unequal that they are worth {worth:.1f}", " of equal size"
        needed = max(now, math.ceil(worth * growth)) if of_size else max(now + 1, math.ceil(now * growth))
        text = f"needs about {needed:,} {unit}{of_size} ({has}) for 80% power"
    return "; ".join(filter(None, (judgment.reason, narrow, text)))


def narrow_band_text(judgment: Judgment) -> str:
    """Return that two bounds are closer together than the interval is wide; empty where they are not.

    Such an interval lies inside the bounds at no value, so the threshold cannot be fair at this size.
    """
    low, high = judgment.bounds
    if judgment.deciding is None or low is None or high is None:
        return ""
    estimate = judgment.deciding.estimate
    ends = [(estimate.low, estimate.high), (low, high)]
    if estimate.log_scale:  # its width does not depend on the value there
        ends = [(math.log(lower), math.log(upper)) if lower > 0 else (-math.inf, upper) for lower, upper in ends]
    interval, band = (upper - lower for lower, upper in ends)
    return (
        f"the interval is wider than {format_span(low, high)}: no value can be fair at this size"
        if interval > band
        else ""
    )


def tallies_text(estimate: Estimate) -> str:
    """Return how often the outcome was true in the groups that an estimate compares; empty for other metrics.

    Of an odds ratio, which says nothing about its base rates, the rates where they are not those of counts.
    """
    rates = format_rates(estimate.groups) if estimate.kind is MetricKind.ODDS_RATIO else ""
    if estimate.count is not None:
        return format_tallies({"": (estimate.count, estimate.attempts - sum(estimate.ungraded.values()))})
    if estimate.breakdown is None or not estimate.groups:
        return rates
    tallies = {}
    for name, group in estimate.breakdown().groups.items():
        if name in estimate.groups:
            if group.count is None:
                return rates
            tallies[name] = (group.count, group.attempts - sum(group.ungraded.values()))
    return format_tallies({name: tallies[name] for name in estimate.groups if name in tallies})


def explanation(judgment: Judgment) -> str:
    """Return the message of a threshold that is not fair: verdict and numbers first."""
    verdict = judgment.verdict.value
    if judgment.deciding is None:
        return f"{verdict}: {judgment.reason}"
    estimate = judgment.deciding.estimate
    subject = format_subject(estimate)
    if judgment.sensitivity:
        numbers = "" if estimate.invalid else f": {estimate.text([c.bound for c in judgment.about_deciding])}"
        return f"{verdict}: {judgment.sensitivity}; {subject}{numbers}"
    if judgment.verdict is Verdict.INVALID and (estimate.invalid or estimate.suspect):
        return f"{verdict}: {estimate.invalid or estimate.suspect}; {subject}"
    numbers = estimate.text([c.bound for c in judgment.about_deciding])
    what = ", ".join(filter(None, (subject, tallies_text(estimate))))
    message = f"{verdict}: {numbers}, {_relation(judgment)}: {what}; {estimate.counts}"
    if judgment.bounds_of_test is not None:
        message += f"; bounds overridden in pyproject.toml (suite: {span_text(judgment.bounds_of_test)})"
    if judgment.verdict is Verdict.UNDECIDED:
        message += f"; {advice(judgment)}"
    unfair = [part.name for part in judgment.slices if part.state is SliceState.UNFAIR]
    if unfair:
        message += f"; unfair in {counted(len(unfair), 'slice')} of {len(judgment.slices)}: {', '.join(unfair)}"
    return message
