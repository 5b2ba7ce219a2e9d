"""Strangers' texts, made safe to look at."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for tab and newline
    "\xad\u180e\u200b\u2060-\u2065\ufeff"  # seen by nobody; not the joiners, which scripts and emoji need
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # change the direction of what stands around them
    "\u2028\u2029\ufff9-\ufffb\ufffe\uffff"  # separators, annotations, and what XML forbids
    "\ud800-\udfff"  # half of a character: no file can hold it
    "\U000e0000-\U000e007f]"  # a whole alphabet that nobody sees
)


def escape_controls(text: str, *, lines: bool = False) -> str:
    r"""Return the text with its control characters, and those of its direction, written out.

    What this returns can stand in a page, a terminal, an XML file or a table and moves nothing
    around it; it is still to be escaped as that place asks. ``lines`` keeps tabs and the ends of
    lines, as messages and answers need; names and ids stay on one line.

    >>> print(escape_controls("nurse\u202e\n"))
    nurse\u202e\u000a
    >>> print(escape_controls("a bell\x07\r\nand more", lines=True))
    a bell\u0007
    and more
    """
    if text.isprintable():
        return text
    if lines:
        return _HIDDEN.sub(_written, text.replace("\r\n", "\n"))
    return _HIDDEN.sub(_written, text).replace("\t", r"\u0009").replace("\n", r"\u000a")


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
