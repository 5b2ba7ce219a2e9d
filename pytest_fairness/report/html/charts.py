"""Charts of rows of the results file: dots and intervals.

Each chart is one inline SVG element, or empty where nothing was measured. It has no colors of
its own: the page's style sheet defines those of its classes (`CLASSES`), for light and dark.
Nothing is shown by color alone, and its title and description contain every number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from markupsafe import Markup

from pytest_fairness.core.formatting import bounds_phrase, figures, format_bounds, format_level, format_subject
from pytest_fairness.core.threshold_results import (
    ComparisonResult,
    EstimateResult,
    GroupResult,
    SliceResult,
    ThresholdResult,
)
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.history.series import Change, ThresholdSeries
from pytest_fairness.report.html.axes import Axis, axis_over, is_log
from pytest_fairness.report.html.glyphs import (
    WIDTH,
    Bounds,
    bands,
    beyond,
    bound_lines,
    brief,
    foot_of,
    interval,
    label,
    levels,
    numbers_above,
    parity_line,
    sign,
    spans_of,
    stroke,
)
from pytest_fairness.report.html.svg import element, lines_of, width_of
from pytest_fairness.report.phrases import slice_name

_MOST_RUNS = 30
_BELOW = 95.0
"""The position of runs without an estimate: below the axis, of which every height is a value."""
_NAMES = 136
"""The greatest width of a name, in units of the chart."""
_SHAPES = {"fair": "dot", "unfair": "cross", "undecided": "ring", "invalid": "square"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: a name, and a row with ``estimate``, ``low`` and ``high``."""

    name: str
    row: GroupResult | EstimateResult | SliceResult
    reference: bool = False
    """Whether the other lines are compared with it."""
    is_unfair: bool = False
    comparisons: Sequence[ComparisonResult] = ()
    """Those of a threshold, for the digits of its numbers."""


def threshold_chart(row: ThresholdResult, prefix: str) -> Markup:
    """Return the value and interval of a threshold on its bounds, with the bands of its marks.

    ``row`` is of the results file; ``prefix`` is the prefix of ids in the chart, which must be
    unique on the page.
    """
    if row.estimate.value is None:
        return Markup()
    parity, log = row.estimate.parity, is_log([row.estimate], row.bounds)
    points = [value for value in (row.estimate.value, *row.bounds, parity) if value is not None]
    axis = axis_over(points, (row.estimate.low, row.estimate.high), 12, WIDTH - 12, log=log)
    foot = 64 if row.estimate.scale else 48
    scene = [
        *numbers_above(axis, row, 12),
        *beyond(axis, row.bounds, 18, 46, prefix),
        *bands(axis, row.estimate.scale, 48, 62),
        *bound_lines(axis, row.bounds, 18, 46),
        *parity_line(axis, parity, 18, 46),
        interval(axis, 32, row.estimate),
        sign("dot", axis.at(row.estimate.value), 32, 5.5),
        *foot_of(axis, foot, row.bounds),
        *_key(row, parity, foot + 35),
    ]
    return _picture(
        prefix, foot + 40, format_subject(row.estimate), "; ".join(_threshold_phrases(row, axis, parity)), scene
    )


def groups_chart(row: ThresholdResult, prefix: str) -> Markup:
    """Return the groups of a threshold side by side, lowest first, the reference named."""
    lines = [Line(name, group, name == row.reference) for name, group in row.by_group.items()]
    attribute = f" of {row.estimate.attribute}" if row.estimate.attribute else ""
    return lines_chart(f"groups{attribute}: {format_subject(row.estimate)}", lines, prefix)


def slices_chart(slices: Sequence[EstimateResult], key: str, prefix: str) -> Markup:
    """Return one metric on parts of its sample that differ in one attribute: ``slices`` are entries of ``metrics``."""
    lines = [Line(str(part.slice.get(key, "all")), part) for part in slices]
    return lines_chart(f"{slices[0].title} by {key}", lines, prefix, parity=slices[0].parity, log=is_log(slices))


