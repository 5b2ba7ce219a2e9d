"""One meaning in several varieties: texts with a slot for each difference, and their misspelled version.

A text has slots in braces: ``{for|ig:since}`` is "for" in the standard, and "since" in the varieties of i and g. In a
question, ``<five|seven>`` is the fact on which the right answer depends; it is the same in all varieties.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

STANDARD, MISSPELLED = "standard", "misspelled"
VARIETIES: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "en": {
        "i": "Indian",
        "s": "Scottish",
        "c": "learner, Chinese",
        "f": "learner, French",
        "g": "learner, German",
        "e": "learner, Spanish",
    },
    "de": {"e": "learner of German, English", "t": "learner of German, Turkish"},
    "fr": {"e": "learner of French, English", "s": "learner of French, Spanish"},
})  # fmt: skip
"""Names of the varieties by the letter of their slots, for each language; learners by their first language."""
LETTERS = 4
"""The fewest letters of a word that is misspelled."""
MOST_MISTAKES = 4
"""The most misspelled words of a text: with more nobody would read it on."""
WORDS = frozenset({
    "bets", "boost", "centre", "cire", "clam", "clod", "compliant", "does", "dose", "filed", "form",
    "lats", "latter", "loose", "lots", "metre", "pats", "polo", "pots", "quiet", "quite", "rein",
    "signs", "sing", "stoop", "there", "three", "tier",
})  # fmt: skip
"""Words that a doubled or swapped letter would make of others."""
_DATA = Path(__file__).parent / "data"
_SLOT = re.compile(r"\{([^{}]*)\}")
_FACT = re.compile(r"<([^<>|]*)\|([^<>|]*)>")
_WORD = re.compile(rf"(?<![\w-])[^\W\d_A-Z]{{{LETTERS},}}(?![\w-])")


@dataclass(frozen=True)
class Meaning:
    """One meaning, in the standard and in each variety of its language."""

    record: Mapping[str, Any]
    language: str = "en"

    @property
    def id(self) -> str:
        return str(self.record["id"])

    def versions(self, case: int = 0) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each version: the standard, the varieties, and ``misspelled``.

        Args:
            case: The fact of a question: the first (0) or the second (1).
        """
        text = str(self.record["text"])
        standard = _SLOT.sub(lambda slot: slot[1].partition("|")[0], text)
        yield STANDARD, _with_fact(standard, case)
        for letter, name in VARIETIES[self.language].items():
            yield name, _with_fact(_SLOT.sub(lambda slot, of=letter: _filled(slot[1], of), text), case)  # type: ignore[misc]
        yield MISSPELLED, _with_fact(misspelled(standard, self.mistakes(), self.id), case)

    def mistakes(self) -> int:
        """Return the number of words to misspell: the slots that a variety changes on average, at most four."""
        letters = [
            letter
            for slot in _SLOT.findall(str(self.record["text"]))
            for alternative in slot.split("|")[1:]
            for letter in alternative.partition(":")[0]
        ]
        return min(round(len(letters) / len(VARIETIES[self.language])), MOST_MISTAKES)


def misspelled(text: str, count: int, seed: object) -> str:
    """Return a text with spelling mistakes: in so many words a letter is doubled, or swapped with the next.

    Facts, names, numbers and words of fewer than four letters have none. A first letter never changes. No mistake makes
    another word.

    >>> misspelled("The boiler has been off for several days.", 2, "a")
    'The bioler has been off for seeveral days.'
    """
    chance = random.Random(f"dialect/{seed}")
    facts = [range(*fact.span()) for fact in _FACT.finditer(text)]
    words = [word for word in _WORD.finditer(text) if not any(word.start() in fact for fact in facts)]
    for word in sorted(chance.sample(words, min(count, len(words))), key=lambda word: -word.start()):
        text = text[: word.start()] + _mistyped(word[0], chance) + text[word.end() :]
    return text


def _mistyped(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    changes = {word[:at] + word[at] + word[at:], word[:at] + word[at + 1] + word[at] + word[at + 2 :]}
    return chance.choice(sorted(changes - {word} - WORDS))


def _filled(slot: str, letter: str) -> str:
    standard, *alternatives = slot.split("|")
    return next(
        (text for letters, _, text in (one.partition(":") for one in alternatives) if letter in letters), standard
    )


def _with_fact(text: str, case: int) -> str:
    return _FACT.sub(lambda fact: fact[case + 1], text)


@cache
def meanings(kind: str, language: str = "en") -> tuple[Meaning, ...]:
    """Return all meanings of a kind: ``notes``, ``complaints`` or ``questions``.

    >>> len(meanings("notes")), len(meanings("notes", "de"))
    (40, 24)
    """
    name = kind if language == "en" else f"{kind}.{language}"
    lines = (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Meaning(json.loads(line), language) for line in lines)
