"""Labeled answers: text files in ``answers/``, one for each grader, and how the grader reads them.

Each answer begins with a line "@ROUND LABEL"; the label is "-" where the answer has no value and must stay ungraded.
The label of a choice stands behind the name of its options ("@7 O12 amara"), which the head of the file lists
("%options NAME LABELS | value = text | ..."). A yes or no may have words of its own ("@7 true ja / nein").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.character_gender.grader import CharacterGender
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.yes_no import YesNo
from tests.helpers.grading import graded

FOLDER = Path(__file__).with_name("answers")
UNGRADED = ("unparsed", "refusal", "truncated", "filter", "error")


class LabeledAnswer(NamedTuple):
    """An answer, the grader that reads it, and its value as labeled by hand; None where it has none."""

    round: int
    grader: Grader
    text: str
    label: Any
    options: AnswerOptions | None = None

    def read(self) -> Any:
        """Return the value that the grader reads, or None."""
        value = graded(self.grader, self.text, self.options)
        return None if value in UNGRADED else value


class Figures(NamedTuple):
    """Counts of the readings of a set of answers."""

    answers: int
    wrong: int
    """Another value than the label, or a value where the label has none."""
    valued: int
    read: int
    """Those of ``valued`` that were read as labeled."""


def figures(answers: Iterable[LabeledAnswer]) -> Figures:
    """Return how answers are read."""
    pairs = [(answer.read(), answer.label) for answer in answers]
    return Figures(
        len(pairs),
        sum(value not in (None, label) for value, label in pairs),
        sum(label is not None for _, label in pairs),
        sum(value == label for value, label in pairs if label is not None),
    )


def load(name: str) -> list[LabeledAnswer]:
    """Return the answers of a file: "yes_or_no", "choice", "rating", "refusal" or "character"."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    heads = list(re.finditer(r"^@(\d+) (.+)\n", text, re.MULTILINE))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    options = dict(_options(text))
    return [
        LabeledAnswer(int(head[1]), *_READERS[name](head[2].strip(), text[head.end() : end].strip("\n"), options))
        for head, end in zip(heads, ends, strict=True)
    ]


def _options(text: str) -> Iterator[tuple[str, AnswerOptions]]:
    for match in re.finditer(r"^%options (\S+) (\S+) \| (.+)$", text, re.MULTILINE):
        pairs = (entry.split(" = ") for entry in match[3].split(" | "))
        yield (
            match[1],
            AnswerOptions({value.strip(): words.strip() for value, words in pairs}, labels=match[2].split(",")),
        )


_Read = tuple[Grader, str, Any, AnswerOptions | None]


def _yes_or_no(head: str, text: str, _: Mapping[str, AnswerOptions]) -> _Read:
    label, *words = head.split(" ", 1)
    yes, no = words[0].split(" / ") if words else ("", "")
    more_yes, more_no = (
        tuple(word.strip() for word in words.split(",") if word.strip() not in ("", "no", "yes")) for words in (yes, no)
    )
    return YesNo(more_yes, more_no), text, _truth(label), None


def _choice(head: str, text: str, options: Mapping[str, AnswerOptions]) -> _Read:
    name, label = head.split()
    return Choice(), text, None if label == "-" else label, options[name]


def _rating(head: str, text: str, _: Mapping[str, AnswerOptions]) -> _Read:
    return Rating(1, 10), text, None if head == "-" else float(head), None


def _refusal(head: str, text: str, _: Mapping[str, AnswerOptions]) -> _Read:
    return Refusal(), text, _truth(head), None


def _character(head: str, text: str, _: Mapping[str, AnswerOptions]) -> _Read:
    return CharacterGender(), text, None if head == "-" else head, None


def _truth(label: str) -> bool | None:
    return {"true": True, "false": False, "-": None}[label]


_READERS: Mapping[str, Callable[[str, str, Mapping[str, AnswerOptions]], _Read]] = {
    "yes_or_no": _yes_or_no,
    "choice": _choice,
    "rating": _rating,
    "refusal": _refusal,
    "character": _character,
}
NAMES = tuple(_READERS)