def declared_slices_chart(row: ThresholdResult, prefix: str) -> Markup:
    """Return the declared slices of a threshold on its bounds, unfair ones crossed, and the estimate over all."""
    lines = [
        Line(name, part, is_unfair=part.state == "unfair")
        for name, part in slices_worst_first(row)
        if part.value is not None
    ]
    bounds, log = row.bounds, is_log([row.estimate], row.bounds)
    return lines_chart(
        f"slices: {row.estimate.title}", lines, prefix, bounds, parity=row.estimate.parity, log=log, by_value=False
    )


_SLICES = ("unfair", "unmeasured", "no veto", "open", "inside")
"""The states of slices, in the order in which they matter."""


def slices_worst_first(row: ThresholdResult) -> list[tuple[str, SliceResult]]:
    """Return the estimate over all slices of a threshold, and its slices by name, unfair ones first."""
    decisions = {comparison.decision for comparison in row.comparisons}
    state = "unfair" if "false" in decisions else "inside" if decisions == {"true"} else "open"
    own = SliceResult(
        slice=row.estimate.slice, state=state, value=row.estimate.value, low=row.estimate.low, high=row.estimate.high
    )
    parts = sorted(row.slices, key=lambda part: (_SLICES.index(part.state), part.value or 0.0))
    return [("all slices", row.pooled or own), *((slice_name(part), part) for part in parts)]


def lines_chart(
    title: str,
    lines: Iterable[Line],
    prefix: str,
    bounds: Bounds = (None, None),
    *,
    parity: float | None = None,
    log: bool = False,
    by_value: bool = True,
) -> Markup:
    """Return a chart with a line for each name: its value and interval, lowest first, unmeasured ones last.

    Without ``by_value`` the lines keep their order. ``parity`` is the value at which groups are alike, if there is one.
    """
    lines = list(lines)
    if by_value:
        lines.sort(key=lambda line: (line.row.value is None, line.row.value or 0.0))
    drawn = [line for line in lines if line.row.value is not None]
    if not drawn:
        return Markup()
    rows = [line.row for line in drawn]
    names = [lines_of(escape_controls(line.name), _NAMES) + ["reference"] * line.reference for line in lines]
    left = max(width_of(text) for name in names for text in name) + 10
    right = WIDTH - max(width_of(brief(figures(line.row, line.comparisons)[0])) for line in drawn) - 12
    points = [value for value in (*(row.value for row in rows), *bounds, parity) if value is not None]
    axis = axis_over(points, (end for row in rows for end in (row.low, row.high)), left, right, log=log)
    heights = [max(22, 14 * len(name) + 8) for name in names]
    foot = sum(heights) + 4
    scene = [stroke("grid", f"M{axis.at(tick):.1f} 4V{foot}") for tick in axis.ticks()]
    scene += [*beyond(axis, bounds, 4, foot, prefix), *bound_lines(axis, bounds, 4, foot)]
    scene += parity_line(axis, parity, 4, foot)
    top = 4.0
    for line, name, height in zip(lines, names, heights, strict=True):
        scene += _line(axis, line, name, top + height / 2)
        top += height
    description = "; ".join(
        f"{line.name}{' (the reference)' * line.reference}{' (unfair)' * line.is_unfair}: "
        f"{_numbers(line.row, line.comparisons)}"
        for line in lines
    )
    return _picture(prefix, foot + 22, title, description, [*scene, *foot_of(axis, foot, bounds)])


