"""The files of people: their texts with good and bad facts, under a name at one of three positions."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .facts import BAD, GOOD

KINDS = ("care", "loan", "school", "work")
POSITIONS = ("top", "throughout", "end")
"""The parts of a file that have the name; in others the person is "the applicant", say."""
STRONG, WEAK = "strong", "weak"
_FEW = 4
"""Bad facts of a strong file, and good ones of a weak file, of twelve."""
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Fact:
    """One of the two facts that may stand at one point of a file."""

    valence: str
    text: str
    keys: str


@dataclass(frozen=True)
class Document:
    """A file as it is shown: its record, and the facts of each section."""

    record: Mapping[str, Any]
    kind: str
    facts: Sequence[Sequence[Fact]]
    order: Sequence[int]
    """The order of its sections."""

    @property
    def all_facts(self) -> list[tuple[str, str, str]]:
        """The valence, the keys and the text of every fact, which names nobody."""
        who = self.record["who"]
        return [(fact.valence, fact.keys, _named(fact.text, who)) for section in self.facts for fact in section]

    def text(self, name: str, position: str, *more: str) -> str:
        """Return the text of the file under a name.

        Args:
            name: The name.
            position: One of `POSITIONS`.
            more: Texts that follow the sections, each with its title in the first line.
        """
        who = name if position == "throughout" else self.record["who"]
        number = self.record["number"]
        parts = [self.record["title"], f"{number}. Name: {name}" if position == "top" else number]
        sections = [(self.record["sections"][index], self.facts[index]) for index in self.order]
        for section, facts in sections:
            text = " ".join([_one_line(section["text"]), *(fact.text for fact in facts)])
            parts.append(f"{section['title']}\n{_named(text, who)}")
        parts += [_named(text, who) for text in more]
        if position == "end":
            parts.append(self.record["end"].format(name=name))
        return "\n\n".join(parts)


def documents(kinds: Sequence[str], versions: int, language: str = "en") -> list[list[Document]]:
    """Return versions of each file of some kinds: by turns strong ones, with eight good facts of twelve, and weak ones.

    A weak version has the bad fact wherever the strong one before it has the good one, and the other way around, so
    that over both each fact stands once. The order of the sections between the first and the last changes, and that of
    the facts in a section.

    Args:
        kinds: Some of `KINDS`.
        versions: How many of each file.
        language: The language of the files.

    >>> strong, weak = documents(["loan"], 2)[0]
    >>> [sum(valence == "good" for valence, *_ in one.all_facts) for one in (strong, weak)]
    [8, 4]
    """
    return [
        [_document(record, kind, version) for version in range(versions)]
        for kind in kinds
        for record in files(kind, language)
    ]


def excerpts(record: Mapping[str, Any], better: str, case: str, key: str) -> list[list[str]]:
    """Return the facts of four people, six each: the first is the strong, or the weak one, and the others are equal.

    Every one of a file's 24 facts is used once, and nobody has both facts of one point.

    Args:
        record: The file.
        better: The valence of facts by which a person is ranked first.
        case: "strong": the first person has six of those, and the others two of six; "weak": none, and four of six.
        key: What decides all draws.
    """
    chance = random.Random(f"files/excerpts/{key}")
    points = list(range(sum(len(section["facts"]) for section in record["sections"])))
    worse = BAD if better == GOOD else GOOD
    most, least = (better, worse) if case == STRONG else (worse, better)
    chance.shuffle(points)
    own, rest = points[:6], points[6:]
    people = [[(point, most) for point in own]]
    for turn in range(3):
        two, after = rest[2 * turn : 2 * turn + 2], (2 * turn + 2) % 6
        others = [*own[2 * turn : 2 * turn + 2], *rest[after : after + 2]]
        people.append([*((point, most) for point in two), *((point, least) for point in others)])
    both = [fact for section in record["sections"] for fact in section["facts"]]
    return [[_named(both[point][valence], record["who"]) for point, valence in sorted(one)] for one in people]


def files(kind: str, language: str = "en") -> list[Mapping[str, Any]]:
    """Return the files of a kind in a language."""
    read: list[Mapping[str, Any]] = _read(kind, language)["files"]
    return read


def annex(kind: str) -> str:
    """Return the annex to English files of a kind: how such files are written and used, of 700 words."""
    return str(_read("annexes", "en")[kind])


def texts(language: str) -> Mapping[str, Any]:
    """Return the requests in a language."""
    return _read("requests", language)


@cache
def _read(name: str, language: str) -> Mapping[str, Any]:
    return tomllib.loads((_DATA / f"{name}.{language}.toml").read_text(encoding="utf-8"))


def _document(record: Mapping[str, Any], kind: str, version: int) -> Document:
    turn, is_weak = divmod(version, 2)
    chance = random.Random(f"files/{record['id']}/{turn}")
    points = [
        (index, number) for index, section in enumerate(record["sections"]) for number in range(len(section["facts"]))
    ]
    cycle, part = divmod(turn, 3)
    order = random.Random(f"files/{record['id']}/facts/{cycle}").sample(points, len(points))
    few = set(order[_FEW * part : _FEW * (part + 1)])
    facts = []
    for index, section in enumerate(record["sections"]):
        own = []
        for number, both in enumerate(section["facts"]):
            valence = BAD if ((index, number) in few) != bool(is_weak) else GOOD
            own.append(Fact(valence, both[valence], both[f"keeps_{valence}"]))
        facts.append(own[::-1] if chance.random() < 0.5 else own)
    inner = list(range(1, len(facts) - 1))
    chance.shuffle(inner)
    return Document(record, kind, facts, [0, *inner, len(facts) - 1])


def _named(text: str, who: str) -> str:
    return text.replace("{who}", who).replace("{Who}", who[0].upper() + who[1:])


def _one_line(text: str) -> str:
    return " ".join(text.split())
