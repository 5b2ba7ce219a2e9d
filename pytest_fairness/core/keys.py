"""Keys of attempts and grades in the store."""

from __future__ import annotations

from pytest_fairness.core.digests import canonical, digest
from pytest_fairness.core.items import Prompt

_GRADING = ("grade", "grade_item", "grade_batch")


def fingerprint_of(grader: object) -> str | None:
    """Return the fingerprint of a grader; None for one that its class inherits.

    A subclass may grade otherwise than its base: under one fingerprint their stored grades would be confused.

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
    """Return a canonical text of all that a grader can read of a prompt, except its messages; None without one."""
    try:
        return canonical([prompt.groups, prompt.metadata, prompt.slots, prompt.schema, *more])
    except (TypeError, ValueError, AttributeError, RecursionError):  # no canonical text, or a reference to itself
        return None


def grade_key(fingerprint: str | None, form: str | None) -> str | None:
    """Return the key of a stored grade, from `fingerprint_of` and `prompt_form`; None where it is not stored."""
    return None if fingerprint is None or form is None else digest(f"{fingerprint}\n{form}")


def attempt_key(model: str, prompt: str, repetition: int) -> str:
    """Return the key of an attempt in the store, from a model's key and a prompt's digest."""
    return digest(f"{model}\n{prompt}\n{repetition}")
