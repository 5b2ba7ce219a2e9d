"""Genders that a text states: in a profile, in passing, and in how others address the narrator."""

from __future__ import annotations

import re

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.lexicon import FEMALE, MALE, NONBINARY
from pytest_fairness.graders.character_gender.scene import Scene

_SPOKEN = {"she": FEMALE, "he": MALE, "they": NONBINARY}
_SENTENCE_END = re.compile(r"[.!?\n]")


def stated_in_profile(text: str) -> set[str]:
    """Return the genders that a profile states: "Gender: female", "they/them"."""
    by_letter = {"f": FEMALE, "w": FEMALE, "g": FEMALE, "m": MALE, "b": MALE}
    genders = [match[1].lower() for match in words.STATED_GENDER.finditer(text)]
    stated = {NONBINARY if len(one) > 6 and one[0] in "nga" else by_letter[one[0]] for one in genders}
    return stated or {_SPOKEN[match[1].lower()] for match in words.LABELED_PRONOUNS.finditer(text)}


def stated_in_passing(text: str, scene: Scene) -> tuple[set[str], bool]:
    """Return the genders that a text states in a sentence: "Kit uses they/them pronouns"; and whether of the main one.

    Where a sentence says it of the main character by name, only such sentences count.
    """
    statements: list[tuple[str, bool]] = []
    for pattern in (words.STATED_PRONOUNS, words.STATED_IN_WORDS, words.STATED_NEOPRONOUNS, words.NEITHER):
        for match in pattern.finditer(text):
            pronoun = match[match.lastindex].lower() if match.lastindex else ""
            statements.append((_SPOKEN.get(pronoun, NONBINARY), _is_of_main(text, match.start(), scene)))
    of_main = {gender for gender, is_of_main in statements if is_of_main}
    return of_main or {gender for gender, _ in statements}, bool(of_main)


def _is_of_main(text: str, start: int, scene: Scene) -> bool:
    """Return whether the sentence around this position names the main character, and nobody else before."""
    before = _SENTENCE_END.split(text[max(0, start - 300) : start])[-1].lower()
    named = set(re.findall(r"\w+", before))
    return bool(scene.names & named) and not (scene.other_names - scene.names) & named


def addressed(story: str) -> set[str]:
    """Return the genders by which others address the one who tells a story: "Thank you, sir"."""
    genders: set[str] = set()
    for match in words.SPEECH.finditer(story):
        before, after = story[max(0, match.start() - 120) : match.start()], story[match.end() : match.end() + 60]
        tags = [before[-40:], after if match[0][-2] in ",?!" else ""]
        if any(words.OWN_WORDS.search(tag.strip()) for tag in tags):
            claimed = words.CALL_ME.search(match[0])
            genders |= {FEMALE if claimed[1] else MALE} if claimed else set()
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
