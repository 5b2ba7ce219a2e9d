"""Checks the parameters of a model's name before anything is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.core.secrets import redacted, without_credentials
from pytest_fairness.models.names import ModelName, Scalar

_WAY_OUT = "a secret belongs into a variable, named by key_env or headers_env"
_SECRET = re.compile(
    r"(?:^|[-_])(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|credentials?|auth(?:orization)?)$|^key$",
    re.IGNORECASE,
)

Kind = Callable[[Scalar], Any]
"""Reads one value; raises ValueError with the rule that it broke."""


def number(low: float | None = None, high: float | None = None) -> Kind:
    """A number within bounds, both included."""

    def read(value: Scalar) -> float:
        if isinstance(value, bool | str):
            raise ValueError(f"must be a number{_within(low, high)}")
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"must lie{_within(low, high)}")
        return value

    return read


def whole(low: int | None = None, high: int | None = None) -> Kind:
    """A whole number within bounds, both included."""
    bounded = number(low, high)

    def read(value: Scalar) -> int:
        if isinstance(value, bool | str) or value != int(value):
            raise ValueError(f"must be a whole number{_within(low, high)}")
        return int(bounded(value))

    return read


def text(value: Scalar) -> str:
    """Any text; a number is taken as it was written."""
    return value if isinstance(value, str) else json.dumps(value)


def choice(*words: str) -> Kind:
    """One of these words."""

    def read(value: Scalar) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return str(value)

    return read


def texts(value: Scalar) -> list[str]:
    """One text, or a JSON list of texts."""
    if not isinstance(value, str) or not value.startswith("["):
        return [text(value)]
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        raise ValueError('must be a text, or a JSON list of texts such as ["a","b"]')
    return found


def json_object(value: Scalar) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError('must be a JSON object such as {"top_k":5}')
    return found


def extra(value: Scalar) -> dict[str, Any]:
    """A JSON object that joins a request; it is part of the model's name, and so no place for a secret."""
    found = json_object(value)
    if secret := _secret_in(found):
        raise ValueError(f"has {secret!r} in it: {_WAY_OUT}")
    return found


def _secret_in(values: Mapping[str, Any]) -> str | None:
    """The name of a value that is a secret by its name."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            if inner := _secret_in(value):
                return inner
        elif isinstance(value, str) and _SECRET.search(name):
            return str(name)
    return None


def read(name: ModelName, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """The parameters of a name, read. Raises `FairnessError` for one that is unknown or out of range."""
    found: dict[str, Any] = {}
    for key, value in name.parameters.items():
        where = f"model {name.provider}:{name.name}"
        if "key" in key.split("_") and key not in kinds:
            raise FairnessError(f"{where}: {key!r} is no parameter: keys come from the environment only")
        if key not in kinds:
            raise FairnessError(f"{where} knows no parameter {key!r}; {near(key, kinds)}")
        if isinstance(value, str) and redacted(value) != without_credentials(value):
            raise FairnessError(f"{where}: parameter {key} holds what looks like a secret: {_WAY_OUT}")
        try:
            found[key] = kinds[key](value)
        except ValueError as error:
            shown = "" if key == "extra" else f" is {value!r}: it"
            raise FairnessError(f"{where}: parameter {key}{shown} {error}") from None
    return found


def _within(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" between {low:g} and {high:g}"
    if low is not None:
        return f" from {low:g} up"
    return "" if high is None else f" up to {high:g}"
