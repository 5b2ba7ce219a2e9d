"""Keeps keys and passwords out of every text that is shown, logged or stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_LEAST = 8
"""Shorter values ("none", "test") are no secrets, and would blank out ordinary words."""

_CREDENTIALS = re.compile(r"(?<=://)[^/\s'\"]+@")  # up to the last @: a password may hold one
_BEARER = re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{8,}")
_KEY_LIKE = re.compile(r"\b(sk|pk|gsk|hf|xai|AIza)[-_][A-Za-z0-9_-]{12,}")
HIDDEN = "[redacted]"


def without_credentials(text: str) -> str:
    """The text with the user and password of every URL in it taken out.

    >>> without_credentials("http://me:pass@host/v1")
    'http://host/v1'
    """
    return _CREDENTIALS.sub("", text) if "@" in text else text


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables whose names say that they are secret, longest first."""
    found = {v for k, v in environment.items() if _SECRET_NAME.search(k) and len(v) >= _LEAST}
    return tuple(sorted(found, key=len, reverse=True))


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, nor anything else that looks like a key.

    >>> redacted("Incorrect API key: sk-abcdefghijklmnop")
    'Incorrect API key: [redacted]'
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    text = _BEARER.sub(rf"\g<1>{HIDDEN}", text)
    return without_credentials(_KEY_LIKE.sub(HIDDEN, text))
