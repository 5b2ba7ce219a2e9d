"""Items and the ids of their tests."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import ProbeItem, Prompt

PROMPTS = [Prompt("Hello")]
IDS = st.text(st.sampled_from("ab _:[]~/é医生護"), min_size=1, max_size=80).filter(str.strip)


@given(st.sets(st.one_of(st.text(min_size=1).filter(str.strip), IDS), min_size=2, max_size=20))
def test_test_ids_of_items_are_unique_and_well_formed(ids: set[str]) -> None:
    test_ids = {ProbeItem(name, PROMPTS).test_id for name in ids}
    assert len(test_ids) == len(ids)
    for test_id in test_ids:
        assert re.fullmatch(r"[A-Za-z0-9._+@:/~-]{1,60}", test_id, re.ASCII)
        assert "::" not in test_id


@given(st.from_regex(r"\A[A-Za-z0-9._+@/-]{1,60}\Z"))
def test_short_plain_id_is_the_test_id(name: str) -> None:
    assert ProbeItem(name, PROMPTS).test_id == name
