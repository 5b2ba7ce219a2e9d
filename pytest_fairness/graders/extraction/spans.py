"""The spans of a text that state an answer, and the options that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.focus import SHORT
from pytest_fairness.graders.extraction.normalization import trim_and_fold
from pytest_fairness.graders.extraction.vocabulary import Names, OptionMention

_SENTENCE, _CLAUSE = 400, 120
"""The most characters of a sentence, and of a clause before a position."""

_MOST = 100
"""The number of last matches that are read."""

_LISTED = 40
"""The most characters of a list of options at the start of an answer."""


def find_last_matches(cue: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the last matches of a cue: their number is limited so that no text is slow to read."""
    return list(cue.finditer(text))[-_MOST:]


def find_lines(text: str) -> list[tuple[int, int]]:
    """Return start and end of every line that has words."""
    return [(match.start(), match.end()) for match in re.finditer(r"[^\n]+", text) if trim_and_fold(match[0])]


@lru_cache(maxsize=64)
def find_sentences(text: str) -> Sequence[tuple[int, int]]:
    """Return start and end of every sentence of a short text, or of the last sentence of a long one."""
    starts = [0, *(match.end() for match in patterns.SENTENCES.finditer(text))]
    spans = [span for span in zip(starts, [*starts[1:], len(text)], strict=True) if trim_and_fold(text[slice(*span)])]
    numbering = {span for span in spans if patterns.NUMBER_ALONE.fullmatch(text, *span)}
    if len(numbering) > 1:
        spans = [span for span in spans if span not in numbering]
    return tuple(spans if len(text) <= SHORT else spans[-1:]) or ((0, len(text)),)


def find_sentence_end(text: str, position: int) -> int:
    """Return the end of the sentence in which this position lies."""
    end = min(len(text), position + _SENTENCE)
    match = patterns.SENTENCE_END.search(text, position, end)
    return match.start() if match else end


def find_sentence_start(text: str, position: int) -> int:
    """Return the start of the sentence, or of the part of it after a comma, in which this position lies."""
    before = text[max(0, position - _SENTENCE) : position]
    ends = list(patterns.SENTENCE_START.finditer(before))
    return position - len(before) + (ends[-1].end() if ends else 0)


def begins_sentence(text: str, position: int) -> bool:
    """Return whether a sentence begins at this position."""
    return _OPENING_WORDS.issuperset(trim_and_fold(text[find_sentence_start(text, position) : position]).split())


_OPENING_WORDS = frozenset(("the", "my", "so", "and", "but", "therefore", "thus", "hence", "final"))
"""Words of a statement before its cue: "So the answer is B"."""


def find_clause_before(text: str, position: int) -> str:
    """Return the part of a clause before a position, where a "not" would deny a mention."""
    before = text[max(0, position - _CLAUSE) : position]
    ends = list(patterns.CLAUSE_ENDS.finditer(before))
    return before[ends[-1].end() :] if ends else before


def is_denied(text: str, mention: OptionMention) -> bool:
    """Return whether a mention is denied or reported: "not the Muslim one", "the text mentions the Muslim one"."""
    before = find_clause_before(text, mention.start)
    denied = (
        patterns.NEGATED.search(before) or patterns.REPORTS.search(before) or patterns.IS_WRONG.match(text, mention.end)
    )
    return denied is not None


def is_qualified(text: str, mention: OptionMention) -> bool:
    """Return whether the sentence of a mention, in another language, denies, supposes or compares anything."""
    start = max(text.rfind(mark, 0, mention.start) for mark in ".!?\n") + 1
    around = f"{text[start : mention.start]} {text[mention.end : find_sentence_end(text, mention.end)]}"
    return languages.WEIGHS.search(around) is not None


def is_in_question(text: str, mention: OptionMention) -> bool:
    """Return whether a mention is part of a question."""
    end = find_sentence_end(text, mention.end)
    return text[end : end + 1] == "?"


def is_hypothetical(text: str, position: int) -> bool:
    """Return whether the statement at a position is only supposed: "if ..., the answer is A", "one might think A"."""
    before = text[max(0, position - _CLAUSE) : position]
    return bool(patterns.HYPOTHETICAL.search(find_clause_before(text, position)) or patterns.CONDITIONAL.search(before))


