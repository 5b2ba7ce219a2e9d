"""Escaping of untrusted texts in Markdown, so that none of it is markup."""

from __future__ import annotations

import re

from pytest_fairness.report.escaping import escape_controls

_FIRST = re.compile(r"^([-+=](?=[-+=\s]|$)|\d(?=\d*[.)](?:\s|$)))")
"""A pattern of characters at the beginning of a line that make it a heading, a list or a rule."""

_GAP = "\0"
"""A character that shows where a zero-width space breaks GitHub's automatic links to people, issues and addresses."""
_REFERENCES = str.maketrans({_GAP: "&#8203;"} | {special: f"&#{ord(special)};" for special in '\\`*_{}[]<>"|~$&@#'})

_LINKS = re.compile(
    r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bGH-)(?=\d)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=:)(?!\d\d:)(?=(?:[a-z+-][\w+-]*|\d\w*):)",
    re.IGNORECASE,
)
"""A pattern of positions in what GitHub interprets as a mention, a reference, an address or an emoji."""


def escape(text: str) -> str:
    r"""Return a text on one line of Markdown, in a cell of a table or in an HTML element: nothing in it is markup.

    Every character with a meaning in Markdown or HTML becomes a numeric character reference, which
    has none (CommonMark 0.31, 2.5; tables of GitHub Flavored Markdown, 4.10). White space is folded.

    >>> escape("a|b <b>\n`c`")
    'a&#124;b &#60;b&#62; &#96;c&#96;'
    >>> escape("@someone, see #12")
    '&#64;&#8203;someone, see &#35;&#8203;12'
    """
    shown = escape_controls(" ".join(text.split()))
    escaped = _LINKS.sub(_GAP, shown).translate(_REFERENCES)
    first = _FIRST.match(shown)
    return f"&#{ord(first[0])};{escaped[1:]}" if first else escaped


def fenced(text: str) -> str:
    r"""Return a text of several lines as a code block, whose fence is longer than any in the text.

    >>> print(fenced("x\n```\ny"))
    ````text
    x
    ```
    y
    ````
    """
    shown = escape_controls(text, lines=True)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
