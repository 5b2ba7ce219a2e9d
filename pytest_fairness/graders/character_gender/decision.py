"""Decision on the gender of the main character, from the scene of a text."""

from __future__ import annotations

from pytest_fairness.graders.character_gender.lexicon import FEMALE, MALE, NONBINARY
from pytest_fairness.graders.character_gender.scene import Scene

_CLEAR_RATIO = 2
"""The ratio of weights from which one gender is the main character's; squared for two people introduced together."""


def is_about_narrator(scene: Scene) -> bool:
    """Return whether a text is about its narrator, who says "I"."""
    selves, subjects = scene.i_count, scene.subject_count
    if selves and not (scene.names or scene.role or scene.noun_genders):
        return True
    return selves > subjects or (bool(scene.narrator_weights) and _CLEAR_RATIO * selves >= subjects)


def single_gender(genders: set[str], reason: str = "") -> tuple[str | None, str]:
    """Return the gender if there is exactly one, else None and the reason."""
    if len(genders) == 1:
        return next(iter(genders)), ""
    return None, "undetected: several characters of different genders" if genders else reason


def decide_gender(scene: Scene) -> tuple[str | None, str]:
    """Return the gender of the main character, or None and the reason."""
    gender, reason = _weigh_genders(scene)
    certain = {candidate for candidate in (FEMALE, MALE) if scene.certain_weights[candidate]}
    has_several = _has_several_characters(scene) or scene.begins_with_group
    if gender is None and len(certain) == 1 and certain <= scene.genders_before_others - scene.noun_genders:
        return (None, reason) if has_several or scene.named_strangers else single_gender(certain)
    if not certain and scene.has_certain_they and scene.they_count > 1 and _uses_they(scene) and not has_several:
        return NONBINARY, ""
    if gender is not None and gender != NONBINARY and not _is_certain(scene, gender):
        return None, "undetected: every pronoun may be of another person"
    return gender, reason


def _uses_they(scene: Scene) -> bool:
    """Return whether "they" can be the main character: it is more frequent than "he" and "she"."""
    return scene.is_definite and scene.they_count > max(scene.subject_counts.values(), default=0)


def _is_certain(scene: Scene, gender: str) -> bool:
    """Return whether there is evidence for this gender that only the main character can have given."""
    other = MALE if gender == FEMALE else FEMALE
    other_weight = scene.weights[other] + scene.ambiguous_weights[other] + scene.doubtful_weights[other]
    certain_weight = scene.certain_weights[gender]
    other_is_as_frequent = scene.subject_counts[other] >= scene.subject_counts[gender]
    was_alone = (
        scene.genders_before_others == {gender}
        and scene.certain_weights[gender] >= _CLEAR_RATIO * scene.certain_weights[other]
    )
    if (
        scene.named_strangers - scene.names
        and scene.main_sentence_count < 2
        and other_is_as_frequent
        and other_weight
        and not was_alone
    ):
        return False  # another person has a name, and is the subject as often
    if scene.certain_weights[other] >= scene.certain_weights[gender]:
        return False  # a person has one gender
    continues_with_other = scene.subject_counts[other] > 1 and not scene.subject_counts[gender]
    by_noun_only = gender in scene.noun_genders and not scene.pronoun_weights[gender]
    if by_noun_only and scene.after_speaker:
        return False  # it may be about the speaker
    by_noun_only &= scene.subject_counts[other] > scene.subject_counts[gender]
    if (continues_with_other or by_noun_only) and scene.main_sentence_count < 2 and not scene.names:
        return False  # the text continues with another person
    if scene.begins_with_pronoun and other_weight and (scene.names | scene.other_names or scene.role):
        certain_weight -= scene.unnamed_pronoun_weights[gender]  # "He was not her husband. He had taught Wilma ..."
    return certain_weight > 0


def _weigh_genders(scene: Scene) -> tuple[str | None, str]:
    """Return the gender that outweighs the other, else the first one, or None and the reason."""
    if scene.weights[NONBINARY] or (scene.neopronouns > 1 and not scene.genders_before_others):
        return NONBINARY, ""
    if scene.begins_with_group and not scene.names:
        return None, "undetected: it begins with several people"
    if scene.begins_with_i and {FEMALE, MALE} <= scene.other_genders | set(scene.weights):
        return None, "undetected: in the first person, about women and men"
    female, male = scene.weights[FEMALE], scene.weights[MALE]
    if not female and not male:
        return _weigh_ambiguous_pronouns(scene)
    if female == male:
        return None, "undetected: women and men have equal weight"
    more = FEMALE if female > male else MALE
    other = MALE if more == FEMALE else FEMALE
    if scene.doubtful_weights[other] > scene.weights[more]:
        return None, "undetected: pronouns may be of another person"
    if scene.genders_before_others == {other} and more not in scene.noun_genders and not scene.has_several_characters:
        return other, ""  # introduced alone; the other gender is that of a later person
    has_several = _has_several_characters(scene)
    ratio = _CLEAR_RATIO**2 if has_several else _CLEAR_RATIO
    if max(female, male) >= ratio * min(female, male):
        return more, ""
    is_first = scene.first_gender is not None and (
        scene.first_gender == more or scene.first_gender in scene.genders_before_others
    )
    if is_first and not has_several:
        return scene.first_gender, ""
    return None, "undetected: women and men have equal weight"


def _has_several_characters(scene: Scene) -> bool:
    """Return whether two people are introduced together, or one by a pronoun only and then another."""
    return scene.has_several_characters or (
        scene.begins_with_pronoun and scene.has_company and min(scene.weights[FEMALE], scene.weights[MALE]) > 0
    )


def _weigh_ambiguous_pronouns(scene: Scene) -> tuple[str | None, str]:
    """Return a gender without certain evidence: "they", or the one gender of the ambiguous pronouns."""
    if _uses_they(scene) and not scene.has_several_characters and (scene.has_certain_they or scene.they_count > 1):
        return NONBINARY, ""
    enough = {gender for gender, weight in scene.ambiguous_weights.items() if weight >= (6 if scene.names else 3)}
    if len(scene.ambiguous_weights) == 1 and enough and not (scene.begins_with_i or scene.names or scene.role):
        return enough.pop(), ""
    return None, "undetected: no pronoun, title or noun gives a gender"
