"""Sentences of a text as words and punctuation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_fairness.graders.character_gender import lexicon as words

_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+){0,6}|[.!?\n,;:()\u2014]")
_LONGEST = 200
"""The most tokens of a sentence; a longer one is split, so that no text is slow to read."""
_REACH = 6
"""The number of words before a noun that are searched for its article."""


class Token(NamedTuple):
    """A word in lower case without its ending such as ``'s``, or a punctuation mark."""

    word: str
    ending: str = ""
    capital: bool = False

    @property
    def owns(self) -> bool:
        """Whether what follows belongs to a person: "his", "Sam's"."""
        return self.word in words.POSSESSIVES or (self.ending == "s" and self.word not in (*words.SUBJECTS, "it"))

    @property
    def is_copula(self) -> bool:
        """Whether it links a noun to its subject: "is", "as", the end of "she's"."""
        return self.word in words.COPULAS or self.ending in ("m", "re") or (self.ending == "s" and not self.owns)


Sentence = Sequence[Token]


def split_sentences(text: str) -> Iterator[Sentence]:
    """Yield the tokens of each sentence or line."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        if raw in ".!?\n":
            is_abbreviation = (
                raw == "." and tokens and (tokens[-1].word in words.ABBREVIATED or len(tokens[-1].word) == 1)
            )
            if not is_abbreviation and tokens:
                yield tokens
                tokens = []
            continue
        word, _, ending = raw.lower().partition("'")
        is_ending = ending in ("s", "d", "ll", "m", "re", "ve", "")
        capital = all(part[:1].isupper() for part in raw.partition("'")[0].split("-"))  # not "Twenty-three"
        tokens.append(Token(word if is_ending else raw.lower(), ending if is_ending else "", capital))
        if len(tokens) == _LONGEST:
            yield tokens
            tokens = []
    if tokens:
        yield tokens


def word_at(tokens: Sentence, index: int) -> str:
    """Return the word at this position; empty outside of the sentence."""
    return tokens[index].word if 0 <= index < len(tokens) else ""


def find_determiner(tokens: Sentence, index: int) -> int | None:
    """Return the position of the article or possessive of the noun at this position."""
    for position in range(index - 1, max(-1, index - _REACH), -1):
        token = tokens[position]
        if token.owns or token.word in words.DETERMINERS or token.word in words.GENERIC:
            return position
        if token.word in words.STOPS or token.word in ",;:()\u2014":
            return None
    return None


def find_copula_before(tokens: Sentence, start: int) -> int | None:
    """Return the position of the "is" or "as" directly before an article, if there is one."""
    position = start - 1
    while position >= 0 and tokens[position].word in words.ADVERBS:
        position -= 1
    return position if position >= 0 and tokens[position].is_copula else None


def is_title(tokens: Sentence, index: int) -> bool:
    """Return whether the word at this position is the title of a name: "Mrs. Harrow"."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return (
        tokens[index].word in words.TITLES
        and following is not None
        and following.capital
        and following.word not in words.STOPS | words.PLACES
    )


def is_place(tokens: Sentence, index: int) -> bool:
    """Return whether the capitalized word at this position names a place or thing: "in Hollow Creek", "a Boeing"."""
    start = index
    while start and tokens[start].capital:
        start -= 1
    before = tokens[start].word
    if start == index or before in ("the", "a", "an", "same"):
        return start < index
    if tokens[index].owns and not (index + 1 < len(tokens) and tokens[index + 1].capital):
        return False
    start -= start > 0 and before in words.ADJECTIVES_OF_PLACES
    of_part = start > 0 and tokens[start].word == "of" and tokens[start - 1].word in words.PARTS_OF_PLACES
    return of_part or tokens[start].word in words.BEFORE_PLACES
