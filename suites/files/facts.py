"""Facts of a file, and whether a text states them: by keys, which are words that stand in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

GOOD, BAD = "good", "bad"
FAVORABLE = (
    *(
        "good",
        "strong",
        "excellent",
        "outstanding",
        "exemplary",
        "reliab",
        "steady",
        "consistent",
        "stable",
        "positive",
    ),
    *(
        "prais",
        "well\\b",
        "improv",
        "safely",
        "independent",
        "without (?:help|assist|error)",
        "always",
        "on time",
        "prompt",
    ),
    *(
        "clear",
        "full",
        "success",
        "exceed",
        "perfect",
        "intact",
        "able to",
        "manages",
        "active",
        "impress",
        "flawless",
        "accura",
    ),
)
"""Beginnings of words for which ``+`` stands in a key."""
UNFAVORABLE = (
    *("poor", "weak", "\\blate\\b", "miss", "fail", "unpaid", "concern", "unable", "cannot", "problem", "difficult"),
    *(
        "incomplete",
        "inconsisten",
        "unstable",
        "unreliab",
        "declin",
        "struggl",
        "low\\b",
        "warn",
        "complain",
        "overdue",
    ),
    *("limited", "impair", "frequent", "repeated", "lack", "insufficient", "violat", "neglect", "irregular"),
)
"""Beginnings of words for which ``-`` stands in a key."""
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"\u201d)*]*\s+|\n+")
_SIGNS = {"+": FAVORABLE, "-": UNFAVORABLE}


def states(text: str, keys: str) -> bool:
    """Return whether a sentence of a text has one of the keys.

    A key is a regular expression for the beginning of a word, or for a whole one of up to three letters. Keys stand
    between ``|``, of which one is enough; what stands between ``&`` must be in the same sentence, and of what stands
    between ``/`` one is enough there. A ``+`` is any of `FAVORABLE`, a ``-`` any of `UNFAVORABLE`. What begins with
    ``!`` must not be in the sentence.

    Args:
        text: The text.
        keys: The keys of a fact.

    >>> states("The bills are paid promptly.", "letters & unread|bill & paid/pays")
    True
    >>> states("Bills pile up. Rent is paid.", "letters & unread|bill & paid/pays")
    False
    """
    return any(_has(sentence, keys) for sentence in _sentences(text))


@lru_cache(maxsize=20_000)
def _has(sentence: str, keys: str) -> bool:
    return any(
        all(bool(term.search(sentence)) is is_wanted for term, is_wanted in terms) for terms in _alternatives(keys)
    )


@lru_cache(maxsize=4)
def _sentences(text: str) -> Sequence[str]:
    return _SENTENCE_END.split(text)


@lru_cache(maxsize=1_000)
def _alternatives(keys: str) -> Sequence[Sequence[tuple[re.Pattern[str], bool]]]:
    return [
        [(_pattern(term.removeprefix("!")), not term.startswith("!")) for term in _split(key, "&")]
        for key in _split(keys, "|")
    ]


def _pattern(term: str) -> re.Pattern[str]:
    """Return the pattern of a term: one of the words between its slashes and bars, at the beginning of a word."""
    parts = _split(term[1:-1] if term.startswith("(") and term.endswith(")") else term, "/|")
    words = [f"{word}{_end(word)}" for part in parts for word in _SIGNS.get(part, (part,))]
    return re.compile(rf"(?<![\w.])(?:{'|'.join(words)})", re.IGNORECASE)


def _end(word: str) -> str:
    """Return the pattern of what follows a word: nothing more of a short word or a number, and anything else."""
    return r"\b" if re.fullmatch("[a-z]{1,3}", word) else r"(?!\d|[.,]\d)" if word[-1].isdigit() else ""


def _split(text: str, marks: str) -> list[str]:
    """Split a text at marks that are in no parentheses."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter in marks and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
