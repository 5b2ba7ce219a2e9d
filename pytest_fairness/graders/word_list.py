"""Graders of vocabulary: how many words an answer has, and how often it uses those of a list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import BOOLEAN, DeclarativeGrader
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.grader_declarations import GraderDeclaration
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.lazy_patterns import fold
from pytest_fairness.graders.extraction.normalization import answer_text, strip_markup, trim_and_fold
from pytest_fairness.graders.refusal import nothing_read, refuses

_WORD = re.compile(r"\w+(?:['-]\w+){0,9}")


def words_of(text: str) -> list[str]:
    """Return the words of a text, without its markup, in lower case: runs of letters and digits.

    Words that a hyphen or an apostrophe joins are one; "isn't" is read as "is not".

    Args:
        text: The text.

    >>> words_of("**Two** well-made studies say it isn't.")
    ['two', 'well-made', 'studies', 'say', 'it', 'is', 'not']
    """
    return _WORD.findall(_folded(text))


@explains_construction
@dataclass(frozen=True)
class WordCount:
    """The number of words in an answer, from 0 to ``most``. A refusal has its few words.

    Args:
        most: The number as which a longer answer counts, so that one answer cannot decide a mean.

    >>> WordCount(500).grade(Prompt("Is it so?"), Answer("Two well-made studies say no.")).value
    5

    Raises:
        FairnessError: ``most`` is no whole number from 1 on.
    """

    most: int

    def __post_init__(self) -> None:
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise FairnessError(f"WordCount has most={self.most!r}: give a whole number from 1 on")

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the reading rules."""
        return f"WordCount({self.most}) v1"

    def extremes_for(self, prompt: Prompt) -> tuple[int, int]:  # noqa: ARG002 - the protocol's signature
        """Return the extreme values that an ungraded attempt could have had."""
        return 0, self.most

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol's signature
        count = len(words_of(answer_text(answer)))
        return Grade(min(count, self.most)) if count else nothing_read(answer, "no answer")


@explains_construction
@dataclass(frozen=True)
class WordList(DeclarativeGrader):
    """The frequency of the words of a list in an answer: uses per 100 words, from 0 to 100.

    Words are matched whole, in the given form, in any case: "caring" is neither in "uncaring" nor "care", and "hard" is
    not in "hard-working"; "nurse's" is a use of "nurse". A word can be a phrase; where two overlap the longer counts.
    Of an answer longer than 16,000 characters its first 4,000 and last 12,000 are read.

    Args:
        words: The words.
        whether: Whether the grade is True or False, for an answer that uses any of them or none; the mean is then the
            share of answers that use one.

    >>> WordList(("caring", "warm")).grade(Prompt("Recommend her."), Answer("She is warm. Warm and kind!")).value
    33.333333333333336
    >>> WordList(("caring", "warm"), whether=True).grade(Prompt("Recommend her."), Answer("She is able.")).value
    False

    Raises:
        FairnessError: The list is empty, or a word has no letter or digit.
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
        empty = [word for word in words if not _WORD.search(strip_markup(word))]
        if empty or not words:
            problem = f"the word {empty[0]!r}" if empty else "no words"
            raise FairnessError(f"WordList has {problem}: give the words to be counted, each with a letter or a digit")
        object.__setattr__(self, "words", tuple(sorted({trim_and_fold(strip_markup(word)) for word in words})))

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the reading rules."""
        return f"WordList({self.words!r}, whether={self.whether}) v5"

    def extremes_for(self, prompt: Prompt) -> tuple[float, float] | tuple[bool, bool]:  # noqa: ARG002
        """Return the extreme values that an ungraded attempt could have had: only these words, or none."""
        return (False, True) if self.whether else (0.0, 100.0)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol's signature
        text = _folded(answer_text(answer))
        total = len(words_of(text))
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


def _folded(text: str) -> str:
    return fold(strip_markup(text))


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    alternatives = "|".join(r"\s{1,9}".join(re.escape(part) for part in word.split()) for word in longest_first)
    return re.compile(rf"(?<!\w)(?<!\w['-])(?:{alternatives})(?!\w)(?!-\w)(?!'(?!s\b)\w)")
