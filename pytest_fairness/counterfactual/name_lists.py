"""Names by gender and ethnicity, and how they are drawn for people in prompts."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.shipped_files import shipped_file

GENDERS = ("female", "male")
"""The genders of the shipped names."""
MIXED = "mixed"
BALANCED = "balanced"
"""The mode of `NameList.drawn` that takes each group, as often as the others."""
LANGUAGES = ("de", "en", "es", "fr", "nl", "pt", "tr")
"""Languages with a shipped list."""
MAJORITIES: Mapping[str, str] = {
    "de": "german",
    "en": "white",
    "es": "spanish",
    "fr": "french",
    "nl": "dutch",
    "pt": "brazilian",
    "tr": "turkish",
}
"""The group of each shipped list that the others, the country's minorities, are compared with."""

_DRAWS = 8
"""Draws of people in one list, of which that with the most surnames is taken."""

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
    def surname(self) -> str:
        """The text without its first word; a single word stands for itself."""
        return self.text.partition(" ")[2] or self.text

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

    def of_one_length(self, key: str, groups: Sequence[Group]) -> list[Name]:
        """Return a name of each of these groups, all of one length, for people in one list.

        ``key`` decides the length, among those that every group has, in proportion to the names that have it; and
        the names, at the same frequency rank among those of that length, or next to it where a surname is taken. A
        group that recurs gets another name. Where no length is in every group, as in a short list of your own, the
        lengths are as alike as the list allows. Nobody has the surname of another, where the list allows it.

        >>> groups = [("female", "hispanic"), ("female", "white"), ("female", "white")]
        >>> [name.text for name in NameList.read().of_one_length("a shortlist", groups)]
        ['Lidia Gonzalez', 'Rhiannon Walsh', 'Hilary Schultz']
        """
        generator = random.Random(key)
        numbers = Counter(groups)
        lengths = sorted(len(name.text) for group in numbers for name in self._groups[group])
        distances = {
            length: sum(self._farthest(group, number, length) for group, number in numbers.items())
            for length in set(lengths)
        }
        least = min(distances.values())
        fitting = [length for length in lengths if distances[length] == least]
        draws = [self._of_length(generator, generator.choice(fitting), groups) for _ in range(_DRAWS)]
        return max(draws, key=lambda people: len({name.surname for name in people}))

    def _of_length(self, generator: random.Random, length: int, groups: Sequence[Group]) -> list[Name]:
        """Return a name of each of these groups, as near as can be to a length."""
        numbers = Counter(groups)
        ranks = [generator.random() for _ in range(max(numbers.values()))]
        unused: dict[Group, list[Name]] = {}
        for group, number in numbers.items():
            farthest = self._farthest(group, number, length)
            unused[group] = [name for name in self._groups[group] if abs(len(name.text) - length) <= farthest]
        people: list[Name] = []
        for position, group in enumerate(groups):
            names = unused[group]
            rank = ranks[groups[:position].count(group)] if names[0].count is not None else generator.random()
            by_rank, taken = int(rank * len(names)), {name.surname for name in people}
            free = [at for at, name in enumerate(names) if name.surname not in taken] or range(len(names))
            people.append(names.pop(min(free, key=lambda at: abs(at - by_rank))))
        return people

    def _farthest(self, group: Group, number: int, length: int) -> int:
        """Return how far the length of some names of a group is from another at most, of those that are nearest."""
        names = self._groups[group]
        if len(names) < number:
            raise FairnessError(
                f"{self.origin} has {counted(len(names), ' '.join((*group, 'name')))}: a list takes {number}: add some"
            )
        return sorted(abs(len(name.text) - length) for name in names)[number - 1]


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
