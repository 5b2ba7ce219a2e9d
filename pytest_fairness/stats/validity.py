"""Rules by which an estimate supports no claim, or only a claim of unfairness."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.outcome_vectors import GroupOutcomes

FEWEST_SOURCES = 5
"""Smallest number of independent items or sources of a group."""
MOST_UNGRADED = 0.10
"""Largest ungraded share of a group's attempts."""
LARGEST_GAP = 0.05
"""Difference of the ungraded share between two groups: an interval beyond it is a disparity of its own."""


def invalid_reason(groups: Sequence[GroupOutcomes]) -> str:
    """Return why estimates of these groups are invalid; empty where they are valid."""
    if len(groups) > 1 and all(group.attempts and not group.graded.count for group in groups):
        return f"all {sum(group.attempts for group in groups):,} attempts are ungraded"
    for group in groups:
        of = f" of {group.name}" if len(groups) > 1 else ""
        if not group.attempts:
            return f"no attempts{of}{group.invalid and f': {group.invalid}'}"
        if group.invalid:
            return group.invalid
        if not group.graded.count:
            every = f"all {group.attempts:,} attempts{of} are" if group.attempts > 1 else f"the one attempt{of} is"
            return f"{every} ungraded"
        # test_fewer_than_five_sources_are_invalid_unless_fixed
        if group.graded.sources < FEWEST_SOURCES:
            clusters = "item or source" if group.graded.sources == 1 else "items or sources"
            return (
                f"only {group.graded.sources} independent {clusters}{of}: an interval needs at least {FEWEST_SOURCES}"
            )
        # test_one_name_per_group_is_invalid
        if 0 < group.graded.levels < 2:
            return f"only one level of the crossed factor{of}: an interval needs at least two"
    return _judge_reason(groups)


def _judge_reason(groups: Sequence[GroupOutcomes]) -> str:
    """Return why the labels of a judge's grades make estimates of these groups invalid; empty where they do not."""
    accuracies = [(group.name, group.judge_accuracy) for group in groups if group.judge_accuracy is not None]
    for _, accuracy in accuracies:
        if accuracy.reason:
            return accuracy.reason
    pairs = combinations(accuracies, 2)
    return next(
        filter(None, (own.gap_reason(name, other, other_name) for (name, own), (other_name, other) in pairs)), ""
    )


def ungraded_reason(ungraded: float, attempts: int, group: str) -> str:
    """Return that too many attempts are ungraded, as a reason; empty where they are not."""
    share = ungraded / attempts
    # test_over_a_tenth_ungraded_is_invalid
    if share <= MOST_UNGRADED:
        return ""
    of = f" of {group}" if group else ""
    return f"{share:.1%} of the attempts{of} are ungraded, over {MOST_UNGRADED:.0%}"


def suspect_reason(groups: Sequence[GroupOutcomes], tail: float) -> str:
    """Return why these groups support no claim of fairness; empty where they support one."""
    for group in groups:
        reason = ungraded_reason(group.ungraded, group.attempts, group.name if len(groups) > 1 else "") or group.suspect
        if reason:
            return reason
    for first, second in combinations(groups, 2):
        if not first.ungraded and not second.ungraded:
            continue
        low, high = contrast([first.missing, second.missing], (1, -1)).ends(tail)
        # test_gap_in_refusals_is_invalid
        if low > LARGEST_GAP or high < -LARGEST_GAP:
            return (
                f"{first.ungraded / first.attempts:.1%} of the attempts of {first.name} are ungraded and "
                f"{second.ungraded / second.attempts:.1%} of {second.name}: a gap above {LARGEST_GAP:.0%}"
            )
    return ""
