"""Parameters of a model's name: readers of their kinds, which check them before the first request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.secrets import redacted, without_credentials
from pytest_fairness.models.names import ModelName, Scalar

_WAY_OUT = "a secret belongs into a variable, named by key_env or headers_env"
_SECRET = re.compile(
    r"(?:^|[-_])(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|credentials?|auth(?:orization)?)$|^key$",
    re.IGNORECASE,
)

Kind = Callable[[Scalar], Any]
"""A function that reads one value, and raises ValueError with the broken rule."""


def number(low: float | None = None, high: float | None = None) -> Kind:
    """Return the kind of numbers within bounds, both included."""

    def read(value: Scalar) -> float:
        if isinstance(value, bool | str):
            raise ValueError(f"must be a number{_within(low, high)}")
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"must lie{_within(low, high)}")
        return value

    return read


def whole(low: int | None = None, high: int | None = None) -> Kind:
    """Return the kind of whole numbers within bounds, both included."""
    bounded = number(low, high)

    def read(value: Scalar) -> int:
        if isinstance(value, bool | str) or value != int(value):
            raise ValueError(f"must be a whole number{_within(low, high)}")
        return int(bounded(value))

    return read


def text(value: Scalar) -> str:
    """Return a text; a number is written as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def choice(*words: str) -> Kind:
    """Return the kind of texts that are one of some words."""

    def read(value: Scalar) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return str(value)

    return read


def flag(value: Scalar) -> bool:
    """Return a truth value."""
    if value not in (True, False, "true", "false") or isinstance(value, int | float) != isinstance(value, bool):
        raise ValueError("must be true or false")
    return value in (True, "true")


def texts(value: Scalar) -> list[str]:
    """Return one text, or a JSON list of texts."""
    if not isinstance(value, str) or not value.startswith("["):
        return [text(value)]
    try:
        entries = json.loads(value)
    except ValueError:
        entries = None
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError('must be a text, or a JSON list of texts such as ["a","b"]')
    return entries


def json_object(value: Scalar) -> dict[str, Any]:
    """Return a JSON object."""
    try:
        content = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ValueError('must be a JSON object such as {"top_k":5}')
    return content


def extra(value: Scalar) -> dict[str, Any]:
    """Return a JSON object that is merged into requests; it must hold no secret, since it is part of the name."""
    content = json_object(value)
    if secret := _secret_in(content):
        raise ValueError(f"has {secret!r} in it: {_WAY_OUT}")
    return content


def _secret_in(values: Mapping[str, Any]) -> str | None:
    """Return the name of a value that is a secret, judged by that name; None where there is none."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            if inner := _secret_in(value):
                return inner
        elif isinstance(value, str) and _SECRET.search(name):
            return str(name)
    return None


def read(name: ModelName, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the values of a name's parameters.

    Raises:
        FairnessError: A parameter is unknown, out of range, or holds a secret.
    """
    values: dict[str, Any] = {}
    for key, value in name.parameters.items():
        where = f"model {name.provider}:{name.name}"
        if "key" in key.split("_") and key not in kinds:
            raise FairnessError(f"{where}: {key!r} is no parameter: keys come from the environment only")
        if key not in kinds:
            raise FairnessError(f"{where} knows no parameter {key!r}; {did_you_mean(key, kinds)}")
        if isinstance(value, str) and redacted(value) != without_credentials(value):
            raise FairnessError(f"{where}: parameter {key} holds what looks like a secret: {_WAY_OUT}")
        try:
            values[key] = kinds[key](value)
        except ValueError as error:
            shown = "" if key == "extra" else f" is {value!r}: it"
            raise FairnessError(f"{where}: parameter {key}{shown} {error}") from None
    return values


def _within(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" between {low:g} and {high:g}"
    if low is not None:
        return f" from {low:g} up"
    return "" if high is None else f" up to {high:g}"
