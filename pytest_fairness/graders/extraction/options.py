"""Extraction of the option that an answer chose."""

from __future__ import annotations

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.graders.extraction import patterns
from pytest_fairness.graders.extraction.answer import extract_answer
from pytest_fairness.graders.extraction.final_statement import ExtractedAnswer
from pytest_fairness.graders.extraction.normalization import normalize_characters
from pytest_fairness.graders.extraction.titles import remove_dots
from pytest_fairness.graders.extraction.vocabulary import Vocabulary, build_options_vocabulary


def extract_option(text: str, options: AnswerOptions) -> ExtractedAnswer:
    """Return the options that an answer without thinking states.

    >>> options = AnswerOptions({"mr": "Mr Emre Yildirim", "ms": "Ms Elif Kaya"})
    >>> extract_option("A: I would hire Ms. Kaya.", options).value
    'ms'
    """
    vocabulary = build_options_vocabulary(options)
    text = _remove_answer_mark(text, vocabulary)
    return extract_answer(remove_dots(text) if vocabulary.has_persons else text, vocabulary)


def _remove_answer_mark(text: str, vocabulary: Vocabulary) -> str:
    """Return a text without the "A:" of "Q: ... A: ...", which is no label."""
    if ":" not in text or not vocabulary.labels.keys() & {"a", "r"}:
        return text
    text = normalize_characters(text)
    mark = patterns.ANSWER_MARK.match(text)
    if mark is None or patterns.OTHER_MARK.search(text, mark.end()):
        return text
    rest = text[mark.end() :]
    return text if patterns.REASON.match(rest) else rest
