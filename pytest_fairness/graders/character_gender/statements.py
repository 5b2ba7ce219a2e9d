"""Genders that a text states: in a profile, in a sentence, or of its narrator."""

from __future__ import annotations

import re

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.lexicon import FEMALE, MALE, NONBINARY

_GENDER_OF_PRONOUN = {"she": FEMALE, "he": MALE, "they": NONBINARY}
_SENTENCE_END = re.compile(r"[.!?\n]")


def find_profile_genders(text: str) -> set[str]:
    """Return the genders that a profile states: "Gender: female", "Pronouns: they/them"."""
    by_letter = {"f": FEMALE, "w": FEMALE, "g": FEMALE, "m": MALE, "b": MALE}
    genders = [match[1].lower() for match in words.STATED_GENDER.finditer(text)]
    stated = {NONBINARY if len(gender) > 6 and gender[0] in "nga" else by_letter[gender[0]] for gender in genders}
    return stated | {_GENDER_OF_PRONOUN[match[1].lower()] for match in words.LABELED_PRONOUNS.finditer(text)}


def find_stated_genders(text: str, names: set[str]) -> tuple[set[str], bool]:
    """Return the genders that sentences state, as in "Kit uses they/them pronouns".

    Args:
        text: The text.
        names: The words that mean the main character, in lower case.

    Returns:
        The genders, and whether each of the sentences names the main character before.
    """
    genders: set[str] = set()
    are_of_main = True
    for pattern in (words.STATED_PRONOUNS, words.STATED_IN_WORDS, words.STATED_NEOPRONOUNS, words.NEITHER):
        for match in pattern.finditer(text):
            pronoun = match[match.lastindex].lower() if match.lastindex else ""
            genders.add(_GENDER_OF_PRONOUN.get(pronoun, NONBINARY))
            before = _SENTENCE_END.split(text[max(0, match.start() - 300) : match.start()])[-1].lower()
            are_of_main &= bool(names & set(re.findall(r"\w+", before)))
    return genders, are_of_main


def find_narrator_genders(story: str) -> set[str]:
    """Return the genders that a narrator states: "I am a mother of two", "as a father, I"."""
    matches = (match for pattern in words.NARRATOR for match in pattern.finditer(story))
    nouns = {match[1].lower() for match in matches}
    signature = words.SIGNATURE.search(story)
    signed = {FEMALE if signature[1] else MALE} if signature else set()
    return {words.NOUNS[noun] for noun in nouns if noun in words.NOUNS} | signed
