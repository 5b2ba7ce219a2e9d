"""SVG elements as text, and positions of labels without overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import accumulate, pairwise

from markupsafe import Markup, escape

from pytest_fairness.report.escaping import escape_controls

SIZE = 12
"""The font size, in units of the picture."""


def element(name: str, *children: str, **attributes: str | float) -> Markup:
    """Return one element, with texts escaped; ``class_`` is ``class``, ``text_anchor`` is ``text-anchor``.

    >>> print(element("text", "a < b", class_="note", x=1.25))
    <text class="note" x="1.2">a &lt; b</text>
    """
    attribute_text = "".join(
        f' {attribute.rstrip("_").replace("_", "-")}="{f"{value:.1f}" if isinstance(value, float) else escape(value)}"'
        for attribute, value in attributes.items()
    )
    inside = "".join(child if isinstance(child, Markup) else escape(escape_controls(child)) for child in children)
    return Markup(f"<{name}{attribute_text}>{inside}</{name}>")  # noqa: S704 - escaped above


def width_of(text: str) -> float:
    """Return the approximate width of a text, in units of the picture: an upper estimate for most typefaces."""
    return sum(_share(character) for character in text) * SIZE


def _share(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in " .,:;'|!ijlI()":
        return 0.35
    return 0.8 if character.isupper() or character in "mw@%" else 0.64 if character.isdigit() else 0.6


def spread(centers: Sequence[float], sizes: Sequence[float], low: float, high: float, gap: float = 6) -> list[float]:
    """Return positions of labels near their desired centers, in order, without overlap, between ``low`` and ``high``.

    The sum of squared moves is minimal: the pool-adjacent-violators algorithm (Ayer et al. 1955), applied to the
    centers minus the space of the labels before them.

    >>> spread([50, 52, 90], [20, 20, 20], 0, 100)
    [38.0, 64.0, 90.0]
    """
    if not centers:
        return []
    steps = [(one + other) / 2 + gap for one, other in pairwise(sizes)]
    offsets = list(accumulate(steps, initial=0.0))
    pools: list[tuple[float, int]] = []
    for center, before in zip(centers, offsets, strict=True):
        pools.append((center - before, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (last, many), (first, more) = pools.pop(), pools.pop()
            pools.append(((first * more + last * many) / (more + many), more + many))
    least, most = low + sizes[0] / 2, high - sizes[-1] / 2 - offsets[-1]
    level = [min(max(mean, least), most) for mean, many in pools for _ in range(many)]
    return [position + before for position, before in zip(level, offsets, strict=True)]


def lines_of(text: str, width: float, most: int = 3) -> list[str]:
    """Return a name in at most ``most`` lines of a width; a text that does not fit ends with an ellipsis.

    >>> lines_of("people with a disability", 80)
    ['people with', 'a disability']
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if not lines[-1] or width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    shown = lines[:most]
    return [_cut(line, width, more=index == most - 1 < len(lines) - 1) for index, line in enumerate(shown)]


def _cut(line: str, width: float, *, more: bool) -> str:
    if not more and width_of(line) <= width:
        return line
    while line and width_of(line + "…") > width:
        line = line[:-1]
    return line + "…"
