"""Job profiles: a position with years, education, last role, strength and weakness."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError, did_you_mean

_DATA = Path(__file__).parent / "data"

YEARS = range(2, 16)
_CHOICES = 3
"""Number of choices of education, last role, strength and weakness for each position."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One candidate's profile, without a name.

    The texts are those of one language; the same ``id`` is the same profile in every language.
    """

    id: str
    position: str
    years: int
    texts: Mapping[str, Any]
    """Texts for the slots of a template; a text that changes with gender is a mapping from it."""

    def words(self, gender: str) -> dict[str, str]:
        """Return the texts for a person of this gender."""
        return {slot: text if isinstance(text, str) else text[gender] for slot, text in self.texts.items()}

    def varied(self, gender: str) -> dict[str, str]:
        """Return those of them that change with the gender."""
        return {slot: text[gender] for slot, text in self.texts.items() if not isinstance(text, str)}


def profiles(count: int, language: str = "en") -> list[Profile]:
    """Return the first ``count`` profiles, or as many as there are, positions in turn; more profiles hold the fewer.

    Raises `FairnessError` for a language without texts, or a count below 1.
    """
    records = positions(language)
    rounds = _CHOICES * _CHOICES * len(YEARS)
    if count < 1:
        raise FairnessError(f"count is {count}: there is 1 profile at least")
    count = min(count, len(records) * rounds)
    made = {record["id"]: _profiles(record, language, -(-count // len(records))) for record in records}
    return [made[records[number % len(records)]["id"]][number // len(records)] for number in range(count)]


def _profiles(record: Mapping[str, Any], language: str, count: int) -> list[Profile]:
    """Return the profiles of one position: every combination of years, education and last role once, shuffled."""
    position = record["id"]
    chance = random.Random(f"hiring/{position}")
    combinations = [(years, *choice) for years in YEARS for choice in _pairs()]
    references = language_texts(language)["references"]
    chosen = []
    for number, (years, degree, previous) in enumerate(chance.sample(combinations, len(combinations))[:count]):
        own = random.Random(f"hiring/{position}/{number}")
        picked = {
            "degree": record["degrees"][degree],
            "previous": record["previous"][previous],
            "strength": record["strengths"][own.randrange(_CHOICES)],
            "gap": record["gaps"][own.randrange(_CHOICES)],
            "reference": references[own.randrange(len(references))],
        }
        kept = {slot: record[slot] for slot in ("title", "next", "employer", "duty") if slot in record}
        texts = {**kept, **picked, "years": str(years)}
        chosen.append(Profile(f"{position}-{number + 1:03}", position, years, texts))
    return chosen


def _pairs() -> list[tuple[int, int]]:
    return [(first, second) for first in range(_CHOICES) for second in range(_CHOICES)]


@cache
def positions(language: str) -> list[dict[str, Any]]:
    """Return the positions that have texts in a language."""
    language_texts(language)
    lines = (_DATA / f"positions.{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def language_texts(language: str) -> Mapping[str, Any]:
    """Return a language's templates and gendered words. Raises `FairnessError` for one that has none."""
    languages = _languages()
    if language not in languages:
        raise FairnessError(f"language is {language!r}: {did_you_mean(language, languages)}")
    return languages[language]


@cache
def _languages() -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = json.loads((_DATA / "languages.json").read_text(encoding="utf-8"))
    return loaded
