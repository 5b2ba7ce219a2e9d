"""Numbers as people write them, and how they are written here."""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal

_MINUS = ("-", "\u2212")
WRITTEN = r"[-+\u2212]?[$\u20ac\u00a3]?\s?\d[\d.,'\u2019_\u00a0]*\s?[%$\u20ac\u00a3]?"
"""A number with a sign, a currency, thousands, a decimal comma or a percent sign, as a pattern."""
_NUMBER = re.compile(r"([-+\u2212]?)[$\u20ac\u00a3]?\s?(\d[\d.,'\u2019_\u00a0]*?)\s?([%$\u20ac\u00a3]?)")
_THOUSANDS = re.compile(r"\d{1,3}(?:[,'\u2019_\u00a0]\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")


def plain_number(text: str) -> str:
    """Return a number as it is written here; empty for what is written so already, and for what is no number.

    >>> [plain_number(text) for text in ("80%", "0,8", "5,000", "1.234,5", "$5", "12,5 %")]
    ['0.8', '0.8', '5000', '1234.5', '5', '0.125']
    >>> [plain_number(text) for text in ("0.8", "1e3", "n/a", "1,2,3", "18-25")]
    ['', '', '', '', '']
    """
    with suppress(ValueError):
        float(text)
        return ""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return ""
    sign, digits, unit = match.groups()
    if _THOUSANDS.fullmatch(digits):
        digits = re.sub(r"[^\d.]", "", digits)
    elif _DECIMAL_COMMA.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    if not re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return ""
    number = Decimal(digits) / 100 if unit == "%" else Decimal(digits)
    return f"{'-' if sign in _MINUS else ''}{number.normalize():f}"
