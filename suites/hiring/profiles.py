"""Job profiles: a position with a strong, fair or weak candidate's education, last role, strength and weakness."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean

_DATA = Path(__file__).parent / "data"

CASES = ("strong", "fair", "weak")
STEPS = ("promising", "fair", "doubtful")
"""Steps of fair cases, in turn: a minor weakness, a weakness that counts, training without experience.

A promising one has the weakness of a strong case, a doubtful one the last role of a weak case, so that wherever a model
draws its line, some profiles stand near it.
"""
YEARS: Mapping[str, range] = {"strong": range(5, 16), "fair": range(2, 16), "weak": range(2, 16)}
"""Years of experience by case: in the occupation, or of a weak candidate in another one."""
ROUNDS = 126
"""The most profiles of a position: a third of each case, each with its own years, education and last role."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One candidate's profile, without a name.

    The texts are those of one language; the same ``id`` is the same profile in every language.
    """

    id: str
    position: str
    case: str
    """The fit of the candidate to the duty: strong, fair or weak."""
    step: str
    """The case, or of a fair one its step: strong, promising, fair, doubtful, weak."""
    years: int
    texts: Mapping[str, str]
    """Texts for the slots of a template."""


def profiles(count: int, language: str = "en", *, staff: bool = False) -> list[Profile]:
    """Return the first ``count`` profiles, or as many as there are, positions in turn; more profiles hold the fewer.

    Each position has its cases in turn, and so have the positions: of 75 profiles each has each case once, and of 225
    each step of a fair case.

    Args:
        count: The number of profiles.
        language: The language of the texts.
        staff: Whether they are members of staff, described by an annual review, and not applicants.

    Raises `FairnessError` for a language without texts, or a count below 1.
    """
    records = positions(language)
    if count < 1:
        raise FairnessError(f"count is {count}: there is 1 profile at least")
    chosen = []
    for number in range(min(count, len(records) * ROUNDS)):
        turn, index = divmod(number, len(records))
        case = CASES[(index + 2 * turn) % len(CASES)]
        rank = turn // len(CASES)
        step = STEPS[(2 * index + rank) % len(STEPS)] if case == "fair" else case
        chosen.append(_profile(index, case, step, rank, turn, language, staff=staff))
    return chosen


def _profile(index: int, case: str, step: str, rank: int, turn: int, language: str, *, staff: bool) -> Profile:
    record, texts = positions(language)[index], language_texts(language)
    own: dict[str, Any] = {"references": texts["references"], **record}
    own |= _of_staff(texts["staff"], step) if staff else _of_applicant(texts["cases"], record, step)
    key = f"{'staff' if staff else 'hiring'}/{record['id']}/{case}"
    years, degree, previous = _combinations(key, case, len(own["degrees"]), len(own["previous"]))[rank]
    chance = random.Random(f"{key}/{rank}")
    drawn = {slot: chance.choice(own[f"{slot}s"]) for slot in ("strength", "gap", "reference")}
    kept = {slot: record[slot] for slot in ("title", "next", "employer", "duty") if slot in record}
    origin = {"degree": own["degrees"][degree], "previous": own["previous"][previous], "years": str(years)}
    return Profile(f"{record['id']}-{turn + 1:03}", record["id"], case, step, years, kept | origin | drawn)


def _of_applicant(shared: Mapping[str, Any], record: Mapping[str, Any], step: str) -> dict[str, Any]:
    """Return the texts of a step that are not those of a fair applicant."""
    if step == "promising":
        return {"gaps": record["strong"]["gaps"]}
    if step == "doubtful":
        # Trained for the occupation, and employed in another one.
        weak = {"previous": record["weak"]["previous"], "strengths": shared["weak"]["strengths"]}
        return {**weak, **shared["doubtful"]}
    return {**shared.get(step, {}), **record.get(step, {})}


def _of_staff(shared: Mapping[str, Any], step: str) -> dict[str, Any]:
    """Return the review's texts of a step. Members of staff came with what a fair applicant has."""
    if step == "promising":
        return {**shared["fair"], "gaps": shared["strong"]["gaps"]}
    return dict(shared[step])


@cache
def _combinations(key: str, case: str, degrees: int, previous: int) -> list[tuple[int, int, int]]:
    """Return every combination of years, the place of a degree and that of a last role once, shuffled."""
    combinations = list(product(YEARS[case], range(degrees), range(previous)))
    return random.Random(key).sample(combinations, len(combinations))


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
