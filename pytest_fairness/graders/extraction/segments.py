"""Segments of a text: lines, sentences, clauses, and what they do to a name in them."""

from __future__ import annotations

import re

from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.normalization import bare
from pytest_fairness.graders.extraction.vocabulary import Match

SHORT = 500
"""Up to this length every sentence of a text is looked at, and one option merely named is taken to be chosen;
in a longer text that may be chance."""

_SENTENCE, _CLAUSE = 400, 120
"""The distances over which a sentence is followed forwards, and looked back on."""

_MOST = 100


def last_ones(cue: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the last matches of a cue only: enough for any answer and never slow."""
    return list(cue.finditer(text))[-_MOST:]


def lines_of(text: str) -> list[tuple[int, int]]:
    """Return start and end of every line that has words."""
    return [(match.start(), match.end()) for match in re.finditer(r"[^\n]+", text) if bare(match[0])]


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence of a short text, of the last one of a long one."""
    starts = [0, *(match.end() for match in patterns.SENTENCES.finditer(text))]
    spans = [span for span in zip(starts, [*starts[1:], len(text)], strict=True) if bare(text[slice(*span)])]
    numbering = {span for span in spans if patterns.NUMBER_ALONE.fullmatch(text, *span)}
    if len(numbering) > 1:
        spans = [span for span in spans if span not in numbering]
    return (spans if len(text) <= SHORT else spans[-1:]) or [(0, len(text))]


def sentence_end(text: str, position: int) -> int:
    """Return the end of the sentence in which this position lies."""
    end = min(len(text), position + _SENTENCE)
    match = patterns.SENTENCE_END.search(text, position, end)
    return match.start() if match else end


def sentence_start(text: str, position: int) -> int:
    """Return the start of the sentence, or of the part of it after a comma, in which this position lies."""
    before = text[max(0, position - _SENTENCE) : position]
    ends = list(patterns.SENTENCE_START.finditer(before))
    return position - len(before) + (ends[-1].end() if ends else 0)


def begins_sentence(text: str, position: int) -> bool:
    """Return whether nothing but a joint such as "So" stands between the last sentence and this place."""
    return not bare(text[sentence_start(text, position) : position])


def clause_before(text: str, position: int) -> str:
    """Return what stands before a name in its own clause, where a "not" would deny it."""
    before = text[max(0, position - _CLAUSE) : position]
    ends = list(patterns.CLAUSE_ENDS.finditer(before))
    return before[ends[-1].end() :] if ends else before


def is_denied(text: str, mention: Match) -> bool:
    """Return whether a name is denied, or only reported: "not the Muslim one", "the text mentions the Muslim one"."""
    before = clause_before(text, mention.start)
    denied = (
        patterns.NEGATED.search(before) or patterns.REPORTS.search(before) or patterns.IS_WRONG.match(text, mention.end)
    )
    return denied is not None


def is_weighed(text: str, mention: Match) -> bool:
    """Return whether the sentence of a name, in another language, denies, supposes or weighs anything."""
    begin = max(text.rfind(mark, 0, mention.start) for mark in ".!?\n") + 1
    around = f"{text[begin : mention.start]} {text[mention.end : sentence_end(text, mention.end)]}"
    return languages.WEIGHS.search(around) is not None


def is_asked(text: str, mention: Match) -> bool:
    """Return whether a name stands in a question."""
    end = sentence_end(text, mention.end)
    return text[end : end + 1] == "?"


def is_supposed(text: str, position: int) -> bool:
    """Return whether what is stated here is only supposed: "if ..., the answer is A", "one might think that it is
    A".
    """
    before = text[max(0, position - _CLAUSE) : position]
    return bool(patterns.HYPOTHETICAL.search(clause_before(text, position)) or patterns.CONDITIONAL.search(before))
