"""Comparisons of the turns of a played user between groups: a gap in grades may come from the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.json_objects import finite
from pytest_fairness.core.user_turns import UNITS, UserTurnsResult, read_played_turns
from pytest_fairness.stats.group_estimates import NO_VARIATION
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.responses import without_guards
from pytest_fairness.stats.validity import MOST_UNGRADED

_DIGITS = 9
"""The decimals of a difference: equal sums that differ by rounding are no difference."""


def find_user_turns(
    sample: Measured,
    pairs: Collection[tuple[str, str, str]],
    grades: Iterable[str],
    strict_tail: float | None = None,
) -> list[UserTurnsResult]:
    """Return the numbers of turns, and of words in a turn, of played users in each pair of compared groups.

    All intervals hold together, by Bonferroni's correction. An ungraded conversation counts with the turns that it had.

    Args:
        sample: The sample.
        pairs: The attribute and both groups of each pair that is compared.
        grades: The grades that they read; empty where that is not known, so that all are read.
        strict_tail: The error on either side at one of several looks; None for that of the sample.

    Returns:
        The results; none where no model plays the user, or no groups are compared.
    """
    columns = sample.selection.columns
    all_grades = set(columns.known_grades) if columns.attempts else set()  # a simulated sample has no texts
    names = [name for name in sorted(set(grades) & all_grades or all_grades) if pairs and _is_played(sample, name)]
    claims = [(name, unit, pair) for name in names for pair in pairs for unit in UNITS]
    if not claims:
        return []
    selection = sample.selection
    tail = strict_tail or (1 - selection.setting.confidence) / 2
    confidence = 1 - 2 * tail / len(claims)
    corrected = sample.from_selection(selection.replaced(setting=replace(selection.setting, confidence=confidence)))
    return [_compare(corrected, name, unit, *pair) for name, unit, pair in claims]


def _is_played(sample: Measured, grade: str) -> bool:
    attempts = sample.selection.columns.attempts
    return any(_turns(attempts[row], grade) for row in sample.selection.rows.tolist())


def _turns(graded: GradedAttempt, grade: str) -> list[str]:
    own = graded.grades.get(grade)
    return [] if own is None else read_played_turns(own.detail)


def _counter(grade: str, unit: str) -> Callable[[GradedAttempt], float]:
    def count(graded: GradedAttempt) -> float:
        turns = _turns(graded, grade)
        return float(len(turns)) if unit == "turns" else sum(len(turn.split()) for turn in turns) / len(turns)

    return count


def _with_turns(sample: Measured, grade: str) -> Measured:
    """Return the conversations in which the user had a turn: in the others no words are too few."""
    attempts, rows = sample.selection.columns.attempts, sample.selection.rows
    return sample.from_selection(
        sample.selection.replaced(rows=rows[[bool(_turns(attempts[row], grade)) for row in rows.tolist()]])
    )


def _compare(sample: Measured, grade: str, unit: str, by: str, of: str, to: str) -> UserTurnsResult:
    whole = sample.selection
    if unit == "words per turn":
        sample = _with_turns(sample, grade)
    estimate = without_guards(sample.difference(_counter(grade, unit), by=by, of=of, to=to))
    low, high, invalid = estimate.low, estimate.high, estimate.invalid
    if invalid == NO_VARIATION:  # the same difference in every item: no error to estimate, and for users none needed
        low, high, invalid = estimate.value, estimate.value, ""
    # test_words_of_few_conversations_are_not_needed
    share = max(len(sample.selection.rows_of(by, group)) / max(1, len(whole.rows_of(by, group))) for group in (of, to))
    return UserTurnsResult(
        grade=grade,
        by=by,
        unit=unit,
        groups={group: finite(estimate.groups.get(group, math.nan)) for group in (of, to)},
        low=None if invalid else finite(round(low, _DIGITS)),
        high=None if invalid else finite(round(high, _DIGITS)),
        confidence=sample.selection.setting.confidence,
        invalid=invalid,
        is_needed=share > MOST_UNGRADED,
    )
