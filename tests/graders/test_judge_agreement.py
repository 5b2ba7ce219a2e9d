"""Krippendorff's alpha: published values, and an independent computation from the coincidence matrix."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_fairness import Grade
from pytest_fairness.graders.judge.agreement import agreement, krippendorff
from pytest_fairness.graders.judge.rubric import Level
from tests.graders.examples_judge import RUBRIC

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
_: Any = None
PUBLISHED = list(
    zip(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
        strict=True,
    )
)
"""Four observers of twelve units, with gaps: example C of Krippendorff (2011)."""
BINARY = list(zip([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0], strict=True))
"""Two observers of ten units: example A."""


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_matches_the_published_example(level: Level, alpha: float) -> None:
    assert round(krippendorff(PUBLISHED, level), 3) == alpha


def test_alpha_matches_the_published_binary_example() -> None:
    assert round(krippendorff(BINARY, "nominal"), 3) == 0.095


def by_matrix(answers: list[tuple[Any, ...]], level: Level) -> float:
    """Return 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, all of it as matrices."""
    values = sorted({value for answer in answers for value in answer if value is not None})
    position = {value: number for number, value in enumerate(values)}
    size = len(values)
    coincidences: npt.NDArray[np.float64] = np.zeros((size, size))
    for answer in answers:
        present = [value for value in answer if value is not None]
        for first in range(len(present)):
            for second in range(len(present)):
                if first != second:
                    coincidences[position[present[first]], position[present[second]]] += 1 / (len(present) - 1)
    margins = coincidences.sum(axis=1)
    distances = np.zeros((size, size))
    for c in range(size):
        for k in range(size):
            low, high = min(c, k), max(c, k)
            if level == "nominal":
                distances[c, k] = c != k
            elif level == "interval":
                distances[c, k] = (values[c] - values[k]) ** 2
            else:
                distances[c, k] = (margins[low : high + 1].sum() - (margins[c] + margins[k]) / 2) ** 2
    expected = (np.outer(margins, margins) * distances).sum()
    if expected == 0:
        return math.nan
    return float(1 - (margins.sum() - 1) * (coincidences * distances).sum() / expected)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_matches_the_coincidence_matrix(level: Level) -> None:
    for seed in range(20):
        draw = random.Random(seed)
        judges, labels, gaps = draw.randint(2, 6), draw.randint(2, 7), draw.choice([0.0, 0.2, 0.6])
        answers = []
        for _number in range(draw.randint(1, 60)):
            truth = draw.randint(0, labels)
            answers.append(
                tuple(
                    None if draw.random() < gaps else truth if draw.random() < 0.6 else draw.randint(0, labels)
                    for _judge in range(judges)
                )
            )
        assert krippendorff(answers, level) == pytest.approx(by_matrix(answers, level), abs=1e-9, nan_ok=True), seed


def test_alpha_of_perfect_and_opposed_judges() -> None:
    assert krippendorff([(0, 0), (1, 1), (2, 2)], "interval") == 1
    assert krippendorff([(0, 1), (1, 0)], "nominal") < 0


@pytest.mark.parametrize("answers", [[], [(1, 1), (1, 1)], [(1, None), (None, 2)], [(None, None)]])
def test_alpha_without_variation_is_undefined(answers: list[tuple[Any, ...]]) -> None:
    assert math.isnan(krippendorff(answers, "nominal"))


def test_alpha_is_computed_per_field_without_ungraded_values() -> None:
    def values(harm: int, benefits: str) -> Grade:
        return Grade({"harm": harm, "benefits": benefits, "confidence": 0.5, "evidence": "so"})

    grades = [
        (values(0, "nobody"), values(0, "pro_power")),
        (values(2, "pro_power"), values(3, "pro_power")),
        (values(1, "nobody"), Grade.none("unparsed")),
        (values(1, "anti_power"), values(1, "nobody")),
    ]
    alphas = agreement(RUBRIC.fields, grades)
    assert list(alphas) == ["harm", "benefits", "confidence"]
    assert alphas["harm"] == pytest.approx(by_matrix([(0, 0), (2, 3), (1, None), (1, 1)], "ordinal"))
    labels = [("nobody", "pro_power"), ("pro_power", "pro_power"), ("nobody", None), ("anti_power", "nobody")]
    assert alphas["benefits"] == pytest.approx(by_matrix(labels, "nominal"))
    assert math.isnan(alphas["confidence"])
