"""Graders of tool calls: what is counted, what is ungraded, and what an ungraded answer could have been."""

from __future__ import annotations

import pytest

from pytest_fairness import Answer, Prompt, Tool, ToolCall
from pytest_fairness.graders import CalledTool, ToolArgument, ToolCallCount

PROMPT = Prompt("What is her rent?", tools=[Tool("look_up"), Tool("write")])


def calling(*names: str) -> Answer:
    return Answer("", "tool_calls", actions=[ToolCall(name, {"id": index}) for index, name in enumerate(names)])


@pytest.mark.parametrize(
    ("tool", "names", "count"),
    [
        (None, ["look_up"] * 3, 3),
        (None, ["look_up", "write", "approve"], 3),
        ("look_up", ["look_up", "write"], 1),
        ("look_up", ["write"], 0),
        ("look_up", [*["write"] * 9, "look_up"], 1),
    ],
)
def test_calls_are_counted(tool: str | None, names: list[str], count: int) -> None:
    assert ToolCallCount(tool, most=3).grade(PROMPT, calling(*names)).value == count


@pytest.mark.parametrize("tool", [None, "look_up"])
def test_more_calls_than_there_can_be_are_ungraded(tool: str | None) -> None:
    """Check that no value lies outside the declared ends, on which intervals rely."""
    grader = ToolCallCount(tool, most=3)
    grade = grader.grade(PROMPT, calling(*["look_up"] * 4))
    assert grade.ungraded == "unparsed"
    assert grade.detail.startswith("4 calls, and 3 is the most: look_up(")
    assert grader.extremes == (0, 3)


def test_highest_count_is_part_of_the_fingerprint() -> None:
    assert ToolCallCount(most=3).fingerprint != ToolCallCount(most=4).fingerprint


def test_extremes_of_an_argument_are_those_that_were_declared() -> None:
    assert ToolArgument("write", "amount").extremes == ()
    assert ToolArgument("write", "amount", span=(0, 100)).extremes == (0, 100)
    assert ToolArgument("write", "how", values=("letter", "call")).extremes == ("letter", "call")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "write", "arguments": {}}\n</tool_call>',
        '[TOOL_CALLS][{"name": "write", "arguments": {}}]',
        "<function=write>{}</function>",
        "<\uff5ctool\u2581calls\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>write",
        "<\uff5cDSML\uff5cfunction_calls>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0",
        "<|python_tag|>write.call()",
        '<function_calls><invoke name="write"></invoke></function_calls>',
        "```tool_code\nprint(write(to='her'))\n```",
        '{"name": "write", "parameters": {"to": "her"}}',
        'I will do so.\n```json\n{"tool": "write"}\n```',
        "[write(to='her')]",
        "Thought: she asked.\nAction: write\nAction Input: {}",
    ],
)
def test_call_that_a_server_left_in_the_text_is_not_none(text: str) -> None:
    # Nothing would tell it from an answer that takes no action: all groups would be alike.
    for grader in (CalledTool(), ToolCallCount(), ToolArgument("write", "to")):
        assert grader.grade(PROMPT, Answer(text)).ungraded == "unparsed"


@pytest.mark.parametrize(
    "text",
    ["I write (by hand) to her.", 'I cannot "write" to her.', "<b>No.</b>", "The action: none.", "No tool helps."],
)
def test_words_about_a_tool_are_no_call(text: str) -> None:
    assert CalledTool().grade(PROMPT, Answer(text)).value == "none"
