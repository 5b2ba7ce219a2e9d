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
from pytest_fairness.graders.extraction.languages import is_surely_english
from pytest_fairness.graders.extraction.normalization import CJK

SHORT = 500
"""The most characters of a short text: all its sentences are read, and an option that it only mentions is its answer.
"""

_LONG = 800
"""The least characters of a text that is reduced: the search for its sentences takes time as well."""

_EDGE = 2
"""The number of sentences at the start and at the end that are always read."""

_LABEL = 16
"""The most characters of a sentence that may be a label, whose words are in the next one."""

_SLACK = 100
"""The number of characters by which what is left is longer than a short text: a scale may be removed from it."""

_STRUCTURES = ("{", "}", "[", "<", "|", "\\", "**", "__", "~~", "$", "->", "=>", "\u2192", "%")
"""Signs of structured answers, tables, forms, bold type and shares, which are read as a whole."""

_NO_LETTERS = dict.fromkeys(map(ord, "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~\u2014\u2026\u00a1\u00bf"), " ")
_SENTENCE_ENDS = re.compile(r"[.!?;\n](?:(?<=\n)|\s)\s*")
_HAS_CJK = lazy_pattern(rf"[{CJK}\u0600-\u06ff\u0900-\u097f\u0400-\u04ff]")
_MARKED_LINE = re.compile(r"^\W{0,9}\w{1,2}[).]|:", re.MULTILINE)
_ARTICLE_AS_LABEL = re.compile(
    r"\ba(?=\s{0,40}(?:$|\n)|[)\]}>\"';:!.,/]|\s{0,3}[\u2014(=&+-]|\s{1,3}(?:because|since|as|due|given|based|for|is|was"
    r"|would|seems|appears|but|and|or|over|from|here|with|rather|not|it|this|that|he|she|they|the|i|we|to|thanks)\b)"
)
"""The label A, which is the article elsewhere."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNKNOWN = "unanswerable"
"""A word for an answer that is unknown: the words of such answers are among those of the values."""
_VAGUE = _words("could possible impossible hard way does do not no without never nothing nobody leaves leave open")
_KNOWING = re.compile(
    r"determin|know|tell|infer|conclu|establish|specif|ascertain|identif|answer|decid|sa(?:y|id)|mention|stat|clarif|indicat"
    r"|show|reveal|informati|evidence|context|detail|data|clear|certain|sure|enough|open"
)
"""Words of which a statement that something is unknown has one, after "does not" and the like."""
_REACH = 120
_FILLER = "x" * 20
"""A word in the place of what is left out: too long to be a label."""

_CORRECTIONS = _words(
    "wait hold actually correction scratch strike sorry mistake bad edit update oops whoops reflection consideration"
    " inspection thought look reading readings looking re rereading rechecking rather correcting wrong misread"
    " misspoke misstated back revise reconsider rephrase change reconsidering changed revised corrected updated"
    " moment halt korrektur doch perd\u00f3n correcci\u00f3n pardon anzi correzione corre\u00e7\u00e3o correctie"
    " d\u00fczeltme korekta fix correct"
)
_CONCLUSIONS = _words(
    "therefore thus hence so final finally conclusion conclude ultimately overall instead but however"
)
_TORN = _words("undecided torn toss coin 50 fence way ways decide choose")


def focus(text: str, words: frozenset[str]) -> str:
    """Return a text without the middle sentences that have none of these words and correct or conclude nothing.

    What is left is still longer than a short text. The sentence before one with a word is kept, as it may announce it.

    Args:
        text: The text, with normalized characters.
        words: Every word that a value's name may begin or end with, in lower case; "0" stands for all numbers.
    """
    if len(text) < _LONG or any(map(text.__contains__, _STRUCTURES)) or not (text.isascii() or _is_read(text)):
        return text
    if _UNKNOWN in words and not is_surely_english(text):
        return text
    starts = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(text))]
    if starts[-1] == len(text):
        starts.pop()
    last = len(starts) - 1
    if last < 2 * _EDGE + 2:
        return text
    lowered = lower(text)
    present = set(lowered.translate(_NO_LETTERS).split())
    value_starts = _find_values(lowered, present, words)
    positions = [*value_starts, *(match.start() for match in _MARKED_LINE.finditer(text))]
    positions += [
        start
        for start in _find_words(lowered, present & _CORRECTIONS)
        if patterns.CORRECTS.search(text, max(0, start - 40), start + 60)
    ]
    if present & _TORN:
        positions += [match.start() for match in patterns.TORN.finditer(text)]
    if len(value_starts) > 1:
        positions += [match for match in _find_words(lowered, present & _CONCLUSIONS) if match > value_starts[0]]
    position = text.find("?")
    while position >= 0:
        positions += (position, position + 3)
        position = text.find("?", position + 1)
    kept = {*range(_EDGE), *range(last - _EDGE, last + 1)}
    for index in {bisect_right(starts, position) - 1 for position in positions}:
        start = starts[index]
        is_continued = text[max(0, start - 2) : start].rstrip()[-1:] not in (".", "!", "?")
        is_label = index < last and starts[index + 1] - start < _LABEL
        follows_label = index > 0 and start - starts[index - 1] < _LABEL
        kept |= {index, index - (is_continued or follows_label), index + is_label}
    if len(kept) > last - 2:
        return text
    return _leave_out(text, starts, kept)


def _is_read(text: str) -> bool:
    return _HAS_CJK.search(text) is None


def _find_values(lowered: str, present: set[str], words: frozenset[str]) -> list[int]:
    named = present & words
    if "0" in words:
        named |= {word for word in present if word.isdigit()}
    labels = [match.start() for match in _ARTICLE_AS_LABEL.finditer(lowered)] if "a" in named else []
    vague = named & _VAGUE if _UNKNOWN in words else set()
    unknown = [start for start in _find_words(lowered, vague) if _KNOWING.search(lowered, start, start + _REACH)]
    return sorted([*labels, *unknown, *_find_words(lowered, named - vague - {"a"})])


def _find_words(lowered: str, words: set[str]) -> list[int]:
    if not words:
        return []
    starts = (match.start() for match in _any_word(frozenset(words)).finditer(lowered))
    return [start for start in starts if not (start and _is_letter(lowered[start - 1]))]


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


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
    filler = "x" * max(len(_FILLER), SHORT + _SLACK - sum(map(len, parts)))
    parts[parts.index("")] = f"{filler}. "
    return "".join(part or f"{_FILLER}. " for part in parts)


@lru_cache(maxsize=256)
def _any_word(words: frozenset[str]) -> re.Pattern[str]:
    # A search for words without a border before them finds their first letters quickly.
    return re.compile(rf"(?:{'|'.join(map(re.escape, sorted(words)))})(?!\w)")
