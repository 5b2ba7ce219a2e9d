"""Conditions that two samples must share to be compared: decoding, graders, judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fairness.core.errors import FairnessError

DECODING = frozenset(
    {
        "temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "seed", "stop", "presence_penalty",
        "frequency_penalty", "reasoning_effort", "effort", "thinking", "response_format", "extra",
    }
)  # fmt: skip
"""Parameters in the name of a model that change how it answers, not which model it is."""

WRAPPED = " through function:"
"""Part of the name of a model that the user's own callable wraps."""


def conditions(model: str, graders: Mapping[str, str | None], judge: str | None) -> dict[str, Any]:
    """Return what two samples must share to be compared: decoding, graders, judge.

    >>> conditions("openai:gpt-5-mini?temperature=0&base_url=http://here", {"hired": "yesno-1"}, None)
    {'temperature': 0, "the grader of 'hired'": 'yesno-1'}
    """
    from pytest_fairness.models.names import ModelName

    try:
        parameters = ModelName.parse(model.partition(WRAPPED)[0]).parameters
    except FairnessError:  # a model of the user's own, with a name of its own
        parameters = {}
    shared: dict[str, Any] = {name: value for name, value in parameters.items() if name in DECODING}
    shared |= {f"the grader of {name!r}": fingerprint for name, fingerprint in graders.items()}
    return shared if judge is None else shared | {"the judge": judge}
