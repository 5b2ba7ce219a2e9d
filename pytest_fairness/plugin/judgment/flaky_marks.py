"""Flaky marks: the acceptance that each writes at its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fairness.core.acceptance_results import AcceptanceResult
from pytest_fairness.core.acceptance_states import ACCEPTED, BROKEN, EXPIRED
from pytest_fairness.core.clock import Clock

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import ThresholdResult
    from pytest_fairness.plugin.judgment.history import History
    from pytest_fairness.plugin.probes.mark_arguments import FlakyMark

SURE = 0.9
"""The probability from which a history shows that a threshold is more flaky than its mark allows."""


def marked_acceptance(
    mark: FlakyMark, row: ThresholdResult, history: History, *, near_bound: bool
) -> AcceptanceResult | None:
    """Return the acceptance that a flaky mark writes at its test: of *undecided* only, near a bound, until a day.

    Args:
        mark: The mark, checked.
        row: The threshold in this run.
        history: Its earlier runs.
        near_bound: Whether an interval that crosses a bound is why it has no verdict.

    Returns:
        The acceptance with its state; None for a fair threshold, since a flaky one is often fair.
    """
    if row.verdict == "fair":
        return None
    state, why = _state_of(mark, row, history, near_bound=near_bound)
    path, line = row.location
    return AcceptanceResult(
        threshold=row.stored_id,
        title=row.threshold,
        model=row.model,
        verdict="undecided",
        estimates=row.failing if state == ACCEPTED else (),
        reason=mark.reason,
        by=mark.by,
        until=mark.until.isoformat(),
        where=f"{path}:{line}",
        state=state,
        why=why,
        flaky=True,
    )


def _state_of(mark: FlakyMark, row: ThresholdResult, history: History, *, near_bound: bool) -> tuple[str, str]:
    """Return the state of a flaky mark's acceptance, and the reason of another one than *accepted*."""
    if row.verdict != "undecided":
        return BROKEN, f"the verdict is {row.verdict}, and a flaky mark accepts only undecided"
    if not near_bound:
        return BROKEN, "a flaky mark accepts what was measured near a bound"
    if Clock.now().date() > mark.until:
        return EXPIRED, f"it ended on {mark.until}"
    outside, allowed = row.outside_probability, f"over the {mark.max_flip:.0%} of its flaky mark"
    if outside is not None and outside > mark.max_flip:
        return BROKEN, f"a rerun would lie outside with probability {outside:.0%}, {allowed}"
    if history.exceeds(mark.max_flip) >= SURE:
        return BROKEN, f"it lay outside in {history.outside} of {history.runs} runs, {allowed}"
    return ACCEPTED, ""
