"""Grades of whole items, which stand on all of their attempts: each item counts once."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured


def measured(repetitions: int = 2) -> Measured:
    """Return 40 pairs; every fourth agrees, in each repetition and on both of its attempts, and one is ungraded."""
    attempts = []
    for number in range(40):
        item = ProbeItem(
            f"pair-{number}", [Prompt("one", metadata={"asked": "a"}), Prompt("two")], metadata={"of": "x"}
        )
        for prompt in item.prompts:
            for repetition in range(repetitions):
                grade = Grade.none("unparsed") if number == 1 else Grade(number % 4 == 0)
                attempts.append(
                    GradedAttempt(
                        item,
                        prompt,
                        Attempt(f"{number} {prompt.messages[0]['content']} {repetition}", repetition),
                        {"agree": grade},
                    )
                )
    return Measured(attempts)


def test_each_item_counts_once_per_repetition() -> None:
    whole = measured().whole_items()
    rate = whole.rate("agree")
    assert (whole.items, whole.attempts) == (40, 80)
    assert (rate.count, rate.attempts, rate.ungraded) == (20, 80, {"all": 2})
    assert rate.value == 20 / 78
    assert measured().rate("agree").count == 40


def test_example_shows_all_prompts_of_an_item_that_counts_once() -> None:
    def keys(sample: Measured) -> list[str]:
        breakdown = sample.rate("agree").breakdown
        assert breakdown is not None
        example = breakdown().example_towards(1)
        assert example is not None
        return list(example.sides[0].keys)

    (key,) = keys(measured(1))
    assert key.endswith(" one 0")
    for sample in (measured(1).whole_items(), measured(1).whole_items().where(of="x")):
        number = keys(sample)[0].split()[0]
        assert keys(sample) == [f"{number} one 0", f"{number} two 0"]


def test_slice_stays_the_slice() -> None:
    rate = measured().where(of="x").whole_items().rate("agree")
    assert rate.slice == {"of": "x"}
    assert measured().whole_items().rate("agree").slice == {}


def test_rate_has_the_name_it_is_given() -> None:
    rate = measured().whole_items().rate("agree", named="pairs.agree")
    assert (rate.metric, rate.title) == ("pairs.agree", "rate of agree")


def test_mean_has_no_count() -> None:
    measured = Measured.from_rows([{"item": n, "score": n / 3} for n in range(30)], item="item", groups=[])
    assert measured.mean("score").count is None


def test_arrays_cannot_be_reduced_to_whole_items() -> None:
    columns = Columns.from_arrays(range(10), {"score": np.ones(10)}, {})
    with pytest.raises(FairnessError, match="holds no attempts"):
        Measured.from_columns(columns).whole_items()
