"""Charts of the components of both indices: one row for each model and date, around 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fairness.extending import format_number, svg_element, svg_lines

if TYPE_CHECKING:
    from markupsafe import Markup

INDEX = "directional.adjusted_index"
COMPONENTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Adjusted index and its components": {
            "Adjusted index": INDEX,
            "Refusals": "directional.will_bias",
            "Errors": "directional.acc_bias",
            "Stigma": "directional.stigma_bias",
        },
        "Asymmetry index and its components": {
            "Asymmetry index": "asymmetry.asymmetry_index",
            "Accuracy": "asymmetry.accuracy_delta",
            "Stigma (higher is better)": "asymmetry.stigma_delta",
            "Participation": "asymmetry.participation_delta",
        },
    }
)
"""Charts by title: the figure of each row's title."""
_ENDS = {
    "Adjusted index and its components": ("disfavors power", "favors power"),
    "Asymmetry index and its components": ("better on power", "better on the marginalized"),
}
_WIDTH, _LEFT, _VALUES, _ROW, _FOOT = 360, 150, 46, 16, 18
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class RankingEntry:
    """One model on one date."""

    label: str
    date: str
    figures: Mapping[str, float | None]
    """Figures by their path in the published layout; those without a value may be absent."""
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The intervals of figures; a bare summary has none."""

    @property
    def distance(self) -> float:
        """The distance of the adjusted index from 0; infinite where there is none."""
        index = self.figures.get(INDEX)
        return math.inf if index is None else abs(index)


def charts(entries: Sequence[RankingEntry]) -> list[str]:
    """Return one SVG picture for each of `COMPONENTS` of which an entry has a figure.

    Args:
        entries: The models and dates, in the order of their rows.

    Returns:
        Markup, with every text escaped.

    >>> picture, = charts([RankingEntry("openai:a", "2026-01-02", {"directional.adjusted_index": -0.25})])
    >>> "Adjusted index" in picture and "-0.250" in picture and "Stigma" not in picture
    True
    """
    pictures = []
    for title, rows in COMPONENTS.items():
        held = {
            name: figure for name, figure in rows.items() if any(_value(one, figure) is not None for one in entries)
        }
        if held:
            pictures.append(_picture(title, held, entries))
    return pictures


def _picture(title: str, rows: Mapping[str, str], entries: Sequence[RankingEntry]) -> str:
    extent = max(_extent(entries, list(rows.values())), 0.05)
    start, end = _LEFT, _WIDTH - _VALUES

    def at(value: float) -> float:
        return start + (end - start) * (value + extent) / (2 * extent)

    height = 24 + _ROW * sum(1 + len(entries) for _ in rows) + _FOOT
    elements = [svg_element("title", title), svg_element("text", title, x=0, y=12, class_="value")]
    y = 24.0
    for name, figure in rows.items():
        elements.append(svg_element("text", name, x=0, y=y + 11, class_="name"))
        y += _ROW
        for entry in entries:
            elements += _row(entry, figure, at, y)
            y += _ROW
    elements.append(svg_element("path", d=f"M{at(0):.1f} 24V{y:.1f}", class_="parity"))
    elements += [
        svg_element("text", _ENDS[title][0], x=8, y=y + 12, class_="note"),
        svg_element("text", _ENDS[title][1], x=_WIDTH, y=y + 12, text_anchor="end", class_="note"),
    ]
    return svg_element("svg", *elements, class_="chart", viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=title)


def _row(entry: RankingEntry, figure: str, at: Callable[[float], float], y: float) -> Iterator[Markup]:
    middle, value = y + _ROW / 2, _value(entry, figure)
    yield svg_element("text", *svg_lines(entry.label, _LEFT - 14, 1), x=8, y=middle + 4, class_="note")
    if value is None:
        yield svg_element("text", "-", x=_WIDTH, y=middle + 4, text_anchor="end", class_="note")
        return
    if figure in entry.ends:
        low, high = entry.ends[figure]
        yield svg_element("path", d=f"M{at(low):.1f} {middle:.1f}H{at(high):.1f}", class_="interval")
    yield svg_element("circle", cx=at(value), cy=middle, r=3.5, class_="dot")
    yield svg_element("text", format_number(value, _DIGITS), x=_WIDTH, y=middle + 4, text_anchor="end", class_="value")


def _extent(entries: Sequence[RankingEntry], figures: Collection[str]) -> float:
    shown = [
        number
        for entry in entries
        for figure in figures
        if (value := _value(entry, figure)) is not None
        for number in (value, *entry.ends.get(figure, ()))
    ]
    return 1.05 * max(map(abs, shown), default=0.0)


def _value(entry: RankingEntry, figure: str) -> float | None:
    value = entry.figures.get(figure)
    return value if value is not None and math.isfinite(value) else None
