"""Calls of tools as replies hold them, and as they are stored."""

from __future__ import annotations

import json

import pytest

from pytest_fairness.core.tool_calls import ToolCall


@pytest.mark.parametrize("arguments", [{"amount": 20}, '{"amount": 20', "", "[20]"])
def test_stored_call_is_read_as_the_same_call(arguments: object) -> None:
    call = ToolCall.read("refund", arguments)
    stored = json.loads(json.dumps(call.to_json()))
    assert ToolCall.read(stored["name"], stored["arguments"]) == call
