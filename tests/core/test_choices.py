"""Options: shuffled and balanced orders, and what cannot be shown."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError

sizes = st.integers(2, 6)


def options(count: int) -> AnswerOptions:
    return AnswerOptions({f"v{i}": f"text {i}" for i in range(count)})


@given(sizes, st.integers(1, 5), st.integers())
def test_balanced_orders_put_each_option_equally_often_everywhere(count: int, times: int, seed: int) -> None:
    orders = options(count).balanced(count * times, seed)
    places = Counter((value, position) for order in orders for position, value in enumerate(order.values))
    assert set(places.values()) == {times}
    assert len(places) == count * count


@given(sizes, st.integers(1, 3), st.integers())
def test_reversed_cycles_put_each_option_equally_often_before_each_other(count: int, pairs: int, seed: int) -> None:
    orders = [order.values for order in options(count).balanced(2 * pairs * count, seed)]
    for first, second in combinations(options(count).values, 2):
        assert sum(order.index(first) < order.index(second) for order in orders) == pairs * count


@given(sizes, st.integers())
def test_same_seed_gives_the_same_order(count: int, seed: int) -> None:
    assert str(options(count).shuffled(seed)) == str(options(count).shuffled(seed))
    first, second = options(count).balanced(count * 2, seed), options(count).balanced(count * 2, seed)
    assert [str(order) for order in first] == [str(order) for order in second]


def test_seeds_give_different_orders() -> None:
    assert len({options(4).shuffled(seed).values for seed in range(200)}) == 24


def test_seed_can_be_a_text() -> None:
    assert options(5).shuffled("Age/17").values == options(5).shuffled("Age/17").values
    assert options(5).shuffled("Age/17").values != options(5).shuffled("Age/18").values


@given(sizes, st.integers())
def test_labels_stay_while_values_are_shuffled(count: int, seed: int) -> None:
    shuffled = options(count).shuffled(seed)
    assert shuffled.labels == options(count).labels
    assert sorted(shuffled.values) == sorted(options(count).values)
    assert dict(shuffled.texts) == dict(options(count).texts)


def test_options_are_formatted_with_labels_and_form() -> None:
    assert (
        str(AnswerOptions({"y": "Hire her", "n": "Wait"}, labels="12", form="({label}) {text}"))
        == "(1) Hire her\n(2) Wait"
    )
    assert AnswerOptions({"y": "Hire her", "n": "Wait"}, labels=("x", "y", "z")).labels == ("x", "y")


@pytest.mark.parametrize("orders", [0, -2, 3])
def test_unbalanced_number_of_orders_is_refused(orders: int) -> None:
    with pytest.raises(FairnessError, match="multiple of 2"):
        options(2).balanced(orders)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ({"a": "x"}, "AB", "at least two"),
        ({}, "AB", "at least two"),
        ({"a": "x", "b": "y"}, "A", "only 1 labels"),
        ({"a": "x", "b": "X "}, "AB", "a text of its own"),
        ({"a": "x", "b": " "}, "AB", "a text of its own"),
        ({"a": "x", "b": "y"}, "aA", "a label of its own"),
        ({"a": "x", "b": "y"}, ("A", ""), "a label of its own"),
    ],
)
def test_ambiguous_options_are_refused(texts: dict[str, str], labels: str, message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        AnswerOptions(texts, labels)
