"""Highlighting of the words in which two texts differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup, escape

from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.report.escaping import escape_controls

_WORDS = lazy_pattern(r"\s+|[^\W_]+(?:['\u2019][^\W_]+)*|.", re.DOTALL)
MOST_WORDS = 4_000
"""The most words of a text; comparing longer ones takes seconds."""


def highlight_diff(first: str, second: str) -> tuple[Markup, Markup]:
    """Return both texts as HTML, with words that differ in ``<mark>``.

    >>> print(*highlight_diff("Should Anna be hired?", "Should Paul be hired?"), sep="\\n")
    Should <mark>Anna</mark> be hired?
    Should <mark>Paul</mark> be hired?
    """
    first, second = (escape_controls(text, lines=True) for text in (first, second))
    words, others = _WORDS.findall(first), _WORDS.findall(second)
    if first == second or max(len(words), len(others)) > MOST_WORDS:
        return escape(first), escape(second)
    ours, theirs = [], []
    for kind, start, end, other_start, other_end in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        is_equal = kind == "equal"
        ours.append(_shown("".join(words[start:end]), is_equal=is_equal))
        theirs.append(_shown("".join(others[other_start:other_end]), is_equal=is_equal))
    return Markup("").join(ours), Markup("").join(theirs)


def _shown(text: str, *, is_equal: bool) -> Markup:
    return escape(text) if is_equal or not text.strip() else Markup("<mark>{}</mark>").format(text)
