"""Causes that thresholds share: each is told once, with its counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.causes import CauseResult, quote, share_causes


def cut(count: int, of: int, where: str = "") -> CauseResult:
    return CauseResult(kind="truncated", finding="cut off", count=count, of=of, where=where, remedy="raise it")


def test_cause_of_a_sample_and_its_slices_is_one() -> None:
    rows = [("a", "p.py::test_p", [cut(6, 24, "the context is ambig")]), ("b", "p.py::test_p", [cut(11, 48)])]
    (shared,) = share_causes(rows)
    assert shared.text == "11 of 48 answers cut off"
    assert shared.thresholds == ["a", "b"]


def test_slices_alone_are_counted_as_such() -> None:
    rows = [
        ("a", "p.py::test_p", [cut(6, 24, "the context is ambig")]),
        ("b", "p.py::test_p", [cut(5, 22, "it is not")]),
    ]
    (shared,) = share_causes(rows)
    assert shared.text == "6 of 24 answers cut off where the context is ambig, and in 1 other part of the sample"


def test_probes_have_counts_of_their_own() -> None:
    rows = [(name, f"p.py::test_{name}", [cut(count, 48)]) for name, count in (("offer", 12), ("call", 30))]
    (shared,) = share_causes(rows)
    assert shared.text == "answers cut off: 30 of 48 (call), 12 of 48 (offer)"


@given(st.text(min_size=1))
def test_quote_begins_as_the_text_and_ends_with_a_word(text: str) -> None:
    shown = quote(text)
    assert len(shown) <= 4 * 204 + 2
    words = text.split()
    inner = eval(shown)  # noqa: S307 - the text of a literal
    assert isinstance(inner, str)
    ending = inner.removesuffix(" ...")
    if words and len(words[0]) <= 200:
        assert " ".join(words).startswith(ending.strip())


def test_long_answer_is_cut_between_words() -> None:
    assert quote("because " * 60).endswith("because ...'")


@pytest.mark.parametrize("text", ["", "Yes."])
def test_short_answer_is_whole(text: str) -> None:
    assert quote(text) == repr(text)