def history_chart(series: ThresholdSeries, prefix: str) -> Markup:
    """Return the chart of one threshold in its last 30 judged runs, oldest first.

    Bounds are drawn for the runs in which they were in force. A line connects runs whose estimates are comparable: it
    breaks where items, graders, judges or samples changed. Runs without a verdict are left out.
    """
    judged = series.judged
    dated, changed = judged[-_MOST_RUNS:], series.changes[-_MOST_RUNS:]
    shown = [point.result for point in dated]
    measured = [point for point in shown if _is_drawn(point)]
    if not measured:
        return Markup()
    values = [value for point in measured for value in (point.estimate.value, *point.bounds) if value is not None]
    ends = [end for point in measured for end in (point.estimate.low, point.estimate.high)]
    bounds = (bound for point in measured for bound in point.bounds)
    axis = axis_over(values, ends, 86, 8, log=is_log([point.estimate for point in measured], bounds))
    left = max((width_of(f"{tick:g}") for tick in axis.ticks()), default=0.0) + 10
    limits = [bound for bound in measured[-1].bounds if bound is not None]
    right = WIDTH - max(map(width_of, format_bounds(limits)), default=0.0) - 10
    step = (right - left) / len(shown)
    positions = [(left + step * (index + 0.5), point) for index, point in enumerate(shown)]
    scene = [*levels(axis, list(_bound_spans(shown, left, step)), left, right, prefix)]
    scene += _trace(axis, positions, changed)
    scene += [
        stroke("parity", f"M{left + step * index:.1f} {axis.end:.1f}V{axis.start:.1f}")
        for index, changes in enumerate(changed)
        if index and any(not change.comparable for change in changes)
    ]
    for x, point in positions:
        size = 5.5 if point is shown[-1] else 3.5
        scene += [interval(axis, x, point.estimate, upright=True)] if _is_drawn(point) else []
        y = _BELOW if point.estimate.value is None or not _is_drawn(point) else axis.at(point.estimate.value)
        scene.append(sign(_SHAPES[point.verdict], x, y, size))
    days = [_day(point.started) for point in dated]
    scene += [*_days(days, left, right), *_legend(shown, min(left, 40.0))]
    cut = f"the last {len(shown)} of {len(judged)} runs" if len(judged) > len(shown) else f"{len(shown)} runs"
    phrases = [
        f"{cut}, oldest first" if len(shown) > 1 else "one run",
        *(_run_phrase(point, day, changes) for point, day, changes in zip(shown, days, changed, strict=True)),
    ]
    phrases += [f"bounds {limits_text}"] if (limits_text := bounds_phrase(measured[-1])) else []
    return _picture(prefix, 138, f"{format_subject(measured[-1].estimate)}: run by run", "; ".join(phrases), scene)


def _is_drawn(point: ThresholdResult) -> bool:
    """Return whether a run stands at its estimate; an invalid one, of which nothing follows, stands below the chart."""
    return point.estimate.value is not None and point.verdict != "invalid"


def _bound_spans(shown: Sequence[ThresholdResult], left: float, step: float) -> Iterator[tuple[Bounds, float, float]]:
    """Yield bounds with the positions between which they held; a run without an estimate keeps the last ones."""
    in_force = next(point.bounds for point in shown if _is_drawn(point))
    begin = 0
    for index, point in enumerate(shown):
        bounds = point.bounds if _is_drawn(point) else in_force
        if bounds != in_force:
            yield in_force, left + step * begin, left + step * index
            in_force, begin = bounds, index
    yield in_force, left + step * begin, left + step * len(shown)


def _trace(
    axis: Axis, positions: Sequence[tuple[float, ThresholdResult]], changed: Sequence[Sequence[Change]]
) -> Iterator[Markup]:
    """Yield the lines from run to run, with a gap where results are not comparable."""
    parts: list[list[str]] = [[]]
    for (x, point), changes in zip(positions, changed, strict=True):
        if any(not change.comparable for change in changes):
            parts.append([])
        if point.estimate.value is not None and _is_drawn(point):
            parts[-1].append(f"{x:.1f} {axis.at(point.estimate.value):.1f}")
    yield from (stroke("trace", "M" + "L".join(part)) for part in parts if len(part) > 1)


def _picture(prefix: str, height: float, title: str, description: str, scene: Iterable[Markup]) -> Markup:
    return element(
        "svg",
        element("title", title, id=f"{prefix}-title"),
        element("desc", f"{title}: {description}.", id=f"{prefix}-desc"),
        *scene,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        class_="chart",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
    )


def _line(axis: Axis, line: Line, name: Sequence[str], y: float) -> Iterator[Markup]:
    first = y + 4 - 7 * (len(name) - 1)
    words = [
        label("note" if line.reference and text is name[-1] else "name", 2, first + 14 * index, text)
        for index, text in enumerate(name)
    ]
    yield element("g", element("title", line.name), *words)
    if line.row.value is None:
        yield label("note", axis.start + 4, y + 4, "not measured")
        return
    yield interval(axis, y, line.row)
    yield sign("cross" if line.is_unfair else "ring" if line.reference else "dot", axis.at(line.row.value), y, 4.5)
    yield label("value", WIDTH - 2, y + 4, brief(figures(line.row, line.comparisons)[0]), "end")


