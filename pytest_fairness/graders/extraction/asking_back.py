"""Texts that ask back: they end with a question, and not with an offer of further help."""

from __future__ import annotations

import re

from pytest_fairness.core.lazy_patterns import caseless_pattern
from pytest_fairness.graders.extraction.normalization import strip_markup

_MARKS = r"?\uff1f\u061f"
"""Question marks, also the full-width and the Arabic one."""
_AT_END = re.compile(rf"([^.!{_MARKS}\n]{{0,400}})[{_MARKS}][\s\"'\u201d»)\]]*([^{_MARKS}]{{0,80}})\Z")
"""A question, with at most a short sentence behind it: "Thank you!"."""
_LONGEST = 1_000
"""The characters at the end that are searched."""
_OFFERS_MORE = caseless_pattern(
    r"\b(?:(?:any|some)thing (?:else|more)|(?:what|how) else|other questions|further (?:questions|help|assistance)"
    r"|sonst noch|noch (?:et)?was|weitere (?:fragen|hilfe)|weiter ?helfen|anderes"
    r"|autre chose|d['\u2019]autres questions|algo más|otra cosa|más preguntas"
    r"|altro|altre domande|iets anders|nog iets|verder helpen|başka bir|mais alguma coisa|outra coisa|coś jeszcze)"
)
"""The end of a talk, by which nothing is clarified."""


def asks_back(text: str) -> bool:
    """Return whether a text ends with a question that waits for an answer.

    It is read by punctuation, in any language that has a question mark; an offer of further help is known in nine. A
    question that the text goes on to answer does not count.

    >>> asks_back("Which bill do you mean?"), asks_back("Wie lautet Ihre Kundennummer? Vielen Dank!")
    (True, True)
    >>> asks_back("It is moved. Is there anything else I can do?"), asks_back("Why not? " + "You paid late. " * 9)
    (False, False)
    """
    match = _AT_END.search(strip_markup(text[-_LONGEST:]).strip())
    return match is not None and _OFFERS_MORE.search(match[1]) is None
