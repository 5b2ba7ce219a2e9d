"""Rules by which an estimate supports no claim, or only one against the model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.outcome_vectors import GroupOutcomes

FEWEST_SOURCES = 5
MOST_UNGRADED = 0.10
"""Largest share of a group's attempts."""
LARGEST_GAP = 0.05
"""Difference of the share that is ungraded, between two groups: an interval beyond it is another metric's finding."""


def invalid_reason(groups: Sequence[GroupOutcomes]) -> str:
    """Return why nothing can be said of these groups; empty where something can."""
    for group in groups:
        of = f" of {group.name}" if len(groups) > 1 else ""
        if not group.attempts:
            return f"no attempts{of}{group.invalid and f': {group.invalid}'}"
        if group.invalid:
            return group.invalid
        if not group.graded.count:
            return f"all {group.attempts:,} attempts{of} are ungraded"
        if group.graded.sources < FEWEST_SOURCES:
            return (
                f"only {group.graded.sources} independent items or sources{of}: "
                f"an interval needs at least {FEWEST_SOURCES}"
            )
        if 0 < group.graded.levels < 2:
            return f"only one level of the crossed factor{of}: an interval needs at least two"
    return _judge_reason(groups)


def _judge_reason(groups: Sequence[GroupOutcomes]) -> str:
    """Return why the labels of a judge's grades let nothing be said."""
    judged = [(group.name, group.judged) for group in groups if group.judged is not None]
    for _, accuracy in judged:
        if accuracy.reason:
            return accuracy.reason
    gaps = (one.gap_reason(name, other, named) for (name, one), (named, other) in combinations(judged, 2))
    return next(filter(None, gaps), "")


def ungraded_reason(ungraded: float, attempts: int, group: str = "") -> str:
    """Return whether too many attempts are ungraded, as a reason; empty where not."""
    share = ungraded / attempts
    of = f" of {group}" if group else ""
    over = f"{share:.1%} of the attempts{of} are ungraded, over {MOST_UNGRADED:.0%}"
    return over if share > MOST_UNGRADED else ""


def suspect_reason(groups: Sequence[GroupOutcomes], tail: float) -> str:
    """Return why nothing good can be said of these groups; empty where it can."""
    for group in groups:
        reason = ungraded_reason(group.ungraded, group.attempts, group.name if len(groups) > 1 else "") or group.suspect
        if reason:
            return reason
    for first, second in combinations(groups, 2):
        if not first.ungraded and not second.ungraded:
            continue
        low, high = contrast([first.missing, second.missing], (1, -1)).ends(tail)
        if low > LARGEST_GAP or high < -LARGEST_GAP:
            return (
                f"{first.ungraded / first.attempts:.1%} of the attempts of {first.name} are ungraded and "
                f"{second.ungraded / second.attempts:.1%} of {second.name}: a gap above {LARGEST_GAP:.0%}"
            )
    return ""
