"""The finding about a threshold in one sentence, the same in every output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_fairness.core.acceptance_states import ACCEPTED
from pytest_fairness.core.formatting import bounds_phrase, counted, figures, format_subject, slice_text, span_text
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.report.decisions import acceptance_phrase
from pytest_fairness.report.release import is_certain

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import EstimateResult, SliceResult, ThresholdResult

CLAIMS = {"unfair": "Not kept", "undecided": "Open"}
"""The state of the claim of a threshold whose finding is shown, by its verdict."""
_VERDICTS = ("fair", "undecided", "unfair", "invalid")
"""Verdicts from best to worst, as in a comparison."""
_MOST_TITLES = 5
_SHARES = ("share of ", "rate of ")
"""The beginnings of titles that say no more than that a number is of 100."""


def finding(row: ThresholdResult) -> str:
    """Return the finding about a threshold: its value, of 100 where it is a rate, what is allowed, and the worst slice.

    That about an undecided one has its interval as well.

    >>> from pytest_fairness.core.threshold_results import EstimateResult, GroupResult, ThresholdResult
    >>> rate = EstimateResult(count=102, title="share of wrong answers", value=0.204, low=0.15, high=0.26)
    >>> finding(ThresholdResult(id="t", estimate=rate, bounds=(None, 0.2)))
    'wrong answers: 20.4 of 100; at most 20 are allowed'
    >>> finding(ThresholdResult(id="t", verdict="undecided", estimate=rate, bounds=(None, 0.2)))
    'wrong answers: 20.4 of 100 (15 to 26); at most 20 are allowed'
    >>> groups = {"female": GroupResult(value=0.31, count=31), "male": GroupResult(value=0.48, count=48)}
    >>> ratio = EstimateResult(title="ratio of hired, female to male", value=0.646, groups=dict.fromkeys(groups))
    >>> print(finding(ThresholdResult(id="t", estimate=ratio, bounds=(2 / 3, 3 / 2), by_group=groups)))
    31 of 100 for female against 48 of 100 for male: ratio of hired, female to male, 0.646; 2/3 to 3/2 is allowed

    Returns:
        The sentence without its full stop; empty for a threshold without a value.
    """
    estimate = row.estimate
    if estimate.value is None:
        return ""
    return "; ".join(filter(None, (_measured(row), _allowed(row), _worst(row))))


def doubt(row: ThresholdResult) -> str:
    """Return that an unfair threshold may be so by chance, by Holm's correction; empty where it is certain."""
    return "may be chance, as several thresholds were judged" if row.verdict == "unfair" and not is_certain(row) else ""


def details(row: ThresholdResult) -> list[str]:
    """Return what stands below the finding: whether it is accepted or may be chance, since when, and who owns it."""
    accepted = f"{acceptance_phrase(row.accepted)}: {row.accepted.reason}" if row.accepted is not None else ""
    owner = f"owner: {row.owner}" if row.owner else ""
    return list(filter(None, (accepted, doubt(row), since(row), owner)))


def gate(rows: Sequence[ThresholdResult]) -> str:
    """Return whether the thresholds of a model fail the run, with the number of those that do.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> rows = [ThresholdResult(id="t", verdict="unfair", outcome=outcome) for outcome in ("accepted", "failed")]
    >>> gate(rows), gate(rows[:1]), gate([])
    ('the gate is closed: 1 threshold fails the run', 'no threshold fails the run, with 1 accepted', '')
    """
    failed = sum(row.outcome == "failed" for row in rows)
    if failed:
        return f"the gate is closed: {counted(failed, 'threshold')} {'fails' if failed == 1 else 'fail'} the run"
    accepted = sum(row.outcome == ACCEPTED for row in rows)
    judged = any(row.outcome for row in rows if row.verdict in _VERDICTS)
    # not that the gate is open: another test, or a seal, may fail the run
    return f"no threshold fails the run{f', with {accepted} accepted' if accepted else ''}" if judged else ""


