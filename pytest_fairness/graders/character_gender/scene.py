"""The words of a text one by one, and what was read of them so far."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_fairness.graders.character_gender import lexicon as words

_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+){0,6}|[.!?\n,;:()\u2014]")
_LONGEST = 200


class Token(NamedTuple):
    """A word in small letters without its ``'s``, which stands apart, or a mark of punctuation."""

    word: str
    ending: str
    capital: bool
    is_object: bool = False
    """Whether it is "him", "her" where no noun follows, or a "his" of the kind of "hers"."""

    @property
    def owns(self) -> bool:
        """Return whether what follows belongs to a person: "his", "Sam's"."""
        if self.word in words.POSSESSIVES:
            return not self.is_object
        return self.ending == "s" and self.word not in (*words.SUBJECTS, "it")

    @property
    def is_copula(self) -> bool:
        return self.word in words.COPULAS or self.ending in ("m", "re") or (self.ending == "s" and not self.owns)


_END = Token(".", "", capital=False)


def _with_objects(tokens: list[Token]) -> list[Token]:
    """Return a sentence with its object pronouns marked: English has one "her" for "him" and "his"."""
    for at, token in enumerate(tokens):
        if token.word == "him" or (token.word in ("her", "his") and not _is_before_noun(tokens, at)):
            tokens[at] = token._replace(is_object=True)
    return tokens


def _is_before_noun(tokens: list[Token], at: int) -> bool:
    following, after = [token.word for token in (*tokens[at + 1 : at + 3], _END, _END)][:2]
    if not following[0].isalpha() or following in words.NO_NOUNS:
        return False
    return not (following.endswith(("ing", "ed")) and after in words.DETERMINERS | words.POSSESSIVES)


def sentences(text: str) -> Iterator[list[Token]]:
    """Yield the words and commas of each sentence or line that has any; of a very long one in parts, so that none is
    slow.
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        if raw in ".!?\n":
            short = raw == "." and tokens and (tokens[-1].word in words.ABBREVIATED or len(tokens[-1].word) == 1)
            if not short and tokens:
                yield _with_objects(tokens)
                tokens = []
            continue
        word, _, ending = raw.lower().partition("'")
        if ending in ("s", "d", "ll", "m", "re", "ve", ""):
            tokens.append(Token(word, ending, raw[0].isupper()))
        else:
            tokens.append(Token(raw.lower(), "", raw[0].isupper()))
        if len(tokens) == _LONGEST:
            yield _with_objects(tokens)
            tokens = []
    if tokens:
        yield _with_objects(tokens)


@dataclass
class Scene:
    """The people and pronouns of the text so far."""

    credit: Counter[str] = field(default_factory=Counter)
    """The weight with which the text gives its main character each gender."""
    narrator_genders: Counter[str] = field(default_factory=Counter)
    """The weight with which the one who says "I" gives himself or herself each gender."""
    others: set[str] = field(default_factory=set)
    """Genders of people other than the main character."""
    theirs: set[str] = field(default_factory=set)
    """Those of them that are known not to be the main character."""
    spare: Counter[str] = field(default_factory=Counter)
    """The weight of pronouns that were taken to be of one who may yet be the main character."""
    doubtful: Counter[str] = field(default_factory=Counter)
    """The weight of pronouns that follow another person, and may be that person's."""
    anchored: Counter[str] = field(default_factory=Counter)
    """The weight of what can be of nobody but the main character."""
    bound: Counter[str] = field(default_factory=Counter)
    """The part of it that is by pronouns."""
    early: Counter[str] = field(default_factory=Counter)
    """The part of it that stands before any name."""
    other_names: set[str] = field(default_factory=set)
    """Names of others, in small letters."""
    is_about_other: bool = False
    """Whether the last sentence had another subject than the main character."""
    named_strangers: set[str] = field(default_factory=set)
    """The names of others who belong to nobody."""
    vessel: bool = False
    """Whether a ship was brought up, which may be "she"."""
    open: set[str] = field(default_factory=set)
    """Genders that those who were brought up beside the main character can have."""
    rivals: set[str] = field(default_factory=set)
    """Genders that a person other than the main character can have, who was brought up since."""
    met: set[str] = field(default_factory=set)
    """Genders that such a person has by a noun: "the bride"."""
    neopronouns: int = 0
    """The number of pronouns such as "xe"."""
    begins_with_pronoun: bool = False
    """Whether "he" or "she" stands before any person."""
    group: bool = False
    """Whether the text begins with several people at once: "Two carpenters"."""
    noun_genders: set[str] = field(default_factory=set)
    """Genders that a noun gives the main character."""
    first: str | None = None
    """The first gender that the main character was given."""
    names: set[str] = field(default_factory=set)
    """The words of the main character's name, in small letters."""
    introduced: bool = False
    """Whether any person was brought up."""
    role: str = ""
    """The word by which the first person was brought up: "nurse"."""
    several: bool = False
    """Two people are brought up together."""
    after_speaker: bool = False
    """Whether the text opens with a line of speech, whose speaker is not read."""
    selves: int = 0
    """The number of times that the text says "I"."""
    begins_with_i: bool = False
    """Whether the text begins with "I"."""
    subjects: int = 0
    """The number of times that it says "he" or "she"."""
    subject_counts: Counter[str] = field(default_factory=Counter)
    """The number of times that it says each of them."""
    headed: int = 0
    """The number of sentences in which the main character is named before anybody else."""
    they: int = 0
    """The number of times that a "they" can be the main character."""
    they_before: bool = False
    """Whether the last sentence had one."""
    bound_they: bool = False
    """Whether one "they" can only be the main character."""
    plural: bool = False
    """Whether the last sentence with a subject of its own is about a group, which a "they" then means."""
    company: bool = False
    """Whether another person was introduced."""
    definite: bool = False
    """Whether the first person has a name or is "the nurse" rather than any nurse."""

    alone: set[str] = field(default_factory=set)
    """Genders that the main character was given before anybody else was brought up."""
    is_tag: bool = False
    """Whether the sentence says who speaks: that may be anybody."""

    @property
    def has_main(self) -> bool:
        """Return whether the main character was brought up."""
        return bool(self.names or self.role or self.credit)

    def add(self, gender: str, weight: int) -> None:
        if not (self.company or self.others or self.is_tag):
            self.alone.add(gender)
        self.first = self.first or gender
        self.credit[gender] += weight
        self.introduced = True

    def meet(self, gender: str, *, surely_other: bool = False) -> None:
        """Introduce another person of this gender.

        ``surely_other`` where it can only be another, as "Sam's mother" is.
        """
        if not self.credit[gender]:
            self.others.add(gender)
            if surely_other:
                self.theirs.add(gender)

    def is_taken(self, gender: str) -> bool:
        """Return whether the pronouns of this gender are another person's."""
        return gender in self.others and not self.credit[gender]

    def is_of_company(self) -> bool:
        """Return whether a "he" or "she" must be another person, as the main character is "they"."""
        return self.company and self.bound_they and self.they > 1 and not self.credit
