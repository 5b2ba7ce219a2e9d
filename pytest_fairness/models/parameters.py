"""Parameters of a model's name: readers of their kinds, which check them before the first request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_fairness.core import field_readers
from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.field_readers import choice as choice
from pytest_fairness.core.field_readers import number as number
from pytest_fairness.core.secrets import redacted, without_credentials
from pytest_fairness.core.serialization import RecordContext, read_fields
from pytest_fairness.models.names import ModelName, Scalar

_WAY_OUT = "a secret belongs into a variable, named by key_env or headers_env"
_SECRET = re.compile(
    r"(?:^|[-_])(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|credentials?|auth(?:orization)?)$|^key$",
    re.IGNORECASE,
)

Kind = Callable[[Scalar], Any]
"""A function that reads one value, and raises ValueError with the broken rule, as those of `field_readers` do."""


def whole(low: int | None = None, high: int | None = None) -> Kind:
    """Return the kind of whole numbers within bounds, both included; 20.0 is one."""
    read = field_readers.whole(low, high)
    return lambda value: read(int(value) if isinstance(value, float) and value.is_integer() else value)


def text(value: Scalar) -> str:
    """Return a text; a number is written as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def flag(value: Scalar) -> bool:
    """Return a truth value."""
    if value not in (True, False, "true", "false") or isinstance(value, int | float) != isinstance(value, bool):
        raise ValueError("it must be true or false")
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
        raise ValueError('it must be a text, or a JSON list of texts such as ["a","b"]')
    return entries


def json_object(value: Scalar) -> dict[str, Any]:
    """Return a JSON object."""
    try:
        content = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ValueError('it must be a JSON object such as {"top_k":5}')
    return content


def extra(value: Scalar) -> dict[str, Any]:
    """Return a JSON object that is merged into requests; it must hold no secret, since it is part of the name."""
    content = json_object(value)
    if secret := _secret_in(content):
        raise ValueError(f"it has {secret!r} in it: {_WAY_OUT}")
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
    where = f"model {name.provider}:{name.name}"
    for key, value in name.parameters.items():
        if "key" in key.split("_") and key not in kinds:
            raise FairnessError(f"{where}: {key!r} is no parameter: keys come from the environment only")
        if key in kinds and isinstance(value, str) and redacted(value) != without_credentials(value):
            raise FairnessError(f"{where}: parameter {key} holds what looks like a secret: {_WAY_OUT}")
    context = RecordContext(where, f"{where}: parameter ", noun="parameter", hidden=frozenset({"extra"}))
    return read_fields(kinds, name.parameters, context)
