"""The items: one profile each, the same text under names of every group. README.md says what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_fairness import DataFolders, FairnessError, ProbeItem, Prompt
from pytest_fairness.counterfactual import BALANCED, GENDERS, MAJORITIES, Name, NameList

from .identities import REFERENCES, identity_groups, identity_lines
from .profiles import CASES, Profile, language_texts, positions, profiles

COUNT = 100
DRAWS = 2
IDENTITIES = 375
LANGUAGES = ("de", "es", "fr", "pt", "nl")
"""Languages besides English."""
BREAKS = ("none", "other")


def applications(
    data: DataFolders | None = None,
    *,
    count: int = COUNT,
    draws: int = DRAWS,
    gender: str = BALANCED,
    ethnicity: str = BALANCED,
    ask: str = "advance",
    language: str = "en",
) -> Iterator[ProbeItem]:
    """Yield one item a profile: the application under ``draws`` names of each gender and ethnicity.

    ``count`` profiles: in English at most 3,150, in other languages 1,008. ``gender`` and ``ethnicity`` are
    "balanced" (each group), "mixed" (as many names, their groups drawn at random) or one group ("female", "hispanic").
    ``ask`` is the question at the end: "advance", "rating" or "assessment"; in German ("de"), Spanish ("es"),
    French ("fr"), Portuguese ("pt") and Dutch ("nl") "advance". The names of a profile are decided by its id,
    whatever is asked.

    >>> item = next(applications(count=1))
    >>> len(item.prompts), item.prompts[0].groups["gender_ethnicity"]
    (20, 'female asian')

    Raises `FairnessError` for a value that is none of these.
    """
    listed = profiles(count, language)
    names = _names(data, language)
    for profile in listed:
        yield _application(profile, names.drawn(profile.id, gender, ethnicity, draws), ask, language)


def _application(profile: Profile, drawn: Sequence[tuple[Name, int]], ask: str, language: str) -> ProbeItem:
    """Return a profile's application under each of these names."""
    texts = language_texts(language)
    template = f"{texts['application']}\n\n{texts[ask]}"
    reply = {"reply": ask} if ask == "assessment" else {}
    return _item(profile, [_prompt(template, profile, name, draw, language, reply=reply) for name, draw in drawn])


def applications_in_other_languages(data: DataFolders | None = None, *, count: int = COUNT) -> Iterator[ProbeItem]:
    """Yield one item a profile, in one of five languages in turn: of 120 each has each position in each case once.

    Names are those of a country of the language, of its majority and its minorities; there are at most 1,008 profiles.
    """
    names = [_names(data, language) for language in LANGUAGES]
    by_language = [profiles(count, language) for language in LANGUAGES]
    for number, of_profile in enumerate(zip(*by_language, strict=True)):
        turn = number % len(LANGUAGES)
        drawn = names[turn].drawn(of_profile[turn].id, BALANCED, BALANCED, DRAWS)
        yield _application(of_profile[turn], drawn, "advance", LANGUAGES[turn])


def promotions(data: DataFolders | None = None, *, count: int = COUNT) -> Iterator[ProbeItem]:
    """Yield one item a member of staff: should they get the next position? Two names of each group."""
    texts, names = language_texts("en"), _names(data)
    template = f"{texts['promotion']}\n\n{texts['promote']}"
    for profile in profiles(count, staff=True):
        drawn = names.drawn(f"promotion/{profile.id}", BALANCED, BALANCED, DRAWS)
        yield _item(profile, [_prompt(template, profile, name, draw, "en") for name, draw in drawn])


def attributes(data: DataFolders | None = None, *, count: int = COUNT) -> Iterator[ProbeItem]:
    """Yield one item a profile: for a woman and a man, lines on age, disability and parental leave.

    The versions of a line differ in nothing but the attribute: both ages changed occupation, so that few years of
    experience are explained in both; a disability stands with equipment that a public fund pays for, or the employer
    (``adjusted``), and no disability with equipment that costs the employer nothing. Beside parental leave stands
    another break of the same length (``other``) for one of the two names, and none for the other one, by turns. A
    disability that touches an essential duty of the position does not occur, so that some positions have no such line.
    """
    texts, names = language_texts("en"), _names(data)
    template = f"{texts['application']}\n\n{texts['advance']}"
    records = positions("en")
    for number, profile in enumerate(profiles(count)):
        turn, index = divmod(number, len(records))
        # Shifted with each round of positions, so that none has one ethnicity only.
        ethnicity = names.ethnicities[(number + turn) % len(names.ethnicities)]
        kind = _kind_of_disability(records[index]["disabilities"], turn)
        prompts = [
            _prompt(template, profile, name, draw, "en", groups | {"gender": name.gender}, {"line": f"{line}\n"})
            for order, (name, draw) in enumerate(names.drawn(f"attributes/{profile.id}", BALANCED, ethnicity, draws=1))
            for groups, line in _lines(texts["lines"], kind, number, BREAKS[(number + order) % len(BREAKS)])
        ]
        yield _item(profile, prompts, kind)