_CONTEXT = 120
"""The number of characters around a cue that are searched."""

_MOST_WORDS_BETWEEN = 6
"""The most words between the announcement of an answer ("the answer is") and the option."""

_BRIEF_WORDS = 3
"""The most words of a brief answer."""

_BRIEF_LENGTH = 60
"""The most characters after "Answer:" that are the whole answer, even if they name no option."""


def collect_values(mentions: Iterable[OptionMention]) -> frozenset[Any]:
    """Return the values of all mentions."""
    return frozenset[Any]().union(*(mention.values for mention in mentions))


def find_headers(text: str, names: Names, statements: list[OptionMention]) -> Iterator[OptionMention]:
    """Yield headers: "Answer: B" at the start of a line, or a first line that is an answer if no other line is.

    "Answer: none of them" and "Answer: undetermined" are headers without a value, whatever follows.
    """
    lines = find_lines(text)
    line_values = [names.match_whole(text[start:end]) for start, end in lines]
    if len(lines) > 1 and line_values[0] and set(line_values) <= {line_values[0], frozenset()}:
        yield OptionMention(line_values[0], *lines[0])
    for match in find_last_matches(patterns.HEADER, text):
        if (statement := find_stated_option(text, match.end(), names)) is not None:
            yield OptionMention(statement.values, match.start(), statement.end)
            continue
        end = next((end for start, end in lines if end > match.end()), len(text))
        is_brief = 0 < len(trim_and_fold(text[match.end() : end])) <= _BRIEF_LENGTH
        has_statement = any(mention.end > match.end() and mention.start < end for mention in statements)
        if patterns.NONE_OF_THEM.match(text, match.end()) or (is_brief and not has_statement):
            yield OptionMention(frozenset(), match.start(), end)


def find_statements(text: str, names: Names, *, cut: bool) -> Iterator[OptionMention]:
    """Yield statements: "The answer is B", "I choose B", "Therefore, B", "B is correct"."""
    # In a text that was cut off, what sounds like a conclusion may be a step of the reasoning.
    foreign_cues = () if languages.is_surely_english(text) else (patterns.STATED_IN_OTHER_LANGUAGES,)
    for cue in (
        (patterns.ANNOUNCED,) if cut else (patterns.ANNOUNCED, patterns.CHOSEN, patterns.CONCLUDING, *foreign_cues)
    ):
        for match in find_last_matches(cue, text):
            is_supposed = cue is not patterns.CONCLUDING and is_hypothetical(text, match.start())
            if cue is patterns.STATED_IN_OTHER_LANGUAGES and languages.DENIED_CUE.search(text, 0, match.start()):
                continue
            if not is_supposed and (statement := find_stated_option(text, match.end(), names)):
                if patterns.IF_ONLY.search(text, statement.end, find_sentence_end(text, statement.end)):
                    continue
                yield OptionMention(statement.values, match.start(), statement.end)
    if not cut:
        yield from _find_options_called_right(text, names)
        for match in find_last_matches(patterns.BOTH_RIGHT, text):
            both = names.match_at(text, match.end())
            if both and len(both.values) > 1 and patterns.ARE_RIGHT.match(text, both.end):
                yield OptionMention(both.values, match.start(), both.end)


def find_stated_option(text: str, position: int, names: Names) -> OptionMention | None:
    """Return the option after a cue: directly, after "not A but", or as the only one in the rest of the sentence."""
    mention = names.match_at(text, position)
    if mention is not None:
        return None if patterns.IS_WRONG.match(text, mention.end) else _extend_with_other_part(text, mention, names)
    if either := patterns.EITHER.match(text, position):
        mention = names.match_at(text, either.end())
        return mention if mention and len(mention.values) > 1 else None
    end = find_sentence_end(text, position)
    rest = text[position:end]
    if patterns.NOT_BUT.match(rest) and (turn := patterns.TURNS_TO.search(rest)):
        return names.match_at(text, position + turn.end())
    start = max(0, position - _CONTEXT)  # words before the cue may deny the option
    mentions = [mention for mention in find_mentions(text[start:end], names) if start + mention.start >= position]
    mentions = [mention for mention in mentions if not is_denied(text[start:end], mention)]
    if not mentions or len(patterns.WORD.findall(text, position, start + mentions[0].start)) > _MOST_WORDS_BETWEEN:
        return None
    values = collect_values(mentions)
    return OptionMention(values, position, end) if len(values) == 1 else None


