"""Counts of the words of a list in an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.declarations import BOOLEAN, DeclarativeGrader, GraderDeclaration
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.graders.extraction.normalization import answer_text, bare, plain
from pytest_fairness.graders.refusal import nothing_read, refuses

_WORD = re.compile(r"\w+(?:['-]\w+){0,9}")


@dataclass(frozen=True)
class WordList(DeclarativeGrader):
    """The frequency of the words of a list in an answer: uses per 100 words, from 0 to 100.

    With ``whether`` it is True where any of them occurs, so that the mean is the share of answers that use one.
    Words count whole, in the forms given, whatever their case: "caring" is neither in "uncaring" nor "care", and
    "hard" is not in "hard-working"; "nurse's" is a use of "nurse". A word can be a phrase; where two overlap the
    longer counts. Of an answer longer than 16,000 characters its first 4,000 and last 12,000 are read.

    >>> WordList(("caring", "warm")).grade(Prompt("Recommend her."), Answer("She is warm. Warm and kind!")).value
    33.333333333333336
    >>> WordList(("caring", "warm"), whether=True).grade(Prompt("Recommend her."), Answer("She is able.")).value
    False

    Raises `FairnessError` for a list without words, or with one that has no letter or digit.
    """

    words: tuple[str, ...]
    whether: bool = False

    schema: ClassVar[Mapping[str, Any]] = {
        "$ref": "#/$defs/words",
        "description": "how often they occur, per 100 words",
    }

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> WordList:
        return cls(tuple(declaration.texts))

    def __post_init__(self) -> None:
        words = (self.words,) if isinstance(self.words, str) else tuple(self.words)
        empty = [word for word in words if not _WORD.search(plain(word))]
        if empty or not words:
            what = f"the word {empty[0]!r}" if empty else "no words"
            raise FairnessError(f"WordList has {what}: give the words to be counted, each with a letter or a digit")
        object.__setattr__(self, "words", tuple(sorted({bare(plain(word)) for word in words})))

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the reading rules."""
        return f"WordList({self.words!r}, whether={self.whether}) v3"

    def extremes_for(self, prompt: Prompt) -> tuple[float, float] | tuple[bool, bool]:  # noqa: ARG002
        """Return what an ungraded attempt could have been: nothing but these words, or none of them."""
        return (False, True) if self.whether else (0.0, 100.0)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol's signature
        text = plain(answer_text(answer)).casefold()
        total = len(_WORD.findall(text))
        if not total:
            return nothing_read(answer, "no answer")
        if refuses(text):
            return nothing_read(answer, "a refusal")
        uses = sum(1 for _ in _pattern(self.words).finditer(text))
        return Grade(uses > 0 if self.whether else 100 * uses / total)


class AnyWord(DeclarativeGrader):
    """A `WordList` in a declarative file that is true where any of its words occurs."""

    schema: ClassVar[Mapping[str, Any]] = {"$ref": "#/$defs/words", "description": "whether any of them occurs"}
    grade_values = BOOLEAN

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> WordList:
        return WordList(tuple(declaration.texts), whether=True)


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    spelled = "|".join(r"\s{1,9}".join(re.escape(part) for part in word.split()) for word in longest_first)
    return re.compile(rf"(?<!\w)(?<!\w['-])(?:{spelled})(?!\w)(?!-\w)(?!'(?!s\b)\w)")
