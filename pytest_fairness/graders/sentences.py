"""Where things stand in a text: lines, sentences, clauses, and what they do to a name in them."""

from __future__ import annotations

import re

from pytest_fairness.graders import cues, languages
from pytest_fairness.graders.reading import bare
from pytest_fairness.graders.vocabulary import Found

SHORT = 500
"""Up to this length every sentence of a text is looked at, and one option merely named is taken to be chosen;
in a longer text that may be chance."""

_SENTENCE, _CLAUSE = 400, 120
"""How far a sentence is followed forwards, and looked back on."""

_MOST = 100


def last_ones(cue: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Where a cue stands: the last places only, enough for any answer and never slow."""
    return list(cue.finditer(text))[-_MOST:]


def lines_of(text: str) -> list[tuple[int, int]]:
    """Start and end of every line that says something."""
    return [(match.start(), match.end()) for match in re.finditer(r"[^\n]+", text) if bare(match[0])]


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence of a short text, of the last one of a long one."""
    starts = [0, *(match.end() for match in cues.SENTENCES.finditer(text))]
    places = [place for place in zip(starts, [*starts[1:], len(text)], strict=True) if bare(text[slice(*place)])]
    numbering = {place for place in places if cues.NUMBER_ALONE.fullmatch(text, *place)}
    if len(numbering) > 1:
        places = [place for place in places if place not in numbering]
    return (places if len(text) <= SHORT else places[-1:]) or [(0, len(text))]


def sentence_end(text: str, position: int) -> int:
    """Where the sentence ends in which this position lies."""
    end = min(len(text), position + _SENTENCE)
    match = cues.SENTENCE_END.search(text, position, end)
    return match.start() if match else end


def sentence_start(text: str, position: int) -> int:
    """Where the sentence, or the part of it after a comma, begins in which this position lies."""
    before = text[max(0, position - _SENTENCE) : position]
    ends = list(cues.SENTENCE_START.finditer(before))
    return position - len(before) + (ends[-1].end() if ends else 0)


def begins_sentence(text: str, position: int) -> bool:
    """Whether nothing but a joint such as "So" stands between the last sentence and this place."""
    return not bare(text[sentence_start(text, position) : position])


def clause_before(text: str, position: int) -> str:
    """What stands before a name in its own clause, where a "not" would deny it."""
    before = text[max(0, position - _CLAUSE) : position]
    ends = list(cues.CLAUSE_ENDS.finditer(before))
    return before[ends[-1].end() :] if ends else before


def is_denied(text: str, found: Found) -> bool:
    """Whether a name is denied, or only reported: "not the Muslim one", "the text mentions the Muslim one"."""
    before = clause_before(text, found.start)
    denied = cues.NEGATED.search(before) or cues.REPORTS.search(before) or cues.IS_WRONG.match(text, found.end)
    return denied is not None


def is_weighed(text: str, found: Found) -> bool:
    """Whether the sentence of a name, in another language, denies, supposes or weighs anything."""
    begin = max(text.rfind(mark, 0, found.start) for mark in ".!?\n") + 1
    around = f"{text[begin : found.start]} {text[found.end : sentence_end(text, found.end)]}"
    return languages.WEIGHS.search(around) is not None


def is_asked(text: str, found: Found) -> bool:
    """Whether a name stands in a question."""
    end = sentence_end(text, found.end)
    return text[end : end + 1] == "?"


def is_supposed(text: str, position: int) -> bool:
    """Whether what is stated here is only supposed: "if ..., the answer is A", "one might think that it is A"."""
    before = text[max(0, position - _CLAUSE) : position]
    return bool(cues.HYPOTHETICAL.search(clause_before(text, position)) or cues.CONDITIONAL.search(before))
