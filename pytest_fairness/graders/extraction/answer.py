"""Extraction of the answer from a text that may name several options.

Claims rank by their form: a structured answer (JSON, tags), a header ("Answer: B") or a first line that is nothing
else, a statement ("the answer is B", "Therefore, B", a last line), bold type, "but B", and last a short text that
merely names one option. Within a rank the last claim counts if words such as "therefore" lead to it; two claims that
differ without such words contradict each other, and no answer is extracted.
"""

from __future__ import annotations

from typing import Any

from pytest_fairness.graders.extraction import patterns
from pytest_fairness.graders.extraction.final_statement import NO_ANSWER, ExtractedAnswer, extract_final_answer
from pytest_fairness.graders.extraction.focus import SHORT, focus
from pytest_fairness.graders.extraction.languages import is_surely_english
from pytest_fairness.graders.extraction.normalization import (
    as_text,
    find_objects_without_answer,
    find_structured_answers,
    normalize_characters,
    strip_markup,
)
from pytest_fairness.graders.extraction.spans import (
    begins_sentence,
    collect_values,
    find_clause_before,
    find_headers,
    find_last_matches,
    find_mentions,
    find_sentences,
    find_shares,
    find_standalone_answers,
    find_statements,
    is_denied,
    is_in_question,
    is_list,
    is_qualified,
)
from pytest_fairness.graders.extraction.vocabulary import Names, OptionMention

_MOST = 50
"""The number of last mentions that are read where no statement is found."""


def extract_answer(text: str, names: Names) -> ExtractedAnswer:
    """Return the answer that a text without thinking blocks gives."""
    text = focus(normalize_characters(text), names.first_words)
    values = names.match_whole(strip_markup(text))
    if values and not names.is_question(text):
        return ExtractedAnswer.from_values(values)
    return extract_final_answer(
        text,
        lambda part: _extract_from_part(part, names),
        lambda part: collect_values(find_mentions(part, names)),
    )


def _extract_from_part(normalized: str, names: Names) -> ExtractedAnswer | None:
    flagged = _extract_from_flags(normalized, names)
    if flagged is not None:
        return flagged
    structured_answers = find_structured_answers(normalized)
    if not structured_answers:
        return _extract_from_prose(normalized, names)
    claims = [
        OptionMention(_extract_from_value(mention.value, names).values, mention.start, mention.end)
        for mention in structured_answers
    ]
    return _resolve_claims(claims, normalized)


def _extract_from_flags(normalized: str, names: Names) -> ExtractedAnswer | None:
    """Return the option that JSON with the options as its keys flags; probabilities or ranks of them decide nothing."""
    for content in find_objects_without_answer(normalized):
        flags = [(values, content[key]) for key in content if (values := names.match_whole(strip_markup(key)))]
        if flags:
            are_flags = all(isinstance(flag, bool) for _, flag in flags)
            chosen = [values for values, flag in flags if flag is True]
            return ExtractedAnswer.from_values(frozenset[Any]().union(*chosen)) if are_flags else NO_ANSWER
    return None


def _extract_from_value(value: Any, names: Names) -> ExtractedAnswer:
    text = as_text(value)
    values = names.match_whole(strip_markup(text))
    return (
        ExtractedAnswer.from_values(values)
        if values
        else _extract_from_prose(normalize_characters(text), names) or NO_ANSWER
    )


def _extract_from_prose(normalized: str, names: Names) -> ExtractedAnswer | None:
    normalized = patterns.PLEASANTRY.sub("", normalized)
    text = strip_markup(normalized)
    # JSON without an answer was cut off: its content is reasoning.
    cut = patterns.OPEN_JSON.match(text) is not None
    answer = _extract_from_claims(text, names, cut=cut) or _extract_bold_option(normalized, names)
    if answer is None and not cut and not is_list(text, names):
        answer = _extract_after_contrast(text, names) or _extract_only_mention(text, names)
    return answer


