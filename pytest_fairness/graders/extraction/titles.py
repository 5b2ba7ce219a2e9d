"""Titles of persons in options and answers: "Ms Kaya", "Ms. Kaya" and "Elif Kaya" are one person."""

from __future__ import annotations

import re

from pytest_fairness.core.lazy_patterns import fold, lazy_pattern

_GROUPS = {
    "mr": "mr mister herr herrn hr monsieur m señor sr senhor signor signore sig dhr heer meneer pan bay sir",
    "ms": (
        "ms mrs miss madam frau fr fräulein mme madame mlle mademoiselle señora sra señorita srta senhora signora sigra"
        " mevr mevrouw mw pani bayan"
    ),
    "mx": "mx",
    "dr": "dr doctor doktor docteur doctora dra doutor doutora dott dottore dottoressa",
    "prof": "prof professor professorin professeur profesor profesora professora professore professoressa hoogleraar",
}
_CANONICAL = {title: group for group, titles in _GROUPS.items() for title in titles.split()}
_ALTERNATIVES = {group: "|".join(sorted(titles.split(), key=len, reverse=True)) for group, titles in _GROUPS.items()}
ANY = "|".join(sorted(_CANONICAL.keys() - {"m", "fr", "sir", "bay", "pan"}, key=len, reverse=True))
"""Titles that are no words of another kind, as a part of a pattern."""

_TITLED = lazy_pattern(rf"({'|'.join(sorted(_CANONICAL, key=len, reverse=True))})\.?\s+(?=\S)", re.IGNORECASE)
_ENDS = ("r.", "s.", "x.", "e.", "M.", "a.", "t.", "f.", "g.", "v.", "w.")
_DOTTED = lazy_pattern(
    r"(?<!\w)(?:(Mr|Mrs|Ms|Mx|Mme|Mlle|Dra?|Dott|Prof|Hr|Sra?|Srta|Sig|Dhr|Mevr|Mw)\.[ \t]?(?=[^\W\d_])"
    r"|(M)\.[ \t](?=[A-Z\u00c0-\u00de]))"
)


def split_title(name: str) -> tuple[str, str]:
    """Return the group of a name's title, and the rest of the name; no group where it has no title.

    >>> split_title("Mrs. Elif Kaya"), split_title("Frau Vogt"), split_title("Elif Kaya")
    (('ms', 'Elif Kaya'), ('ms', 'Vogt'), ('', 'Elif Kaya'))
    """
    match = _TITLED.match(name)
    return (_CANONICAL[fold(match[1])], name[match.end() :]) if match else ("", name)


def title_pattern(group: str) -> str:
    """Return the titles of a group as a part of a pattern, each with or without a full stop."""
    return rf"(?:{_ALTERNATIVES[group]})\.?"


def remove_dots(text: str) -> str:
    """Return a text without the full stops of titles, which end no sentence.

    >>> remove_dots("Mr. Yildirim. Not Sig.ra Riva.")
    'Mr Yildirim. Not Sigra Riva.'
    """
    if not any(map(text.__contains__, _ENDS)):
        return text
    return _DOTTED.sub(lambda title: f"{title[1] or title[2]} ", text.replace("Sig.ra", "Sigra"))
