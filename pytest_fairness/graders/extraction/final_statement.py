"""The part of an answer that states its result, which every grader of values reads.

An answer repeats its question, fills tables, takes a value back, or goes on with a turn of another speaker. A value may
be read where the last part that states one is agreed to by all parts after it; else the answer stays ungraded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.normalization import bare, plain, structured

_MOST = 50
"""The number of corrections that are followed; an answer with more contradicts itself."""

_ANSWERED = patterns.pattern(r"^\W{0,6}(?:answer|a|response|assistant|output)\b\W{0,4}:", flags=re.MULTILINE)
_FURTHER_TURN = patterns.pattern(
    r"^\W{0,6}(?:question|q|input|context|passage|problem|example|instruction)\b(?: \d{1,3})?\W{0,4}:",
    flags=re.MULTILINE,
)
_DIALOG_TURN = patterns.pattern(
    r"(?<=\S)\s{0,9}\n\W{0,6}(?:user|human|instruction|### ?input)\W{0,4}:", flags=re.MULTILINE
)
"""A turn with which a small model goes on: the answer ends before it."""

_SPEAKER = patterns.pattern(r"\A\s{0,9}(?:#{1,4} ?)?\**(?:assistant|ai|bot|model|response)\**\s{0,3}:\**\s{1,3}")
_QUOTED_QUESTION = lazy_pattern(r"^[ \t]{0,9}>[^\n]{0,600}\?[\"'*_ ]{0,6}$", re.MULTILINE)
_ROW = lazy_pattern(r"^[ \t]{0,9}\|([^\n]{1,600}?)\|?[ \t]{0,9}$", re.MULTILINE)


class ExtractedAnswer(NamedTuple):
    """The values stated with equal claim, and the reason where they are not one."""

    values: frozenset[Any]
    why: str = ""
    certain: bool = True
    """False where a value was merely named, as a refusal does too."""

    @property
    def is_single(self) -> bool:
        return len(self.values) == 1

    @property
    def value(self) -> Any:
        return next(iter(self.values))


NOTHING = ExtractedAnswer(frozenset(), "no value is stated")


def verdict(values: frozenset[Any]) -> ExtractedAnswer:
    """Return the reading of a text that states these values with equal claim."""
    if not values:
        return NOTHING
    return ExtractedAnswer(values, "" if len(values) == 1 else "several values are stated with equal claim")


def read_final(
    text: str, read: Callable[[str], ExtractedAnswer | None], named: Callable[[str], frozenset[Any]]
) -> ExtractedAnswer:
    """Return the reading of the last part of a leveled text that states a value.

    Args:
        text: The answer, leveled and without thinking.
        read: Reads one part; None where it states nothing.
        named: The values that a part names at all. A part after the statement that names another value puts it in
            doubt.
    """
    doubts: frozenset[Any] = frozenset()
    for part in reversed(list(revisions(_result_of(text)))):
        reading = read(part)
        if reading is not None:
            return verdict(reading.values | doubts)._replace(certain=reading.certain)
        doubts |= named(plain(part))
    return NOTHING


def revisions(text: str) -> Iterator[str]:
    """Return the parts of a text between its corrections: "A", "Actually, C." """
    corrections = list(patterns.CORRECTS.finditer(text))[-_MOST:]
    shielded = [(one.start, one.end) for one in structured(text)] if corrections else []
    start = 0
    for match in corrections:
        if not any(begin <= match.start() < end for begin, end in shielded):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _result_of(text: str) -> str:
    """Return a text without further turns, quoted questions and tables; of a table, the row that concludes stays."""
    text = _SPEAKER.sub("", text, count=1)
    answered = _ANSWERED.search(text) if "\n" in text else None
    turn = _FURTHER_TURN.search(text, answered.end()) if answered else None
    turn = turn or (_DIALOG_TURN.search(text) if "\n" in text else None)
    if turn:
        text = text[: turn.start()]
    text = _QUOTED_QUESTION.sub("", text) if ">" in text else text
    return _ROW.sub(_concluding_row, text) if "|" in text else text


def _concluding_row(row: re.Match[str]) -> str:
    cells = [cell.strip() for cell in row[1].split("|")]
    concludes = len(cells) == 2 and re.search(rf"(?i)\b(?:{languages.CONCLUSION})\b", cells[0])
    return f"{bare(plain(cells[0]))}: {cells[1]}" if concludes else ""
