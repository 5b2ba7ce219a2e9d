"""Sentences on accepted verdicts, the same in every output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_fairness.core.acceptance_states import ACCEPTED, BROKEN, EXPIRED
from pytest_fairness.core.formatting import slice_text, span_text

if TYPE_CHECKING:
    from pytest_fairness.core.acceptance_results import AcceptanceResult, FailingEstimate

_WORST_FIRST = (BROKEN, EXPIRED, ACCEPTED)


def acceptance_phrase(accepted: AcceptanceResult) -> str:
    """Return the state of an accepted verdict: ``accepted until 2027-01-31``.

    >>> from pytest_fairness.core.acceptance_results import AcceptanceResult
    >>> entry = AcceptanceResult(
    ...     threshold="t", title="alike", model="m", verdict="unfair", reason="r", by="Ada", until="2027-01-31",
    ...     state="broken", why="the items of the probe have changed",
    ... )
    >>> acceptance_phrase(entry)
    'its acceptance until 2027-01-31 is broken: the items of the probe have changed'
    """
    if accepted.state == ACCEPTED:
        return f"accepted{' as flaky' if accepted.flaky else ''} until {accepted.until}"
    what = "its flaky mark" if accepted.flaky else "its acceptance"
    if accepted.state == EXPIRED:
        return f"{what} ended on {accepted.until}"
    return f"{what} until {accepted.until} is {accepted.state}: {accepted.why}"


def decision_facts(accepted: AcceptanceResult) -> str:
    """Return the accepted verdict with its owner and reason: ``unfair at 0.62 (0.55 to 0.7), by Ada: under review``."""
    first = f", {text}" if (text := first_acceptance(accepted)) else ""
    return f"{accepted_figures(accepted)}{first}, by {accepted.by}: {accepted.reason}"


def first_acceptance(accepted: AcceptanceResult) -> str:
    """Return since when a verdict has been accepted again and again, and at which estimate it began.

    >>> from pytest_fairness.core.acceptance_results import AcceptanceResult, FirstAcceptance
    >>> entry = {"threshold": "t", "title": "alike", "model": "m", "verdict": "unfair", "reason": "r", "by": "Ada"}
    >>> first = FirstAcceptance(on="2026-11-28", value=0.693, renewals=4)
    >>> first_acceptance(AcceptanceResult(**entry, until="2027-01-31", first=first))
    'accepted 5 times since 2026-11-28, at 0.693 then'
    """
    first = accepted.first
    if first is None:
        return ""
    value = "unknown" if first.value is None else f"{first.value:.4g}"
    return f"accepted {first.renewals + 1} times since {first.on}, at {value} then"


def accepted_figures(accepted: AcceptanceResult) -> str:
    """Return the verdict that was accepted, with the first of its estimates."""
    # test_accepted_figures_are_of_an_estimate_with_the_verdict
    ordered = sorted(accepted.estimates, key=lambda part: part.verdict != accepted.verdict)
    parts = [_figures(part) for part in ordered]
    remainder = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
    return f"{accepted.verdict} at {parts[0]}{remainder}" if parts else accepted.verdict


def decision_line(accepted: AcceptanceResult) -> str:
    """Return one line on an entry: its state, its threshold, and the decision."""
    state = acceptance_phrase(accepted).removeprefix("its ")
    return f"{accepted.title} ({accepted.model}): {state}; {decision_facts(accepted)}"


def decisions_worst_first(acceptances: Sequence[AcceptanceResult]) -> list[AcceptanceResult]:
    """Return entries in the order in which they matter: broken, expired, accepted, then all others."""
    order = {state: rank for rank, state in enumerate(_WORST_FIRST)}
    return sorted(acceptances, key=lambda entry: order.get(entry.state, len(order)))


def _figures(part: FailingEstimate) -> str:
    if part.value is None or part.low is None or part.high is None:
        return "unknown"
    where = slice_text(part.slice)
    numbers = f"{part.value:.4g} ({part.low:.4g} to {part.high:.4g})"
    return f"{numbers}{f' where {where}' if where else ''}, bounds {span_text(part.bounds)}"
