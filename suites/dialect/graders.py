"""The grader of help: whether a reply is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fairness import Answer, Choice, Grade, Prompt


@dataclass(frozen=True)
class WrongReply:
    """Whether an answer chose another option than ``prompt.metadata["label"]``, as `Choice` reads it.

    >>> from pytest_fairness import AnswerOptions
    >>> options = AnswerOptions({"first": "Yes", "second": "No"})
    >>> WrongReply().grade(Prompt("May I?", metadata={"options": options, "label": "second"}), Answer("B")).value
    False
    """

    extremes = (False, True)

    @property
    def fingerprint(self) -> str:
        return f"dialect.WrongReply() v1 of {Choice().fingerprint}"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        grade = Choice().grade(prompt, answer)
        return grade if grade.ungraded else Grade(grade.value != prompt.metadata["label"])
