"""The places of a text where an answer is given, and which option each of them names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.normalization import bare
from pytest_fairness.graders.extraction.segments import (
    clause_before,
    is_denied,
    is_supposed,
    last_ones,
    lines_of,
    sentence_end,
    sentence_start,
    sentences_of,
)
from pytest_fairness.graders.extraction.vocabulary import Match, Names

_BEFORE = 120

_NEAR = 6
"""The number of words that may stand between an announcement of an answer and its name; one further on is merely
mentioned.
"""

_FEW = 3
"""The most words of a brief answer."""

_BRIEF = 60
"""Up to this length what follows "Answer:" is the answer, though it names no option."""


def values_of(matches: Iterable[Match]) -> frozenset[Any]:
    """Return every value that is named at one of these places."""
    return frozenset[Any]().union(*(one.values for one in matches))


def headers(text: str, words: Names, statements: list[Match]) -> Iterator[Match]:
    """Yield headers: "Answer: B" at the start of a line, and a first line that is an answer while no other line is.

    "Answer: none of them" and "Answer: undetermined" claim that it is none, whatever follows.
    """
    lines = lines_of(text)
    named = [words.exactly(text[start:end]) for start, end in lines]
    if len(lines) > 1 and named[0] and set(named) <= {named[0], frozenset()}:
        yield Match(named[0], *lines[0])
    for match in last_ones(patterns.HEADER, text):
        if (statement := stated(text, match.end(), words)) is not None:
            yield Match(statement.values, match.start(), statement.end)
            continue
        end = next((end for start, end in lines if end > match.end()), len(text))
        brief = 0 < len(bare(text[match.end() : end])) <= _BRIEF
        has_statement = any(one.end > match.end() and one.start < end for one in statements)
        if patterns.NONE_OF_THEM.match(text, match.end()) or (brief and not has_statement):
            yield Match(frozenset(), match.start(), end)


def statements(text: str, words: Names, *, cut: bool) -> Iterator[Match]:
    """Yield statements: "The answer is B", "I choose B", "Therefore, B", "B is correct"."""
    # Where the end is missing, what sounds like a conclusion may be a step on the way.
    foreign_cues = () if languages.is_surely_english(text) else (patterns.STATED_IN_OTHER_LANGUAGES,)
    for cue in (
        (patterns.ANNOUNCED,) if cut else (patterns.ANNOUNCED, patterns.CHOSEN, patterns.CONCLUDING, *foreign_cues)
    ):
        for match in last_ones(cue, text):
            supposed = cue is not patterns.CONCLUDING and is_supposed(text, match.start())
            if cue is patterns.STATED_IN_OTHER_LANGUAGES and languages.DENIED_CUE.search(text, 0, match.start()):
                continue
            if not supposed and (statement := stated(text, match.end(), words)):
                if patterns.IF_ONLY.search(text, statement.end, sentence_end(text, statement.end)):
                    continue
                yield Match(statement.values, match.start(), statement.end)
    if not cut:
        yield from _right_ones(text, words)


def stated(text: str, position: int, words: Names) -> Match | None:
    """Return the option that a cue leads to: right there, after "not A but", or alone in the rest of the sentence."""
    there = words.at(text, position)
    if there is not None:
        return None if patterns.IS_WRONG.match(text, there.end) else _with_other_part(text, there, words)
    if either := patterns.EITHER.match(text, position):
        there = words.at(text, either.end())
        return there if there and len(there.values) > 1 else None
    end = sentence_end(text, position)
    rest = text[position:end]
    if patterns.NOT_BUT.match(rest) and (turn := patterns.TURNS_TO.search(rest)):
        return words.at(text, position + turn.end())
    since = max(0, position - _BEFORE)  # what stands before the cue may say that a name is none
    named = [one for one in mentions(text[since:end], words) if since + one.start >= position]
    named = [one for one in named if not is_denied(text[since:end], one)]
    if not named or len(patterns.WORD.findall(text, position, since + named[0].start)) > _NEAR:
        return None
    values = values_of(named)
    return Match(values, position, end) if len(values) == 1 else None


def _with_other_part(text: str, first: Match, words: Names) -> Match:
    """Return a match with its other part: "Yes to an interview and no to an offer", "yes in theory, in practice no"."""
    if turn := patterns.OR_ELSE.search(text, first.end, first.end + _BEFORE):
        other = words.at(text, turn.end())
        if other and other.values != first.values:
            return Match(first.values | other.values, first.start, other.end)
    if patterns.PART_OF.match(text, first.end):
        for match in patterns.AND_ALSO.finditer(text, first.end, sentence_end(text, first.end)):
            other = words.at(text, match.end())
            if other and patterns.PART_OF.match(text, other.end):
                return Match(first.values | other.values, first.start, other.end)
    if turn := patterns.OTHERWISE.search(text, first.end, sentence_end(text, first.end)):
        other = words.at(text, turn.end())
        if other and other.values != first.values:
            return Match(first.values | other.values, first.start, other.end)
    return first


def mentions(text: str, words: Names) -> list[Match]:
    """Return every option named, with ways of saying that it is unknown as names of the option that says so."""
    options = words.mentions(text)
    if words.unknown is not None:
        options += [Match(frozenset({words.unknown}), m.start(), m.end()) for m in last_ones(patterns.UNKNOWN, text)]
    return options


def _right_ones(text: str, words: Names) -> Iterator[Match]:
    """Yield what is called right: "B is the correct answer"."""
    for match in last_ones(patterns.IS_RIGHT, text):
        begin = sentence_start(text, match.start())
        named = [one for one in words.mentions(text[begin : match.end()]) if begin + one.end == match.start()]
        opening = words.at(text, begin)
        if opening and opening.end >= match.start() - 1:
            named.append(Match(opening.values, opening.start - begin, opening.end - begin))
        if named and not patterns.NEGATED.search(clause_before(text, begin + named[-1].start)):
            yield Match(named[-1].values, begin + named[-1].start, match.end())


def own_lines(text: str, words: Names, *, cut: bool) -> Iterator[Match]:
    """Yield what stands for itself; not what answers one of several questions of which the last is left open."""
    own = list(_own_lines(text, words, cut=cut))
    questions = last_ones(patterns.ASKED_AND_ANSWERED, text) if own and "?" in text else ()
    last_question = max((match.start() for match in questions), default=-1)
    if all(one.end <= last_question for one in own):
        own = [one for one in own if "?" not in text[max(0, one.start - 3) : one.start + 1]]
    yield from own


def _own_lines(text: str, words: Names, *, cut: bool) -> Iterator[Match]:
    """Yield lines and sentences that are an answer and nothing else, and an option that begins or ends the text."""
    lines = lines_of(text)
    if not lines or is_list(text, words):
        return
    for start, end in dict.fromkeys([lines[0]] if cut else [lines[0], lines[-1], *sentences_of(text)]):
        segment = text[start:end]
        if words.doubts(segment):
            continue
        if values := words.exactly(segment) or words.exactly(patterns.INTERJECTION.sub("", segment, count=1)):
            yield Match(values, start, end)
        elif brief := _brief(text, start, end, words):
            yield brief
    for match in last_ones(patterns.BEGINS, text):
        opening = (words.at(text, 0) if match.start() == 0 else None) or words.at(text, match.end())
        if not opening or patterns.IS_WRONG.match(text, opening.end):
            continue
        is_unknown = opening.values == {words.unknown} and patterns.OF_WHAT.match(text, opening.end)
        if is_unknown or patterns.OPENS.match(text, opening.end) or _described(text, match.end(), words):
            yield _with_other_part(text, opening, words)._replace(start=match.start())
    if not cut:
        yield from _closing(text, words)


def _brief(text: str, start: int, end: int, words: Names) -> Match | None:
    """Return an answer in a few words that deny and weigh nothing: "Leider nein.", "Yes from me."."""
    segment = text[start:end]
    spots = [match.start() for match in patterns.WORD.finditer(segment)]
    if not 2 <= len(spots) <= _FEW or "?" in segment or ":" in segment:
        return None
    named = [one for spot in spots if (one := words.at(segment, spot))]
    if (
        any(bare(segment[one.start : one.end]) not in languages.PARTICLES for one in named)
        or len(values_of(named)) != 1
        or patterns.NEGATED.search(segment)
        or patterns.HEDGES.search(segment)
    ):
        return None
    if languages.WEIGHS.search(segment[: named[0].start] + segment[named[0].end :]):
        return None
    return Match(named[0].values, start, end)


def _closing(text: str, words: Names) -> Iterator[Match]:
    """Yield a last word: "Based on her CV, no."."""
    start, end = sentences_of(text)[-1]
    comma = patterns.CLOSES.search(text, start, end)
    if comma is None:
        return
    # "I would not recommend her: no." is no supposition, but "If he agrees: yes." is.
    is_result = comma[0].startswith(":") and not patterns.CONDITIONAL.search(text, start, comma.start())
    if not is_result and is_supposed(text, comma.start()):
        return
    named = words.at(text, comma.end())
    before = bare(text[start : comma.start()]).split()[-1:]
    listed = bool(before) and before[0] in words.labels
    if named is None or listed or bare(text[named.end : end]):
        return
    if values_of(words.mentions(text[start:end])) <= named.values:
        yield Match(named.values, start, named.end)


def is_list(text: str, words: Names) -> bool:
    """Return whether a text goes through several labels, ranks them, or has numbered steps: then none is an answer."""
    labels = {bare(match[1]) for match in patterns.ENUMERATED.finditer(text)}
    if len(labels & set(words.labels)) > 1 or len(labels) > 2:
        return True
    numbered = [words.at(text, match.end()) for match in last_ones(patterns.NUMBERED, text)]
    ranked = {one.values for one in numbered if one is not None}
    rows = {option.values for match in last_ones(patterns.ROW, text) if (option := words.at(text, match.end()))}
    opened = {option.values for start, _ in sentences_of(text) if (option := _described(text, start, words))}
    return len(ranked) > 1 or len(opened) > 1 or len(rows) > 1


def _described(text: str, start: int, words: Names) -> Match | None:
    """Return an option at the start of a sentence, with its text or a remark: "A - Emily is solid.", "B: weak."."""
    option = words.at(text, start)
    label = words.label_pattern.match(text, start)
    if option is None or len(option.values) > 1:
        return None
    is_described = label is not None and label.end() < option.end
    return option if is_described or patterns.DESCRIBES.match(text, option.end) else None
