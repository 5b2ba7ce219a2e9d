"""The sentences of a long answer that can state a value; the others are not searched.

Most sentences of a long answer give reasons: they name no value, correct nothing and lead to no conclusion. They are
left out, so that the time that an answer takes depends on what it states, and hardly on its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from pytest_fairness.core.lazy_patterns import lazy_pattern, lower
from pytest_fairness.graders.extraction import patterns
from pytest_fairness.graders.extraction.normalization import CJK

SHORT = 500
"""The most characters of a short text: all its sentences are read, and an option that it only mentions is its answer.
"""

_LONG = 800
"""The least characters of a text that is reduced: the search for its sentences takes time as well."""

_EDGE = 2
"""The number of sentences at the start and at the end that are always read."""

_STRUCTURES = ("{", "}", "[", "<", "|", "\\", "**", "__", "~~", "$", "->", "=>", "\u2192", "%")
"""Signs of structured answers, tables, forms, bold type and shares, which are read as a whole."""

_WORDS = lazy_pattern(r"\w+")
_SENTENCE_ENDS = re.compile(r"[.!?;]\s+|\n+")
_HAS_CJK = lazy_pattern(rf"[{CJK}\u0600-\u06ff\u0900-\u097f\u0400-\u04ff]")
_MARKED_LINE = re.compile(r"^\W{0,9}\w{1,2}[).]|:", re.MULTILINE)
_ARTICLE_AS_LABEL = re.compile(
    r"\ba(?=\s{0,40}(?:$|\n)|[)\]}>\"';:!.,/]|\s{0,3}[\u2014(=&+-]|\s{1,3}(?:because|since|as|due|given|based|for|is|was"
    r"|would|seems|appears|but|and|or|over|from|here|with|rather|not|it|this|that|he|she|they|the|i|we|to|thanks)\b)"
)
"""The label A, which is the article elsewhere."""

_CORRECTIONS = frozenset(
    (
        "wait hold actually correction scratch strike sorry mistake bad edit update oops whoops reflection consideration"
        " inspection thought look reading readings looking re rereading rechecking rather correcting wrong misread"
        " misspoke misstated back revise reconsider rephrase change reconsidering changed revised corrected updated"
        " moment halt korrektur doch perd\u00f3n correcci\u00f3n pardon anzi correzione corre\u00e7\u00e3o correctie d\u00fczeltme"
        " korekta fix correct"
    ).split()
)
_CONCLUSIONS = frozenset(
    "therefore thus hence so final finally conclusion conclude ultimately overall instead but however".split()
)
_OPEN_ENDS = frozenset("undecided torn toss coin flip 50 fence either argue decide choose".split())


def focus(text: str, words: frozenset[str]) -> str:
    """Return a text without the middle sentences that have none of these words and correct or conclude nothing.

    What is left is still longer than a short text. The sentence before one with a word is kept, as it may announce it.

    Args:
        text: The text, with normalized characters.
        words: Every word that a value's name may begin or end with, in lower case; "0" stands for all numbers.
    """
    if len(text) < _LONG or any(map(text.__contains__, _STRUCTURES)) or not (text.isascii() or _is_read(text)):
        return text
    starts = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(text))]
    if starts[-1] == len(text):
        starts.pop()
    last = len(starts) - 1
    if last < 2 * _EDGE + 2:
        return text
    lowered = lower(text)
    found = _find_values(lowered, words)
    positions = [*found, *(match.start() for match in _MARKED_LINE.finditer(text))]
    present = set(_WORDS.findall(lowered))
    for match in _find_words(lowered, present & _CORRECTIONS):
        if patterns.CORRECTS.search(text, max(0, match - 40), match + 60):
            positions.append(match)
    positions += _find_words(lowered, present & _OPEN_ENDS)
    if len(found) > 1:
        positions += [match for match in _find_words(lowered, present & _CONCLUSIONS) if match > found[0]]
    position = text.find("?")
    while position >= 0:
        positions += (position, position + 3)
        position = text.find("?", position + 1)
    kept = {*range(_EDGE), *range(last - _EDGE, last + 1)}
    for index in {bisect_right(starts, position) - 1 for position in positions}:
        kept |= {index - 1, index}
    if len(kept) > last - 2:
        return text
    return _leave_out(text, starts, kept)


def _is_read(text: str) -> bool:
    return _HAS_CJK.search(text) is None


def _find_values(lowered: str, words: frozenset[str]) -> list[int]:
    present = set(_WORDS.findall(lowered)) & words
    if "0" in words:
        present |= {word for word in set(_WORDS.findall(lowered)) if word.isdigit()}
    labels = [match.start() for match in _ARTICLE_AS_LABEL.finditer(lowered)] if "a" in present else []
    return sorted([*labels, *_find_words(lowered, present - {"a"})])


def _find_words(lowered: str, words: set[str]) -> list[int]:
    return [match.start() for match in _any_word(frozenset(words)).finditer(lowered)] if words else []


def _leave_out(text: str, starts: list[int], kept: set[int]) -> str:
    """Return a text with one word in the place of each row of sentences that is not kept."""
    parts: list[str] = []
    is_left_out = False
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        if index in kept:
            parts.append(text[start:end])
        elif not is_left_out:
            parts.append("")
        is_left_out = index not in kept
    filler = "x" * max(8, SHORT + 1 - sum(map(len, parts)))
    parts[parts.index("")] = f"{filler}. "
    return "".join(part or "xxxxxxxx. " for part in parts)


@lru_cache(maxsize=256)
def _any_word(words: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})\b")
