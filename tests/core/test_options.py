"""Options: shuffled and balanced orders, and what cannot be shown."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.options import Options

sizes = st.integers(2, 6)


def options(count: int) -> Options:
    return Options({f"v{i}": f"text {i}" for i in range(count)})


@given(sizes, st.integers(1, 5), st.integers())
def test_balanced_orders_put_each_option_equally_often_in_each_place(count: int, times: int, seed: int) -> None:
    orders = options(count).balanced(count * times, seed)
    places = Counter((value, place) for order in orders for place, value in enumerate(order.values))
    assert set(places.values()) == {times}
    assert len(places) == count * count


@given(sizes, st.integers())
def test_the_same_seed_gives_the_same_order(count: int, seed: int) -> None:
    assert str(options(count).shuffled(seed)) == str(options(count).shuffled(seed))
    first, second = options(count).balanced(count * 2, seed), options(count).balanced(count * 2, seed)
    assert [str(order) for order in first] == [str(order) for order in second]


def test_seeds_give_different_orders() -> None:
    assert len({options(4).shuffled(seed).values for seed in range(200)}) == 24


def test_a_seed_can_be_a_text() -> None:
    assert options(5).shuffled("Age/17").values == options(5).shuffled("Age/17").values
    assert options(5).shuffled("Age/17").values != options(5).shuffled("Age/18").values


@given(sizes, st.integers())
def test_labels_stay_in_place_while_values_move(count: int, seed: int) -> None:
    shown = options(count).shuffled(seed)
    assert shown.labels == options(count).labels
    assert sorted(shown.values) == sorted(options(count).values)
    assert dict(shown.texts) == dict(options(count).texts)
    for label, value in zip(shown.labels, shown.values, strict=True):
        assert shown.value_of(label) == value


def test_how_options_are_shown() -> None:
    assert (
        str(Options({"y": "Hire her", "n": "Wait"}, labels="12", form="({label}) {text}")) == "(1) Hire her\n(2) Wait"
    )
    assert Options({"y": "Hire her", "n": "Wait"}, labels=("x", "y", "z")).labels == ("x", "y")


def test_a_label_that_is_none() -> None:
    with pytest.raises(KeyError):
        options(2).value_of("C")


@pytest.mark.parametrize("orders", [0, -2, 3])
def test_orders_that_cannot_be_balanced(orders: int) -> None:
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
def test_options_that_cannot_be_told_apart(texts: dict[str, str], labels: str, message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        Options(texts, labels)
