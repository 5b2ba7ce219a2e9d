"""Thinking in the markup of every family of models: split off, or, where it is not closed, no answer at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.thinking import split_thinking, without_thinking

MARKUPS = [
    "<think>{}</think>{}",
    "<think>\n{}\n</think>\n\n{}",
    "{}</think>{}",
    "<thinking>{}</thinking>{}",
    "<thought>{}</thought>{}",
    "<reason>{}</reason>{}",
    "<seed:think>{}</seed:think>{}",
    "<internal_reasoning>{}</internal_reasoning>{}",
    "[THINK]{}[/THINK]{}",
    "◁think▷{}◁/think▷{}",
    "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
    "<|begin_of_thought|>{}<|end_of_thought|><|begin_of_solution|>{}<|end_of_solution|>",
    "<\uff5cbegin\u2581of\u2581thinking\uff5c>{}<\uff5cend\u2581of\u2581thinking\uff5c>{}<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "analysis{}assistantfinal{}",
    "<|channel>thought\n{}\n<channel|>{}",
    "<|channel>thought\n{}<channel|>{}<turn|>",
    "{}<channel|>{}",
    "<unused94>thought\n{}\n<unused95>{}",
    "<unused94>{}<unused95>{}",
    "Thinking...\n{}\n...done thinking.\n\n{}",
    "Here is my thought process:\n{}\n\nHere is my response:\n{}",
]
UNCLOSED = [
    "<think>It is B",
    "B <think>or is it",
    "[THINK]It is B",
    "<|START_THINKING|>It is B",
    "<next_years_thinking>It is B",
    "<|channel|>analysis<|message|>It is B",
    "<|channel|>commentary<|message|>It is B",
    "analysisIt is B",
    "Thinking...\nIt is B",
    "<|channel>thought\nIt is B",
    "<unused94>thought\nIt is B",
    "thought\nIt is B.\n\nB",
    "Thinking Process:\n\n1. It is B",
]


@pytest.mark.parametrize("markup", MARKUPS)
def test_thinking_is_split_from_the_answer(markup: str) -> None:
    text = markup.format("Maybe it is A.", "B")
    assert without_thinking(text) == "B"
    assert split_thinking(text) == ("B", "Maybe it is A.")


def test_text_before_thinking_is_part_of_the_answer() -> None:
    assert without_thinking("Sure. <think>Maybe it is A.</think>B") == "Sure. B"


@pytest.mark.parametrize("text", UNCLOSED)
def test_unclosed_thinking_has_no_answer(text: str) -> None:
    assert without_thinking(text) == ""


@pytest.mark.parametrize(
    "text", ["B", "It is <b>B</b>", "[1] B", "I think B.", "Analysis: B", "a < b > c", "Thought B", "<unused93>B", ""]
)
def test_unknown_markup_stays(text: str) -> None:
    assert without_thinking(text) == text
    assert split_thinking(text) == (text, None)


@given(st.text(), st.text())
def test_thinking_text_never_reaches_the_answer(thought: str, answer: str) -> None:
    text = f"<think>{thought}XYZ</think>{answer}"
    assert "XYZ" not in without_thinking(text)
    assert "XYZ" not in split_thinking(text)[0]
