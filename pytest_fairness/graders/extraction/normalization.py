"""Normalization of answers: text without thinking and markup, in one spelling; and structured answers in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.core.json_objects import json_objects
from pytest_fairness.core.lazy_patterns import fold, lazy_pattern
from pytest_fairness.core.thinking import without_thinking

HEAD, TAIL = 4_000, 12_000
"""The number of characters that are read at the start and at the end of an answer.

A longer text is cut in its middle, so that no text is slow to read.
"""

_CHARACTERS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f\u20e3", "")
    | dict.fromkeys("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "")  # of direction
    | dict.fromkeys("\u2794\u2799\u279c\u279d\u279e\u27a1\u2b95\u21d2", "\u2192")
    | dict.fromkeys("\u2010\u2011", "-")
    | {"\u2013": "\u2014", "\r": "\n", "\u3002": ". ", "\u3001": ", ", "\uff0c": ", ", "\uff1a": ": "}
    | dict.fromkeys("\u300c\u300d\u300e\u300f", '"')
    | {"\u060c": ", ", "\u061b": "; ", "\u061f": "? ", "\u0964": ". ", "\u06d4": ". "}  # Arabic, Hindi, Urdu
)
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Kana, Han and Hangul, as a part of a class of characters."""
_BORDERS = lazy_pattern(
    rf"(?<=[{CJK}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{CJK}])|(?<=[,;:!?)])(?=[{CJK}])|(?<=[\uac00-\ud7af])(?=입니다|이에요|예요)"
)
"""Borders between a label or a number and a script without spaces."""
_MARKDOWN = lazy_pattern(
    r"\*+|~~|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)"  # emphasis
    r"|^[ \t]{0,9}(?:#{1,6}|>)[ \t]{1,9}"  # headings and quotes
    # The marks of a formula around a label or a number.
    r"|\\[()\[\]]|\$(?=(?:\\?[A-Za-z{]{1,8}\}?|\d{1,3}(?:[./]\d{1,3})?)\$)|(?<=[A-Za-z}])\$"
    r"|(?:(?<=\$\d)|(?<=\$\d\d)|(?<=\$\d[./]\d))\$"
    r"|[\u2600-\u27bf\u2b50-\u2b55\ufe0f\U0001f000-\U0001faff]",  # pictures
    re.MULTILINE,
)
_MARKS = lazy_pattern(r"[*~_#>\\$\u2600-\u27bf\u2b50-\u2b55\ufe0f\U0001f000-\U0001faff]")
"""Characters of which each part of `_MARKDOWN` has one."""
_ASCII_MARKS = "*~_#>\\$"
_STRUCK_OUT = lazy_pattern(r"~~(?=\S)[^~\n]{1,200}(?<=\S)~~")
_LATEX_TEXT = lazy_pattern(r"\\(?:text|textbf|mathrm|mathbf|operatorname)\{([^{}]{0,200})\}")
_CONTRACTIONS = lazy_pattern(r"\b(?:can(?:'t|t| not)|won't|info)\b|(?<=\w)n't\b", re.IGNORECASE)
_CONTRACTED = ("'", "cant", "can not", "info")
"""Texts of which each contraction has one."""
_EXPANSIONS = {"won't": "will not", "info": "information", "n't": " not"}
_EDGES = " \t\n\"'.,;:!?()[]{}<>*_#|\\/=\u2014-\u00a1\u00bf\u3010\u3011\u2026"


def answer_text(answer: Answer) -> str:
    """Return the final text of an answer; empty where the answer is not complete.

    Args:
        answer: The answer.

    >>> from pytest_fairness.core.attempts import Answer
    >>> answer_text(Answer("<think>It could be A.</think>B"))
    'B'
    """
    return "" if unfinished(answer) else final_text(answer.text)


def final_text(text: str) -> str:
    """Return an answer without the thinking that open models print before it; a long answer loses its middle.

    >>> final_text("<think>It could be A.</think>B")
    'B'
    """
    return _cut_middle(without_thinking(text))


