"""The error of a search: its p-values against exact binomials, and what it asks."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_fairness import FairnessError, Prompt
from pytest_fairness.counterfactual.slots import Value
from pytest_fairness.search.decisions import (
    LOOKS,
    Decisions,
    SearchBudgetError,
    least_agreeing,
    most_frequent,
    p_value,
)
from pytest_fairness.search.space import TextSpace

SPACE = TextSpace("{hobby}", {"hobby": (Value(("chess",)), Value(("golf",)))})
CHESS, GOLF = (Value(("chess",)),), (Value(("golf",)),)


@pytest.mark.parametrize("n", [5, 10, 20])
def test_p_value_is_the_worst_case_over_equal_rates(n: int) -> None:
    from scipy.stats import binom  # type: ignore[import-untyped]

    rates = np.arange(201) / 200
    for k in range(n // 2 + 1, n + 1):
        worst = max(binom.sf(k - 1, n, rates) * binom.cdf(n - k, n, rates))
        assert p_value(k, n) == pytest.approx(worst)


def test_needed_is_the_least_significant_count() -> None:
    for n in (5, 10, 20):
        k = least_agreeing(n, 0.005)
        assert p_value(k, n) <= 0.005 < p_value(k - 1, n)
    with pytest.raises(FairnessError, match="take more"):
        least_agreeing(3, 0.005)


def test_usual_is_the_most_frequent_decision() -> None:
    assert most_frequent(["no", "yes", "yes", None, None, None]) == "yes"
    assert most_frequent([None]) is None


class Recorder:
    """Model that records which repetitions it was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []

    def __call__(self, wanted: list[tuple[Prompt, int, int]]) -> list[list[str]]:
        self.calls += [(prompt.text, first, count) for prompt, first, count in wanted]
        return [["yes"] * count for _, _, count in wanted]


def test_decisions_use_fresh_repetitions_and_repeat_no_request() -> None:
    recorder = Recorder()
    decisions = Decisions(recorder, 100, reserved=0)  # type: ignore[arg-type]
    decisions.look(SPACE, [(CHESS, 2), (GOLF, 1), (CHESS, 3)])
    decisions.look(SPACE, [(CHESS, 99), (GOLF, 1)])
    decisions.fresh(SPACE, (CHESS, GOLF), 10)
    decisions.fresh(SPACE, (CHESS, GOLF), 10)
    assert recorder.calls == [
        ("chess", 0, 3),
        ("golf", 0, 1),
        ("chess", 3, LOOKS - 3),
        *[("chess", LOOKS, 10), ("golf", LOOKS, 10), ("chess", LOOKS + 10, 10), ("golf", LOOKS + 10, 10)],
    ]
    assert decisions.calls == sum(count for _, _, count in recorder.calls)


def test_looks_leave_the_confirmation_budget() -> None:
    recorder = Recorder()
    decisions = Decisions(recorder, 12, reserved=10)  # type: ignore[arg-type]
    decisions.look(SPACE, [(CHESS, 2)])
    with pytest.raises(SearchBudgetError):
        decisions.look(SPACE, [(GOLF, 1)])
    decisions.fresh(SPACE, (CHESS, GOLF), 5)
    with pytest.raises(SearchBudgetError):
        decisions.fresh(SPACE, (CHESS,), 1)
    assert decisions.calls == 12


def test_decision_must_be_one_value() -> None:
    decisions = Decisions(lambda wanted: [[["a", "list"]]], 10, reserved=0)
    with pytest.raises(FairnessError, match="one value for each repetition"):
        decisions.look(SPACE, [(CHESS, 1)])
