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
from pytest_fairness.core.limits import MOST_TIMES, OUT_OF_REACH, Limit, LimitKind
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.placebos import OTHER_REPETITION, is_held_by_placebo
from pytest_fairness.core.sensitivity import SliceState
from pytest_fairness.core.user_turns import USER_GAP
from pytest_fairness.core.verdicts import Judgment, limiting_ends

MOST_GROWTH = 10
"""The growth of a data set from which on it is not said to be written, but that the data set cannot decide."""
AS_FIRST = "a first run would have decided it: the interval of a later run is wider"
"""The end of the advice on a threshold that the number of its run limits."""


def _relation(judgment: Judgment) -> str:
    """Return how the interval lies to the bounds of the deciding estimate."""
    bounds = span_text(judgment.bounds)
    two_sided = None not in judgment.bounds
    if judgment.verdict is Verdict.UNDECIDED and judgment.straddles:
        if _is_held_by_placebo(judgment):
            return f"must be {bounds}"
        crosses = f"crosses {'a' if two_sided else 'the'} bound of {bounds}"
        return f"{_as_one_of_several(judgment)}{crosses}"
    where = {Verdict.UNFAIR: "outside", Verdict.UNDECIDED: "inside"}.get(judgment.verdict)
    return f"{where} {bounds}" if where and two_sided else f"must be {bounds}"


def _as_one_of_several(judgment: Judgment) -> str:
    """Return the wider interval that keeps a member of a family open, where its own lies outside the bounds."""
    if judgment.deciding is None:
        return ""
    estimate, (low, high) = judgment.deciding.estimate, judgment.bounds
    # test_open_member_has_the_interval_that_crosses_the_bound
    if (low is None or estimate.high >= low) and (high is None or estimate.low <= high):
        return ""
    return "as one of several, {:.3g} to {:.3g}, ".format(*estimate.strict_ends)


def _is_held_by_placebo(judgment: Judgment) -> bool:
    low, high = judgment.bounds
    return judgment.deciding is not None and low is None and is_held_by_placebo(judgment.deciding.estimate, high or 0.0)


def advice(judgment: Judgment) -> str:
    """Return what would decide an undecided threshold."""
    if judgment.sensitivity:
        whole = f"; run without {judgment.sampling}, which leaves out a part" if judgment.sampling else ""
        return f"{judgment.sensitivity}{whole}"
    if judgment.deciding is None:
        return judgment.reason
    estimate, limit = judgment.deciding.estimate, judgment.limit
    if not judgment.straddles and (reason := judgment.reason or estimate.sparse):
        return "; ".join(filter(None, (reason, limit_text(limit) if limit else "")))
    narrow = narrow_band_text(judgment)
    text = ""
    control = "repetitions" if OTHER_REPETITION in estimate.groups else "wordings"
    placebo = f"not shown to be more than between {control}" if _is_held_by_placebo(judgment) else ""
    if limit is not None and not (narrow and limit.kind == LimitKind.BOUND):
        text = limit_text(limit)
        if _is_out_of_reach(limit, judgment):
            whole = f", which has about {_whole(limit, judgment):,}" if judgment.sampling else ""
            text = f"{OUT_OF_REACH}{whole}: it {text}"
        else:
            text += _way_to(limit, judgment)
        if same := _without_variation(estimate):
            only = f"find out whether it could, by a control; more {limit.unit} only repeat it"
            text = f"{same}: nothing varies, so {only}"
    return "; ".join(filter(None, (judgment.reason, narrow, placebo, text)))


