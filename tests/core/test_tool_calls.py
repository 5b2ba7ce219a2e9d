"""Calls of tools as replies hold them, and as they are stored."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_fairness import Answer, FairnessError, Prompt, Refusal, Tool, YesNo
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tool_replies import application_calls
from pytest_fairness.core.tools import calls_from_json, calls_message
from pytest_fairness.engine.answer_checks import check_answer


@pytest.mark.parametrize("arguments", [{"amount": 20}, '{"amount": 20', "", "[20]"])
def test_stored_call_is_read_as_the_same_call(arguments: object) -> None:
    call = ToolCall.read("refund", arguments)
    stored = json.loads(json.dumps(call.to_json()))
    assert ToolCall.read(stored["name"], stored["arguments"]) == call


@pytest.mark.parametrize("outcome", [{}, {"result": "7 May"}, {"result": [{"id": "a", "score": 0.5}]}, {"error": "no"}])
def test_outcome_of_a_call_is_stored_and_no_part_of_keys(outcome: dict[str, Any]) -> None:
    call = ToolCall("search", {"query": "rent"}, seconds=0.5, **outcome)
    assert calls_from_json(json.loads(json.dumps([call.to_json()]))) == (call,)
    assert calls_message([call]) == calls_message([ToolCall("search", {"query": "rent"})])
    assert call.is_executed is bool(outcome)


def test_outcome_that_json_cannot_hold_is_stored_as_text() -> None:
    returned = ToolCall("search", {}, result={"at": {1, 2}}, error="", seconds=float("nan"))
    (call,) = check_answer(Answer("", actions=[returned]), "model").actions
    assert call == ToolCall("search", {}, result="{'at': {1, 2}}")
    (call,) = check_answer(Answer("", actions=[ToolCall("a", {}, result=["\ud800"], error="\udfff")]), "model").actions
    assert (call.result, call.error) == (["\ufffd"], "\ufffd")


@pytest.mark.parametrize("seconds", [-1, "fast", True])
def test_duration_that_is_no_number_is_refused_in_files(seconds: object) -> None:
    with pytest.raises(FairnessError, match=r"the seconds of an action are .* write a number from 0 up"):
        calls_from_json([{"name": "search", "arguments": {}, "seconds": seconds}])


def test_text_after_executed_calls_is_graded() -> None:
    executed, pending = ToolCall("search", {}, result="nothing"), ToolCall("refuse", {})
    prompt = Prompt("May I?", tools=[Tool("search"), Tool("refuse")])
    assert YesNo().grade(prompt, Answer("Yes.", actions=[executed])).value is True
    assert Refusal().grade(prompt, Answer("I can't help with that.", actions=[executed])).value is True
    assert unfinished(Answer("Yes.", actions=[executed])) is None
    assert unfinished(Answer("Yes.", "tool_calls", actions=[executed])) is None
    assert Refusal().grade(prompt, Answer("I can't help with that.", actions=[executed, pending])).value is False
    assert unfinished(Answer("Yes.", actions=[executed, pending])) is not None


CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "rent"}'}}
SEARCH = ToolCall("search", {"query": "rent"})


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        ([CALL | {"result": ["a"], "seconds": 2}], [replace(SEARCH, result=["a"], seconds=2.0)]),
        (
            [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "c1", "content": "none"}],
            [replace(SEARCH, result="none")],
        ),
        (
            [
                {"role": "assistant", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "of the last turn"},
                {"role": "user", "content": "And now?"},
                {"role": "tool", "name": "lookup", "tool_call_id": "c2", "content": [{"type": "text", "text": "x"}]},
            ],
            [ToolCall("lookup", {}, result="x")],
        ),
        (
            [
                {"type": "human", "content": "Hi"},
                {"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {"query": "rent"}, "id": "c"}]},
                {"type": "tool", "content": "no index", "tool_call_id": "c", "status": "error"},
            ],
            [replace(SEARCH, error="no index")],
        ),
        (
            [
                {
                    "type": "function_call",
                    "call_id": "c",
                    "id": "f",
                    "name": "search",
                    "arguments": '{"query": "rent"}',
                },
                {"type": "mcp_call", "id": "m", "name": "pay", "arguments": "{}", "output": None, "error": {"code": 1}},
                {"type": "function_call_output", "call_id": "c", "output": "none"},
                {"type": "file_search_call", "queries": ["q"], "results": [{"file_id": "a", "text": "t", "score": 1}]},
            ],
            [
                replace(SEARCH, result="none"),
                ToolCall("pay", {}, error='{"code": 1}'),
                ToolCall("file_search", {"queries": ["q"]}, result=[{"id": "a", "text": "t", "score": 1}]),
            ],
        ),
        ([{"role": "assistant", "tool_calls": 5}], [ToolCall("5")]),
    ],
)
def test_steps_of_applications_are_read_as_calls(steps: list[object], calls: list[ToolCall]) -> None:
    assert list(application_calls(steps)) == calls
