"""Names of models as servers give them."""

from __future__ import annotations

import pytest

from pytest_fairness.core.served_models import is_same_model, unlike_responders


@pytest.mark.parametrize(
    ("requested", "served", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", False),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4-0613", "gpt-4-2023-06-13", True),
        ("gpt-4-0125-preview", "gpt-4-0613", False),
        ("gpt-4-20230613", "gpt-4-0613", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("anthropic/claude-3.5-sonnet", "claude-3-5-sonnet-20241022", True),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022", True),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1", True),
        ("llama3:8b", "llama3:70b", False),
        ("meta-llama/Llama-3.1-8B-Instruct", "/models/meta-llama/Llama-3.1-8B-Instruct/", True),
        ("o1", "gpt-o1", False),
        ("m", "", False),
    ],
)
def test_snapshots_are_the_model_and_other_dates_are_not(requested: str, served: str, same: bool) -> None:
    assert is_same_model(requested, served) is same
    assert is_same_model(served, requested) is same
    assert is_same_model(requested, requested)


def test_groups_that_share_half_of_their_models_are_compared() -> None:
    assert unlike_responders({"f": {"a": 5, "b": 5}, "m": {"a": 10}}) == ""
    assert unlike_responders({"f": {"a": 4, "b": 6}, "m": {"a": 10}})
    assert unlike_responders({}) == unlike_responders({"f": {"a": 1}}) == ""
