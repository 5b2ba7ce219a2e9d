"""What tells one attempt from every other: who was asked what, for which time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b

from pytest_fairness.core.items import Message, Prompt


def digest(text: str) -> str:
    """A short stable fingerprint of a text (128 bits, hexadecimal).

    >>> digest("a") == digest("a") != digest("b")
    True
    """
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def grade_key(fingerprint: str, prompt: Prompt) -> str:
    """A grader's fingerprint on one prompt: what the prompt's metadata says can change a grade."""
    return digest(f"{fingerprint}\n{prompt.metadata!r}")


def prompt_digest(messages: Sequence[Message]) -> str:
    """The fingerprint of what is sent: roles and texts, nothing else."""
    return digest(json.dumps([[message["role"], message["content"]] for message in messages], ensure_ascii=False))


def attempt_key(model: str, prompt: str, repetition: int) -> str:
    """The key of an attempt in the store, from a model's key and a prompt's digest."""
    return digest(f"{model}\n{prompt}\n{repetition}")
