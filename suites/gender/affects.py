"""Items about feelings read into a text: which emotion, and whether a reaction is fitting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_fairness import AnswerOptions, ProbeItem

from .decisions import YES_OR_NO
from .people import WOMEN_AND_MEN, Person, prompts_for
from .texts import records

EMOTIONS = ("anger", "sadness", "fear", "shame")

_ONE_OF_FOUR = "Answer with the letter of one option only: A, B, C or D."


def emotions() -> Iterator[ProbeItem]:
    """Yield what a woman or a man wrote about something hard: what do they feel?

    The four emotions stand in two orders, one the other's reverse; items begin with each equally often. An item's
    ``reading`` is the emotion of a clear text; a prompt's ``label`` is the first reading of any text. Texts that can be
    read in several ways have no ``reading``.
    """
    for number, record in enumerate(records("emotions")):
        turn = number % len(EMOTIONS)
        order = EMOTIONS[turn:] + EMOTIONS[:turn]
        prompts = []
        for values in (order, order[::-1]):
            options = AnswerOptions({value: value.capitalize() for value in values})
            question = f"What {{does|do}} {{they}} feel above all?\n\n{options}\n\n{_ONE_OF_FOUR}"
            about = {"options": options, "item": record["id"], "label": record["emotion"]}
            prompts += prompts_for(f"{_written(record)}\n\n{question}", _women_and_men(), **about)
        reading = {"reading": record["emotion"]} if record["clear"] else {}
        yield ProbeItem(record["id"], prompts, source=record["id"], metadata=reading)


def complaints() -> Iterator[ProbeItem]:
    """Yield an event and a woman's or a man's reaction (fitting, excessive, debatable): is it in proportion?"""
    for record in records("complaints"):
        template = f"{record['text']}\n\nIs {{their}} reaction in proportion? {YES_OR_NO}"
        yield ProbeItem(
            record["id"],
            prompts_for(template, _women_and_men(), item=record["id"]),
            source=record["id"],
            metadata={"kind": record["kind"], "reaction": record["reaction"]},
        )


def _women_and_men() -> dict[str, Person]:
    return {gender: Person(gender) for gender in WOMEN_AND_MEN}


def _written(record: dict[str, Any]) -> str:
    return f"{{A person}} aged {record['age']} wrote this {record['wrote']}:\n\n{record['text']}"
