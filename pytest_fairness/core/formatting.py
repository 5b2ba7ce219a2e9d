"""Numbers and estimates in words: with digits enough to check a verdict by eye."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol
from unicodedata import category, normalize

from pytest_fairness.core.errors import FairnessError, short_repr

LONGEST_TITLE = 100
"""The most characters of the title of a threshold or metric."""
LARGEST_PART = 9
"""The largest numerator and denominator of a bound that is written as a fraction."""
DAY = 86_400.0
"""Seconds."""
_UNITS = {"h": 3_600.0, "d": DAY, "w": 7 * DAY}


def age(text: str) -> float:
    """Return the seconds of a length of time as a user writes it.

    >>> age("30d"), age("1.5h")
    (2592000.0, 5400.0)

    Raises:
        ValueError: It is no length of time, or not above 0 and below 100 years; the message names the form.
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)([hdw])", text.strip(), re.ASCII)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= 36_525 * DAY:
        raise ValueError("write days, hours or weeks, as in 30d, 12h or 4w")
    return seconds


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: of one thing in the singular.

    >>> counted(1, "item"), counted(1200, "earlier answer"), counted(0, "reply")
    ('1 item', '1,200 earlier answers', '0 replies')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith(("ly", "try")) else f"{number:,} {noun}s"


def one_line(text: str, most: int) -> str:
    """Return a text in one line of at most ``most`` characters; an end that is cut off is three dots.

    >>> one_line("Who is\\n the cook?", 12)
    'Who is th...'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def align_columns(rows: Iterable[Sequence[str]], *, width: int | None = None, to_right: bool = False) -> Iterator[str]:
    """Yield rows as lines, in columns as wide as their cells.

    Args:
        rows: The cells of each row.
        width: The most characters of a line: a first cell that leaves no room stands above its row. None for any.
        to_right: Whether the columns after the first are aligned to the right.

    >>> print(*align_columns([("name", "size"), ("ink", "7")], to_right=True), sep="\\n")
    name  size
    ink      7
    >>> print(*align_columns([("name", "size"), ("black ink", "7")], width=12), sep="\\n")
    name  size
    black ink
          7
    """
    rows = list(rows)
    first, *sizes = (max(map(len, column)) for column in zip(*rows, strict=True))
    if width is not None:
        room = width - sum(sizes) - 2 * len(sizes)
        first = max((len(name) for name, *_ in rows if len(name) <= room), default=0)
    justify = str.rjust if to_right else str.ljust
    for name, *cells in rows:
        if len(name) > first:
            yield from textwrap.wrap(name, width or len(name))
        shown = name if len(name) <= first else ""
        yield "  ".join([shown.ljust(first), *map(justify, cells, sizes)]).rstrip()


def format_bound(bound: float) -> str:
    """Return a bound as people write it: a fraction that no short decimal equals, as in ``2/3``.

    >>> format_bound(0.8), format_bound(2 / 3), format_bound(-1 / 3), format_bound(0.6667), format_bound(10 / 7)
    ('0.8', '2/3', '-1/3', '0.6667', '1.42857')
    """
    return _as_fraction(bound) if float(f"{bound:g}") != bound else f"{bound:g}"


def format_bounds(bounds: Sequence[float]) -> list[str]:
    """Return bounds as people write them; both are fractions where one is the other turned over.

    >>> format_bounds([0.8, 1.25]), format_bounds([2 / 3, 3 / 2]), format_bounds([2 / 3, 1.2])
    (['0.8', '1.25'], ['2/3', '3/2'], ['2/3', '1.2'])
    """
    texts = list(map(format_bound, bounds))
    are_fractions = len(bounds) == 2 and "/" in "".join(texts) and math.isclose(bounds[0] * bounds[1], 1)
    return list(map(_as_fraction, bounds)) if are_fractions else texts


def format_span(low: float, high: float) -> str:
    """Return a lower and an upper bound: ``2/3 to 3/2``."""
    return " to ".join(format_bounds([low, high]))


def _as_fraction(value: float) -> str:
    """Return a fraction with a small denominator; another value as a decimal."""
    fraction = Fraction(value).limit_denominator(LARGEST_PART) if math.isfinite(value) else Fraction(0)
    is_simple = abs(fraction.numerator) <= LARGEST_PART and math.isclose(fraction, value, rel_tol=1e-12)
    return str(fraction) if is_simple else f"{value:g}"


def decimals(values: Iterable[float], bounds: Iterable[float]) -> int:
    """Return how many decimals show on which side of each bound each value lies (six at most).

    >>> decimals([0.79996], [0.8])
    5
    """
    bounds = [bound for bound in bounds if math.isfinite(bound)]
    pairs = [(v, b) for v in values if math.isfinite(v) for b in bounds if v != b]
    if all(abs(v - b) > 1e-3 for v, b in pairs):  # as almost always: rounded, they cannot be equal
        return 3
    for digits in range(3, 6):
        if all(round(v, digits) != round(b, digits) for v, b in pairs):
            return digits
    return 6 if pairs else 3


_LATIN = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abekmhopctyxijsabezhikmnoptyx",
)
"""Cyrillic and Greek letters, and the Latin ones that they or their capitals look like."""


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Return a name without its case, extra blanks, invisible characters and scripts: names that look alike are equal.

    >>> plain_name("Fe\u200bmale  ") == plain_name("female"), plain_name("m\u0430n") == plain_name("man")
    (True, True)
    """
    visible = (char for char in normalize("NFKC", name) if category(char) not in ("Cc", "Cf") or char.isspace())
    return " ".join("".join(visible).casefold().translate(_LATIN).split())


