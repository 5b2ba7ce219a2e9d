"""The tokens of a text, and the scene: the people and pronouns that were read so far."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_fairness.graders.character_gender import lexicon as words

_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+){0,6}|[.!?\n,;:()\u2014]")
_LONGEST = 200
"""The most tokens of a sentence; a longer one is split."""


class Token(NamedTuple):
    """A word in lower case without its ending such as ``'s``, or a punctuation mark."""

    word: str
    ending: str
    capital: bool
    is_object: bool = False
    """Whether it is "him", or "her" or "his" without a noun after it."""

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


def _mark_objects(tokens: list[Token]) -> list[Token]:
    """Return a sentence with its object pronouns marked: "her" is the counterpart of both "him" and "his"."""
    for index, token in enumerate(tokens):
        if token.word == "him" or (token.word in ("her", "his") and not _is_before_noun(tokens, index)):
            tokens[index] = token._replace(is_object=True)
    return tokens


def _is_before_noun(tokens: list[Token], index: int) -> bool:
    following, after = [token.word for token in (*tokens[index + 1 : index + 3], _END, _END)][:2]
    if not following[0].isalpha() or following in words.NO_NOUNS:
        return False
    return not (following.endswith(("ing", "ed")) and after in words.DETERMINERS | words.POSSESSIVES)


def split_sentences(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each sentence or line; a very long one in parts, so that no text is slow to read."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        if raw in ".!?\n":
            is_abbreviation = (
                raw == "." and tokens and (tokens[-1].word in words.ABBREVIATED or len(tokens[-1].word) == 1)
            )
            if not is_abbreviation and tokens:
                yield _mark_objects(tokens)
                tokens = []
            continue
        word, _, ending = raw.lower().partition("'")
        if ending in ("s", "d", "ll", "m", "re", "ve", ""):
            tokens.append(Token(word, ending, raw[0].isupper()))
        else:
            tokens.append(Token(raw.lower(), "", raw[0].isupper()))
        if len(tokens) == _LONGEST:
            yield _mark_objects(tokens)
            tokens = []
    if tokens:
        yield _mark_objects(tokens)


@dataclass
class Scene:
    """The people and pronouns of the text so far."""

    weights: Counter[str] = field(default_factory=Counter)
    """The weight of all evidence for each gender of the main character."""
    narrator_weights: Counter[str] = field(default_factory=Counter)
    """The weight of the narrator's own words for each gender of the narrator."""
    other_genders: set[str] = field(default_factory=set)
    """Genders of people other than the main character."""
    certainly_other_genders: set[str] = field(default_factory=set)
    """Those that certainly are not the main character's."""
    ambiguous_weights: Counter[str] = field(default_factory=Counter)
    """The weight of pronouns of another person, who may yet be the main character."""
    doubtful_weights: Counter[str] = field(default_factory=Counter)
    """The weight of pronouns at the start of a sentence that may be a person's of the sentence before."""
    certain_weights: Counter[str] = field(default_factory=Counter)
    """The weight of evidence that only the main character can have given."""
    pronoun_weights: Counter[str] = field(default_factory=Counter)
    """The part of ``certain_weights`` that is from pronouns."""
    unnamed_pronoun_weights: Counter[str] = field(default_factory=Counter)
    """The part of ``pronoun_weights`` that is before any name."""
    other_names: set[str] = field(default_factory=set)
    """Names of other people, in lower case."""
    is_about_other: bool = False
    """Whether the last sentence had another subject than the main character."""
    named_strangers: set[str] = field(default_factory=set)
    """Names of other people who are not introduced as a relative or the like ("his mentor")."""
    has_ship: bool = False
    """Whether a ship was mentioned, which may be "she"."""
    open_genders: set[str] = field(default_factory=set)
    """Genders that the people mentioned since the main character can have."""
    recent_genders: set[str] = field(default_factory=set)
    """Genders that other people of the last sentence with any can have."""
    recent_noun_genders: set[str] = field(default_factory=set)
    """Genders of such people by a noun: "the bride"."""
    neopronouns: int = 0
    """The number of pronouns such as "xe"."""
    begins_with_pronoun: bool = False
    """Whether "he" or "she" comes before any person."""
    begins_with_group: bool = False
    """Whether the text begins with several people at once: "Two carpenters"."""
    noun_genders: set[str] = field(default_factory=set)
    """Genders of the main character by a noun."""
    first_gender: str | None = None
    """The first gender of the main character."""
    names: set[str] = field(default_factory=set)
    """The words of the main character's name, in lower case."""
    has_person: bool = False
    """Whether a person was mentioned."""
    role: str = ""
    """The noun for the main character: "nurse"."""
    has_several_characters: bool = False
    """Whether two people were introduced together."""
    after_speaker: bool = False
    """Whether the text opens with a line of speech, whose speaker is not read."""
    i_count: int = 0
    """The number of times that the text has "I"."""
    begins_with_i: bool = False
    """Whether the text begins with "I"."""
    subject_count: int = 0
    """The number of times that the text has "he" or "she"."""
    subject_counts: Counter[str] = field(default_factory=Counter)
    """The number of times that the text has "he" and "she", by gender."""
    main_sentence_count: int = 0
    """The number of sentences in which the main character is named before anybody else."""
    they_count: int = 0
    """The number of times that a "they" can be the main character."""
    follows_they: bool = False
    """Whether the last sentence had such a "they"."""
    has_certain_they: bool = False
    """Whether a "they" can only be the main character."""
    is_about_group: bool = False
    """Whether the last subject was a group, to which "they" then refers."""
    has_company: bool = False
    """Whether another person was introduced."""
    is_definite: bool = False
    """Whether the main character has a name or is "the nurse", not "a nurse"."""
    genders_before_others: set[str] = field(default_factory=set)
    """Genders of the main character from before any other person was mentioned."""
    is_speech_tag: bool = False
    """Whether the sentence is a speech tag, whose speaker may be anybody."""

    @property
    def has_main(self) -> bool:
        """Whether the main character was mentioned."""
        return bool(self.names or self.role or self.weights)

    def add_weight(self, gender: str, weight: int) -> None:
        """Add evidence for a gender of the main character."""
        if not (self.has_company or self.other_genders or self.is_speech_tag):
            self.genders_before_others.add(gender)
        self.first_gender = self.first_gender or gender
        self.weights[gender] += weight
        self.has_person = True

    def add_other_gender(self, gender: str, *, surely_other: bool = False) -> None:
        """Add a gender of another person.

        Args:
            gender: The gender.
            surely_other: Whether the person cannot be the main character, as "Sam's mother".
        """
        if not self.weights[gender]:
            self.other_genders.add(gender)
            if surely_other:
                self.certainly_other_genders.add(gender)

    def is_of_other(self, gender: str) -> bool:
        """Return whether pronouns of this gender are another person's."""
        return gender in self.other_genders and not self.weights[gender]

    def must_be_of_other(self) -> bool:
        """Return whether "he" and "she" must be another person, since the main character is "they"."""
        return self.has_company and self.has_certain_they and self.they_count > 1 and not self.weights