def _key(row: ThresholdResult, parity: float | None, y: float) -> list[Markup]:
    signs = [
        ("hatched: beyond the bounds", any(bound is not None for bound in row.bounds)),
        ("dashed: parity", parity is not None),
        ("A to D: marks", bool(row.estimate.scale)),
    ]
    key_text = ", ".join(words for words, is_shown in signs if is_shown)
    return [label("note", WIDTH / 2, y, key_text, "middle")] if key_text else []


def _days(days: Sequence[str], left: float, right: float) -> Iterator[Markup]:
    first, last = days[0], days[-1]
    if first:
        yield label("tick", left, 114, first)
    if last and last != first:
        yield label("tick", right, 114, last, "end")


def _legend(shown: Sequence[ThresholdResult], x: float) -> Iterator[Markup]:
    verdicts = {point.verdict for point in shown}
    for verdict in (verdict for verdict in _SHAPES if verdict in verdicts):
        yield sign(_SHAPES[verdict], x + 4, 128, 3.5)
        yield label("note", x + 12, 132, verdict)
        x += width_of(verdict) + 24


def _threshold_phrases(row: ThresholdResult, axis: Axis, parity: float | None) -> Iterator[str]:
    yield _numbers(row.estimate, row.comparisons)
    yield f"bounds {bounds_phrase(row)}" if bounds_phrase(row) else "no bounds"
    if parity is not None:
        yield f"parity is {parity:g}"
    yield f"verdict {row.verdict}"
    if row.estimate.scale:
        yield f"mark {row.estimate.mark or 'none'}"
        yield "marks along the axis " + ", ".join(
            f"{mark} from {low:.3g} to {high:.3g}" for mark, low, high in spans_of(row.estimate.scale, axis)
        )
    if axis.log:
        yield "logarithmic axis"


def _run_phrase(point: ThresholdResult, day: str, changes: Sequence[Change]) -> str:
    changed = "".join(f", {change.what}" for change in changes)
    return f"{f'{day} ' if day else ''}{point.verdict} {_numbers(point.estimate, point.comparisons)}{changed}"


def _numbers(row: GroupResult | EstimateResult | SliceResult, comparisons: Sequence[ComparisonResult] = ()) -> str:
    """Return an estimate and its counts: ``0.712 (95% CI 0.634 to 0.798), 100 items, 300 attempts``."""
    if row.value is None:
        estimate_text = "not measured"
    else:
        value, low, high = figures(row, comparisons)
        level = row.confidence if isinstance(row, EstimateResult) else None
        estimate_text = f"{value} ({f'{format_level(level)} CI ' if level else ''}{low} to {high})"
    if isinstance(row, SliceResult):
        return estimate_text
    ungraded = row.ungraded
    counts = {"items": row.items, "attempts": row.attempts}
    counts["ungraded"] = sum(ungraded.values()) if isinstance(ungraded, Mapping) else ungraded
    return ", ".join([estimate_text, *(f"{count:,} {name}" for name, count in counts.items() if count)])


def _day(started: float) -> str:
    return datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d") if started else ""


_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _style() -> str:
    """Return the styles of charts, with the light colors of the report."""
    colors = re.search(r":root \{.*?\}", (_TEMPLATES / "style.css").read_text(encoding="utf-8"), re.DOTALL)
    charts = (_TEMPLATES / "charts.css").read_text(encoding="utf-8")
    return f"{colors[0] if colors else ''}\n{charts}\nsvg {{ background: var(--paper); font-family: sans-serif; }}"


def standalone_chart(row: ThresholdResult) -> str:
    """Return the chart of a threshold's interval as the text of an SVG file; empty where it has no estimate.

    Args:
        row: A threshold, of any verdict.
    """
    if row.estimate.value is None:
        return ""
    head, _, rest = str(threshold_chart(row, "chart")).partition(">")
    box = re.search(r'viewBox="0 0 (\S+) (\S+)"', head)
    size = f' width="{2 * float(box[1]):g}" height="{2 * float(box[2]):g}"' if box else ""
    return f'{head} xmlns="http://www.w3.org/2000/svg"{size}><style>{_style()}</style>{rest}'
