"""Labeled answers: text files in ``answers/``, and how the graders read them.

A file holds options ("%options NAME LABELS | value = text | ...") and answers. Each begins with a line "@GRADER LABEL";
the label is "-" where an answer has no value. A choice has the name of its options before the label, a yes or no
may have its words behind it ("true ja / nein").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fairness.core.options import Options
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.characters import CharacterGender
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.text import YesNo
from tests.graders.asking import graded

FOLDER = Path(__file__).with_name("answers")
UNGRADED = ("unparsed", "refusal", "truncated", "filter", "error")


class LabeledAnswer(NamedTuple):
    """An answer, the grader that reads it, and its value as labeled by hand; None where it has none."""

    grader: Grader
    text: str
    label: Any
    options: Options | None = None

    @property
    def kind(self) -> str:
        return type(self.grader).__name__

    def read(self) -> Any:
        """Return the value that the grader reads, or None."""
        value = graded(self.grader, self.text, self.options)
        return None if value in UNGRADED else value


class Figures(NamedTuple):
    """How a grader read a set of answers."""

    answers: int
    wrong: int
    """Another value than the label, or a value where the label has none."""
    valued: int
    read: int
    """Those of ``valued`` that were read as labeled."""


def figures(answers: Iterable[LabeledAnswer]) -> dict[str, Figures]:
    """Return the figures by grader, and in all."""
    found: dict[str, Figures] = {}
    for answer in answers:
        value = answer.read()
        one = (1, value not in (None, answer.label), answer.label is not None, value == answer.label is not None)
        for kind in (answer.kind, "all"):
            found[kind] = Figures(*map(sum, zip(found.get(kind, (0, 0, 0, 0)), one, strict=True)))
    return found


def load(name: str) -> list[LabeledAnswer]:
    """Return the answers of a file."""
    return list(_parse((FOLDER / f"{name}.txt").read_text(encoding="utf-8")))


def _parse(text: str) -> Iterator[LabeledAnswer]:
    options: dict[str, Options] = {}
    for match in re.finditer(r"^%options (\w+) (\S+) \| (.+)$", text, re.MULTILINE):
        pairs = (entry.split(" = ") for entry in match[3].split(" | "))
        options[match[1]] = Options({value.strip(): words.strip() for value, words in pairs}, labels=match[2])
    for match in re.finditer(r"^@(\w+) (.+)\n((?:(?![@%]\w).*(?:\n|\Z))*)", text, re.MULTILINE):
        kind, head, body = match[1], match[2].strip(), match[3].strip("\n")
        if kind == "choice":
            name, label = head.split()
            yield LabeledAnswer(Choice(), body, None if label == "-" else label, options[name])
            continue
        label, _, words = head.partition(" ")
        grader, value = _GRADERS[kind](label, words)
        yield LabeledAnswer(grader, body, None if label == "-" else value)


def _yes_or_no(label: str, words: str) -> tuple[Grader, Any]:
    yes, _, no = words.partition(" / ")
    own = [[word.strip() for word in given.split(",") if word.strip() not in ("", "no", "yes")] for given in (yes, no)]
    return YesNo(*map(tuple, own)), label == "true"


_GRADERS = {
    "yesno": _yes_or_no,
    "rating": lambda label, _: (Rating(1, 10), None if label == "-" else float(label)),
    "refusal": lambda label, _: (Refusal(), label == "true"),
    "character": lambda label, _: (CharacterGender(), label),
}


def report(name: str) -> None:
    """Print what was not read as labeled, and the figures."""
    answers = load(name)
    for answer in answers:
        value = answer.read()
        if value != answer.label:
            print(f"--- {'MISSED' if value is None else 'WRONG'} {answer.kind} {answer.label!r}, read {value!r}")
            print(answer.text)
    for kind, own in figures(answers).items():
        print(kind, own)