def since(row: ThresholdResult) -> str:
    """Return since when a threshold has its verdict, the one before, and what differs from the last run.

    >>> from pytest_fairness.core.history_results import EarlierVerdict, HistoryResult
    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> fair = EarlierVerdict(run="ab", day="2026-11-19", verdict="fair", mark="B", value=0.9123)
    >>> history = HistoryResult(runs=4, outside=3, alike=3, since="2026-11-20", before=fair)
    >>> since(ThresholdResult(id="t", verdict="unfair", history=history))
    'unfair since 2026-11-20 (3 runs), before that fair (mark B, 0.912)'
    >>> last = HistoryResult(runs=4, outside=4, alike=4, since="2026-11-20", last=0.209)
    >>> since(ThresholdResult(id="t", verdict="unfair", history=last))
    'unfair since 2026-11-20 (4 runs), 0.209 in the last one'
    >>> new = HistoryResult(runs=4, outside=1, before=fair, changes=["other graders"])
    >>> since(ThresholdResult(id="t", verdict="unfair", history=new))
    'fair (mark B, 0.912) in the last run, of 2026-11-19; changed since: other graders'

    Returns:
        One line; empty for the first run.
    """
    history = row.history
    if history is None or (history.alike == 1 and history.before is None):
        return ""
    past = history.before
    mark = f"mark {past.mark}, " if past is not None and past.mark else ""
    value = "" if past is None or past.value is None else f" ({mark}{past.value:.3g})"
    before = "" if past is None else f"{past.verdict}{value}"
    runs = f"{row.verdict} since {history.since} ({counted(history.alike, 'run')})"
    last = f", {history.last:.3g} in the last one" if history.last is not None else ""
    text = f"{runs}{last}{f', before that {before}' if before else ''}" if history.since else ""
    if past is not None and not text:
        text = f"{before} in the last run, of {past.day}"
    return text + (f"; changed since: {', '.join(history.changes)}" if history.changes else "")


def turns(rows: Sequence[ThresholdResult]) -> str:
    """Return which verdicts on a model are worse or better than in the last run; empty for the first run."""
    histories = [row.history for row in rows if row.history is not None]
    if not any(history.alike > 1 or history.before for history in histories):
        return ""
    words: dict[str, list[str]] = {"worse": [], "better": []}
    for row in rows:
        past = None if row.history is None or row.history.alike > 1 else row.history.before
        if past is not None:
            direction = "worse" if _VERDICTS.index(row.verdict) > _VERDICTS.index(past.verdict) else "better"
            words[direction].append(f"{row.threshold} ({past.verdict} to {row.verdict})")
    parts = [f"{direction} than in the last run: {_first(titles)}" for direction, titles in words.items() if titles]
    return "; ".join(parts) or "no verdict has changed since the last run"


def _first(titles: Sequence[str]) -> str:
    more = len(titles) - _MOST_TITLES
    return f"{'; '.join(titles[:_MOST_TITLES])}{f'; and {more} more' * (more > 0)}"


def drift(row: ThresholdResult) -> str:
    """Return the change since the first of a chain of baselines; empty where it was compared with the first one.

    >>> from pytest_fairness.core.history_results import DriftResult
    >>> from pytest_fairness.core.threshold_results import EstimateResult, ThresholdResult
    >>> steps = DriftResult(baseline="c1", first="ab814f8a77", day="2026-11-01", runs=10, value=1.66)
    >>> further = EstimateResult(value=1.05, log_scale=True)
    >>> drift(ThresholdResult(id="t", estimate=further, bounds=(None, 1.1), drift=steps))
    '1.66 times since the first baseline, 10 runs ago (2026-11-01, run ab814f8a); at most 1.1 is allowed each time'
    """
    steps = row.drift
    if steps is None or steps.value is None or steps.runs < 2:
        return ""
    change = f"{steps.value:.3g} times" if row.estimate.log_scale else f"{steps.value:+.3g}"
    since = f"{steps.runs} runs ago ({steps.day}, run {steps.first[:8]})"
    return f"{change} since the first baseline, {since}; {_allowed(row)} each time"


