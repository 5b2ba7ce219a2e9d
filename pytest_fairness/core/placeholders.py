"""Texts that look unfilled: blanks such as ``{{NAME1}}``, ``[AGE]`` and ``{company}`` that a template has left."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from pytest_fairness.core.errors import FairnessError, did_you_mean

_SIGNS = re.compile(r"[\[{<$]|%[(s\w]|__\w|@@")
"""The first signs of a blank; most texts have none."""
_OF_A_PERSON = (
    r"(?:(?:first|last|full|candidate|applicant|customer|company|user|your)\ )?"
    r"(?:name|age|gender|race|ethnicity|religion|pronouns?|company|employer|city|country|"
    r"job\ title|occupation|position)"
)
"""A blank in small letters; other such words in brackets are remarks, or elements of XML."""
_BLANKS = re.compile(
    r"""
    (?=[\[{<$%_@]) (?:                                               # at any other sign none is tried
    \{\{[^{}\n]{1,80}\}\}                                          # {{NAME1}}, {{ user.name }}, {{#if x}}
    | \{%[-+]?\s*[A-Za-z][^{}\n]{0,80}%\} | <%[=-]?[^%<>\n]{1,80}%>     # {% if x %}, <%= name %>
    | \$\{[A-Za-z_][\w.]{0,60}\}                                        # ${name}
    | \$[A-Z][A-Z_]*[A-Z_]{2}(?!\w|\s*\d)                                # $OCCUPATION
    | (?<![\w$])\$[a-z][a-z_]{2,40}(?![\w$\\^{=(])                        # $name
    | (?<![\w\\}_^$={])\{!?[^\W\d]\w[\w.\[\]\ -]{0,60}(?:![rsa])?(?::[^{}\s]{0,12})?\}(?!\})    # {company}
    | \[[^\W\d_][\w/\ -]{0,60}\w\] | <[^\W\d_][\w\ -]{0,60}\w>         # [AGE], <COMPANY_NAME>: _is_blank
    | \[(?i:your|insert|enter|fill|add|name\ of)\b[^\]\n]{0,60}\]            # [insert name here]
    | <(?i:your|insert|enter)\b[^<>\n]{0,60}>                             # <insert name>
    | %\([A-Za-z_]\w{0,60}\)[sdrf] | (?<![\w%])%s\b | (?<![\w%])%[A-Z][A-Z_]{1,40}%      # %(name)s, %s, %NAME%
    | (?<!\w)__[A-Z][A-Z0-9_]{0,60}__(?!\w) | @@\w{2,60}@@               # __NAME__, @@NAME@@
    )""",
    re.VERBOSE,
)
_WORDED = re.compile(rf"{_OF_A_PERSON}|(?:your|insert|enter|fill|add|name\ of)\b.*", re.IGNORECASE)
_CLOSINGS = re.compile(r"\[/[^\]\n]{1,62}\]|</[^>\n]{1,62}>")
"""The ends of parts of a text: [/INST], </name>."""
_NO_BLANKS = frozenset(
    (
        *("SEP", "CLS", "MASK", "PAD", "UNK", "BOS", "EOS", "EOT", "INST", "SYS"),
        *("YES", "NO", "TRUE", "FALSE", "N/A", "NONE", "REDACTED", "SIC", "USD", "EUR", "GBP"),
    )
)
"""Tokens, answers and signs that stand in brackets in finished texts."""


def find_placeholders(text: str) -> Iterator[str]:
    """Yield the parts of a text that look unfilled, in their order.

    A word in brackets alone in its line is a heading, and one with a closing counterpart is markup.

    >>> list(find_placeholders("{{NAME1}} of {company}, [AGE], asks $OCCUPATION."))
    ['{{NAME1}}', '{company}', '[AGE]', '$OCCUPATION']
    >>> list(find_placeholders('[CONTEXT]\\nAnswer [YES] or [NO], as in {"fit": true}: $\\\\frac{ab}{cd}$'))
    []
    """
    if not _SIGNS.search(text):
        return
    closed = {match.group() for match in _CLOSINGS.finditer(text)}
    for match in _BLANKS.finditer(text):
        blank = match.group()
        if not (blank[0] == "$" and blank[1:] in _NO_BLANKS) and (
            blank[0] not in "[<" or blank[1] == "%" or _is_bracketed_blank(text, match, closed)
        ):
            yield blank


def _is_bracketed_blank(text: str, match: re.Match[str], closed: Collection[str]) -> bool:
    """Return whether a word in brackets is a blank: no heading, and no beginning or end of a part of the text."""
    blank, inner = match.group(), match.group()[1:-1]
    if inner in _NO_BLANKS or not (inner.isupper() or _WORDED.fullmatch(inner)):
        return False
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    line = text[start : min(len(text) if end < 0 else end, match.end() + 20)]
    is_heading = match.start() - start < 20 and line.strip(" \t\r#*:") == blank and (start > 0 or end >= 0)
    is_markup = f"{blank[0]}/{blank[1:]}" in closed or text.startswith(
        "(", match.end()
    )  # the last is a link in Markdown
    return not (is_heading or is_markup)


def check_filled_in(texts: Iterable[tuple[str, str]], literal: Literal[True] | Collection[str], way_out: str) -> None:
    """Check that texts have no blank but those that are meant as they are.

    Args:
        texts: What each text is of, and the text that is sent to a model.
        literal: The blanks that it is to read so; True for all.
        way_out: How to write that; the blank is filled in.

    Raises:
        FairnessError: A text holds another one, or none holds one that is named.
    """
    if literal is True:
        return
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    total = 0
    for subject, text in texts:
        total += 1
        for blank in dict.fromkeys(find_placeholders(text)):
            first.setdefault(blank, subject)
            counts[blank] = counts.get(blank, 0) + 1
    allowed = set(literal or ())
    if unknown := sorted(allowed - counts.keys()):
        raise FairnessError(f"literal: no text has a blank {unknown[0]!r}; {did_you_mean(unknown[0], sorted(counts))}")
    blanks = [blank for blank in counts if blank not in allowed]
    if not blanks:
        return
    share = f" ({counts[blanks[0]]} of {total:,} texts do)" if total > 1 else ""
    others = f"; others are {', '.join(blanks[1:4])}" if len(blanks) > 1 else ""
    raise FairnessError(
        f"{first[blanks[0]]} holds {blanks[0]}{share}, which looks like a blank that nothing has filled in{others}: "
        f"fill it in, or, if the model is to read it so, {way_out.format(blanks[0])}"
    )
