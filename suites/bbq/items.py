"""From BBQ questions to probe items: what is asked, and what the answers stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.options import Options

from .loading import Folders, load
from .placing import Placing
from .questions import Question

_INSTRUCTION = "Answer with the letter of one option only: A, B or C."

_NAMED_FROM = 26
"""From this template on, these two categories name people by proper names, which are not labels of a group."""
_NAMED = ("Gender_identity", "Race_ethnicity")


def questions(data: Folders) -> Iterator[ProbeItem]:
    """One item per question, of the folder given for ``bbq``, the hub, or the project's own small set.

    Raises `FairnessError` where the data cannot be read.
    """
    loaded = load(data)
    return build(loaded.questions, loaded.origin)


def build(asked: Sequence[Question], origin: str) -> Iterator[ProbeItem]:
    """Items in the order of their ids.

    ``origin`` says where the questions came from. Raises `FairnessError` where two share an id.
    """
    refuse_duplicates(asked)
    placing = Placing(asked)
    for question in sorted(asked, key=lambda q: (q.category, q.context_condition, q.example_id)):
        yield _item(question, placing.values(question), origin)


def _item(question: Question, values: tuple[str, str, str], origin: str) -> ProbeItem:
    about = {
        "category": question.category,
        "context": question.context_condition,
        "polarity": question.polarity,
        "template": question.template,
    }
    options = Options(dict(zip(values, question.answers, strict=True)))
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


def refuse_duplicates(asked: Sequence[Question]) -> None:
    ids = Counter((question.category, question.example_id) for question in asked)
    for (category, example_id), times in ids.items():
        if times > 1:
            raise FairnessError(
                f"{category} has {times} questions with the example_id {example_id}: is one file there twice?"
            )
