"""Names by gender and ethnicity, and how they are drawn for people in prompts."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.shipped_files import shipped_file

GENDERS = ("female", "male")
MIXED, BALANCED = "mixed", "balanced"
LANGUAGES = ("de", "en", "es", "fr", "nl", "pt", "tr")
"""Languages with a shipped list."""

Group = tuple[str, str]
"""A gender and an ethnicity."""


@dataclass(frozen=True, slots=True)
class Name:
    """One name of the list. ``count`` is its frequency; None where it is not known."""

    text: str
    gender: str
    ethnicity: str
    count: int | None

    @property
    def groups(self) -> dict[str, str]:
        """Gender, ethnicity, and both."""
        both = f"{self.gender} {self.ethnicity}"
        return {"gender": self.gender, "ethnicity": self.ethnicity, "gender_ethnicity": both}


class NameList:
    """A list of names, by group, the frequent ones first.

    >>> names = NameList.read()
    >>> names.ethnicities
    ('asian', 'black', 'hispanic', 'middle eastern', 'white')
    >>> [name.text for name in names.of(("female", "hispanic"))][:2]
    ['Yolanda Rodriguez', 'Ana Hernandez']

    Raises `FairnessError` where a group has no name.
    """

    def __init__(self, names: Sequence[Name], origin: str) -> None:
        self.origin = origin
        self.ethnicities = tuple(sorted({name.ethnicity for name in names}))
        self._groups: dict[Group, list[Name]] = {(g, e): [] for g in GENDERS for e in self.ethnicities}
        for name in names:
            self._groups[name.gender, name.ethnicity].append(name)
        for group, members in self._groups.items():
            if not members:
                raise FairnessError(f"{origin} has no {' '.join(group)} name: each ethnicity needs both genders")
            members.sort(key=lambda name: -(name.count or 0))

    @classmethod
    def read(cls, folder: Path | None = None, *, language: str = "en") -> NameList:
        """Return the list of a folder, or the shipped one of a language's country: names of its groups.

        Args:
            folder: A folder with ``names.csv``, or for another language ``names.de.csv``, say: where that is missing,
                the shipped list is taken.
            language: "en" (the United States), "de", "es", "fr", "nl", "pt" (Brazil) or "tr".

        Returns:
            The list.

        >>> NameList.read(language="de").ethnicities
        ('arabic', 'german', 'polish', 'turkish')

        Raises:
            FairnessError: The list cannot be used (the message names file and line), or none is in this language.
        """
        if language not in LANGUAGES:
            raise FairnessError(f"there are no names for language {language!r}: {did_you_mean(language, LANGUAGES)}")
        own = None if folder is None else folder / ("names.csv" if language == "en" else f"names.{language}.csv")
        if own is not None and (language == "en" or own.is_file()):
            return _read(own)
        return _read(shipped_file("names", f"{language}.csv"))

    @property
    def groups(self) -> Sequence[Group]:
        """Every gender with every ethnicity."""
        return tuple(self._groups)

    def of(self, group: Group) -> Sequence[Name]:
        """Return the names of a group, the most frequent first."""
        return self._groups[group]

    def drawn(self, key: str, gender: str, ethnicity: str, draws: int) -> list[tuple[Name, int]]:
        """Return names for one profile, each with the number of its draw in its group, from 0 on.

        ``gender`` and ``ethnicity`` are modes: "balanced" takes each group, "mixed" as many groups at random, and a
        group's name only that group. A draw takes the same frequency rank in every group that has counts;
        ``key`` seeds all draws. Raises `FairnessError` for an unknown mode, or a group with too few names.
        """
        _check("gender", gender, GENDERS)
        _check("ethnicity", ethnicity, self.ethnicities)
        generator = random.Random(key)
        ranks = [generator.random() for _ in range(draws * len(self._groups))]
        used: dict[Group, list[Name]] = {group: [] for group in self._groups}
        drawn = []
        for group in _groups(generator, gender, ethnicity, self.ethnicities, draws):
            unused = [name for name in self._groups[group] if name not in used[group]]
            number = len(used[group])
            if not unused:
                raise FairnessError(
                    f"{self.origin} has {counted(number, ' '.join((*group, 'name')))}: "
                    "a profile takes more, so add some"
                )
            has_counts = unused[0].count is not None
            rank = ranks[number] if has_counts else random.Random(f"{key}/{group}/{number}").random()
            name = unused[int(rank * len(unused))]
            used[group].append(name)
            drawn.append((name, number))
        return drawn

    def of_one_length(self, key: str, gender: str) -> list[Name]:
        """Return a name of each ethnicity, all of one length, for candidates in one shortlist.

        ``key`` decides the length, among those that every ethnicity has, in proportion to the names that have it; and
        the names, at the same frequency rank among those of that length. Where no length is in every ethnicity, as in a
        short list of your own, the lengths are as alike as the list allows.

        >>> [name.text for name in NameList.read().of_one_length("a shortlist", "female")]
        ['Shilpa Sharma', 'Alesia Booker', 'Noemi Ramirez', 'Abeer Shaheen', 'Kerrie Larson']
        """
        generator = random.Random(key)
        groups = [self._groups[gender, ethnicity] for ethnicity in self.ethnicities]
        lengths = sorted(len(name.text) for names in groups for name in names)
        lengths_of = [{len(name.text) for name in names} for names in groups]
        distances = {length: sum(_distance(of, length) for of in lengths_of) for length in set(lengths)}
        least = min(distances.values())
        length = generator.choice([length for length in lengths if distances[length] == least])
        rank, people = generator.random(), []
        for names, of in zip(groups, lengths_of, strict=True):
            nearest = _distance(of, length)
            candidates = [name for name in names if abs(len(name.text) - length) == nearest]
            has_counts = candidates[0].count is not None
            people.append(candidates[int((rank if has_counts else generator.random()) * len(candidates))])
        return people


def _distance(lengths: Iterable[int], length: int) -> int:
    """Return the smallest difference between a length and others."""
    return min(abs(other - length) for other in lengths)


def _groups(
    generator: random.Random, gender: str, ethnicity: str, ethnicities: Sequence[str], draws: int
) -> Iterator[Group]:
    for _ in range(draws):
        for first in _slots(gender, GENDERS):
            for second in _slots(ethnicity, ethnicities):
                yield first or generator.choice(GENDERS), second or generator.choice(ethnicities)


def _slots(mode: str, groups: Sequence[str]) -> Sequence[str]:
    """Return the groups that a mode takes; an empty text stands for a random group."""
    return {BALANCED: groups, MIXED: [""] * len(groups)}.get(mode, [mode])


def _check(what: str, mode: str, groups: Sequence[str]) -> None:
    modes = (MIXED, BALANCED, *groups)
    if mode not in modes:
        raise FairnessError(f"{what} is {mode!r}: {did_you_mean(mode, modes)}")


@cache
def _read(path: Path) -> NameList:
    if not path.is_file():
        raise FairnessError(f"{path}: there is no such file: names stand in names.csv (name, gender, ethnicity)")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        missing = {"name", "gender", "ethnicity"} - set(rows.fieldnames or ())
        if missing:
            raise FairnessError(f"{path} has no column {', '.join(sorted(missing))}: it needs name, gender, ethnicity")
        names = [_name(row, f"{path}:{number}") for number, row in enumerate(rows, start=2)]
    lines: dict[tuple[str, str, str], int] = {}
    for number, name in enumerate(names, start=2):
        first = lines.setdefault((name.text, name.gender, name.ethnicity), number)
        if first != number:
            raise FairnessError(f"{path}:{number}: {name.text} stands in line {first} as well: give each name once")
    return NameList(names, str(path))


def _name(row: Mapping[str, str | None], where: str) -> Name:
    first, gender, ethnicity = ((row[column] or "").strip() for column in ("name", "gender", "ethnicity"))
    if not first or not ethnicity or gender not in GENDERS:
        raise FairnessError(
            f"{where}: name {first!r}, gender {gender!r}, ethnicity {ethnicity!r}: none may be empty, "
            f"and gender is {' or '.join(GENDERS)}"
        )
    count = (row.get("count") or "").strip()
    if count and not count.isdecimal():
        raise FairnessError(f"{where}: count is {count!r}: write a whole number, or leave it empty")
    surname = (row.get("surname") or "").strip()
    return Name(f"{first} {surname}".strip(), gender, ethnicity, int(count) if count else None)
