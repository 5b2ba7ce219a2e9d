"""Reading one JSON object out of what stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer, value_or_none
from pytest_fairness.graders.judge.reply import read_object
from tests.graders.test_hostile_text import ENDS, PIECES, REASONS
from tests.helpers.linear_time import takes_linear_time

FIELDS = ("reasoning", "answer")
READ = {"reasoning": "He was late.", "answer": "MEBA"}


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "He was late.", "answer": "MEBA"}',
        '{"answer": "MEBA", "reasoning": "He was late."}',
        '{"Reasoning": "He was late.", "ANSWER": "MEBA", "confidence": 0.9}',
        'Sure! Here it is:\n```json\n{"reasoning": "He was late.", "answer": "MEBA"}\n```\nIs that all?',
        '{"reasoning": "He was late.", "answer": "MEBA",}',
        '{"reasoning": "He was late.",\n "answer": "MEBA"\n,\n}',
        '{"result": {"reasoning": "He was late.", "answer": "MEBA"}}',
        '[{"reasoning": "He was late.", "answer": "MEBA"}]',
        '{"reasoning": " He was late. ", "answer": ["MEBA"]}',
        '<think>{"reasoning": "She was.", "answer": "KOVU"}</think>{"reasoning": "He was late.", "answer": "MEBA"}',
        '{"reasoning": "He was late.", "answer": "MEBA"}\n\n{"reasoning": "He was late.", "answer": "MEBA"}',
        'A set {1, 2}: {"reasoning": "He was late.", "answer": "MEBA"}',
    ],
)
def test_object_is_read_from_any_surrounding_text(text: str) -> None:
    assert read_object(Answer(text), FIELDS).value == READ


def test_unescaped_quotes_and_line_breaks_are_accepted() -> None:
    text = '{"reasoning": "He said "I am late".\nSo he was.", "answer": "MEBA"}'
    assert read_object(Answer(text), FIELDS).value == {
        "reasoning": 'He said "I am late".\nSo he was.',
        "answer": "MEBA",
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unparsed"),
        ("MEBA", "unparsed"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ('{"answer": "MEBA"}', "unparsed"),
        ('{"reasoning": "", "answer": "MEBA"}', "unparsed"),
        ('{"reasoning": "He was late.", "answer": null}', "unparsed"),
        ('{"reasoning": "He was late.", "answer": "MEBA"} {"reasoning": "He was late.", "answer": "KOVU"}', "unparsed"),
        ('{"reasoning": "Late.", "answer": "MEBA",} {"reasoning": "Late.", "answer": "KOVU",}', "unparsed"),
        ('{"reasoning": "He was 19, and', "truncated"),
        ('{"reasoning": "He was late.", "answer": "ME', "truncated"),
        ('```json\n{"reasoning": "He was late.", "answer":', "truncated"),
    ],
)
def test_invalid_objects_are_ungraded_with_the_reason(text: str, reason: str) -> None:
    grade = read_object(Answer(text), FIELDS)
    assert (value_or_none(grade), grade.ungraded) == (None, reason)


def test_finish_reason_of_the_provider_comes_first() -> None:
    text = '{"reasoning": "He was late.", "answer": "MEBA"}'
    assert read_object(Answer(text, finish_reason="content_filter"), FIELDS).ungraded == "filter"


@given(st.lists(st.sampled_from([*PIECES, '{"reasoning": "', '", "answer": "', '"}']), max_size=60), ENDS)
def test_any_text_gets_an_object_or_a_reason(pieces: list[str], ending: str) -> None:
    grade = read_object(Answer("".join(pieces), finish_reason=ending), FIELDS)
    if grade.ungraded is None:
        assert set(grade.value) == set(FIELDS)
        assert all(grade.value.values())
    else:
        assert grade.ungraded in REASONS


@pytest.mark.parametrize("piece", ["{", '{"reasoning": "', '{"reasoning": "x", "answer": "', '"', "{}", '","answer":"'])
def test_long_text_is_read_in_linear_time(piece: str) -> None:
    assert takes_linear_time(lambda text: read_object(Answer(text), FIELDS), piece)