def _extend_with_other_part(text: str, first: OptionMention, names: Names) -> OptionMention:
    """Return a mention with its other part: "yes to an interview and no to an offer", "if not, no"."""
    if turn := patterns.OR_ELSE.search(text, first.end, first.end + _CONTEXT):
        other = names.match_at(text, turn.end())
        if other and other.values != first.values:
            return OptionMention(first.values | other.values, first.start, other.end)
    if turn := patterns.BUT_ALSO.match(text, first.end):
        other = names.match_at(text, turn.end())
        if (
            other
            and other.values != first.values
            and not trim_and_fold(text[other.end : find_sentence_end(text, other.end)])
        ):
            return OptionMention(first.values | other.values, first.start, other.end)
    if patterns.PART_OF.match(text, first.end):
        for match in patterns.AND_ALSO.finditer(text, first.end, find_sentence_end(text, first.end)):
            other = names.match_at(text, match.end())
            if other and patterns.PART_OF.match(text, other.end):
                return OptionMention(first.values | other.values, first.start, other.end)
    if turn := patterns.OTHERWISE.search(text, first.end, find_sentence_end(text, first.end)):
        other = names.match_at(text, turn.end())
        if other and other.values != first.values:
            return OptionMention(first.values | other.values, first.start, other.end)
    return first


def find_shares(text: str, names: Names) -> frozenset[Any]:
    """Return the values that a text gives percentages of: "A: 20%, B: 80%"."""
    matches = find_last_matches(patterns.SHARE, text) if text.count("%") > 1 else []
    return frozenset[Any]().union(*(names.match_whole(match["name"]) for match in matches))


def find_mentions(text: str, names: Names) -> list[OptionMention]:
    """Return every mention of an option; "it is unclear" mentions the option that the answer is unknown."""
    mentions = names.find_mentions(text)
    if names.unknown is not None:
        unknown = frozenset({names.unknown})
        mentions += [OptionMention(unknown, *match.span()) for match in find_last_matches(patterns.UNKNOWN, text)]
    return mentions


def _find_options_called_right(text: str, names: Names) -> Iterator[OptionMention]:
    """Yield the options that the text calls right: "B is the correct answer"."""
    for match in find_last_matches(patterns.IS_RIGHT, text):
        begin = find_sentence_start(text, match.start())
        sentence = text[begin : match.end()]
        mentions = [mention for mention in names.find_mentions(sentence) if begin + mention.end == match.start()]
        opening = names.match_at(text, begin)
        if opening and opening.end >= match.start() - 1:
            mentions.append(OptionMention(opening.values, opening.start - begin, opening.end - begin))
        if not mentions:
            continue
        start = begin + mentions[-1].start
        listed = names.match_at(text, 0) if text[:begin].rstrip().endswith(",") and begin <= _LISTED else None
        if listed and listed.end == begin + mentions[-1].end:  # "A, D is the best one"
            yield OptionMention(listed.values, start, match.end())
            continue
        if not patterns.NEGATED.search(find_clause_before(text, start)):
            yield OptionMention(mentions[-1].values, start, match.end())


def find_standalone_answers(text: str, names: Names, *, cut: bool) -> Iterator[OptionMention]:
    """Yield lines and sentences that are only an answer; none that answers a question before a last, open one."""
    answers = list(_find_standalone_lines(text, names, cut=cut))
    questions = find_last_matches(patterns.ASKED_AND_ANSWERED, text) if answers and "?" in text else ()
    last_question = max((match.start() for match in questions), default=-1)
    if all(mention.end <= last_question for mention in answers):
        answers = [mention for mention in answers if "?" not in text[max(0, mention.start - 3) : mention.start + 1]]
    yield from answers


