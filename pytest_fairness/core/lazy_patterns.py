"""Regular expressions that are compiled on first use: a run over stored grades uses few of them."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from itertools import groupby, islice
from typing import Any, cast


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copying and pickling read such attributes before there is any other
            raise AttributeError(name)
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return an object with the methods of a compiled pattern; a malformed text fails at the first call.

    >>> lazy_pattern(r"\\d+").findall("7 of 12")
    ['7', '12']
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _CaselessPattern(_LazyPattern):
    """Pattern that is compiled in lower case, and searched for in texts in lower case.

    `re` compares each character in both cases otherwise, and takes two to three times as long.
    """

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        if "(?P" in self._text or "(?-i" in self._text:
            raise ValueError(f"a caseless pattern names no group and ignores case in all parts: {self._text!r:.60}")
        lowered = _PARTS.sub(lambda part: part[0] if part[0].startswith("\\") else lower(part[0]), self._text)
        compiled = re.compile(_share_boundaries(lowered), self._flags)
        if compiled.groups:
            raise ValueError(f"a caseless pattern has no groups: {self._text!r:.60}")
        return compiled

    def __getattr__(self, name: str) -> Any:
        if name not in _SEARCHES:
            raise AttributeError(name)
        search = getattr(self._compiled, name)

        def search_lowered(text: str, *span: int) -> Any:
            return search(lower(text), *span)

        setattr(self, name, search_lowered)
        return search_lowered

    def sub(self, replacement: str, text: str, count: int = 0) -> str:
        parts, end = [], 0
        for match in islice(self._compiled.finditer(lower(text)), count or None):
            parts += [text[end : match.start()], replacement]
            end = match.end()
        return "".join([*parts, text[end:]]) if parts else text


_SEARCHES = frozenset(("search", "match", "fullmatch", "finditer", "findall"))
_PARTS = re.compile(r"\\.|[^\\]+", re.DOTALL)
"""The parts of a pattern: escapes, of which many have a capital, and the texts between them."""
_SYNTAX = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[()|]+|.", re.DOTALL)
"""The parts of a pattern: escapes, sets of characters, the texts between, and the signs of groups and alternatives."""
_SINGLE = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u03a3": "\u03c3", "\u03c2": "\u03c3"}
"""Letters whose lower case `re` knows otherwise than `str.lower`: of Turkish, the long s, and the Greek sigma."""
_SINGLES = str.maketrans(_SINGLE)


def _share_boundaries(text: str) -> str:
    r"""Return an equal pattern in which alternatives in a row that begin with ``\b`` share it.

    `re` tries every such alternative at every character of a text, since each might begin there.

    >>> _share_boundaries(r"(?:\bno|\bnot? one|[|]nay)")
    '(?:\\b(?:no|not? one)|[|]nay)'
    """
    alternatives, depth, closed = [""], 0, 0
    for part in _SYNTAX.findall(text):
        depth += (part == "(") - (part == ")")
        closed += part == ")" and not depth
        if part == "|" and not depth:
            alternatives.append("")
        else:
            alternatives[-1] += part
    if len(alternatives) == 1:
        is_group = text.startswith("(?:") and text.endswith(")") and closed == 1
        return f"(?:{_share_boundaries(text[3:-1])})" if is_group else text
    rows = [(begins, list(row)) for begins, row in groupby(alternatives, lambda part: part.startswith(r"\b"))]
    return "|".join(
        rf"\b(?:{'|'.join(part[2:] for part in row)})" if begins and len(row) > 1 else "|".join(row)
        for begins, row in rows
    )


@lru_cache(maxsize=64)
def lower(text: str) -> str:
    """Return a text in lower case, in which each character has its place.

    >>> lower("S\u0130X f\u0131ve")
    'six five'
    """
    return text.lower() if text.isascii() else text.translate(_SINGLES).lower()


def caseless_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return an object with some methods of a compiled pattern that ignores case.

    It searches (``search``, ``match``, ``fullmatch``, ``finditer``, ``findall``) and replaces by a text (``sub``).
    A match has the span in the text that was given, and what it matched in lower case.

    Args:
        text: The pattern. It has no groups but ``(?:...)``, and no part that distinguishes case.
        flags: Flags of `re`.

    >>> caseless_pattern("no[a-z]").sub("...", "Now. NOT")
    '.... ...'
    """
    return cast("re.Pattern[str]", _CaselessPattern(text, flags))


def fold(text: str) -> str:
    """Return a text in lower case as patterns that ignore case match it: with "i" for the Turkish letters.

    >>> fold("S\\u0130X f\\u0131ve")
    'six five'
    """
    return text.casefold().replace("\u0131", "i").replace("i\u0307", "i")