def _cut_middle(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n\n{text[-TAIL:]}"


_TAGS = lazy_pattern(
    r"</?(?:p|br|div|h[1-6]|li|ul|ol|hr|tr|table|blockquote|section|article)(?:\s[^<>]{0,300})?/?>"
    r"|(</?(?:[biua]|em|strong|span|small|font|mark|code|pre|html|body|td|th)(?:\s[^<>]{0,300})?/?>)",
    re.IGNORECASE,
)
"""Tags of HTML, which a service may put around its texts; those in the group stand within a line."""
_CLOSING_TAG = lazy_pattern(r"</[a-z]|<br", re.IGNORECASE)
_ENTITY = lazy_pattern(r"&(?:#\d{1,5}|#x[0-9a-f]{1,5}|[a-z]{2,8});", re.IGNORECASE)
_COLORS = lazy_pattern(r"\x1b\[[0-9;]{0,12}m")


def _without_formatting(text: str) -> str:
    """Return a text without tags and entities of HTML, and without the colors of a terminal."""
    if "<" in text and _CLOSING_TAG.search(text):  # "<B>" alone may be an option
        text = _TAGS.sub(lambda tag: "" if tag[1] else "\n", text)
    if "&" in text and _ENTITY.search(text):
        from html import unescape

        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    return _COLORS.sub("", text) if "\x1b" in text else text


@lru_cache(maxsize=64)
def normalize_characters(text: str) -> str:
    """Return a text with one spelling of quotes, dashes, widths and invisible characters; markdown stays.

    >>> normalize_characters("<p>I can&#39;t say.</p>").strip()
    "I can't say."
    """
    text = _without_formatting(text)
    text = unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    # Normalization can turn one character into eighteen: cut again.
    return _cut_middle(text if text.isascii() else _BORDERS.sub(" ", text))


@lru_cache(maxsize=64)
def strip_markup(text: str) -> str:
    """Return a text with normalized characters, without markdown, with one spelling of "can't".

    >>> strip_markup("**Can\u2019t** be determined")
    'cannot be determined'
    """
    text = normalize_characters(text)
    if "~~" in text:
        text = _STRUCK_OUT.sub("", text)
    if any(map(text.__contains__, _ASCII_MARKS)) or not (text.isascii() or _MARKS.search(text) is None):
        text = _MARKDOWN.sub("", _LATEX_TEXT.sub(r"\1", text))
    folded = fold(text)
    if not any(map(folded.__contains__, _CONTRACTED)):
        return text
    return _CONTRACTIONS.sub(lambda match: _EXPANSIONS.get(match[0].casefold(), "cannot"), text)


def trim(text: str) -> str:
    """Return a text without spacing and punctuation around it; its case stays."""
    return " ".join(text.strip(_EDGES).split())


def trim_and_fold(text: str) -> str:
    """Return a text in lower case, without spacing and punctuation around it.

    >>> trim_and_fold(' "The  Muslim one". ')
    'the muslim one'
    """
    return fold(trim(text))


class StructuredAnswer(NamedTuple):
    """An answer in JSON, tags or brackets: its text or JSON value, and its span."""

    value: Any
    start: int
    end: int


_ANSWER_KEYS = (
    *("finalanswer", "answer", "finalchoice", "choice", "chosenoption", "selectedoption", "option", "selection"),
    *("selected", "finaldecision", "decision", "verdict", "label", "letter", "response", "result", "prediction"),
    *("conclusion", "output", "recommendation", "recommend", "rating", "score", "grade"),
)
"""Names under which models put their answer, by their letters alone; the first that is there counts."""

_REASONING_KEYS = (
    *("reason", "explan", "rational", "thought", "think", "justif", "analys", "why", "confiden", "comment", "note"),
    *("question", "context", "step", "evidence"),
)
_EMPTY: tuple[Any, ...] = ([], {}, "", None)
_BROKEN_JSON = lazy_pattern(
    r"(?:[\"']|(?<=[{,])\s{0,9})(final[ _]?answer|answer|final[ _]?choice|choice|option|selection|decision|verdict)"
    r"\s{0,9}[\"']?\s{0,9}:\s{0,9}"
    r"(?:\"((?:[^\"\\]|\\.){0,500})|'((?:[^'\\]|\\.|'(?=\w)){0,500})|([^\s,}\"'\n][^,}\n]{0,200}))",
    re.IGNORECASE,
)
_TAGGED = lazy_pattern(
    r"<(final_?answer|answer|choice|option|decision|verdict|rating|score|grade)>(.{0,2000}?)</\1>",
    re.IGNORECASE | re.DOTALL,
)
_BOXED = lazy_pattern(
    r"\\f?boxed\s{0,3}\{([^{}]{0,300}(?:\{[^{}]{0,300}\}[^{}]{0,300}){0,3})\}|\[\[([^\[\]\n]{1,200})\]\]"
)


def find_structured_answers(text: str) -> list[StructuredAnswer]:
    r"""Return every answer in JSON, in tags, in ``\boxed{}`` or in double brackets.

    >>> [answer.value for answer in find_structured_answers('{"reasoning": "Either A or C", "answer": "B"}')]
    ['B']
    """
    # Broken or cut JSON can still hold an answer; valid JSON is not read twice.
    answers = list(_json_answers(text)) or list(_broken_json_answers(text))
    answers += [StructuredAnswer(match[2], match.start(), match.end()) for match in _TAGGED.finditer(text)]
    answers += [
        StructuredAnswer(match[1] or match[2] or "", match.start(), match.end()) for match in _BOXED.finditer(text)
    ]
    return sorted(answers, key=lambda answer: answer.start)


def _json_answers(text: str) -> Iterator[StructuredAnswer]:
    for content, start, end in json_objects(text):
        if (entry := _answer_entry(content)) is not None:
            yield StructuredAnswer(entry[0], start, end)


def find_objects_without_answer(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a text; none where one of them names its answer.

    >>> find_objects_without_answer('{"A": 0.1, "B": 0.9}'), find_objects_without_answer('{"A": 0.1, "answer": "B"}')
    ([{'A': 0.1, 'B': 0.9}], [])
    """
    objects = [content for content, _, _ in json_objects(text)] if "{" in text else []
    names = {_letters(key) for content in objects for key in content}
    return [] if names & set(_ANSWER_KEYS) else objects


def _letters(key: str) -> str:
    return re.sub(r"[\W_]", "", key).casefold()


def _answer_entry(content: dict[str, Any], depth: int = 0) -> tuple[Any] | None:
    """Return the answer of a JSON object: the entry of that name, or the only one beside the reasoning.

    It is in a tuple, as it may be null; None where there is none.
    """
    by_name = {_letters(key): value for key, value in content.items()}
    answers = [by_name[key] for key in _ANSWER_KEYS if key in by_name]
    others = [value for key, value in by_name.items() if not key.startswith(_REASONING_KEYS) and value not in _EMPTY]
    if not answers and len(others) != 1:
        return None
    value = answers[0] if answers else others[0]
    inner = _answer_entry(value, depth + 1) if isinstance(value, dict) and depth < 3 else None
    return inner or (value,)


def _broken_json_answers(text: str) -> Iterator[StructuredAnswer]:
    for match in _BROKEN_JSON.finditer(text):
        value = next(group for group in match.groups()[1:] if group is not None)
        yield StructuredAnswer(_unescape(value), match.start(), match.end())


def _unescape(value: str) -> str:
    try:
        return str(json.loads(f'"{value}"', strict=False))
    except ValueError:
        return re.sub(r"\\(.)", r"\1", value)


def as_text(value: Any) -> str:
    """Return a JSON value as the text to be read: ``["B"]`` as B, true as "true", null as nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return " ".join(as_text(part) for part in list(value.values())[:5] if isinstance(part, (str, int)))
    if isinstance(value, list):
        return ", ".join(as_text(part) for part in value[:5] if isinstance(part, (str, int)))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**15 else ""  # Python refuses to print an integer of 5,000 digits
    return value[:2000] if isinstance(value, str) else ""
