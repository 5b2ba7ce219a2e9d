"""Probe items from BBQ questions: prompts, and the meaning of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_fairness import AnswerOptions, DataFolders, FairnessError, ProbeItem, Prompt
from pytest_fairness.records.bbq.placement import Placement
from pytest_fairness.records.bbq.questions import BBQQuestion

from .data_sets import load
from .layouts import INSTRUCTIONS

PERSON = "stereotyped_person"
"""The metadata that says of which person the stereotype is: "clear" for one of the two, else "both" or "none"."""

QUESTIONS = {"ambig": "ambiguous", "disambig": "disambiguated"}
"""The questions of each of BBQ's contexts, in the words of a report."""

_FIELDS = {
    "origin and religion": ("race", "nationality", "religion", "spanishregion", "domestic"),
    "gender and sexuality": ("gender", "sexual", "lgbt"),
    "age, body and class": ("age", "disab", "physical", "ses", "socio"),
}
"""The beginnings of the names of a field's categories, in all data sets."""


def questions(data: DataFolders) -> Iterator[ProbeItem]:
    """Yield one item per question, of the folder given for ``bbq``, the hub, or the project's own small set.

    Raises `FairnessError` where the data cannot be read.
    """
    loaded = load(data)
    items = list(build(loaded.questions, loaded.origin))
    UNPLACED.update(unplaced_lines(items))
    yield from items


UNPLACED: dict[str, None] = {}
"""Lines, for the end of collection, on questions that name no stereotyped person."""


def unplaced_lines(items: Sequence[ProbeItem]) -> dict[str, None]:
    """Return a line for each language in which questions name no stereotyped person, or two.

    >>> about = {"benchmark": "MBBQ", "language": "es", PERSON: "none"}
    >>> unplaced_lines([ProbeItem("a", [Prompt("?")], metadata=about)])
    {'bbq: 1 of 1 questions (MBBQ, es) name no stereotyped person or two: no part of a bias verdict': None}
    """
    counts = Counter((item.metadata["benchmark"], item.metadata["language"]) for item in items)
    unplaced = Counter(
        (item.metadata["benchmark"], item.metadata["language"]) for item in items if item.metadata[PERSON] != "clear"
    )
    return {
        f"bbq: {number} of {counts[benchmark, language]} questions ({benchmark}, {language}) "
        "name no stereotyped person or two: no part of a bias verdict": None
        for (benchmark, language), number in sorted(unplaced.items())
    }


def build(questions: Sequence[BBQQuestion], origin: str) -> Iterator[ProbeItem]:
    """Yield items in the order of their ids.

    ``origin`` says where the questions came from. Raises `FairnessError` where two share an id.
    """
    refuse_duplicates(questions)
    placement = Placement(questions)
    for question in sorted(questions, key=lambda q: (q.language, q.category, q.context_condition, q.example_id)):
        yield _item(question, placement.values(question), placement.person(question), origin)


def _item(question: BBQQuestion, values: tuple[str, str, str], person: str, origin: str) -> ProbeItem:
    about = {
        "category": question.category,
        "field": field_of(question.category),
        "context": question.context_condition,
        "question": QUESTIONS[question.context_condition],
        "polarity": question.polarity,
        "template": question.template,
    }
    options = AnswerOptions(dict(zip(values, question.answers, strict=True)))
    text = f"{question.context}\n\n{question.question}\n\n{options}\n\n{INSTRUCTIONS[question.language]}"
    prompt = Prompt(
        text,
        metadata={**about, "example_id": question.example_id, "options": options, "label": values[question.label]},
    )
    kept = {**about, "origin": origin, "benchmark": question.benchmark, "language": question.language, PERSON: person}
    if question.naming:
        kept["naming"] = question.naming
    return ProbeItem(
        question.id,
        [prompt],
        source=f"{question.category}/{question.template}",
        metadata=kept,
    )


def refuse_duplicates(questions: Sequence[BBQQuestion]) -> None:
    ids = Counter(
        # Only BBQ's ids are the same in no two contexts.
        (q.benchmark, q.language, q.category, q.example_id, q.benchmark == "BBQ" or q.context_condition)
        for q in questions
    )
    for (_, _, category, example_id, _), times in ids.items():
        if times > 1:
            raise FairnessError(
                f"{category} has {times} questions with the example_id {example_id}: is one file there twice?"
            )


def field_of(category: str) -> str:
    """Return the field of a category, which pools it with others; a category that no field has is one of its own.

    A slice of a bias score finds half of the answers stereotyped from 24 templates on, and a category of the small set
    has 12.

    >>> field_of("Race_x_gender"), field_of("LGBTQIA"), field_of("SES"), field_of("Family structure")
    ('origin and religion', 'gender and sexuality', 'age, body and class', 'Family structure')
    """
    name = category.lower()
    return next((field for field, words in _FIELDS.items() if name.startswith(words)), category)
