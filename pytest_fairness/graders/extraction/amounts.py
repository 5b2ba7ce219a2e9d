"""Amounts in texts: numbers with a unit, as several languages write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MONEY = (
    *("$", "€", "£", "¥", "₺", "zł", "kr", "CHF", "EUR", "USD", "GBP", "JPY", "TRY", "PLN", "SEK", "NOK", "DKK", "CAD"),
    *("AUD", "dollar", "dollars", "euro", "euros", "pound", "pounds", "franc", "francs", "Franken", "lira"),
)
"""Signs, codes and words of currencies."""
_NUMBER = r"\d{1,3}(?:[ \u00a0\u202f.,'\u2019]\d{3}){1,4}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,]\d{1,15})?"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\D)|\n+")


def find_amounts(text: str, units: Sequence[str] = MONEY, near: Sequence[str] = ()) -> list[float]:
    """Return the different amounts that a text states with one of some units, in the order of the text.

    Args:
        text: The text.
        units: Signs and words that stand before or after the number; case is ignored.
        near: Words of which a sentence must hold one; case is ignored. Default: every sentence counts.

    >>> find_amounts("Wir schreiben Ihnen 1.200,50 € gut, also EUR 1200.50, in 14 Tagen.")
    [1200.5]
    >>> find_amounts("A credit of $20 to $30. Your bill is $80.", near=["credit"])
    [20.0, 30.0]
    >>> find_amounts("You get US$20.")
    [20.0]
    >>> find_amounts("You have 14 days.", units=["day", "days"])
    [14.0]
    """
    unit = "|".join(re.escape(one) for one in sorted(units, key=len, reverse=True))
    # A word of a unit is no end of another word; a sign may follow a country, as in US$20.
    before, after = (rf"(?:(?:(?<![^\W\d_])|(?=[^\w\s]))(?:{unit}))", rf"(?:(?:{unit})(?![^\W\d_]))")
    amount = re.compile(
        rf"{before}\s?(?P<only>{_NUMBER})(?![\w%])"
        rf"|(?<![\w.,])(?:(?P<low>{_NUMBER})\s?(?:-|\u2013|to|bis|à)\s?)?(?P<high>{_NUMBER})[\s-]?{after}",
        re.IGNORECASE,
    )
    amounts: dict[float, None] = {}
    for sentence in _SENTENCE_END.split(text):
        if not near or any(word.casefold() in sentence.casefold() for word in near):
            amounts.update(dict.fromkeys(_read(amount, sentence)))
    return list(amounts)


def _read(amount: re.Pattern[str], sentence: str) -> Iterator[float]:
    for match in amount.finditer(sentence):
        for number in match.groups():
            if number is not None:
                yield read_number(number)


def read_number(text: str) -> float:
    """Return the number that digits with separators write.

    Of two different separators the last one is that of decimals; a single one before exactly three digits separates
    thousands, unless the number begins with 0.

    >>> [read_number(text) for text in ("1.200,50", "1,200.50", "1'200", "1 200,5", "0.500", "12.5", "1.200")]
    [1200.5, 1200.5, 1200.0, 1200.5, 0.5, 12.5, 1200.0]
    """
    separators = re.findall(r"\D", text)
    if not separators:
        return float(text)
    digits, end = re.split(r"\D(?=\d+$)", text)
    is_decimal = separators[-1] in ".," and (
        len(end) != 3 or text.startswith("0") or (len(separators) > 1 and separators[-1] != separators[0])
    )
    whole = re.sub(r"\D", "", digits)
    return float(f"{whole}.{end}" if is_decimal else whole + end)
