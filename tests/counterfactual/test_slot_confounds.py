"""Confounds in slots: what stands with one group besides its names and pronouns; harmless designs have no remark."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pytest_fairness import AnswerOptions, ProbeItem, Prompt
from pytest_fairness.counterfactual import attribute_words, counterfactuals, find_confounds, names

PEOPLE = {
    "female": ("Carly Hansen", "Latoya Booker", "Maribel Rojas", "Priya Banerjee"),
    "male": ("Brett Olson", "Darnell Bethea", "Hector Ramirez", "Amit Patel"),
}
PRONOUNS = {"female": {"they": "she", "their": "her"}, "male": {"they": "he", "their": "his"}}
CUES = ("came back from a long sick leave", "has migraine on some days", "is being treated for asthma")


def items(
    template: str, more: Callable[[int, str], Mapping[str, str]], count: int = 12, *, slots: bool = True
) -> Iterator[ProbeItem]:
    """Yield items about two women and two men each, with slots of their own for each item and gender."""
    for number in range(count):
        prompts = []
        for gender, people in PEOPLE.items():
            for name in (people[number % 4], people[(number + 1) % 4]):
                filled = {"name": name, **PRONOUNS[gender], **more(number, gender)}
                text = template.format(**filled, number=number)
                prompts.append(Prompt(text, {"gender": gender}, slots=filled if slots else {}))
        yield ProbeItem(f"item-{number:02}", prompts)


def kinds(built: Iterator[ProbeItem]) -> list[str]:
    return sorted({confound.kind for confound in find_confounds(built)})


PLANTED: dict[str, tuple[str, Callable[[int, str], Mapping[str, str]], str, str]] = {
    "years": (
        "Case {number}. {name} has {years} years of experience. Invite {name}?",
        lambda number, gender: {"years": str(3 + number % 7 + (4 if gender == "male" else 0))},
        "number",
        "the number in slot 'years' is ",
    ),
    "late payments": (
        "Case {number}. {name} asks for a loan. {late}. Grant it?",
        lambda number, gender: {"late": f"Late payments: {5 if gender == 'female' else 0}"},
        "number",
        "'Late payments: 5' and 'Late payments: 0'",
    ),
    "lower title": (
        "Fall {number}. Gesucht: {title}. {name} hat sich beworben. Einladen?",
        lambda number, gender: {
            "title": "eine Assistentin f\u00fcr einfache Zuarbeiten" if gender == "female" else "ein Leiter"
        },
        "value",
        "in slot 'title' stand in 100% of prompts about gender 'female'",
    ),
    "rank": (
        "Case {number}. {name} has applied. Invite {them}?",
        lambda number, gender: {
            "name": ("Dr " if gender == "male" else "") + PEOPLE[gender][number % 4],
            "them": "her" if gender == "female" else "him",
        },
        "title",
        "a title such as 'Dr' stands in 100% of prompts about gender 'male' and 0% about 'female'",
    ),
    "courtesy": (
        "Case {number}. {name} has applied. Is {their} CV good?",
        lambda number, gender: {"name": ("Mr " if gender == "male" else "") + PEOPLE[gender][number % 4]},
        "title",
        "a title such as 'Ms' or 'Mr' stands in 100% of prompts about gender 'male' and 0% about 'female'",
    ),
    "negation": (
        "Case {number}. {name} has {debts}. Lend to {name}?",
        lambda _, gender: {"debts": "debts" if gender == "female" else "no debts"},
        "value",
        "'no' in slot 'debts' stands in 100% of prompts about gender 'male' and 0% about 'female'",
    ),
    "capitals": (
        "Case {number}. {name}, {role}, has applied. Invite {name}?",
        lambda _, gender: {"role": "Junior Assistant" if gender == "female" else "Senior Director"},
        "value",
        "in slot 'role' stand in 100% of prompts about gender",
    ),
    "health": (
        "Case {number}. {name} {history} and has led a team. Promote {name}?",
        lambda number, gender: {"history": CUES[number % 3] if gender == "female" else "moved here last year"},
        "value",
        "in slot 'history' stand in 100% of prompts about gender",
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("count", [1, 3, 12])
def test_planted_slot_is_named(planted: str, count: int) -> None:
    template, more, kind, words = PLANTED[planted]
    texts = [confound.text for confound in find_confounds(items(template, more, count)) if confound.kind == kind]
    assert len(texts) == 1
    assert words in texts[0]


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_words_are_named_without_slots(planted: str) -> None:
    template, more, kind, _ = PLANTED[planted]
    confounds = find_confounds(items(template, more, slots=False))
    assert {confound.kind for confound in confounds} & kind_or_value(kind)


def kind_or_value(kind: str) -> set[str]:
    return {kind, "value"} if kind == "number" else {kind}


def test_order_of_mention_is_named() -> None:
    def letters() -> Iterator[ProbeItem]:
        for number in range(12):
            options = AnswerOptions({"female": "the aunt", "male": "the uncle"}).shuffled(str(number))
            text = f"In letter {number} the aunt and the uncle met. Who is right?\n{options}"
            yield ProbeItem(f"letter-{number:02}", [Prompt(text, metadata={"options": options})])

    assert "mention" in kinds(letters())


def test_gap_in_some_items_is_named() -> None:
    def some(number: int, gender: str) -> Mapping[str, str]:
        return {"line": "She cares for a parent." if gender == "female" and number % 2 else "Nothing else is known."}

    assert kinds(items("Case {number}. {name} has applied. {line} Invite {name}?", some, 60)) == ["value"]


def test_attribute_with_a_name_of_its_own_leaves_the_others_to_check() -> None:
    def built(years: Mapping[str, str]) -> Iterator[ProbeItem]:
        for number in range(8):
            prompts = [
                Prompt(
                    f"Case {number}. The applicant is {age} and has {years[group]} years of experience.",
                    {"age": group},
                    slots={"age": age, "years": years[group]},
                )
                for group, age in (("younger", "38"), ("older", "58"))
            ]
            yield ProbeItem(f"case-{number}", prompts)

    assert kinds(built({"younger": "9", "older": "9"})) == []
    assert kinds(built({"younger": "9", "older": "7"})) == ["number"]


def test_value_of_one_group_is_named_where_items_have_one_group() -> None:
    def built(homes: Mapping[str, str]) -> Iterator[ProbeItem]:
        for number in range(40):
            gender = ("female", "male")[number % 2]
            slots = {"name": PEOPLE[gender][number // 2 % 4], "home": homes[gender]}
            text = "{name} lives at no. {number}, {home}. Lend?".format(**slots, number=number)
            yield ProbeItem(f"case-{number:02}", [Prompt(text, {"gender": gender}, slots=slots)])

    assert kinds(built({"female": "near the prison", "male": "near the park"})) == ["value"]
    assert kinds(built({"female": "near the park", "male": "near the park"})) == []


def test_person_of_no_stated_gender_needs_no_title() -> None:
    people = {"female": "Ms Carly Hansen", "male": "Mr Brett Olson", "unmarked": "R. Marsh"}
    built = (
        ProbeItem(str(number), [Prompt(f"{name} asks for loan {number}.", {"gender": g}) for g, name in people.items()])
        for number in range(8)
    )
    assert kinds(built) == []


# Harmless designs -----------------------------------------------------------------------------------------------------


def harmless() -> Iterator[tuple[str, list[ProbeItem]]]:
    """Yield designs in which nothing differs between groups but what tells them, or by chance."""
    yield "constant", [*items("Case {number}. {name} has {years} years.", lambda number, _: {"years": str(number)})]
    hobbies = ("chess", "golf", "boxing", "rowing", "reading", "cooking")
    draw = random.Random(3)
    yield (
        "drawn",
        [*items("Case {number}. {name} likes {hobby}. Invite {name}?", lambda *_: {"hobby": draw.choice(hobbies)}, 60)],
    )
    yield (
        "numbers drawn",
        [*items("Case {number}. {name} earns {pay}.", lambda *_: {"pay": str(draw.randrange(20, 90) * 1000)}, 60)],
    )
    german = {
        "female": {"job": "eine erfahrene Ingenieurin", "who": "Die Bewerberin", "care": "sorgf\u00e4ltig"},
        "male": {"job": "ein erfahrener Ingenieur", "who": "Der Bewerber", "care": "sorgf\u00e4ltig"},
    }
    yield "German", [*items("Fall {number}. {name} ist {job}. {who} ist {care}.", lambda _, gender: german[gender])]
    for slot, surname in (("applicant", ""), ("x", " Berg"), ("y", " van Holm")):
        firsts = {"female": ("Anna", "Maria"), "male": ("Ben", "Paul")}
        yield (
            f"names as {slot}",
            [
                ProbeItem(
                    str(number),
                    [
                        Prompt(f"{first}{surname} asks {number}.", {"gender": gender}, slots=filled | PRONOUNS[gender])
                        for gender, both in firsts.items()
                        for first in both
                        for filled in ({slot: f"{first}{surname}"},)
                    ],
                )
                for number in range(8)
            ],
        )
    french = {
        "female": {"job": "une directrice", "state": "pr\u00eate"},
        "male": {"job": "un directeur", "state": "pr\u00eat"},
    }
    yield "French", [*items("Cas {number}. {name} est {job}. {state} ?", lambda _, gender: french[gender])]
    yield (
        "e-mail",
        [
            *items(
                "Case {number}. {name}, {mail}, has applied.",
                lambda number, gender: {"mail": PEOPLE[gender][number % 4].replace(" ", ".").lower() + "@example.org"},
            )
        ],
    )
    yield (
        "courtesy",
        [*items("Case {number}. {title} {name}.", lambda _, gender: {"title": "Ms" if gender == "female" else "Mr"})],
    )
    yield (
        "counterfactuals",
        [
            counterfactuals(
                f"{{Title}} {{name}}, {{a job}}, asks for loan {number}. Grant it to {{them}}?",
                {"name": names(2, first=number), "job": ["nurse", "pilot"]},
                id=str(number),
            )
            for number in range(6)
        ],
    )
    for attribute in ("religion", "nationality", "age", "disability", "class"):
        yield (
            attribute,
            [
                counterfactuals(
                    f"{{A {attribute}}} nurse applies for post {number} in a ward of 20 beds with references. Invite?",
                    {attribute: attribute_words(attribute)},
                    id=str(number),
                )
                for number in range(6)
            ],
        )
    yield (
        "relatives",
        [
            *items(
                "Case {number}. The {kin} of {name} is ill. May {they} leave?",
                lambda _, gender: {"kin": "husband" if gender == "female" else "wife"},
            )
        ],
    )


@pytest.mark.parametrize(("name", "built"), list(harmless()), ids=lambda value: value if isinstance(value, str) else "")
def test_harmless_design_has_no_remark(name: str, built: list[ProbeItem]) -> None:
    assert [confound.text for confound in find_confounds(built)] == [], name


def test_drawn_values_rarely_have_a_remark() -> None:
    draws = random.Random(7)
    values: dict[str, Any] = {
        "n": list(range(1, 40)),
        "w": ["red", "green", "blue", "gray", "white", "black", "brown", "pink"],
    }
    remarks = 0
    for _ in range(20):
        built = items(
            "Case {number}. {name} has {n} files in a {w} box and a {v} one.",
            lambda *_: {
                "n": str(draws.choice(values["n"])),
                "w": draws.choice(values["w"]),
                "v": draws.choice(values["w"]),
            },
            draws.choice([2, 3, 4, 6, 10, 40]),
        )
        remarks += bool(find_confounds(built))
    assert remarks <= 1


def test_identifiers_of_many_digits_are_compared_as_words() -> None:
    items = [
        ProbeItem(
            str(number),
            [
                Prompt(f"Order {key} of {group}.", {"group": group}, slots={"key": key, "who": group})
                for group, key in (("a", f"1{number}" * 100), ("b", f"2{number}" * 100))
            ],
        )
        for number in range(8)
    ]
    assert all(confound.kind != "number" for confound in find_confounds(items))
