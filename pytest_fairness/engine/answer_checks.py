"""Checks of the answers and exceptions of models, so that stores and reports can hold them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import ModelError, PermanentError, text_of
from pytest_fairness.core.secrets import redacted
from pytest_fairness.core.tool_calls import ToolCall

_MOST_TOKENS = 10**9
LONGEST = 2_000_000
"""Largest number of characters of an answer: graders and reports read all of it."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_OPTIONAL = ("reasoning", "served_by", "provider_state", "reply_id", "cache")
"""The fields of an answer that are a text or None."""


def check_answer(answer: object, model: str) -> Answer:
    """Return an answer in a form that can be stored.

    Invalid numbers of tokens are removed, since the answer itself is valid, and was paid for.

    Args:
        answer: The value that the model returned.
        model: The model's name, for messages.

    Raises:
        PermanentError: The value is no `Answer` of text.
    """
    if not isinstance(answer, Answer):
        raise PermanentError(f"{model} returned a {type(answer).__name__}: answer() must return an Answer")
    texts: dict[str, Any] = {}
    for name in ("text", "finish_reason", *_OPTIONAL):
        value = getattr(answer, name)
        if isinstance(value, str):
            texts[name] = _storable(value)
        elif value is not None or name not in _OPTIONAL:
            raise PermanentError(f"{model} returned an Answer whose {name} is {value!r:.60}: it must be a text")
    if (size := max(len(answer.text), len(answer.provider_state or ""))) > LONGEST:
        raise PermanentError(f"{model} returned {size:,} characters: at most {LONGEST:,} are taken")
    if isinstance(answer.latency, bool) or not isinstance(answer.latency, int | float):
        raise PermanentError(f"{model} returned an Answer whose latency is {answer.latency!r:.60}: it must be seconds")
    usage: object = answer.usage
    counts = usage.items() if isinstance(usage, Mapping) else ()
    actions = _storable_calls(answer.actions, model)
    # Gateways that do not count tokens send zeros: such an answer must not count as free.
    positive = ("input", "output") if answer.text or actions else ()
    return Answer(
        **texts,
        actions=actions,
        usage={
            name: count for name, count in counts if isinstance(name, str) and _is_count(count, int(name in positive))
        },
        latency=float(answer.latency) if math.isfinite(answer.latency) else 0.0,
    )


def _storable_calls(actions: object, model: str) -> tuple[ToolCall, ...]:
    """Return the calls of an answer in a form that can be stored.

    Raises:
        PermanentError: The actions are no list of tool calls, or too long.
    """
    if not isinstance(actions, Sequence) or isinstance(actions, str):
        raise PermanentError(f"{model} returned an Answer whose actions are {actions!r:.60}: they must be a list")
    calls = []
    for call in actions:
        if not isinstance(call, ToolCall) or not isinstance(call.name, str):
            raise PermanentError(f"{model} returned an Answer with the action {call!r:.60}: it must be a ToolCall(...)")
        read = ToolCall.read(
            call.name, call.arguments, result=call.result, error=call.error, seconds=call.seconds
        ).to_json()
        calls.append(ToolCall(**_storable_json(read)))
    size = sum(len(call.summary) for call in calls)
    if size > LONGEST:
        raise PermanentError(f"{model} returned {size:,} characters of tool calls: at most {LONGEST:,} are taken")
    return tuple(calls)


def _storable_json(value: Any) -> Any:
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, Mapping):
        return {_storable(name): _storable_json(entry) for name, entry in value.items()}
    return [_storable_json(entry) for entry in value] if isinstance(value, list) else value


def as_model_error(error: BaseException, model: str) -> ModelError:
    """Return an exception of a model as a `ModelError`: any other exception is one of its attempt only."""
    if isinstance(error, ModelError):
        return error
    return PermanentError(f"{model} raised {type(error).__name__}: {text_of(error)}".rstrip(": "))


def format_error(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return an error's message in one line of at most 1,000 characters, without secrets."""
    return _storable(redacted(" ".join(text_of(error).split()), secrets)[:1000])


def _is_count(count: object, least: int) -> bool:
    return isinstance(count, int) and not isinstance(count, bool) and least <= count < _MOST_TOKENS


def _storable(text: str) -> str:
    """Return a plain str without unpaired surrogates, which neither store nor report can hold."""
    return _SURROGATE.sub("\ufffd", text if type(text) is str else str.__str__(text))
