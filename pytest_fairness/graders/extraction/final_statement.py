"""The final statement of an answer: the part that gives its result.

An answer may repeat its question, fill tables, correct itself, or go on with the turn of another speaker. The last part
that states a value counts, unless a part after it names another value: the answer is then ungraded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.normalization import find_structured_answers, strip_markup, trim_and_fold

_MOST = 50
"""The number of last corrections that are followed."""

_ANSWER_HEADER = patterns.pattern(r"^\W{0,6}(?:answer|a|response|assistant|output)\b\W{0,4}:", flags=re.MULTILINE)
_FURTHER_TURN = patterns.pattern(
    r"^\W{0,6}(?:question|q|input|context|passage|problem|example|instruction)\b(?: \d{1,3})?\W{0,4}:",
    flags=re.MULTILINE,
)
_DIALOG_TURN = patterns.pattern(
    r"(?<=\S)\s{0,9}\n\W{0,6}(?:user|human|instruction|### ?input)\W{0,4}:", flags=re.MULTILINE
)
"""The turn of another speaker, which small models write: the answer ends before it."""

_SPEAKER = patterns.pattern(r"\A\s{0,9}(?:#{1,4} ?)?\**(?:assistant|ai|bot|model|response)\**\s{0,3}:\**\s{1,3}")
_QUOTED_QUESTION = lazy_pattern(r"^[ \t]{0,9}>[^\n]{0,600}\?[\"'*_ ]{0,6}$", re.MULTILINE)
_ROW = lazy_pattern(r"^[ \t]{0,9}\|([^\n]{1,600}?)\|?[ \t]{0,9}$", re.MULTILINE)


class ExtractedAnswer(NamedTuple):
    """The values that a text states with equal claim, and the reason where there is not exactly one."""

    values: frozenset[Any]
    reason: str = ""
    certain: bool = True
    """False where a value is only mentioned, as refusals mention values too."""

    @property
    def is_single(self) -> bool:
        return len(self.values) == 1

    @property
    def value(self) -> Any:
        return next(iter(self.values))

    @classmethod
    def from_values(cls, values: frozenset[Any]) -> ExtractedAnswer:
        """Return the answer of a text that states these values with equal claim."""
        if not values:
            return NO_ANSWER
        return cls(values, "" if len(values) == 1 else "several values are stated with equal claim")


NO_ANSWER = ExtractedAnswer(frozenset(), "no value is stated")


def extract_final_answer(
    text: str,
    extract: Callable[[str], ExtractedAnswer | None],
    find_mentioned_values: Callable[[str], frozenset[Any]],
) -> ExtractedAnswer:
    """Return the answer of the last part of a text that states a value.

    Args:
        text: The answer, with normalized characters and without thinking.
        extract: Returns the answer of one part; None where it states no value.
        find_mentioned_values: Returns all values that a part mentions. Those of the parts after the final statement
            contradict it.
    """
    later_values: frozenset[Any] = frozenset()
    for part in reversed(list(split_at_corrections(_select_result(text)))):
        answer = extract(part)
        if answer is not None:
            return ExtractedAnswer.from_values(answer.values | later_values)._replace(certain=answer.certain)
        later_values |= find_mentioned_values(strip_markup(part))
    return NO_ANSWER


def split_at_corrections(text: str) -> Iterator[str]:
    """Yield the parts of a text between its corrections: "A", "Actually, C." """
    corrections = list(patterns.CORRECTS.finditer(text))[-_MOST:]
    protected = [(mention.start, mention.end) for mention in find_structured_answers(text)] if corrections else []
    start = 0
    for match in corrections:
        if not any(begin <= match.start() < end for begin, end in protected):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _select_result(text: str) -> str:
    """Return a text without further turns, quoted questions, unchecked boxes of a form, rejected options and tables.

    The concluding row of a table is kept.
    """
    text = _SPEAKER.sub("", text, count=1)
    answer_header = _ANSWER_HEADER.search(text) if "\n" in text else None
    turn = _FURTHER_TURN.search(text, answer_header.end()) if answer_header else None
    turn = turn or (_DIALOG_TURN.search(text) if "\n" in text else None)
    if turn:
        text = text[: turn.start()]
    text = _QUOTED_QUESTION.sub("", text) if ">" in text else text
    text = _ROW.sub(_format_concluding_row, text) if "|" in text else text
    if patterns.CHECKED.search(text) and patterns.UNCHECKED.search(text):
        text = patterns.CHECKED.sub("", patterns.UNCHECKED.sub("", text))
    return patterns.REJECTED.sub("", text) if ":" in text else text


def _format_concluding_row(row: re.Match[str]) -> str:
    cells = [cell.strip() for cell in row[1].split("|")]
    concludes = len(cells) == 2 and re.search(rf"(?i)\b(?:{languages.CONCLUSION})\b", cells[0])
    return f"{trim_and_fold(strip_markup(cells[0]))}: {cells[1]}" if concludes else ""