def limit_text(limit: Limit) -> str:
    """Return what limits a threshold, with the number that would decide it.

    >>> limit_text(Limit(kind=LimitKind.SIZE, unit="items", has=120, needs=417))
    'needs about 417 items (has 120) for 80% power'
    >>> limit_text(Limit(kind=LimitKind.LEVELS, unit="values of name in each group", has=8, needs=16))
    'needs about 16 values of name in each group (has 8) for 80% power: more items alone will not do'
    >>> limit_text(Limit(kind=LimitKind.PLACEBO, unit="items", has=40))
    'two wordings of one text flip as often as two groups: more items will not help'
    >>> limit_text(Limit(kind=LimitKind.BOUND, unit="items", has=40))
    'the estimate is on the bound, or too near it for 1,000 times as many items'
    """
    if limit.kind == LimitKind.UNGRADED:
        return f"its ungraded answers alone can move it across the bound: more {limit.unit} will not help"
    if limit.kind == LimitKind.PLACEBO:
        return f"two wordings of one text flip as often as two groups: more {limit.unit} will not help"
    if limit.needs is None and limit.kind == LimitKind.RUNS:
        return AS_FIRST
    if limit.needs is None:
        return f"the estimate is on the bound, or too near it for {MOST_TIMES:,} times as many {limit.unit}"
    has, of_size = f"has {limit.has:,}", ""
    if limit.worth is not None:
        has, of_size = f"{has}, so unequal that they are worth {limit.worth:.1f}", " of equal size"
    text = f"needs about {limit.needs:,} {limit.unit}{of_size} ({has}) for 80% power"
    if limit.kind == LimitKind.RUNS:
        return f"{AS_FIRST}; {text}"
    if limit.kind != LimitKind.LEVELS:
        return text
    besides = "" if limit.items is None else f", and about {limit.items:,} items with them"
    return f"{text}{besides}: more items alone will not do"


def _is_out_of_reach(limit: Limit, judgment: Judgment) -> bool:
    """Return whether more than `MOST_GROWTH` times the whole data set would decide a threshold."""
    return limit.needs is not None and limit.needs > MOST_GROWTH * _whole(limit, judgment)


def _whole(limit: Limit, judgment: Judgment) -> int:
    """Return how many items or sources the whole data set has; of levels, those of the sample."""
    return limit.has if limit.kind == LimitKind.LEVELS else round(limit.has * judgment.larger)


def _way_to(limit: Limit, judgment: Judgment) -> str:
    """Return where as many items, sources or levels come from; empty where some more of them must be written."""
    if limit.needs is None:
        return ""
    if limit.kind == LimitKind.LEVELS:
        return f"; the full sample may have more: run without {judgment.sampling}" if judgment.sampling else ""
    most = _whole(limit, judgment)
    if judgment.sampling and limit.needs <= most:
        return f": the full sample has about {most:,}, run without {judgment.sampling}"
    has = f", and the full sample has about {most:,}" if judgment.sampling else ""
    return f"{has}: run without {judgment.sampling}, and add some" if judgment.sampling else ""


def _without_variation(estimate: Estimate) -> str:
    """Return that the outcome of each compared group is the same in all answers; empty where it is not.

    >>> of = {"groups": {"female": 0.0, "male": 0.0}, "attribute": "gender", "span": (-1, 1)}
    >>> _without_variation(Estimate("difference", "difference", value=0, low=0, high=0.1, **of))
    'the outcome is 0 in every answer of female and male'
    """
    if estimate.kind is MetricKind.FLIPS:  # answers that never flip may still vary from item to item
        return ""
    values = {value for value in estimate.groups.values() if estimate.attribute is not None}
    if len(values) != 1 or not values <= {0.0, 1.0} or estimate.span not in ((-1.0, 1.0), (0.0, 1.0)):
        return ""
    return f"the outcome is {values.pop():g} in every answer of {' and '.join(estimate.groups)}"


def is_open_by_ungraded(judgment: Judgment) -> bool:
    """Return whether ungraded answers alone can move an undecided estimate across a bound."""
    if judgment.verdict is not Verdict.UNDECIDED or judgment.deciding is None:
        return False
    low, high = limiting_ends(judgment.deciding.estimate)
    return low < high and any(low <= comparison.bound <= high for comparison in judgment.about_deciding)


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
    if differing := next((turns for turns in judgment.user_turns if turns.differs), None):
        message += f"; {differing.text}: {USER_GAP}"
    return message
