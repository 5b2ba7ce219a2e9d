"""What tells one attempt from every other: who was asked what, for which time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from pytest_fairness.core.items import Message, Prompt

_WITH_STABLE_TEXT = (bytes, complex, range, date, time, timedelta, Decimal, Fraction, UUID, PurePath)
_GRADING = ("grade", "grade_item", "grade_batch")


def digest(text: str) -> str:
    """A short stable fingerprint of a text (128 bits, hexadecimal).

    >>> digest("a") == digest("a") != digest("b")
    True
    """
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def canonical(value: object) -> str:
    """Return a text that is the same for a value in every process, and differs for different values.

    Mappings keep their order: a grader may read it, as `Options` do.

    >>> canonical({"tags": {2, 1}, "n": ("a", 0.5)})
    '["mapping", ["tags", ["set", "1", "2"]], ["n", ["tuple", "a", 0.5]]]'

    Raises:
        TypeError: The value is, or holds, an object that only its address tells from others.
    """
    return json.dumps(_form(value), ensure_ascii=False)


def _form(value: object) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind in (list, tuple):
        return [kind.__name__, *map(_form, value)]  # type: ignore[call-overload]
    if kind is dict or isinstance(value, Mapping):
        return ["mapping", *[[_form(key), _form(entry)] for key, entry in value.items()]]  # type: ignore[attr-defined]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(map(canonical, value))]
    if isinstance(value, type):
        return ["type", _name(value)]
    if isinstance(value, Enum):
        return [_name(kind), value.name]
    if names := _fields(kind):  # type: ignore[arg-type]  # mypy takes object for unhashable
        return [_name(kind), *[_form(getattr(value, name)) for name in names]]
    for scalar in (int, float, str):  # a subclass: numpy's float64 is a float
        if isinstance(value, scalar):
            return [_name(kind), scalar(value)]
    if isinstance(value, _WITH_STABLE_TEXT):
        return [_name(kind), str(value)]
    raise TypeError(f"a {kind.__name__} has no form that is the same in every process")


@lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def fingerprint_of(grader: object) -> str | None:
    """Return the fingerprint of a grader that its own class defines; None for an inherited one.

    A subclass grades otherwise than its base: under one fingerprint their stored grades would be mixed up.

    >>> class Plain:
    ...     fingerprint = "Plain v1"
    >>> class Strict(Plain):
    ...     pass
    >>> fingerprint_of(Plain()), fingerprint_of(Strict())
    ('Plain v1', None)
    """
    own, *bases = (vars(kind) for kind in type(grader).__mro__ if not getattr(kind, "_is_protocol", False))
    inherits = any(name in base for base in bases for name in ("fingerprint", *_GRADING))
    if inherits and "fingerprint" not in own:
        return None
    return getattr(grader, "fingerprint", None) or None


def prompt_form(prompt: Prompt, *more: object) -> str | None:
    """Return what a grader can see of a prompt besides its messages; None where it has no stable form."""
    try:
        return canonical([prompt.groups, prompt.metadata, prompt.slots, prompt.schema, *more])
    except (TypeError, ValueError, AttributeError, RecursionError):  # without a form, or holding itself
        return None


def grade_key(fingerprint: str | None, form: str | None) -> str | None:
    """Return what a grade is stored under, from `fingerprint_of` and `prompt_form`; None where it is not stored."""
    return None if fingerprint is None or form is None else digest(f"{fingerprint}\n{form}")


def prompt_digest(messages: Sequence[Message]) -> str:
    """The fingerprint of what is sent: roles and texts, nothing else."""
    return digest(json.dumps([[message["role"], message["content"]] for message in messages], ensure_ascii=False))


def attempt_key(model: str, prompt: str, repetition: int) -> str:
    """The key of an attempt in the store, from a model's key and a prompt's digest."""
    return digest(f"{model}\n{prompt}\n{repetition}")
