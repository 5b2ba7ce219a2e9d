"""A chart of an audit: each figure with its narrowest and its widest interval, and the bounds of the rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_fairness.benchmarks.audits.audit import Audit, AuditedFigure
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.report.html.svg import element, lines_of, width_of

if TYPE_CHECKING:
    from markupsafe import Markup

_MOST = 40
"""The most figures of a picture: those furthest from the rule."""
_ROW, _LEFT, _RIGHT, _TOP, _FOOT = 22, 16, 110, 74, 66
_PLOT = 420
_STYLE = """
svg { background: #fff; font: 12px system-ui, sans-serif; }
text { fill: #1b1f24; } .note { fill: #57606a; }
.bound { stroke: #b42318; stroke-width: 1.5; stroke-dasharray: 4 3; } .grid { stroke: #e3e6ea; }
.wide { stroke: #57606a; stroke-width: 2; } .narrow { stroke: #0b5cad; stroke-width: 6; opacity: .45; }
.dot { fill: #1b1f24; } .unfair { fill: #b42318; } .fair { fill: #1a7f37; } .undecided { fill: #57606a; }
"""


def chart(audit: Audit) -> str:
    """Return an SVG document: figures that break the rule first, each with two intervals and its verdict.

    It holds aggregate figures only. Where there are more than 40 figures, those that break the rule are drawn, at most
    40 of them.
    """
    shown = _select_figures(audit)
    left = _LEFT + max((width_of(figure.name) for figure in shown), default=0) + 12
    height = _TOP + _ROW * len(shown) + _FOOT
    width = left + _PLOT + _RIGHT
    axis = _Axis(shown, audit.bounds, left)
    scene = [*_head(audit, len(shown), width), *_grid(axis, audit, height)]
    for index, figure in enumerate(shown):
        scene += _figure_row(axis, figure, _TOP + _ROW * index + _ROW / 2)
    picture = element(
        "svg",
        element("title", audit.title),
        element("style", _STYLE),
        *scene,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
    )
    return f"{picture}\n"


def _select_figures(audit: Audit) -> Sequence[AuditedFigure]:
    if len(audit.figures) <= _MOST:
        return audit.figures
    breaches = [figure for figure in audit.figures if figure.breach]
    low, high = audit.bounds
    return sorted(breaches, key=lambda figure: min(figure.value - low, high - figure.value))[:_MOST]


class _Axis:
    """The horizontal axis: positions of values, and ticks at round numbers."""

    def __init__(self, figures: Sequence[AuditedFigure], bounds: tuple[float, float], left: float) -> None:
        drawn = [interval for figure in figures for interval in (figure.intervals[0], figure.judged)]
        ends = [end for interval in drawn for end in (interval.low, interval.high)]
        values = [value for value in (*ends, *bounds) if math.isfinite(value)] or [0.0, 1.0]
        span = max(values) - min(values) or 1.0
        self._left, self._low, self._high = left, min(values) - span * 0.03, max(values) + span * 0.03
        self.step = next(step for step in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, math.inf) if span / step <= 9)

    def at(self, value: float) -> float:
        """Return the position of a value."""
        return self._left + (value - self._low) / (self._high - self._low) * _PLOT

    @property
    def end(self) -> float:
        """The position of the right end."""
        return self.at(self._high)

    @property
    def ticks(self) -> list[float]:
        first = math.ceil(self._low / self.step)
        return [round(number * self.step, 10) for number in range(first, math.floor(self._high / self.step) + 1)]


def _head(audit: Audit, shown: int, width: float) -> Iterator[Markup]:
    subtitle = f"{shown} of {len(audit.figures)} figures: {audit.figure}"
    yield element("text", audit.title, x=_LEFT, y=22, font_size=15, font_weight="bold")
    for index, line in enumerate(lines_of(subtitle, width - 2 * _LEFT, 2)):
        yield element("text", line, x=_LEFT, y=40 + 15 * index, class_="note")


def _grid(axis: _Axis, audit: Audit, height: float) -> Iterator[Markup]:
    bottom = height - _FOOT + 4
    for tick in axis.ticks:
        x = axis.at(tick)
        yield element("line", x1=x, x2=x, y1=_TOP - 4, y2=bottom, class_="grid")
        yield element("text", f"{tick:g}", x=x, y=bottom + 14, text_anchor="middle", class_="note")
    for bound in audit.bounds:
        if math.isfinite(bound):
            x = axis.at(bound)
            yield element("line", x1=x, x2=x, y1=_TOP - 4, y2=bottom, class_="bound")
    if audit.figures:
        first, last = audit.figures[0].intervals[0].name, audit.figures[0].judged.name
        key = f"dashed: {audit.rule}; thick: 95% interval by {first}; thin: by {last}; verdict: by {last}"
        for index, line in enumerate(lines_of(key, axis.at(axis.ticks[-1]) if axis.ticks else _PLOT, 2)):
            yield element("text", line, x=_LEFT, y=bottom + 34 + 15 * index, class_="note")


def _figure_row(axis: _Axis, figure: AuditedFigure, y: float) -> Iterator[Markup]:
    yield element("text", figure.name, x=_LEFT, y=y + 4)
    for name, interval in (("narrow", figure.intervals[0]), ("wide", figure.judged)):
        if math.isfinite(interval.low) and math.isfinite(interval.high):
            yield element("line", x1=axis.at(interval.low), x2=axis.at(interval.high), y1=y, y2=y, class_=name)
    yield element("circle", cx=axis.at(figure.value), cy=y, r=4, class_="dot")
    verdict = figure.judged.verdict
    name = verdict.value if verdict is not Verdict.INVALID else "undecided"
    yield element("text", verdict.value, x=axis.end + 12, y=y + 4, class_=name)
