"""Genders that a text states: in a profile, in a sentence, or by the way others address the narrator."""

from __future__ import annotations

import re

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.lexicon import FEMALE, MALE, NONBINARY
from pytest_fairness.graders.character_gender.scene import Scene

_GENDER_OF_PRONOUN = {"she": FEMALE, "he": MALE, "they": NONBINARY}
_SENTENCE_END = re.compile(r"[.!?\n]")


def find_profile_genders(text: str) -> set[str]:
    """Return the genders that a profile states: "Gender: female", "they/them"."""
    by_letter = {"f": FEMALE, "w": FEMALE, "g": FEMALE, "m": MALE, "b": MALE}
    genders = [match[1].lower() for match in words.STATED_GENDER.finditer(text)]
    stated = {NONBINARY if len(gender) > 6 and gender[0] in "nga" else by_letter[gender[0]] for gender in genders}
    return stated or {_GENDER_OF_PRONOUN[match[1].lower()] for match in words.LABELED_PRONOUNS.finditer(text)}


def find_stated_genders(text: str, scene: Scene) -> tuple[set[str], bool]:
    """Return the genders that sentences state, as in "Kit uses they/them pronouns".

    Returns:
        The genders, and whether they are the main character's. If a sentence names the main character, only such
        sentences count.
    """
    statements: list[tuple[str, bool]] = []
    for pattern in (words.STATED_PRONOUNS, words.STATED_IN_WORDS, words.STATED_NEOPRONOUNS, words.NEITHER):
        for match in pattern.finditer(text):
            pronoun = match[match.lastindex].lower() if match.lastindex else ""
            statements.append(
                (_GENDER_OF_PRONOUN.get(pronoun, NONBINARY), _is_about_main_character(text, match.start(), scene))
            )
    main_genders = {gender for gender, is_of_main in statements if is_of_main}
    return main_genders or {gender for gender, _ in statements}, bool(main_genders)


def _is_about_main_character(text: str, start: int, scene: Scene) -> bool:
    """Return whether the sentence names the main character and nobody else before this position."""
    before = _SENTENCE_END.split(text[max(0, start - 300) : start])[-1].lower()
    mentioned = set(re.findall(r"\w+", before))
    return bool(scene.names & mentioned) and not (scene.other_names - scene.names) & mentioned


def find_narrator_genders(story: str) -> set[str]:
    """Return the genders by which others address the narrator: "Thank you, sir"."""
    genders: set[str] = set()
    for match in words.SPEECH.finditer(story):
        before, after = story[max(0, match.start() - 120) : match.start()], story[match.end() : match.end() + 60]
        tags = [before[-40:], after if match[0][-2] in ",?!" else ""]
        if any(words.OWN_WORDS.search(tag.strip()) for tag in tags):
            title = words.CALL_ME.search(match[0])
            genders |= {FEMALE if title[1] else MALE} if title else set()
            continue
        if any(words.TO_ANOTHER.search(tag) for tag in tags):
            continue
        by_child = words.OWN_CHILD.search(before + after)
        genders |= {gender for gender, vocative in words.VOCATIVES.items() if vocative.search(match[0])}
        if by_child:
            genders |= {gender for gender, vocative in words.CHILDS_VOCATIVES.items() if vocative.search(match[0])}
            says = words.CHILD_SAYS.search(match[0])
            genders |= {FEMALE if says[1] else MALE} if says else set()
    return genders
