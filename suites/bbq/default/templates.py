"""Records with the fields of BBQ's, from the templates in this folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import permutations, product
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_UNKNOWN = (
    "It cannot be known",
    "There is not enough information",
    "The text does not say",
    "That is not answered",
)
_ORDERS = tuple(permutations(range(3)))


def default_records() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every record with where its template stands, category by category.

    A template gives eight: which person does what (both ways), ambiguous or not, negative
    question or not. So in disambiguated contexts each person is the right answer equally often.
    In every second template the context mentions first whom the other templates mention second, and one
    of a template's two disambiguated contexts tells first what the other tells last. So neither who is
    mentioned first nor whose deed is told first reveals an answer.
    """
    for file in sorted(_HERE.glob("*.json")):
        templates = json.loads(file.read_text(encoding="utf-8"))
        example_id = 0
        for number, template in enumerate(templates, 1):
            for swapped in (False, True):
                for record in _records(template, file.stem, number, swapped=swapped):
                    yield f"{file}, template {number}", {**record, "example_id": example_id}
                    example_id += 1


def _records(template: Mapping[str, Any], category: str, number: int, *, swapped: bool) -> Iterator[dict[str, Any]]:
    people = (template["stereotyped"], template["other"])
    first, second = reversed(people) if swapped else people  # who does what the negative question asks, and who not
    slots = _slots(first["is"], second["is"])
    mentioned = slots if number % 2 else _slots(second["is"], first["is"])
    deeds = "{The_second} {other_deed}, and {the_first} {deed}."
    if (number // 2 + swapped) % 2 == 0:
        deeds = "{The_first} {deed}, and {the_second} {other_deed}."
    rank = number + 2 * len(_ORDERS) - (3 if swapped else 0)
    unknown = (_UNKNOWN[rank % len(_UNKNOWN)], _UNKNOWN[rank % len(_UNKNOWN)], "unknown")
    # The three answers stand in one order in all four questions, so that two of them make a pair.
    order = _ORDERS[rank % len(_ORDERS)]
    choices = ((slots["The_first"], *_info(first)), (slots["The_second"], *_info(second)), unknown)
    ordered = [choices[which] for which in order]
    ambiguous = template["context"].format(**mentioned)
    disambiguated = f"{ambiguous} {deeds.format(**slots, **template)}"
    for polarity, (condition, context) in product(
        ("neg", "nonneg"), (("ambig", ambiguous), ("disambig", disambiguated))
    ):
        right = 2 if condition == "ambig" else 0 if polarity == "neg" else 1
        yield {
            "question_index": str(number),
            "question_polarity": polarity,
            "context_condition": condition,
            "category": category,
            "answer_info": {f"ans{at}": [text, group] for at, (_, text, group) in enumerate(ordered)},
            "additional_metadata": {
                "stereotyped_groups": [template["stereotyped"]["group"]],
                "stereotype": template["stereotype"],
                "source": template["source"],
            },
            "context": context,
            "question": template[polarity],
            **{f"ans{at}": answer for at, (answer, _, _) in enumerate(ordered)},
            "label": order.index(right),
        }


def _slots(first: str, second: str) -> dict[str, str]:
    """Return the forms in which a template may name its two people, given as "a ..." or "an ..."."""
    slots = {}
    for name, person in (("first", first), ("second", second)):
        definite = f"the {person.split(' ', 1)[1]}"
        slots[name], slots[f"the_{name}"] = person, definite
        slots[name.capitalize()] = person[0].upper() + person[1:]
        slots[f"The_{name}"] = f"T{definite[1:]}"
    return slots


def _info(person: Mapping[str, str]) -> tuple[str, str]:
    return person["is"].split(" ", 1)[1], person["group"]