def number(value: float, digits: int) -> str:
    """Return a value with that many decimals; what is not finite, in words."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:.{digits}f}"


def format_level(confidence: float) -> str:
    """Return the confidence of an interval in percent; less than 100% is never rounded to it.

    >>> format_level(0.955), format_level(0.99924), format_level(0.999964)
    ('95.5%', '99.92%', '99.996%')
    """
    percent = f"{confidence * 100:.4g}"
    if percent == "100" and confidence < 1:  # one digit of what is missing
        percent = repr(round(100 - float(f"{100 - confidence * 100:.1g}"), 12))
    return f"{percent}%"


_WRITTEN = str.maketrans("", "", "\u00a0\u2009\u200c\u200d\u202f\u3000")
"""Spaces and joiners of ordinary text, which Python counts among the characters that cannot be printed."""


def is_plain_line(text: str) -> bool:
    r"""Return whether a text is one line without control characters, and without those of its direction.

    >>> is_plain_line("Les deux sexes\u00a0?"), is_plain_line("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
    (True, True)
    >>> is_plain_line("one\ntwo"), is_plain_line("nurse\u202e")
    (False, False)
    """
    return text.translate(_WRITTEN).isprintable()


def title_fault(title: object) -> str:
    """Return the fault of a title, as an error has it; empty where it has none.

    >>> title_fault(""), title_fault("a\\nb"), title_fault("Women and men advance alike")
    ("is ''", "is 'a\\\\nb', with a line break or a control character", '')
    """
    if not isinstance(title, str) or not title.strip():
        return f"is {short_repr(title)}"
    if len(title.strip()) > LONGEST_TITLE:
        return f"has {len(title.strip()):,} characters"
    return "" if is_plain_line(title.strip()) else f"is {title!r:.60}, with a line break or a control character"


def checked_title(title: object) -> str:
    """Return the title of a metric, without spaces around it.

    Raises:
        FairnessError: It is empty, too long, or has a line break or control character.
    """
    if fault := title_fault(title):
        raise FairnessError(
            f"the title of a metric {fault}: write one line of 1 to {LONGEST_TITLE} characters, "
            "such as titled('share of invitations')"
        )
    return str(title).strip()


class Interval(Protocol):
    """A value with its interval, as results have it."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class BoundComparison(Protocol):
    """A comparison with a number, as results have it."""

    @property
    def op(self) -> str: ...
    @property
    def bound(self) -> float: ...


class Bounded(Protocol):
    """A threshold with its bounds, as results have it."""

    @property
    def bounds(self) -> tuple[float | None, float | None]: ...
    @property
    def comparisons(self) -> Sequence[BoundComparison]: ...
    @property
    def own(self) -> Mapping[str, object]: ...


class Subject(Protocol):
    """A metric of a slice: an estimate, or its result."""

    @property
    def title(self) -> str: ...
    @property
    def slice(self) -> Mapping[str, Any]: ...


def figures(result: Interval, comparisons: Sequence[BoundComparison] = ()) -> tuple[str, str, str]:
    """Return a value, its lower and its upper end as texts, with digits enough for its comparisons.

    >>> from pytest_fairness.core.threshold_results import ComparisonResult, GroupResult
    >>> figures(GroupResult(value=0.7, low=0.63, high=None), [ComparisonResult(op=">=", bound=0.8)])
    ('0.700', '0.630', 'unknown')
    """
    values = [math.nan if end is None else end for end in (result.value, result.low, result.high)]
    digits = decimals(values, [comparison.bound for comparison in comparisons])
    value, low, high = (number(value, digits) for value in values)
    return value, low, high


def bounds_of(row: Bounded) -> str:
    """Return the bounds of a threshold: ``0.8 to 1.2``, ``>= 0.8``, or nothing.

    Followed by ``(override)`` where pyproject.toml sets them.
    """
    low, high = row.bounds
    note = " (override)" if "bounds" in row.own else ""
    if low is not None and high is not None:
        return f"{format_span(low, high)}{note}"
    return " and ".join(f"{comparison.op} {format_bound(comparison.bound)}" for comparison in row.comparisons) + note


def bounds_phrase(row: Bounded) -> str:
    """Return the bounds as a sentence has them: ``0.8 to 1.2``, ``at least 0.8``, or nothing."""
    if row.bounds == (None, None):
        return bounds_of(row)
    return span_text(row.bounds) + (" (override)" if "bounds" in row.own else "")


def span_text(span: Sequence[float | None]) -> str:
    """Return a lower and an upper bound, where there are such.

    >>> span_text((0.8, 1.2)), span_text((0.8, None)), span_text((None, 0.15)), span_text((None, None))
    ('0.8 to 1.2', 'at least 0.8', 'at most 0.15', 'none')
    """
    low, high = span
    if low is None:
        return "none" if high is None else f"at most {format_bound(high)}"
    return f"at least {format_bound(low)}" if high is None else format_span(low, high)


def format_tallies(tallies: Mapping[str, tuple[int, int]]) -> str:
    """Return how often an outcome was true, in each group: of more than two in the lowest and the highest.

    >>> format_tallies({"": (18, 60)})
    '18 of 60 (30.0%)'
    >>> format_tallies({"female": (71, 100), "male": (100, 100)})
    '71 of 100 (71.0%) for female against 100 of 100 (100.0%) for male'
    >>> format_tallies({"young": (9, 10), "old": (2, 10), "middle": (5, 10)})
    'lowest: 2 of 10 (20.0%) for old; highest: 9 of 10 (90.0%) for young'

    Args:
        tallies: The number of graded attempts for which it was true, and of all that were graded, by group.
            The group is empty where none are compared.

    Returns:
        One line; empty where nothing was graded in a group.
    """
    if not tallies or not all(graded for _, graded in tallies.values()):
        return ""
    shares = {group: count / graded for group, (count, graded) in tallies.items()}
    texts = {
        group: f"{count:,} of {graded:,} ({shares[group]:.1%}){f' for {group}' if group else ''}"
        for group, (count, graded) in tallies.items()
    }
    return _opposed(texts, shares)


def format_rates(rates: Mapping[str, float | None]) -> str:
    """Return the rate of each group as `format_tallies` does, where no counts make it; empty where one is not known.

    >>> format_rates({"female": 0.71, "male": 1.0})
    '71.0% for female against 100.0% for male'
    """
    shares = {group: rate for group, rate in rates.items() if rate is not None and math.isfinite(rate)}
    if len(shares) < max(len(rates), 2):
        return ""
    return _opposed({group: f"{rate:.1%} for {group}" for group, rate in shares.items()}, shares)


def format_levels(levels: Mapping[str, float | None]) -> str:
    """Return the mean of each group as `format_tallies` does; empty where fewer than two are known.

    >>> format_levels({"female": 6.2104, "male": 5.9, "other": None})
    '6.210 for female against 5.900 for male'
    """
    means = {group: mean for group, mean in levels.items() if mean is not None and math.isfinite(mean)}
    if len(means) < 2:
        return ""
    return _opposed({group: f"{number(mean, 3)} for {group}" for group, mean in means.items()}, means)


def _opposed(texts: Mapping[str, str], shares: Mapping[str, float]) -> str:
    if len(texts) <= 2:
        return " against ".join(texts.values())
    ordered = sorted(shares, key=shares.__getitem__)
    return f"lowest: {texts[ordered[0]]}; highest: {texts[ordered[-1]]}"


def format_subject(subject: Subject) -> str:
    """Return the title of an estimate with its slice: ``rate of hired where the gender is female``."""
    where = slice_text(subject.slice)
    return f"{subject.title}{f' where {where}' if where else ''}"


def slice_text(chosen: Mapping[str, Any]) -> str:
    """Return the part of a sample that was selected, in words; nothing of the whole sample.

    >>> slice_text({"context": "ambig", "age_group": "young", "stereotyped_person": "one"})
    'the context is ambig, the age group is young and the stereotyped person is one'
    """
    parts = [f"the {str(name).replace('_', ' ')} is {str(value) or 'empty'}" for name, value in chosen.items()]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
