"""Agreement of several judges: Krippendorff's alpha."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from pytest_fairness.core.attempts import Grade
from pytest_fairness.graders.judge.rubric import Field, Level, TextField

Values = Sequence[Any]
"""The values that judges give one answer, in any order; None for a judge without a value."""


def krippendorff(answers: Iterable[Values], level: Level) -> float:
    """Return Krippendorff's alpha: 1 where judges always agree, 0 where they agree by chance, else less.

    It is 1 - D_o / D_e: the disagreement of values of one answer over that of any two values, each measured by the
    square of their distance. Answers with fewer than two values do not count.

    Args:
        answers: The values of each answer, one per judge.
        level: The distance of two values: 1 ("nominal"), their difference ("interval"), or the number of values between
            them, where each of the two counts half ("ordinal", numbers by size).

    Returns:
        Alpha, at most 1; nan where all values are equal, or no answer has two.

    Source:
        K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.

    >>> round(krippendorff([(1, 1), (2, 2), (3, 4), (1, None)], "nominal"), 3)
    0.615
    """
    given_values = ([value for value in values if value is not None] for values in answers)
    paired = [Counter(values) for values in given_values if len(values) > 1]
    counts: Counter[Any] = sum(paired, Counter())
    total = sum(counts.values())
    distance = _distance_function(level, counts)
    expected = _disagreement(counts, distance) / (total - 1) if total else 0.0
    if expected == 0:
        return math.nan
    observed = sum(_disagreement(answer, distance) / (answer.total() - 1) for answer in paired)
    return 1 - observed / expected


def agreement(fields: Iterable[Field], grades: Iterable[Sequence[Grade]]) -> dict[str, float]:
    """Return Krippendorff's alpha of every number and label.

    Args:
        fields: The fields of the rubric.
        grades: The grades of each answer, one per judge.

    Returns:
        Alpha by the name of the field.
    """
    values_by_answer = [
        [{} if grade.ungraded is not None else grade.value for grade in answer_grades] for answer_grades in grades
    ]
    return {
        field.name: krippendorff(
            ([values.get(field.name) for values in answer] for answer in values_by_answer), field.level
        )
        for field in fields
        if not isinstance(field, TextField)
    }


def _disagreement(counts: Mapping[Any, int], distance: Callable[[Any, Any], float]) -> float:
    """Return the sum of squared distances over all ordered pairs of values."""
    return 2 * sum(
        counts[first] * counts[second] * distance(first, second) for first, second in combinations(counts, 2)
    )


def _distance_function(level: Level, counts: Mapping[Any, int]) -> Callable[[Any, Any], float]:
    """Return the function of the squared distance of two values."""
    if level == "nominal":
        return lambda first, second: float(first != second)
    if level == "interval":
        return lambda first, second: float(first - second) ** 2
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = below + counts[value] / 2
        below += counts[value]
    return lambda first, second: float(ranks[first] - ranks[second]) ** 2