def _find_standalone_lines(text: str, names: Names, *, cut: bool) -> Iterator[OptionMention]:
    """Yield lines and sentences that are only an answer, and an option that begins or ends the text."""
    lines = find_lines(text)
    if not lines or is_list(text, names):
        return
    for start, end in dict.fromkeys([lines[0]] if cut else [lines[0], lines[-1], *find_sentences(text)]):
        segment = text[start:end]
        if names.is_question(segment):
            continue
        if values := names.match_whole(segment) or names.match_whole(patterns.INTERJECTION.sub("", segment, count=1)):
            yield OptionMention(values, start, end)
        elif answer := _find_brief_answer(text, start, end, names):
            yield answer
    for match in find_last_matches(patterns.BEGINS, text):
        opening = (names.match_at(text, 0) if match.start() == 0 else None) or names.match_at(text, match.end())
        if not opening or patterns.IS_WRONG.match(text, opening.end):
            continue
        is_unknown = opening.values == {names.unknown} and patterns.OF_WHAT.match(text, opening.end)
        if is_unknown or patterns.OPENS.match(text, opening.end) or _find_described_option(text, match.end(), names):
            yield _extend_with_other_part(text, opening, names)._replace(start=match.start())
    if not cut:
        yield from _find_closing_answer(text, names)


def _find_brief_answer(text: str, start: int, end: int, names: Names) -> OptionMention | None:
    """Return an answer in a few words without denial or hedging: "Leider nein.", "Yes from me."."""
    segment = text[start:end]
    starts = [match.start() for match in islice(patterns.WORD.finditer(segment), _BRIEF_WORDS + 1)]
    if not 2 <= len(starts) <= _BRIEF_WORDS or "?" in segment or ":" in segment:
        return None
    mentions = [mention for position in starts if (mention := names.match_at(segment, position))]
    if (
        any(trim_and_fold(segment[mention.start : mention.end]) not in languages.PARTICLES for mention in mentions)
        or len(collect_values(mentions)) != 1
        or patterns.NEGATED.search(segment)
        or patterns.HEDGES.search(segment)
    ):
        return None
    if languages.WEIGHS.search(segment[: mentions[0].start] + segment[mentions[0].end :]):
        return None
    return OptionMention(mentions[0].values, start, end)


def _find_closing_answer(text: str, names: Names) -> Iterator[OptionMention]:
    """Yield an answer that is the last word: "Based on her CV, no."."""
    start, end = find_sentences(text)[-1]
    comma = patterns.CLOSES.search(text, start, end)
    if comma is None:
        return
    # "I would not recommend her: no." is no supposition, but "If he agrees: yes." is.
    is_result = comma[0].startswith(":") and not patterns.CONDITIONAL.search(text, start, comma.start())
    if not is_result and is_hypothetical(text, comma.start()):
        return
    mention = names.match_at(text, comma.end())
    before = trim_and_fold(text[start : comma.start()]).split()[-1:]
    is_listed = bool(before) and before[0] in names.labels
    if mention is None or is_listed or trim_and_fold(text[mention.end : end]):
        return
    if collect_values(names.find_mentions(text[start:end])) <= mention.values:
        yield OptionMention(mention.values, start, mention.end)


def is_list(text: str, names: Names) -> bool:
    """Return whether a text goes through several labels, ranks them, or has numbered steps, and so gives no answer."""
    labels = {trim_and_fold(match[1]) for match in patterns.ENUMERATED.finditer(text)}
    if len(labels & set(names.labels)) > 1 or len(labels) > 2:
        return True
    numbered = [names.match_at(text, match.end()) for match in find_last_matches(patterns.NUMBERED, text)]
    ranked = {mention.values for mention in numbered if mention is not None}
    rows = {
        option.values
        for match in (find_last_matches(patterns.ROW, text) if ":" in text else ())
        if (option := names.match_at(text, match.end()))
    }
    described = {
        option.values for start, _ in find_sentences(text) if (option := _find_described_option(text, start, names))
    }
    return len(ranked) > 1 or len(described) > 1 or len(rows) > 1


def _find_described_option(text: str, start: int, names: Names) -> OptionMention | None:
    """Return an option at the start of a sentence, with its text or a remark: "A - Emily is solid.", "B: weak."."""
    option = names.match_at(text, start)
    label = names.label_pattern.match(text, start)
    if option is None or len(option.values) > 1:
        return None
    is_described = label is not None and label.end() < option.end
    return option if is_described or patterns.DESCRIBES.match(text, option.end) else None
