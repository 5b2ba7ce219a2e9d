"""The items: one advertisement and its applicants under names of two groups. README.md says what is asked."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness import ProbeItem, Prompt
from pytest_fairness.counterfactual import BALANCED, GENDERS, MAJORITIES, Name, NameList

FITS = ("none", "one", "two", "three", "all")
"""Rungs of the ladder: the number of the four requirements that an applicant meets."""
LANGUAGES = ("en", "de", "fr", "nl")
MINORITIES: Mapping[str, tuple[str, ...]] = {
    "en": ("asian", "black", "hispanic", "middle eastern"),
    "de": ("turkish",),
    "fr": ("maghrebi",),
    "nl": ("moroccan", "turkish"),
}
"""The groups that are compared with the majority of each country, in turn."""
MAJORITY, LOWER_CLASS = "majority", "lower-class majority"
"""The reference groups of rankings: the majority, and names of it that less educated parents choose."""
NAMES = 4
"""Names of each gender of each group, for the three rungs in the middle."""
SETS = 2
"""Sets of people for the rankings of an advertisement, of the majority and a minority."""
_RANKED = 8
_DOUBLED = (0, 2, 4, 6)
"""Twice each number of an order, in the field of eight elements, whose sum is the exclusive or."""
_DATA = Path(__file__).parent / "data"


def invitations() -> Iterator[ProbeItem]:
    """Yield one item for each of 40 advertisements and each rung of the ladder: an application under sixteen names.

    Half of the names are of white people, half of one minority; half of each are women's. Their ranks by frequency are
    alike. The ends of the ladder are the control: each stands in half of the advertisements, under four names.

    >>> items = list(invitations())
    >>> len(items), items[0].id, len(items[0].prompts), len(items[1].prompts)
    (160, 'accounts-payable-none', 4, 16)
    """
    names, texts = NameList.read(), _texts("en")
    for index, record in enumerate(advertisements("en")):
        for rung, fit in enumerate(FITS):
            is_end = fit in (FITS[0], FITS[-1])
            if fit == FITS[-1 if index % 2 == 0 else 0]:
                continue
            minority = MINORITIES["en"][(index // 2 + rung) % len(MINORITIES["en"])]  # each at either end
            key = f"{record['id']}-{fit}"
            remark = texts["remarks"][(index + rung) % len(texts["remarks"])]
            application = _lines((*_facts(record, index, rung, "en"), remark))
            people = names.drawn(f"correspondence/{key}", BALANCED, BALANCED, 1 if is_end else NAMES)
            prompts = [
                _invitation(record, name, application, minority)
                for name, _ in people
                if name.ethnicity in (MAJORITIES["en"], minority)
            ]
            about = {"position": record["id"], "fit": fit}
            yield ProbeItem(key, prompts, source=record["id"], metadata=about)


def rankings() -> Iterator[ProbeItem]:
    """Yield three items for each of 40 advertisements in English, and for each of 12 in German, French and Dutch.

    Eight applicants stand in four orders: two people of each gender of the majority, and two of a minority. In the
    third item the majority has names of a lower class. In the four orders each of these pairs has every place once, and
    every application once, and stands before each other pair as often as behind it: halves of two orthogonal Latin
    squares. Seven of the applications meet the same two requirements, and one, the target, meets all (case *strong*) or
    none (*weak*).

    >>> item = next(rankings())
    >>> len(item.prompts), len({person["name"] for person in item.prompts[0].metadata["people"]})
    (4, 8)
    """
    for language in LANGUAGES:
        for index, record in enumerate(advertisements(language)):
            for number in range(SETS):
                yield _ranked(record, language, index, SETS * index + number, MAJORITY, str(number + 1))
            yield _ranked(record, language, index, index, LOWER_CLASS, str(SETS + 1))


def _invitation(record: Mapping[str, Any], name: Name, application: str, minority: str) -> Prompt:
    texts = _texts("en")
    parts = (
        texts["screen"].format(employer=record["employer"]),
        _advertisement(record, "en"),
        f"{texts['application']}\n{texts['name'].format(name=name.text)}\n{application}",
        texts["question"].format(name=name.text),
    )
    of_item = {"minority": minority, "gender_minority": f"{name.gender} {minority}"}
    groups = {**name.groups, "origin": _origin(name, "en"), **of_item}
    return Prompt("\n\n".join(parts), groups, {"name": name.text}, {"name": name.text})


def _ranked(record: Mapping[str, Any], language: str, index: int, turn: int, reference: str, number: str) -> ProbeItem:
    """Return the rankings of one set of people.

    Args:
        record: The advertisement.
        language: Its language.
        index: Its number.
        turn: The number that decides on the minority and the case, each in turn.
        reference: The group that the minority is compared with.
        number: The set, for the id.
    """
    minorities = MINORITIES[language]
    minority, case = minorities[turn % len(minorities)], ("strong", "weak")[turn // len(minorities) % 2]
    key = f"{language}-{record['id']}-{number}"
    chance = random.Random(f"correspondence/ranking/{key}")
    own = MAJORITIES[language] if reference == MAJORITY else f"lower-class {MAJORITIES[language]}"
    pairs = [(gender, of) for gender in GENDERS for of in (own, minority)]
    chance.shuffle(pairs)
    people = _names(language).of_one_length(key, [*pairs, *pairs])
    remarks = chance.sample(_texts(language)["remarks"], _RANKED)
    rungs = (FITS.index("all" if case == "strong" else "none"), *[FITS.index("two")] * (_RANKED - 1))
    applications = [
        _lines((*_facts(record, index, rung, language), remark)) for rung, remark in zip(rungs, remarks, strict=True)
    ]
    prompts = [_ranking(record, language, people, applications, order) for order in range(len(_DOUBLED))]
    about = {
        "position": record["id"],
        "minority": minority,
        "case": case,
        "language": language,
        "reference": reference,
        "minority_by_language": f"{language} {minority}",
    }
    return ProbeItem(f"ranking-{key}", prompts, source=f"{language}/{record['id']}", metadata=about)


def _ranking(
    record: Mapping[str, Any], language: str, people: Sequence[Name], applications: Sequence[str], order: int
) -> Prompt:
    """Return one order: at place p stands person p + order with application p + 2 order, in the field of eight.

    Args:
        record: The advertisement.
        language: Its language.
        people: Two people of each pair, the first and the fifth, the second and the sixth and so on.
        applications: What they say of themselves; the first one is the target's.
        order: The number of the order.
    """
    texts = _texts(language)
    shown = [(people[index ^ order], index ^ _DOUBLED[order]) for index in range(_RANKED)]
    parts = (
        texts["rank"].format(employer=record["employer"]),
        _advertisement(record, language),
        *(f"{name.text}\n{applications[number]}" for name, number in shown),
        texts["order"],
    )
    listed = [
        {
            "name": name.text,
            **name.groups,
            "origin": _origin(name, language),
            "gender_origin": f"{name.gender} {_origin(name, language)}",
            "role": "other" if number else "target",
        }
        for name, number in shown
    ]
    return Prompt("\n\n".join(parts), metadata={"people": listed})


def _facts(record: Mapping[str, Any], index: int, rung: int, language: str) -> list[str]:
    """Return what an application says of each requirement. Which ones are met first differs between advertisements."""
    met = {(index + step) % len(FITS[1:]) for step in range(rung)}
    return [fact if number in met else lack for number, (_, fact, lack) in enumerate(_requirements(record, language))]


def _requirements(record: Mapping[str, Any], language: str) -> list[Sequence[str]]:
    """Return the four requirements of an advertisement: what is asked for, and a fact that meets it or does not."""
    return [*record["asks"], _texts(language)["also"][record["also"]]]


def _advertisement(record: Mapping[str, Any], language: str) -> str:
    texts = _texts(language)
    requirements = _lines([text for text, _, _ in _requirements(record, language)])
    return f"{texts['head']}\n{record['title']}\n{record['about']}\n{texts['asks']}\n{requirements}"


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _origin(name: Name, language: str) -> str:
    return "minority" if name.ethnicity in MINORITIES[language] else MAJORITY


@cache
def _names(language: str) -> NameList:
    """Return the names of a country, with those of a lower class as a group of their own."""
    lists = (NameList.read(language=language), NameList.read(_DATA / "lower_class", language=language))
    return NameList([name for names in lists for group in names.groups for name in names.of(group)], lists[1].origin)


@cache
def advertisements(language: str) -> list[dict[str, Any]]:
    """Return the advertisements in a language."""
    lines = (_DATA / f"advertisements.{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@cache
def _texts(language: str) -> Mapping[str, Any]:
    of_language: Mapping[str, Any] = json.loads((_DATA / "texts.json").read_text(encoding="utf-8"))[language]
    return of_language
