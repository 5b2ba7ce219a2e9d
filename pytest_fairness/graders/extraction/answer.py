"""The answer that a text states: the places where one is given, weighed against each other.

Places rank: one made for an answer (JSON, tags), a header ("Answer: B") or a first line that is nothing else,
a statement ("the answer is B", "Therefore, B", a last line), emphasis, "but B", and last a short text that
merely names one option. Within a rank the last counts if the text says that it moves on; two that differ
without that are torn, and nothing is read.
"""

from __future__ import annotations

from typing import Any

from pytest_fairness.graders.extraction import patterns
from pytest_fairness.graders.extraction.final_statement import NOTHING, ExtractedAnswer, read_final, verdict
from pytest_fairness.graders.extraction.languages import is_surely_english
from pytest_fairness.graders.extraction.normalization import as_text, level, plain, structured
from pytest_fairness.graders.extraction.segments import (
    SHORT,
    begins_sentence,
    clause_before,
    is_asked,
    is_denied,
    is_weighed,
    last_ones,
    sentences_of,
)
from pytest_fairness.graders.extraction.spans import headers, is_list, mentions, own_lines, statements, values_of
from pytest_fairness.graders.extraction.vocabulary import Match, Names

_MOST = 50
"""The number of names that are read where no statement is found."""


def read(text: str, words: Names) -> ExtractedAnswer:
    """Read the answer of a text without thinking blocks."""
    whole = words.exactly(plain(text))
    if whole and not words.doubts(text):
        return verdict(whole)
    return read_final(level(text), lambda part: _read_part(part, words), lambda part: values_of(mentions(part, words)))


def _read_part(levelled: str, words: Names) -> ExtractedAnswer | None:
    made_for_it = structured(levelled)
    if not made_for_it:
        return _read_prose(levelled, words)
    claims = [Match(_read_place(one.value, words).values, one.start, one.end) for one in made_for_it]
    return _resolve(claims, levelled)


def _read_place(value: Any, words: Names) -> ExtractedAnswer:
    text = as_text(value)
    whole = words.exactly(plain(text))
    return verdict(whole) if whole else _read_prose(level(text), words) or NOTHING


def _read_prose(levelled: str, words: Names) -> ExtractedAnswer | None:
    levelled = patterns.PLEASANTRY.sub("", levelled)
    text = plain(levelled)
    # JSON without the answer that it should have was cut: what stands in it is reasoning.
    cut = patterns.OPEN_JSON.match(text) is not None
    reading = _read_claims(text, words, cut=cut) or _read_bold(levelled, words)
    if reading is None and not cut and not is_list(text, words):
        reading = _read_contrast(text, words) or _read_mentions(text, words)
    return reading


def _read_claims(text: str, words: Names, *, cut: bool) -> ExtractedAnswer | None:
    stated = list(statements(text, words, cut=cut))
    claims = list(headers(text, words, stated))
    if claims:  # what is stated after "Answer: B" must agree with it
        since = max(one.end for one in claims)
        later = [one for one in stated if one.start >= since and begins_sentence(text, one.start)]
        headed = _resolve(claims, text)
        differing = values_of(later) - headed.values
        return verdict(headed.values | differing) if differing and headed.values else headed
    claims = [*stated, *own_lines(text, words, cut=cut)]
    if not claims:
        return None
    if words.unknown is None and patterns.TORN.search(text, max(one.end for one in claims)):
        return verdict(words.every)
    return _resolve(claims, text)


def _resolve(claims: list[Match], text: str) -> ExtractedAnswer:
    """Return the last claim, unless one before it differs and nothing between them says that the text moved on."""
    claims = sorted(claims, key=lambda one: (one.end, one.start))
    last = claims[-1]
    differing = [one for one in claims if one.values != last.values]
    # Claims on one and the same words agree where one of them saw more of the words than the other.
    crossing = [one for one in differing if one.end > last.start]
    if any(not (one.values >= last.values or one.values <= last.values) for one in crossing):
        return verdict(last.values | values_of(crossing))
    earlier = [one for one in differing if one.end <= last.start]
    if earlier:
        since = max(0, max(one.end for one in earlier) - 2)  # with the full stop of a sentence
        if not patterns.CONCLUDES.search(text, since, last.end):
            return verdict(last.values | values_of(earlier))
    return verdict(last.values)


def _read_bold(levelled: str, words: Names) -> ExtractedAnswer | None:
    """Return the only option that stands in bold type."""
    values: frozenset[Any] = frozenset()
    for match in last_ones(patterns.BOLD, levelled):
        before = plain(levelled[max(0, match.start() - 120) : match.start()])
        if not patterns.NEGATED.search(clause_before(before, len(before))):
            values |= words.exactly(plain(match[2]))
    return verdict(values) if len(values) == 1 else None


def _read_contrast(text: str, words: Names) -> ExtractedAnswer | None:
    """Return what follows a doubt: "I cannot be sure, but B"."""
    options = [words.at(text, match.end()) for match in last_ones(patterns.BUT, text)]
    values = values_of(one for one in options if one and not patterns.IS_WRONG.match(text, one.end))
    return verdict(values) if values else None


def _read_mentions(text: str, words: Names) -> ExtractedAnswer | None:
    """Return the only option that a text names without denying it; in a long one, its last sentence must do so."""
    named = [one for one in mentions(text, words)[-_MOST:] if not is_asked(text, one)]
    if len(text) > SHORT and named and named[-1].start < sentences_of(text)[-1][0]:
        return None
    if not is_surely_english(text):
        named = [one for one in named if one.values == {words.unknown} or not is_weighed(text, one)]
    # "Not known" is no denial of itself, and hardly ever denied.
    named = [one for one in named if one.values == {words.unknown} or not is_denied(text, one)]
    values = values_of(named)
    if len(values) > 1 and words.unknown in values:
        values = _known_or_not(text, named, words.unknown)
    return verdict(values)._replace(certain=False) if values else None


def _known_or_not(text: str, named: list[Match], unknown: Any) -> frozenset[Any]:
    """Return what is named after "it cannot be known, but ..."; nothing for "both ran, it cannot be known"."""
    last_unknown = max(one.end for one in named if unknown in one.values)
    after = [one for one in named if one.start >= last_unknown]
    if after and patterns.CONTRAST.search(text, last_unknown, after[0].start):
        return values_of(after)
    start, _ = sentences_of(text)[-1]
    closing = [one for one in named if one.start >= start]
    return frozenset({unknown}) if closing and values_of(closing) == {unknown} else values_of(named)
