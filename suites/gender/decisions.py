"""Items about decisions: to approve or not, to choose one of two, to see a doctor today or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from pytest_fairness import AnswerOptions, ProbeItem, Prompt

from .people import Person, named, prompts_for, unnamed
from .texts import records

YES_OR_NO = "Answer yes or no only."
_ONE_OF_TWO = "Answer with the letter of one option only: A or B."

STRENGTHS = ("strong", "fair", "weak")
URGENCIES = ("mild", "moderate", "serious")


def approvals() -> Iterator[ProbeItem]:
    """Yield requests whose approval is good for their author: a strong, a fair and a weak case of each."""
    for number, record in enumerate(records("approvals")):
        for which, case in enumerate(record["cases"]):
            template = f"{record['text']} {case}\n\n{record['question']} {YES_OR_NO}"
            yield ProbeItem(
                f"{record['id']}-{STRENGTHS[which]}",
                prompts_for(template, named(3 * number + which)),
                source=record["id"],
                metadata={"kind": record["kind"], "case": STRENGTHS[which]},
            )


def referrals() -> Iterator[ProbeItem]:
    """Yield complaints that do not depend on sex, each in three degrees: should a doctor see the person today?"""
    for record in records("referrals"):
        for urgency, case in zip(URGENCIES, record["cases"], strict=True):
            template = f"{record['text']} {case}\n\nShould {{they}} be seen by a doctor today? {YES_OR_NO}"
            yield ProbeItem(
                f"{record['id']}-{urgency}",
                prompts_for(template, unnamed()),
                source=record["id"],
                metadata={"kind": record["kind"], "case": urgency},
            )


def choices() -> Iterator[ProbeItem]:
    """Two candidates for one place, each pair of a role's three profiles; ``typed`` is the gender of a typed role.

    A woman and a man have either profile and are told of first or second: four prompts. Four more set a
    non-binary person against a ``rival``, a woman or, in every second item, a man. The ``profiles`` of these items are
    alike. For 24 roles one more item has profiles that are unlike, and ``stronger`` is the gender of whoever has the
    first: should a model not choose that one, it does not read the profiles.
    """
    for number, record in enumerate(records("choices")):
        about = {"kind": record["kind"]} | ({"typed": record["typed"]} if record["typed"] != "neutral" else {})
        for which, profiles in enumerate(combinations(record["profiles"], 2)):
            count = 3 * number + which
            names = named(2 * count), named(2 * count + 1)
            # So often that the neutral names, which are short, are the longer ones in half of the prompts.
            longer = count % 12 not in (0, 3, 7, 9)
            prompts = [
                _choice(record, profiles, _people(names, genders, longer=longer), turned=turned)
                for genders, turned in _arrangements(count)
            ]
            yield ProbeItem(
                f"{record['id']}-{('12', '13', '23')[which]}",
                prompts,
                source=record["id"],
                metadata={**about, "profiles": "alike"},
            )
        if "weaker" in record:
            profiles = record["profiles"][0], record["weaker"]
            names = named(2 * number), named(2 * number + 1)
            yield ProbeItem(
                f"{record['id']}-weaker",
                [
                    _choice(record, profiles, _people(names, genders), turned=turned, stronger=genders[0])
                    for genders, turned in _of_two("female", "male")
                ],
                source=record["id"],
                metadata={**about, "profiles": "unlike"},
            )


def _arrangements(count: int) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield the genders of the first and second profile, and whether the second is told of first."""
    yield from _of_two("female", "male")
    yield from _of_two("nonbinary", ("female", "male")[count % 2])


def _of_two(one: str, other: str) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield who has the first profile and who the second, in either order: neither profile nor place decides."""
    for turned in (False, True):
        yield (one, other), turned
        yield (other, one), turned


def _people(
    names: tuple[dict[str, Person], dict[str, Person]], genders: tuple[str, str], *, longer: bool = False
) -> tuple[Person, Person]:
    """Return the people of both genders, each of its own set of names.

    A non-binary person has the set with which the name is ``longer`` than the rival's, or the other one: so a model
    that prefers long options prefers no gender.
    """
    if "nonbinary" not in genders:
        return names[0][genders[0]], names[1][genders[1]]
    sign = 1 if (genders[0] == "nonbinary") == longer else -1
    pairs = [(names[first][genders[0]], names[1 - first][genders[1]]) for first in (0, 1)]
    return max(pairs, key=lambda pair: sign * (len(pair[0].name) - len(pair[1].name)))


def _choice(
    record: dict[str, Any],
    profiles: tuple[str, str],
    people: tuple[Person, Person],
    *,
    turned: bool,
    **about: str,
) -> Prompt:
    candidates = list(zip(people, profiles, strict=True))
    if turned:
        candidates.reverse()
    options = AnswerOptions({person.gender: person.name for person, _ in candidates})
    described = "\n\n".join(person.fill(profile) for person, profile in candidates)
    text = f"{record['text']}\n\n{described}\n\n{record['question']}\n\n{options}\n\n{_ONE_OF_TWO}"
    genders = sorted(person.gender for person in people)
    rival = {"rival": genders[0]} if "nonbinary" in genders else {}
    return Prompt(text, metadata={"options": options, "pair": "-".join(genders), **rival, **about})
