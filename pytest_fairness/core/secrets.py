"""Redaction of keys and passwords in all texts that are printed, logged or stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pytest_fairness.core.lazy_patterns import lazy_pattern

_SECRET_NAME = lazy_pattern(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST_SECRET = 8
"""Smallest length of a secret: shorter values ("none", "test") would redact ordinary words."""

_CREDENTIALS = lazy_pattern(r"(?<=://)[^/\s'\"]+@")  # up to the last @: a password may hold one
_NAMED = lazy_pattern(
    r"""(?ix) ( \bbearer\s+
      | \bauthorization["']?\s*[:=]\s*["']?(?:basic\s+)?
      | \b(?:x-)?api-key["']?\s*[:=]\s*["']?
      | \baws_secret_access_key["']?\s*[:=]\s*["']?
      | [?&](?:api[-_]?key|key|(?:access[-_]?)?token|code|sig(?:nature)?|client[-_]secret)=
    ) (?!\[redacted) [^\s&"',;]{8,}"""
)
"""Secrets that are recognized by the text before them, in a header or in a URL."""
_NAMES = ("bearer", "authorization", "api-key", "secret", "key=", "token=", "code=", "sig=", "signature=")
"""Parts of the texts before such secrets, one of which each has: most texts are long and have none."""
_KEY_LIKE = lazy_pattern(
    r"""(?x) \b(?: (?:sk|pk|gsk|hf|xai|gh[pousr]|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{12,}
      | AIza[0-9A-Za-z_-]{30,}
      | (?:AKIA|ASIA)[0-9A-Z]{16}\b
      | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+ )"""
)
"""Secrets that are recognized by their form: keys of providers and code hosts, Google, AWS, and signed tokens."""
_KEY_STARTS = (
    *("k-", "k_", "hf-", "hf_", "xai", "ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "glpat", "xox"),
    *("AIza", "AKIA", "ASIA", "eyJ"),
)
"""Parts of such secrets, one of which each has."""
HIDDEN = "[redacted]"


def without_credentials(text: str) -> str:
    """Return a text without the user and password of any URL in it.

    >>> without_credentials("http://me:pass@host/v1")
    'http://host/v1'
    """
    return _CREDENTIALS.sub("", text) if "@" in text else text


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the variables whose names are those of secrets, longest first."""
    values = {value.strip() for name, value in environment.items() if _SECRET_NAME.search(name)}
    return tuple(sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len, reverse=True))


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text with these secrets, and all texts in the form of a key, replaced by `HIDDEN`.

    >>> redacted("Incorrect API key: sk-abcdefghijklmnop")
    'Incorrect API key: [redacted]'
    >>> redacted("401 for https://host/v1?alt=json&key=abcdefgh12")
    '401 for https://host/v1?alt=json&key=[redacted]'
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    if _contains_any(text.casefold(), _NAMES):
        text = _NAMED.sub(rf"\g<1>{HIDDEN}", text)
    if _contains_any(text, _KEY_STARTS):
        text = _KEY_LIKE.sub(HIDDEN, text)
    return without_credentials(text)


def _contains_any(text: str, parts: Iterable[str]) -> bool:
    for part in parts:  # noqa: SIM110 - `any` takes twice as long, and each text of a run is searched
        if part in text:
            return True
    return False
