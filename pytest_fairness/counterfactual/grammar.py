"""The words of a language that change with the gender of the person in a text: tables, kept as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError, did_you_mean

_FILE = Path(__file__).parent / "grammar.json"


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language's tables."""

    language: str
    words: Mapping[str, Mapping[str, str]]
    """The words of each slot by gender: ``words["female"]["they"]`` is "she"."""
    neopronouns: Mapping[str, Mapping[str, str]]
    """The words of further genders, named by their pronoun: ``neopronouns["xe"]["them"]`` is "xem"."""
    forms: Mapping[str, int]
    """The form of ``{first|second}`` by gender: in English the verb of "they" is the second."""
    form_names: tuple[str, str]
    pronouns: tuple[str, ...]
    """The slots that hold a pronoun."""
    titles: Mapping[str, str]
    """The slots of titles, by their spelling in a text."""
    nouns: tuple[tuple[str, str, str], ...]
    """Nouns that change with the gender: the female, the male and the neutral form."""
    agreement: Mapping[str, str]
    """Verb forms after "she" or "he", with those after "they": "has" and "have"."""

    @property
    def genders(self) -> tuple[str, ...]:
        return tuple(self.words)

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(next(iter(self.words.values())))

    def check(self, gender: str) -> str:
        """Return the gender. Raises `FairnessError` for one that the language has no words for."""
        if gender not in self.words and gender not in self.neopronouns:
            raise FairnessError(
                f"gender is {gender!r}: {self.language!r} has no words for it: "
                f"{did_you_mean(gender, (*self.words, *self.neopronouns))}"
            )
        return gender

    def words_of(self, gender: str) -> Mapping[str, str]:
        """Return the words of every slot. Raises `FairnessError` for a gender that the language has no words for."""
        self.check(gender)
        return self.words[gender] if gender in self.words else self.neopronouns[gender]

    def form(self, gender: str) -> int:
        """Return the index of the form of ``{first|second}`` that agrees with a gender: "xe is", as "she is"."""
        return self.forms.get(self.check(gender), 0)


def grammar(language: str) -> Grammar:
    """Return the tables of a language: "en", "de" or "es".

    >>> grammar("de").words["female"]["ihm"], grammar("es").words["female"]["del"]
    ('ihr', 'de la')

    Raises `FairnessError` for another.
    """
    tables = _tables()
    if language not in tables:
        raise FairnessError(f"language is {language!r}: {did_you_mean(language, tables)}")
    return tables[language]


def languages() -> Sequence[str]:
    """Return the languages that have tables."""
    return tuple(_tables())


@cache
def _tables() -> dict[str, Grammar]:
    languages = json.loads(_FILE.read_text(encoding="utf-8"))
    return {
        language: Grammar(
            language,
            table["genders"],
            # Only pronouns differ: title, person and kin are those of people who are neither women nor men.
            {
                name: {**table["genders"]["nonbinary"], **pronouns}
                for name, pronouns in table.get("neopronouns", {}).items()
            },
            table["forms"],
            tuple(table["form_names"]),
            tuple(table["pronouns"]),
            table["titles"],
            tuple(tuple(noun) for noun in table["nouns"]),
            table["agreement"],
        )
        for language, table in languages.items()
    }
