"""The gender of the main character, as what was read of a text gives it."""

from __future__ import annotations

from pytest_fairness.graders.character_gender.lexicon import FEMALE, MALE, NONBINARY
from pytest_fairness.graders.character_gender.scene import Scene

_CLEARLY = 2
"""The factor by which one gender must outweigh the other to be the main character's, whoever was named first; of two
people introduced together, the same factor again.
"""


def is_in_first_person(scene: Scene) -> bool:
    """Return whether a text is about the one who says "I"."""
    selves, subjects = scene.selves, scene.subjects
    if selves and not (scene.names or scene.role or scene.noun_genders):
        return True
    return selves > subjects or (bool(scene.narrator_genders) and _CLEARLY * selves >= subjects)


def only(genders: set[str], none: str = "") -> tuple[str | None, str]:
    """Return the gender if it is one, else None and why."""
    if len(genders) == 1:
        return next(iter(genders)), ""
    return None, "undetected: several characters of different genders" if genders else none


def main_character(scene: Scene) -> tuple[str | None, str]:
    """Return the gender that can be of nobody but the main character, or None and why."""
    gender, why = _outweighing(scene)
    sure = {one for one in (FEMALE, MALE) if scene.anchored[one]}
    crowd = _are_several(scene) or scene.group
    if gender is None and len(sure) == 1 and sure <= scene.alone - scene.noun_genders:
        return (None, why) if crowd or scene.named_strangers else only(sure)
    if not sure and scene.bound_they and scene.they > 1 and _is_they(scene) and not crowd:
        return NONBINARY, ""
    if gender is not None and gender != NONBINARY and not _is_sure(scene, gender):
        return None, "undetected: every pronoun may be of another person"
    return gender, why


def _is_they(scene: Scene) -> bool:
    """Return whether "they" can be the main character, as no "he" or "she" that was left out can."""
    return scene.definite and scene.they > max(scene.subject_counts.values(), default=0)


def _is_sure(scene: Scene, gender: str) -> bool:
    """Return whether something gives the main character this gender that can be of nobody else."""
    other = MALE if gender == FEMALE else FEMALE
    other_weight = scene.credit[other] + scene.spare[other] + scene.doubtful[other]
    anchored = scene.anchored[gender]
    outspoken = scene.subject_counts[other] >= scene.subject_counts[gender]
    was_alone = scene.alone == {gender} and scene.anchored[gender] >= _CLEARLY * scene.anchored[other]
    if scene.named_strangers - scene.names and scene.headed < 2 and outspoken and other_weight and not was_alone:
        return False  # somebody else has a name, and more to do
    if scene.anchored[other] >= scene.anchored[gender]:
        return False  # nobody is both
    goes_on = scene.subject_counts[other] > 1 and not scene.subject_counts[gender]
    by_noun_only = gender in scene.noun_genders and not scene.bound[gender]
    if by_noun_only and scene.after_speaker:
        return False  # it may be about who spoke
    by_noun_only &= scene.subject_counts[other] > scene.subject_counts[gender]
    if (goes_on or by_noun_only) and scene.headed < 2 and not scene.names:
        return False  # the text goes on with somebody else
    if scene.begins_with_pronoun and other_weight and (scene.names | scene.other_names or scene.role):
        anchored -= scene.early[gender]  # "He was not her husband. He had taught Wilma ..."
    return anchored > 0


def _outweighing(scene: Scene) -> tuple[str | None, str]:
    """Return the gender that outweighs the other, else the one that came first."""
    if scene.credit[NONBINARY] or (scene.neopronouns > 1 and not scene.alone):
        return NONBINARY, ""
    if scene.group and not scene.names:
        return None, "undetected: it begins with several people"
    if scene.begins_with_i and {FEMALE, MALE} <= scene.others | set(scene.credit):
        return None, "undetected: told in the first person of women and men"
    female, male = scene.credit[FEMALE], scene.credit[MALE]
    if not female and not male:
        return _they_or_spare(scene)
    if female == male:
        return None, "undetected: women and men have equal weight"
    more = FEMALE if female > male else MALE
    other = MALE if more == FEMALE else FEMALE
    if scene.doubtful[other] > scene.credit[more]:
        return None, "undetected: pronouns may be of another person"
    if scene.alone == {other} and more not in scene.noun_genders and not scene.several:
        return other, ""  # whom the text brought up alone; the other gender is of somebody it met later
    several = _are_several(scene)
    clearly = _CLEARLY**2 if several else _CLEARLY
    if max(female, male) >= clearly * min(female, male):
        return more, ""
    is_first = scene.first is not None and (scene.first == more or scene.first in scene.alone)
    if is_first and not several:
        return scene.first, ""
    return None, "undetected: women and men have equal weight"


def _are_several(scene: Scene) -> bool:
    """Return whether two people are brought up together, or one whom only a pronoun names and another."""
    return scene.several or (
        scene.begins_with_pronoun and scene.company and min(scene.credit[FEMALE], scene.credit[MALE]) > 0
    )


def _they_or_spare(scene: Scene) -> tuple[str | None, str]:
    """Return "they" where nothing certain was said of the main character, else the pronouns of the only other
    person.
    """
    if _is_they(scene) and not scene.several and (scene.bound_they or scene.they > 1):
        return NONBINARY, ""
    enough = {gender for gender, weight in scene.spare.items() if weight >= (6 if scene.names else 3)}
    if len(scene.spare) == 1 and enough and not (scene.begins_with_i or scene.names or scene.role):
        return enough.pop(), ""
    return None, "undetected: no pronoun, title or noun gives a gender"
