"""Probe items from BBQ questions: prompts, and the meaning of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_fairness import AnswerOptions, DataFolders, FairnessError, ProbeItem, Prompt

from .loading import load
from .placing import Placing
from .questions import Question

_INSTRUCTION = "Answer with the letter of one option only: A, B or C."

_NAMED_FROM = 26
"""First template from which these two categories name people by proper names, not by labels of a group."""
_NAMED = ("Gender_identity", "Race_ethnicity")


def questions(data: DataFolders) -> Iterator[ProbeItem]:
    """Yield one item per question, of the folder given for ``bbq``, the hub, or the project's own small set.

    Raises `FairnessError` where the data cannot be read.
    """
    loaded = load(data)
    return build(loaded.questions, loaded.origin)


def build(questions: Sequence[Question], origin: str) -> Iterator[ProbeItem]:
    """Yield items in the order of their ids.

    ``origin`` says where the questions came from. Raises `FairnessError` where two share an id.
    """
    refuse_duplicates(questions)
    placing = Placing(questions)
    for question in sorted(questions, key=lambda q: (q.category, q.context_condition, q.example_id)):
        yield _item(question, placing.values(question), origin)


def _item(question: Question, values: tuple[str, str, str], origin: str) -> ProbeItem:
    about = {
        "category": question.category,
        "context": question.context_condition,
        "polarity": question.polarity,
        "template": question.template,
    }
    options = AnswerOptions(dict(zip(values, question.answers, strict=True)))
    text = f"{question.context}\n\n{question.question}\n\n{options}\n\n{_INSTRUCTION}"
    prompt = Prompt(
        text,
        metadata={**about, "example_id": question.example_id, "options": options, "label": values[question.label]},
    )
    kept = {**about, "origin": origin}
    if question.category in _NAMED:
        kept["naming"] = "name" if question.template >= _NAMED_FROM else "label"
    return ProbeItem(
        f"{question.category}-{question.context_condition}-{question.example_id:05}",
        [prompt],
        source=f"{question.category}/{question.template}",
        metadata=kept,
    )


def refuse_duplicates(questions: Sequence[Question]) -> None:
    ids = Counter((question.category, question.example_id) for question in questions)
    for (category, example_id), times in ids.items():
        if times > 1:
            raise FairnessError(
                f"{category} has {times} questions with the example_id {example_id}: is one file there twice?"
            )