def _extract_from_claims(text: str, names: Names, *, cut: bool) -> ExtractedAnswer | None:
    statements = list(find_statements(text, names, cut=cut))
    claims = list(find_headers(text, names, statements))
    if claims:  # statements after "Answer: B" must agree with it
        header_end = max(mention.end for mention in claims)
        later = [
            mention for mention in statements if mention.start >= header_end and begins_sentence(text, mention.start)
        ]
        header_answer = _resolve_claims(claims, text)
        differing = collect_values(later) - header_answer.values
        return (
            ExtractedAnswer.from_values(header_answer.values | differing)
            if differing and header_answer.values
            else header_answer
        )
    claims = [*statements, *find_standalone_answers(text, names, cut=cut)]
    if not claims:
        return None
    if not statements and len(shares := find_shares(text, names)) > 1:
        return ExtractedAnswer.from_values(shares)
    if names.unknown is None and patterns.TORN.search(text, max(mention.end for mention in claims)):
        return ExtractedAnswer.from_values(names.all_values)
    return _resolve_claims(claims, text)


def _resolve_claims(claims: list[OptionMention], text: str) -> ExtractedAnswer:
    """Return the last claim; the values of all claims where one differs and no conclusion leads to the last."""
    claims = sorted(claims, key=lambda mention: (mention.end, mention.start))
    last = claims[-1]
    differing = [mention for mention in claims if mention.values != last.values]
    # Claims that overlap agree where one covers more values than the other.
    crossing = [mention for mention in differing if mention.end > last.start]
    if any(not (mention.values >= last.values or mention.values <= last.values) for mention in crossing):
        return ExtractedAnswer.from_values(last.values | collect_values(crossing))
    earlier = [mention for mention in differing if mention.end <= last.start]
    if earlier:
        start = max(0, max(mention.end for mention in earlier) - 2)  # include the full stop of a sentence
        if not patterns.CONCLUDES.search(text, start, last.end):
            return ExtractedAnswer.from_values(last.values | collect_values(earlier))
    return ExtractedAnswer.from_values(last.values)


def _extract_bold_option(normalized: str, names: Names) -> ExtractedAnswer | None:
    """Return the only option in bold type."""
    values: frozenset[Any] = frozenset()
    for match in find_last_matches(patterns.BOLD, normalized):
        before = strip_markup(normalized[max(0, match.start() - 120) : match.start()])
        if not patterns.NEGATED.search(find_clause_before(before, len(before))):
            values |= names.match_whole(strip_markup(match[2]))
    return ExtractedAnswer.from_values(values) if len(values) == 1 else None


def _extract_after_contrast(text: str, names: Names) -> ExtractedAnswer | None:
    """Return the option after a doubt: "I cannot be sure, but B"."""
    options = [names.match_at(text, match.end()) for match in find_last_matches(patterns.BUT, text)]
    values = collect_values(
        mention for mention in options if mention and not patterns.IS_WRONG.match(text, mention.end)
    )
    return ExtractedAnswer.from_values(values) if values else None


def _extract_only_mention(text: str, names: Names) -> ExtractedAnswer | None:
    """Return the only option that a text names without denying it; in a long text the last sentence must name it."""
    mentions = [mention for mention in find_mentions(text, names)[-_MOST:] if not is_in_question(text, mention)]
    if len(text) > SHORT and mentions and mentions[-1].start < find_sentences(text)[-1][0]:
        return None
    if not is_surely_english(text):
        mentions = [
            mention for mention in mentions if mention.values == {names.unknown} or not is_qualified(text, mention)
        ]
    # The option "Not known" contains a denial itself, and is hardly ever denied.
    mentions = [mention for mention in mentions if mention.values == {names.unknown} or not is_denied(text, mention)]
    values = collect_values(mentions)
    if len(values) > 1 and names.unknown in values:
        values = _resolve_unknown_option(text, mentions, names.unknown)
    return ExtractedAnswer.from_values(values)._replace(certain=False) if values else None


def _resolve_unknown_option(text: str, mentions: list[OptionMention], unknown: Any) -> frozenset[Any]:
    """Return the options named after "it cannot be known, but ..."; nothing for "both ran, it cannot be known"."""
    last_unknown = max(mention.end for mention in mentions if unknown in mention.values)
    after = [mention for mention in mentions if mention.start >= last_unknown]
    if after and patterns.CONTRAST.search(text, last_unknown, after[0].start):
        return collect_values(after)
    start, _ = find_sentences(text)[-1]
    closing = [mention for mention in mentions if mention.start >= start]
    return frozenset({unknown}) if closing and collect_values(closing) == {unknown} else collect_values(mentions)
