"""Errors: one class for each cause that callers handle differently."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

UngradedReason = Literal["refusal", "filter", "unparsed", "truncated", "tool_calls", "error", "misattributed"]
"""The reason that an attempt has no grade."""


class FairnessError(Exception):
    """Invalid input or a failed service, in one line: the value, the rule, the way out."""


class MisuseError(FairnessError, TypeError):
    """A value is used as one that it is not, as an estimate as a plain number, or a function is called wrongly."""


MisuseError.__module__ = "builtins"  # so that pytest's short summary begins with its words and not with our module


class NoSuchNameError(FairnessError, AttributeError):
    """A value has no such attribute: libraries ask for theirs by ``hasattr``."""


class NoSuchGradeError(KeyError):
    """An attempt has no grade of a name.

    Args:
        name: The name.
        grades: The names of its grades.

    >>> str(NoSuchGradeError("answr", ["answer"]))
    "there is no grade 'answr': did you mean 'answer'? Known: answer"
    """

    def __init__(self, name: object, grades: Iterable[str]) -> None:
        super().__init__(name, grades)

    def __str__(self) -> str:
        name, grades = self.args
        return f"there is no grade {short_repr(name)}: {did_you_mean(name, map(str, grades))}"


class StoreError(FairnessError):
    """The store cannot be read or written."""


class UngradedError(FairnessError):
    """The value of an ungraded attempt was read.

    A metric counts the attempt as ungraded. In a grader of items, the item is ungraded for the same ``reason``.

    Args:
        message: The message, in one line.
        reason: The reason why there is no value.
    """

    def __init__(self, message: str, reason: UngradedReason = "unparsed") -> None:
        super().__init__(message)
        self.reason: UngradedReason = reason


class ToolError(FairnessError):
    """A tool failed: a function in ``results`` of a conversation raises it, and the model gets its message."""


class ModelError(FairnessError):
    """A model did not answer; the subclass determines whether the request is sent again.

    Args:
        message: The message, in one line.
        kind: The kind under which such errors are counted: an HTTP status, or a word.
    """

    def __init__(self, message: str, *, kind: str = "failed") -> None:
        super().__init__(message)
        self.kind = kind


class TransientError(ModelError):
    """The request may succeed if it is sent again: a rate limit, a timeout, a server error.

    Args:
        message: The message, in one line.
        retry_after: The provider's own wait in seconds; None where it gave none.
        rate_limited: Whether the engine should send fewer requests at a time.
        unreachable: Whether there was no connection, or the server is no model.
        sent: Whether the request was sent without a known outcome, so that it may be billed.
        kind: The kind under which such errors are counted.
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
    """There is no answer to this prompt, however often it is sent: HTTP 400, for example."""


class FatalError(ModelError):
    """There is no answer of this model to any prompt: a missing key, HTTP 401, an unknown model name."""


class ForbiddenError(FatalError):
    """There is no answer to this prompt, or to any: HTTP 403, of a firewall or for a key, before the first answer."""


def install(extra: str) -> str:
    """Return the command that installs an extra of the package, from its folder.

    >>> install("prices")
    'pip install "./pytest-fairness[prices]"'
    """
    return f'pip install "./pytest-fairness[{extra}]"'


def did_you_mean(word: object, words: Iterable[str]) -> str:
    r"""Return the known words nearest to a mistyped one, as the end of an error message.

    Args:
        word: The mistyped word.
        words: The known words.

    >>> did_you_mean("opnai", ["openai", "anthropic"])
    "did you mean 'openai'? Known: anthropic, openai"
    >>> did_you_mean("F", ["f", "m"])
    "did you mean 'f'? Known: f, m"
    >>> print(did_you_mean("x", ["a\x1b]0;bell\x07"]))
    known: a\x1b]0;bell\x07
    """
    names = sorted(name if name.isprintable() else repr(name)[1:-1] for name in words)
    folded: dict[str, list[str]] = {}
    for name in names:  # Female is near to female, and F to f
        folded.setdefault(name.casefold(), []).append(name)
    typed = (word if isinstance(word, str) else short_repr(word)).casefold()
    matches = difflib.get_close_matches(typed, folded, n=3, cutoff=0.5)
    close = [name for match in matches for name in folded[match]][:3]
    known_names = ", ".join(names)
    if close:
        return f"did you mean {' or '.join(repr(name) for name in close)}? Known: {known_names}"
    return f"known: {known_names}" if names else "none is known"


def describe_error(error: BaseException) -> str:
    """Return an error of foreign code in one line: its type, its text, and the file and line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(text_of(error).split())}{where}"


def describe_missing(error: KeyError, names: Iterable[str]) -> str:
    """Return an error of foreign code that reads a name which is not there, with the names that are."""
    if isinstance(error, NoSuchGradeError):
        return str(error)
    return f"{describe_error(error)}: {did_you_mean(error.args[0] if error.args else '', names)}"


def short_repr(value: object, most: int = 60) -> str:
    """Return a value of foreign code in one line of at most ``most`` characters; its class may fail to give it.

    >>> short_repr("gender"), short_repr("  "), short_repr(range(1_000_000)), short_repr(b"\\n" * 40, 12)
    ("'gender'", "'  '", 'range(0, 1000000)', "b'\\\\n\\\\n\\\\n\\\\n\\\\n")
    """
    try:
        text = repr(value)
    except Exception as unprintable:  # noqa: BLE001 - a user's class may raise anything
        text = f"<{type(value).__name__}, whose repr raised {type(unprintable).__name__}>"
    return " ".join(line.strip() for line in text.splitlines())[:most]


def text_of(error: BaseException) -> str:
    """Return the text of an error of foreign code, whose class may fail to give it."""
    try:
        return str(error)
    except Exception as unprintable:  # noqa: BLE001 - a user's class may raise anything
        return f"(its text raised {type(unprintable).__name__})"
