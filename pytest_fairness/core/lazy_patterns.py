"""Regular expressions that are compiled on first use: a run over stored grades uses few of them."""

from __future__ import annotations

import re
from functools import cached_property
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


def fold(text: str) -> str:
    """Return a text in lower case as patterns that ignore case match it: with "i" for the Turkish letters.

    >>> fold("S\\u0130X f\\u0131ve")
    'six five'
    """
    return text.casefold().replace("\u0131", "i").replace("i\u0307", "i")
