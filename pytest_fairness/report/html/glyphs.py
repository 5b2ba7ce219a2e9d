"""The elements of charts, each at its position on an axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from pytest_fairness.core.formatting import Interval, figures, format_bounds
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report.html.axes import Axis
from pytest_fairness.report.html.svg import SIZE, element, spread, width_of

WIDTH = 360
"""The width of every chart, in its own units: about the pixels of a phone."""
Bounds = Sequence[float | None]


def sign(shape: str, x: float, y: float, size: float) -> Markup:
    """Return a ``dot``, ``ring``, ``cross`` or ``square`` of that radius."""
    left, right, top, foot = x - size, x + size, y - size, y + size
    if shape == "cross":
        return stroke(
            "cross", f"M{left:.1f} {top:.1f}L{right:.1f} {foot:.1f}M{left:.1f} {foot:.1f}L{right:.1f} {top:.1f}"
        )
    if shape == "square":
        return element("rect", x=left, y=top, width=2 * size, height=2 * size, class_="square")
    return element("circle", cx=x, cy=y, r=size, class_=shape)


def stroke(kind: str, path: str) -> Markup:
    """Return a line."""
    return element("path", d=path, class_=kind)


def label(kind: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    """Return a label whose ``start``, ``middle`` or ``end`` is at x, with its baseline at y."""
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=kind)


def labels(texts: Sequence[tuple[float, str, str]], y: float) -> list[Markup]:
    """Return labels side by side in order, each as near as possible to its center."""
    positions = spread([x for x, _, _ in texts], [width_of(words) for _, words, _ in texts], 2, WIDTH - 2)
    return [label(kind, x, y, words, "middle") for x, (_, words, kind) in zip(positions, texts, strict=True)]


def interval(axis: Axis, across: float, row: Interval, *, upright: bool = False) -> Markup:
    """Return an interval with a cap at each end; an arrow where it is unbounded, or leaves the axis."""
    line, caps, half = [], [], 2 if upright else 4
    for value, edge, inward in ((row.low, axis.low, 1), (row.high, axis.high, -1)):
        is_outside = value is None or not axis.holds(value)
        position = axis.at(edge if value is None else value)
        tip = inward * 6 * (1 if axis.end > axis.start else -1) if is_outside else 0
        line.append((position, across))
        caps.append([(position + tip, across - half), (position, across), (position + tip, across + half)])
    path = "".join(
        "M" + "L".join(f"{y:.1f} {x:.1f}" if upright else f"{x:.1f} {y:.1f}" for x, y in points)
        for points in (line, *caps)
    )
    return stroke("interval", path)


def numbers_above(axis: Axis, row: ThresholdResult, y: float) -> list[Markup]:
    """Return the value above its dot, and the ends of its interval."""
    value, low, high = figures(row.estimate, row.comparisons)
    texts = [
        (axis.at(end), brief(words), kind)
        for end, words, kind in (
            (row.estimate.low, low, "end"),
            (row.estimate.value, value, "value"),
            (row.estimate.high, high, "end"),
        )
        if end is not None
    ]
    return labels(texts, y)


def beyond(axis: Axis, bounds: Bounds, top: float, foot: float, prefix: str) -> Iterator[Markup]:
    """Yield the hatched areas beyond the bounds."""
    low, high = (None if bound is None else axis.at(bound) for bound in bounds)
    spans = [(axis.start, low)] if low is not None else []
    spans += [(high, axis.end)] if high is not None else []
    if spans:
        yield _hatching(prefix)
    for first, last in spans:
        size = {"width": last - first, "height": float(foot - top)}
        yield element("rect", x=first, y=top, fill=f"url(#{prefix}-hatch)", stroke="none", **size)


def bound_lines(axis: Axis, bounds: Bounds, top: float, foot: float) -> list[Markup]:
    """Return a line at each bound."""
    return [stroke("bound", f"M{axis.at(bound):.1f} {top}V{foot}") for bound in bounds if bound is not None]


def bands(axis: Axis, scale: Mapping[str, Any] | None, top: float, foot: float) -> Iterator[Markup]:
    """Yield the strip of marks: a band for each, with its letter if that fits."""
    for mark, low, high in spans_of(scale, axis) if scale else ():
        x, width = axis.at(low), axis.at(high) - axis.at(low)
        yield element("rect", x=x, y=top, width=width, height=float(foot - top), class_=f"band-{mark}")
        if width >= SIZE:
            yield label("letter", x + width / 2, foot - 3, mark, "middle")


def spans_of(scale: Mapping[str, Any], axis: Axis) -> list[tuple[str, float, float]]:
    """Return the marks along an axis, in order: letter, low end and high end."""
    mark_scale = MarkScale(**scale)
    inner_edges = {
        end for letter in "ABC" for span in getattr(mark_scale, letter) for end in span if axis.low < end < axis.high
    }
    edges = [axis.low, *sorted(inner_edges), axis.high]
    spans: list[tuple[str, float, float]] = []
    for low, high in pairwise(edges):
        mark = mark_scale.mark(low + (high - low) / 2)
        if spans and spans[-1][0] == mark:
            low = spans.pop()[1]
        spans.append((mark, low, high))
    return spans


def parity_line(axis: Axis, parity: float | None, top: float, foot: float) -> list[Markup]:
    """Return a dashed line at parity, if the axis includes it."""
    if parity is None or not axis.holds(parity):
        return []
    return [stroke("parity", f"M{axis.at(parity):.1f} {top}V{foot}")]


def foot_of(axis: Axis, y: float, bounds: Bounds) -> list[Markup]:
    """Return the axis: its line, the numbers of the bounds, and round numbers where they fit."""
    limits = sorted({bound for bound in bounds if bound is not None})
    texts = [(axis.at(bound), words, "limit") for bound, words in zip(limits, format_bounds(limits), strict=True)]
    occupied = [(x, width_of(words)) for x, words, _ in texts]
    # Labels of close bounds are moved apart: keep round numbers away from all positions that they may take.
    margin = (
        sum(width for _, width in occupied) / 2
        if len(occupied) > 1 and abs(occupied[0][0] - occupied[1][0]) < 40
        else 0
    )
    strokes = f"M{axis.start:.1f} {y}H{axis.end:.1f}" + "".join(f"M{x:.1f} {y}V{y + 4}" for x, _ in occupied)
    ticks = axis.ticks()
    for tick in sorted(ticks, key=lambda value: value not in (0.0, 1.0)):
        x, width = axis.at(tick), width_of(f"{tick:g}")
        if all(abs(x - other) >= (width + size) / 2 + 6 + margin for other, size in occupied):
            occupied.append((x, width))
            texts.append((x, f"{tick:g}", "tick"))
        strokes += f"M{x:.1f} {y}V{y + 4}"
    return [stroke("axis", strokes), *labels(sorted(texts), y + 17)]


def levels(
    axis: Axis, spans: Sequence[tuple[Bounds, float, float]], left: float, right: float, prefix: str
) -> Iterator[Markup]:
    """Yield a vertical axis: round numbers at the left, bounds as lines with numbers at the right, hatched beyond.

    ``spans`` are bounds with the positions between which they were in force.
    """
    ticks = axis.ticks()[:: math.ceil(len(axis.ticks()) / 5)]
    bounds = spans[-1][0]
    if any(bound is not None for span, _, _ in spans for bound in span):
        yield _hatching(prefix)
    for (low, high), begin, end in spans:
        for first, last in ((low, axis.low), (axis.high, high)):
            if first is not None and last is not None:
                top, foot = axis.at(first), axis.at(last)
                size = {"width": end - begin, "height": foot - top}
                yield element("rect", x=begin, y=top, fill=f"url(#{prefix}-hatch)", stroke="none", **size)
    labeled: list[float] = []
    for tick in (tick for tick in ticks if tick not in bounds):
        y = axis.at(tick)
        yield stroke("grid", f"M{left:.1f} {y:.1f}H{right:.1f}")
        if all(abs(y - other) > SIZE for other in labeled):
            labeled.append(y)
            yield label("tick", left - 5, y + 4, f"{tick:g}", "end")
    limits = sorted({bound for bound in bounds if bound is not None}, reverse=True)
    positions = spread([axis.at(bound) for bound in limits], [SIZE] * len(limits), axis.end - 4, axis.start + 4, 1)
    for span, begin, end in spans:
        for bound in sorted(value for value in span if value is not None):
            yield stroke("bound", f"M{begin:.1f} {axis.at(bound):.1f}H{end:.1f}")
    for words, y in zip(format_bounds(limits), positions, strict=True):
        yield label("limit", right + 5, y + 4, words)


def brief(words: str) -> str:
    """Return a number, shortened to fit into a chart."""
    return words if len(words) <= 9 else f"{float(words):.3g}"


def _hatching(prefix: str) -> Markup:
    lines = element("path", d="M-1 1L1 -1M0 6L6 0M5 7L7 5", class_="hatch")
    pattern = element("pattern", lines, id=f"{prefix}-hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("defs", pattern)