def drifted(row: ThresholdResult) -> str:
    """Return that a threshold which is not unfair is beyond its bounds since its first baseline; else nothing."""
    low, high = row.bounds
    value = None if row.drift is None else row.drift.value
    is_beyond = value is not None and ((high is not None and value > high) or (low is not None and value < low))
    return (
        f"{row.threshold}: {row.verdict}, but {drift(row)}"
        if is_beyond and row.verdict != "unfair" and drift(row)
        else ""
    )


def _measured(row: ThresholdResult) -> str:
    estimate, subject = row.estimate, format_subject(row.estimate)
    if _is_share(estimate):
        subject = next((subject.removeprefix(begin) for begin in _SHARES if subject.startswith(begin)), subject)
        return f"{subject}: {_shares(row)}"
    value, low, high = figures(estimate, row.comparisons)
    interval = f" ({low} to {high})" if row.verdict == "undecided" else ""
    groups = " against ".join(_groups(row))
    return f"{groups}: {subject}, {value}{interval}" if groups else f"{subject}: {value}{interval}"


def _is_share(estimate: EstimateResult) -> bool:
    return estimate.count is not None or estimate.kind is MetricKind.RATE


def _shares(row: ThresholdResult) -> str:
    """Return a rate as ``20.4 of 100``, with its interval where that crosses a bound."""
    value, low, high = (row.estimate.value, row.estimate.low, row.estimate.high)
    bounds = [bound for bound in row.bounds if bound is not None]
    text = f"{_of_hundred(value or 0.0, bounds)} of 100"
    if row.verdict != "undecided" or low is None or high is None:
        return text
    return f"{text} ({_of_hundred(low, bounds)} to {_of_hundred(high, bounds)})"


def _groups(row: ThresholdResult) -> Iterator[str]:
    """Yield the rates of the two groups that a threshold compares, where it compares rates of two."""
    shares = {name: row.by_group[name] for name in row.estimate.groups if name in row.by_group}
    values = {name: group.value for name, group in shares.items() if group.value is not None}
    if len(values) == 2 and all(group.count is not None for group in shares.values()):
        for name, value in values.items():
            others = [other for other in values.values() if other != value]
            yield f"{_of_hundred(value, others)} of 100 for {name}"


def _worst(row: ThresholdResult) -> str:
    """Return the slices that are unfair beside the deciding one; else that of several where the value is worst."""
    others = [names for names in row.unfair_slices if not names.items() <= row.estimate.slice.items()]
    if others:
        return f"unfair as well: {', '.join(f'{name} {value}' for names in others for name, value in names.items())}"
    parts = [part for part in row.slices if part.value is not None and part.metric == row.estimate.metric]
    if row.pooled is not None or len(parts) < 2:
        return ""
    worst = max(parts, key=lambda part: _badness(row, part))
    value = f"{_of_hundred(worst.value or 0.0, ())} of 100" if _is_share(row.estimate) else figures(worst)[0]
    own = {name: part for name, part in worst.slice.items() if row.estimate.slice.get(name) != part}
    return f"worst where {slice_text(own)}, {value}"


def _badness(row: ThresholdResult, part: SliceResult) -> float:
    """Return how far a slice lies on the side of the bound that its threshold's value is nearest to, or beyond."""
    low, high = row.bounds
    value, whole = part.value or 0.0, row.estimate.value or 0.0
    is_low = high is None or (low is not None and whole - low < high - whole)
    return -value if is_low else value


def _allowed(row: ThresholdResult) -> str:
    low, high = row.bounds
    must = bounds_phrase(row)
    are = "is"
    if (low, high) != (None, None) and _is_share(row.estimate):
        spans = [None if bound is None else 100 * bound for bound in row.bounds]
        must, are = must.replace(span_text(row.bounds), span_text(spans)), "are"
    return f"{must} {are} {'required' if high is None else 'allowed'}" if must else ""


def _of_hundred(share: float, others: Sequence[float]) -> str:
    """Return a share as a number of 100, with at most two decimals, and no more than distinguish it from others."""
    digits = next((n for n in range(2) if all(round(100 * share, n) != round(100 * other, n) for other in others)), 2)
    return f"{100 * share:.{digits}f}"
