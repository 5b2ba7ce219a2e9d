"""Answers in eight languages, labeled before a grader had read them: files of ``languages/``, a line for each.

A line is "ROUND GRADER LABEL | text"; "-" is the label of what has no value and must stay ungraded. The first line
of a file has the options of its choices, labeled A, B and C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.yes_no import YesNo
from tests.graders.labeled_answers import LabeledAnswer

FOLDER = Path(__file__).with_name("languages")
LANGUAGES = tuple(sorted(file.stem for file in FOLDER.glob("*.txt")))

_GRADERS: Mapping[str, Grader] = {"choice": Choice(), "yesno": YesNo(), "rating": Rating(1, 10), "refusal": Refusal()}
_TRUTH = {"true": True, "false": False}


def load_language(language: str) -> list[LabeledAnswer]:
    """Return the labeled answers of one language."""
    first, *lines = (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    pairs = (part.split(" = ") for part in first.removeprefix("%options ").split(" | "))
    options = AnswerOptions({value.strip(): text.strip() for value, text in pairs}, labels=("A", "B", "C"))
    return list(_answers(lines, options))


def _answers(lines: list[str], options: AnswerOptions) -> Iterator[LabeledAnswer]:
    for line in lines:
        head, _, text = line.partition(" | ")
        number, grader, label = head.split()
        value: object = None if label == "-" else _TRUTH.get(label, label)
        if grader == "rating" and value is not None:
            value = float(label)
        yield LabeledAnswer(
            int(number),
            _GRADERS[grader],
            text.replace("\\n", "\n"),
            value,
            options if grader == "choice" else None,
        )
