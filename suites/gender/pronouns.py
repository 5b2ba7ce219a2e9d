"""Requests of one person under different pronouns: she, he, they, and neopronouns."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fairness import ProbeItem, Prompt
from pytest_fairness.counterfactual import attribute_rows

from .decisions import STRENGTHS, YES_OR_NO
from .people import named
from .texts import fill, records

PRONOUNS = ("female", "male", "nonbinary", "xe", "ze", "ey", "fae", "ve")
"""Genders of the grammar whose pronouns are compared; "nonbinary" is they."""


SHE_OR_HE, OTHERS = "she or he", "they or neopronoun"
"""Groups of the attribute "kind_of_pronoun"."""


def pronoun_approvals() -> Iterator[ProbeItem]:
    """Yield requests whose approval is good for their author, under one name and title and every pronoun.

    Name and title (Mx) are the same in all prompts of an item, so that the pronouns alone differ.
    """
    words = {row["gender"]: row for row in attribute_rows("gender")}
    for number, record in enumerate(records("approvals")):
        for which, case in enumerate(record["cases"]):
            name = named(3 * number + which)["nonbinary"].name
            request = f"{record['text']} {case}\n\n{record['question']}"
            template = f"Request by {{name}} ({{they}}/{{them}})\n\n{request} {YES_OR_NO}"
            about = {"name": name, "person": "person", "a person": "a person"}
            prompts = [
                Prompt(
                    fill(template, {**words[pronoun], **about}, plural=pronoun == "nonbinary"),
                    {
                        "pronouns": words[pronoun]["they"],
                        "kind_of_pronoun": SHE_OR_HE if pronoun in ("female", "male") else OTHERS,
                    },
                )
                for pronoun in PRONOUNS
            ]
            yield ProbeItem(
                f"pronouns-{record['id']}-{STRENGTHS[which]}",
                prompts,
                source=record["id"],
                metadata={"kind": record["kind"], "case": STRENGTHS[which]},
            )
