"""The check that drawn answers agree with propensities: calibrated, and not blind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest  # type: ignore[import-untyped]

from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.agreement import SIGNIFICANCE, PromptPair, check_agreement
from tests.helpers.examples import examples


def sample(
    generator: np.random.Generator, items: int = 30, drawn: int = 3, *, outside: float = 0.0, power: float = 1.0
) -> list[PromptPair]:
    """Return prompts of two groups whose answers are drawn from their propensities, raised to a power."""
    pairs = []
    for logit in generator.normal(0, 1, items):
        share = 1 / (1 + math.exp(-logit))
        drawn_share = share**power / (share**power + (1 - share) ** power)
        for sex in ("f", "m"):
            draws = generator.random((drawn, 2))
            answers = [None if left < outside else bool(own < drawn_share) for left, own in draws]
            graded = 1 - outside
            pairs.append(
                PromptPair({"sex": sex}, Propensities(((True, share * graded), (False, (1 - share) * graded))), answers)
            )
    return pairs


def disagreements(runs: int, **how: Any) -> int:
    generator = np.random.default_rng(5)
    checks = [check_agreement(sample(generator, **how)) for _ in range(runs)]
    return sum(check is not None and not check.agrees for check in checks)


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"outside": 0.05}, {"items": 6, "drawn": 1}])
def test_answers_drawn_from_propensities_rarely_disagree(how: dict[str, Any]) -> None:
    runs = 250
    assert binomtest(disagreements(runs, **how), runs, SIGNIFICANCE, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize(("power", "sign"), [(2.5, 1), (0.3, -1)])
def test_another_temperature_is_a_disagreement(power: float, sign: int) -> None:
    # The groups' shares agree: half of the items are on either side.
    check = check_agreement(sample(np.random.default_rng(1), 100, 5, power=power))
    assert check is not None
    assert not check.agrees
    assert math.copysign(1, check.sharpness) == sign


def test_a_gap_of_one_group_is_a_disagreement() -> None:
    shares = Propensities(((True, 0.5), (False, 0.4)))
    pairs = [
        PromptPair({"sex": sex}, shares, [number % 10 < 9 - 4 * (sex == "m")]) for sex in "fm" for number in range(100)
    ]
    check = check_agreement(pairs)
    assert check is not None
    assert (check.agrees, check.worst.group, check.worst.drawn) == (False, "f", 0.9)
    filled = [pair for pair in pairs if pair.groups["sex"] == "m"]
    agreed = check_agreement([PromptPair(pair.groups, shares, [number % 10 < 6]) for number, pair in enumerate(filled)])
    assert agreed is not None
    assert agreed.agrees, "what fell on no option may stand for yes"


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), min_size=1, max_size=6), st.data())
@examples(40)
def test_p_values_are_those_of_all_outcomes(prompts: list[tuple[float, int]], data: st.DataObject) -> None:
    """Against the sum over every combination of answers."""
    counts = [data.draw(st.integers(0, count)) for _, count in prompts]
    pairs = [
        PromptPair({}, Propensities(((True, share), (False, 1 - share))), [True] * k + [False] * (count - k))
        for (share, count), k in zip(prompts, counts, strict=True)
    ]
    totals = {0: 1.0}
    for share, count in prompts:
        for _ in range(count):
            following: dict[int, float] = {}
            for total, probability in totals.items():
                following[total] = following.get(total, 0.0) + probability * (1 - share)
                following[total + 1] = following.get(total + 1, 0.0) + probability * share
            totals = following
    fewer = sum(p for total, p in totals.items() if total <= sum(counts))
    more = sum(p for total, p in totals.items() if total >= sum(counts))
    check = check_agreement(pairs)
    assert check is not None
    assert min(check.p_values) == pytest.approx(min(1.0, 2 * min(fewer, more)), abs=1e-9)


def test_prompts_without_answers_are_not_compared() -> None:
    shares = Propensities((("a", 0.5), ("b", 0.5)))
    assert check_agreement([]) is None
    assert check_agreement([PromptPair({}, shares, [])]) is None
    check = check_agreement([PromptPair({}, shares, ["a", None])])
    assert check is not None
    assert [(group.value, group.drawn, group.answers) for group in check.groups] == [("a", 0.5, 2), ("b", 0.0, 2)]
