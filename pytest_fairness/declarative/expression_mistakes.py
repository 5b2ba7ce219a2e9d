"""Remedies for texts that are no comparison: signs and numbers of other notations, names without quotation marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pytest_fairness.core.written_numbers import WRITTEN, plain_number

EXAMPLE = "write a comparison such as rate(advance) >= 0.4"
_SHOWN = 80
_MASKED = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]")
"""Names in quotation marks, whatever stands in them, and lists, whose commas are no decimal ones."""
_SIGNS = {
    "\u2265": ">=", "\u2264": "<=", "\u2a7e": ">=", "\u2a7d": "<=", "=>": ">=", "=<": "<=", "> =": ">=", "< =": "<=",
    "&&": "and", "&": "and", "||": "or", "|": "or", "\uff1e": ">", "\uff1c": "<", "&gt;": ">", "&lt;": "<",
    "\uff08": "(", "\uff09": ")", "\uff0c": ",", "\uff1d": "=", ";": "and", "AND": "and", "OR": "or",
    "at least": ">=", "at most": "<=", "less than": "<", "more than": ">", "\u2260": "<= or >=",
    "!=": "<= or >=", "==": "<= or >=",
    "assert": "the comparison alone",
}  # fmt: skip
"""Signs and words of other notations, with what is written here."""
_OTHER_QUOTES = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a`\u00b4"


def _write_number(match: re.Match[str]) -> str:
    plain = plain_number(match[0])
    return f"{match[0].strip()} is no number here: write {plain}" if plain else ""


def _write_sign(match: re.Match[str]) -> str:
    return f"{match[0]!r} is not read: write {_SIGNS[match[0]]}"


def _write_quotes(match: re.Match[str]) -> str:
    return f"{match[0]} is no quotation mark here: write '"


def _write_name(match: re.Match[str]) -> str:
    return f"{match[2]} is no name: put it in quotation marks, {match[1]}='{match[2]}'"


def _write_keyword(match: re.Match[str]) -> str:
    return f"{match[0]} is not read: write {match[1]}="


def _write_bound(_: re.Match[str]) -> str:
    return "'=' compares nothing: write <=, <, >= or >"


_MISTAKES: Sequence[tuple[str, Callable[[re.Match[str]], str]]] = (
    (rf"(?<![\w.]){WRITTEN}(?![\w.])", _write_number),
    (f"[{_OTHER_QUOTES}]", _write_quotes),
    ("|".join(rf"\b{word}\b" for word in _SIGNS if word[0].isalpha()), _write_sign),
    ("|".join(re.escape(sign) for sign in _SIGNS if not sign[0].isalpha()), _write_sign),
    (r"\b(by|of|to|equals|\w+)\s*=(?!=)\s*([^\W\d]\w*(?:[ /&-]+\w+)+)(?=\s*[,)])", _write_name),
    (r"\b(by|of|to|equals):", _write_keyword),
    (r"(?<=\))\s*=(?!=)", _write_bound),
)


def describe_mistake(text: str, reason: str = "") -> tuple[str, int | None]:
    """Return why a text is no comparison, with the remedy, and the position of the mistake if it is known.

    Args:
        text: The text, in one line.
        reason: What a parser says of it; empty where it is no comparison for another reason.

    >>> describe_mistake("80% <= ratio(hired, by=sex, of=f, to=m)")
    ('80% is no number here: write 0.8', 0)
    >>> describe_mistake("ratio(hired, by=origin, of=African American, to=white) >= 0.8")[0]
    "African American is no name: put it in quotation marks, of='African American'"
    """
    bare = _MASKED.sub(lambda match: "\0" * len(match[0]), text)
    for pattern, describe in _MISTAKES:
        for match in re.finditer(pattern, bare):
            if message := describe(match):
                return message, match.start()
    remark = f" ({reason})" if reason and reason != "invalid syntax" else ""
    return f"{text!r:.{_SHOWN}} is no comparison{remark}: {EXAMPLE}", None
