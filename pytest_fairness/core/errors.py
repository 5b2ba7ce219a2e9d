"""Errors: one class per cause that a caller treats differently."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

UngradedReason = Literal["refusal", "filter", "unparsed", "truncated", "tool_calls", "error"]
"""The reason that an attempt has no grade."""


class FairnessError(Exception):
    """Bad input or a failed service, reported in one line: the value, the rule, the way out."""


class StoreError(FairnessError):
    """The store cannot be read or written."""


class UngradedError(FairnessError):
    """Raised when the value of an ungraded attempt is asked for.

    A metric counts it as ungraded; of a grader over an item, it leaves the item ungraded for the same ``reason``.
    """

    def __init__(self, message: str, reason: UngradedReason = "unparsed") -> None:
        super().__init__(message)
        self.reason: UngradedReason = reason


class ModelError(FairnessError):
    """A model did not answer. Subclasses say whether asking again can help.

    Raised by a model's ``answer``; the engine catches it. ``kind`` is what such errors are counted under: an HTTP
    status, or a word.
    """

    def __init__(self, message: str, *, kind: str = "failed") -> None:
        super().__init__(message)
        self.kind = kind


class TransientError(ModelError):
    """Asking again may help: a rate limit, a timeout, a server error.

    ``retry_after`` is the provider's own wait in seconds, where it gave one;
    ``rate_limited`` asks the engine to send fewer requests at a time;
    ``unreachable`` says that no connection could be made at all, or what answers is no model;
    ``sent`` that the request has left and its end is not known, so that it may be billed.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        rate_limited: bool = False,
        unreachable: bool = False,
        sent: bool = False,
        kind: str = "failed",
    ) -> None:
        super().__init__(message, kind=kind)
        self.retry_after = retry_after
        self.rate_limited = rate_limited
        self.unreachable = unreachable
        self.sent = sent


class PermanentError(ModelError):
    """This prompt will not be answered however often it is asked (HTTP 400, say)."""


class FatalError(ModelError):
    """No prompt will be answered by this model: a missing key, 401, an unknown model name."""


def install(extra: str) -> str:
    """Return the command that installs an extra. The package is on no index: it is installed from its folder.

    >>> install("prices")
    'pip install "./pytest-fairness[prices]"'
    """
    return f'pip install "./pytest-fairness[{extra}]"'


def did_you_mean(word: object, words: Iterable[str]) -> str:
    r"""Name the known words nearest to a mistyped one, as the end of an error message.

    >>> did_you_mean("opnai", ["openai", "anthropic"])
    "did you mean 'openai'? Known: anthropic, openai"
    >>> print(did_you_mean("x", ["a\x1b]0;bell\x07"]))
    Known: a\x1b]0;bell\x07
    """
    names = sorted(name if name.isprintable() else repr(name)[1:-1] for name in words)
    close = difflib.get_close_matches(str(word), names, n=3, cutoff=0.5)
    known_names = f"Known: {', '.join(names)}" if names else "None is known"
    if not close:
        return known_names
    return f"did you mean {' or '.join(repr(name) for name in close)}? {known_names}"