def _kind_of_disability(suitable: Sequence[str], turn: int) -> dict[str, str]:
    """Return the kind of disability of an item, shifted with each round of cases, so that each kind has each case."""
    return {"kind_of_disability": suitable[sum(divmod(turn, len(CASES))) % len(suitable)]} if suitable else {}


def _lines(
    texts: Mapping[str, Any], kind: Mapping[str, str], number: int, other_break: str
) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the lines of one name, each with its groups.

    Args:
        texts: The lines by attribute and group.
        kind: The kind of disability, where there is one.
        number: The number of the profile, which decides on details that are the same in every version.
        other_break: What parental leave is compared with: another break, or none.
    """
    for attribute, groups in (("age", ("younger", "older")), ("leave", ("taken", other_break))):
        for group in groups:
            line = texts[attribute][group]
            yield identity_groups(attribute, group), line if isinstance(line, str) else line[number % len(line)]
    for name in kind.values():
        for group in ("none", "disabled", "adjusted"):
            of_kind = {} if group == "none" else kind
            yield {**identity_groups("disability", group), **of_kind}, texts["disability"][group][name]


def identities(*, count: int = IDENTITIES) -> Iterator[ProbeItem]:
    """Yield one item a profile, anonymous: a line for each group of each attribute.

    No name stands in it, since one would tell an origin and a gender. References speak of the work, without a pronoun
    that another line could contradict.
    """
    texts = language_texts("en")
    template = f"{texts['application']}\n\n{texts['advance']}"
    for number, plain in enumerate(profiles(count)):
        profile = replace(plain, texts={**plain.texts, "reference": REFERENCES[number % len(REFERENCES)]})
        applicant = Name(f"Applicant {4001 + number}", GENDERS[0], "", None)  # of whose gender nothing is told
        prompts = [
            _prompt(template, profile, applicant, 0, "en", identity_groups(attribute, group), {"line": f"{line}\n"})
            for attribute, of_groups in identity_lines(number, _rotation(number)).items()
            for group, lines in of_groups.items()
            for line in lines
        ]
        yield _item(profile, prompts)


def _rotation(number: int) -> int:
    """Return by how much groups that take turns are shifted: alike in every case, and in any evenly spaced sample."""
    turn, index = divmod(number, len(positions("en")))
    return index + turn // len(CASES)


def _names(data: DataFolders | None, language: str = "en") -> NameList:
    """Return the names of the folder ``hiring`` of the project; else the shipped ones."""
    names = NameList.read(data.folder("hiring") if data is not None else None, language=language)
    majority = MAJORITIES[language]
    if language in LANGUAGES and not {majority} < set(names.ethnicities):
        raise FairnessError(
            f"{names.origin} has the ethnicities {', '.join(names.ethnicities)}: it needs {majority!r}, the majority, "
            "and another one"
        )
    return names


def _groups(name: Name, language: str) -> dict[str, str]:
    """Return the groups of a name: besides English also whether it is one of the country's majority."""
    if language not in LANGUAGES:
        return name.groups
    origin = "majority" if name.ethnicity == MAJORITIES[language] else "minority"
    return {**name.groups, "origin": origin, "gender_origin": f"{name.gender} {origin}"}


def _prompt(
    template: str,
    profile: Profile,
    name: Name,
    draw: int,
    language: str,
    groups: Mapping[str, str] | None = None,
    filled: Mapping[str, str] | None = None,
    reply: Mapping[str, str] | None = None,
) -> Prompt:
    """Return a template about a person; ``groups`` replaces the groups of the name."""
    spoken: Mapping[str, str] = language_texts(language)["words"][name.gender]
    slots = {"name": name.text, **spoken, **(filled or {})}
    words = _Words({"line": "", **profile.texts, **slots})
    words["reference"] = words["reference"].format_map(words)
    metadata = {"name": name.text, "draw": draw + 1, "language": language, "item": profile.id} | dict(reply or {})
    return Prompt(template.format_map(words), groups or _groups(name, language), metadata, slots)


class _Words(dict[str, Any]):
    """Words by slot, with a second set of slots: ``{They}`` is the word for ``{they}`` with a capital."""

    def __missing__(self, slot: str) -> str:
        if slot[0].islower():
            raise KeyError(slot)
        text: str = self[slot[0].lower() + slot[1:]]
        return text[:1].upper() + text[1:]


def _item(profile: Profile, prompts: list[Prompt], more: Mapping[str, str] | None = None) -> ProbeItem:
    metadata = {"position": profile.position, "years": profile.years, "case": profile.case, "step": profile.step}
    metadata |= more or {}
    return ProbeItem(profile.id, prompts, source=profile.position, metadata=metadata)
