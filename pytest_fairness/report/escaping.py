"""Escaping of control characters in untrusted texts, so that they are safe to display."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and newline
    "\xad\u180e\u200b\u2060-\u2065\ufeff"  # invisible characters, except joiners, which scripts and emoji need
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # change the direction of the text around them
    "\u2028\u2029\ufff9-\ufffb\ufffe\uffff"  # separators, annotations, and what XML forbids
    "\ud800-\udfff"  # lone surrogates, which no file can hold
    "\U000e0000-\U000e007f]"  # tag characters, an invisible alphabet
)


def escape_controls(text: str, *, lines: bool = False) -> str:
    r"""Return the text with control characters, invisible ones and those of direction written as escapes.

    The result does not affect the text around it in a page, a terminal, an XML file or a table, but must still be
    escaped for its format. ``lines`` keeps tabs and line ends, for messages and answers; names and ids stay on one
    line.

    >>> print(escape_controls("nurse\u202e\n"))
    nurse\u202e\u000a
    >>> print(escape_controls("a bell\x07\r\nand more", lines=True))
    a bell\u0007
    and more
    """
    if text.isprintable():
        return text
    if lines:
        return _HIDDEN.sub(_escape_sequence, text.replace("\r\n", "\n"))
    return _HIDDEN.sub(_escape_sequence, text).replace("\t", r"\u0009").replace("\n", r"\u000a")


def _escape_sequence(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
