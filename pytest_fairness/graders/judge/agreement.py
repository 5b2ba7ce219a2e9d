"""Agreement of several judges: Krippendorff's alpha."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from pytest_fairness.core.attempts import Grade
from pytest_fairness.graders.judge.rubric import Field, Level, TextField

Values = Sequence[Any]
"""The values that judges give one answer, in any order; None for a judge without a value."""


_MOST_GROUPS = 100


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
    return _alpha(_count_patterns(answers), level)


def _count_patterns(answers: Iterable[Values]) -> Counter[tuple[Any, ...]]:
    """Return how many answers have the same values."""
    return Counter(tuple(value for value in values if value is not None) for values in answers)


def _alpha(patterns: Mapping[tuple[Any, ...], int], level: Level) -> float:
    paired = [(Counter(values), number) for values, number in patterns.items() if number and len(values) > 1]
    counts: Counter[Any] = Counter()
    for answer, number in paired:
        for value, times in answer.items():
            counts[value] += number * times
    total = sum(counts.values())
    distance = _distance_function(level, counts)
    expected = _disagreement(counts, distance) / (total - 1) if total else 0.0
    if expected == 0:
        return math.nan
    observed = sum(number * _disagreement(answer, distance) / (answer.total() - 1) for answer, number in paired)
    return 1 - observed / expected


def jackknifed(pairs: Mapping[Hashable, Sequence[Values]], level: Level) -> tuple[float, float]:
    """Return Krippendorff's alpha of clustered answers and its standard error, by the jackknife over clusters.

    More than 100 clusters are taken as 100 groups.

    Args:
        pairs: The values of each answer, by cluster.
        level: As for `krippendorff`.

    Returns:
        Alpha and its error; nan where alpha is not defined, and an error of 0 where no cluster changes it.

    >>> answers = {number: [(number % 2, number % 2)] for number in range(9)} | {9: [(1, 0)]}
    >>> [round(number, 2) for number in jackknifed(answers, "nominal")]
    [0.81, 0.19]
    """
    groups: list[Counter[tuple[Any, ...]]] = [Counter() for _ in range(min(len(pairs), _MOST_GROUPS))]
    for number, answers in enumerate(pairs.values()):
        groups[number % len(groups)].update(_count_patterns(answers))
    patterns: Counter[tuple[Any, ...]] = Counter()
    for group in groups:
        patterns.update(group)
    alpha = _alpha(patterns, level)
    if math.isnan(alpha):
        return alpha, math.nan
    without = [
        _alpha({values: number - group[values] for values, number in patterns.items()}, level) for group in groups
    ]
    defined = [value for value in without if not math.isnan(value)]
    mean = math.fsum(defined) / len(defined) if defined else math.nan
    squares = math.fsum((value - mean) ** 2 for value in defined)
    return alpha, math.sqrt(squares * (len(defined) - 1) / len(defined)) if defined else math.nan


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
