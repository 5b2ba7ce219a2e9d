"""Charts of random rows: well-formed, inside their frame, and with the numbers of the row."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from markupsafe import Markup

import pytest_fairness.report
from pytest_fairness.core.formatting import bounds_phrase, figures
from pytest_fairness.core.marks import DIFFERENCES, RATIOS, MarkScale
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.threshold_results import EstimateResult, GroupResult, PastResult, ThresholdResult
from pytest_fairness.report.history.series import ThresholdSeries
from pytest_fairness.report.html.axes import Axis, axis_over
from pytest_fairness.report.html.charts import (
    Line,
    groups_chart,
    history_chart,
    lines_chart,
    slices_chart,
    threshold_chart,
)
from pytest_fairness.report.html.glyphs import WIDTH
from pytest_fairness.report.html.svg import lines_of, spread, width_of
from tests.helpers.examples import examples
from tests.helpers.report_views import ratio

quickly = examples(60, suppress=HealthCheck.too_slow)
HOSTILE = [
    "</svg><script>alert(1)</script>",
    "\" onload='alert(1)' x=\"",
    "nul\x00 bell\x07 escape\x1b[31m",
    "\u202ereversed\u2066",
    "]]> <!-- &amp; {{ 7 * 7 }} {% raw %}",
    "half a \ud83d character\uffff",
    "",
    "a" * 400,
    "日本の方々" * 20,
]
VERDICTS = ["fair", "unfair", "undecided", "invalid"]

values = st.one_of(
    st.floats(-3, 3), st.floats(0, 1), st.floats(-1e308, 1e308), st.sampled_from([0.0, 1.0, 5e-324, -1e-9, 0.8])
)
names = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=40))
counts = st.integers(0, 10**6)

CLASSES = {
    "chart", "axis", "grid", "tick", "bound", "limit", "hatch", "parity", "interval", "dot", "ring",
    "cross", "square", "trace", "band-A", "band-B", "band-C", "band-D", "letter", "value", "end", "name", "note",
}  # fmt: skip
"""The CSS classes of the charts."""


def scaled(scale: MarkScale) -> dict[str, list[list[float]]]:
    return {mark: [list(span) for span in getattr(scale, mark)] for mark in "ABC"}


def ends(low: float, middle: float, high: float, *, measured: bool = True) -> dict[str, float | None]:
    return {"estimate": middle, "low": low, "high": high} if measured else dict.fromkeys(("estimate", "low", "high"))


@st.composite
def estimates(draw: st.DrawFn) -> dict[str, Any]:
    low, middle, high = sorted(draw(st.tuples(values, values, values)))
    row: dict[str, Any] = ends(low, middle, high, measured=draw(st.integers(0, 7)) > 0)
    for end in ("low", "high"):
        if draw(st.integers(0, 5)) == 0:
            row[end] = None
    return row | {"items": draw(counts), "attempts": draw(counts), "ungraded": draw(counts)}


@st.composite
def rows(draw: st.DrawFn) -> ThresholdResult:
    name = draw(names)
    kind = draw(st.sampled_from(MetricKind))
    low, high = sorted(draw(st.tuples(values, values)))
    bounds = [low if draw(st.booleans()) else None, high if draw(st.booleans()) else None]
    content = draw(estimates()) | {
        "id": "t.py::test",
        "metric": f"{kind.value} of something",
        "kind": kind.value,
        "parity": kind.parity,
        "log_scale": kind.log_scale,
        "title": name,
        "slice": draw(st.dictionaries(names, names, max_size=2)),
        "confidence": draw(st.sampled_from([0.9, 0.95, 0.9833])),
        "bounds": bounds,
        "comparisons": [
            {"op": op, "bound": bound} for op, bound in zip((">=", "<="), bounds, strict=True) if bound is not None
        ],
        "scale": draw(st.sampled_from([None, scaled(RATIOS), scaled(DIFFERENCES)])),
        "mark": draw(st.sampled_from([None, *"ABCD"])),
        "verdict": draw(st.sampled_from(VERDICTS)),
        "ungraded": draw(st.dictionaries(names, counts, max_size=3)),
        "attribute": draw(st.one_of(st.none(), names)),
        "reference": draw(st.one_of(st.none(), names)),
        "by_group": draw(st.dictionaries(names, estimates(), max_size=5)),
    }
    return ThresholdResult.from_json(content)


def history(points: Sequence[ThresholdResult], started: Sequence[float] = ()) -> Markup:
    """Return the chart of a threshold in several runs, the last of them this one."""
    days = [*started, *[0.0] * len(points)]
    past = [PastResult("run", day, None, point) for point, day in zip(points[:-1], days, strict=False)]
    return history_chart(ThresholdSeries([*past, PastResult("this", 0.0, None, points[-1])]), "h")


def plain_row(estimate: float, low: float | None, high: float | None, **changes: Any) -> ThresholdResult:
    content = {
        **ratio("advance", "gender", "female", "male"),
        "slice": {}, "estimate": estimate, "low": low, "high": high, "confidence": 0.95, "bounds": [0.8, 1.2],
        "comparisons": [{"op": ">=", "bound": 0.8}, {"op": "<=", "bound": 1.2}], "scale": scaled(RATIOS), "mark": "C",
        "verdict": "unfair", "items": 100, "attempts": 3000, "ungraded": {"female": 3, "male": 2},
        "attribute": "gender", "reference": "male", "by_group": {}, "id": "t.py::test",
    } | changes  # fmt: skip
    return ThresholdResult.from_json(content)


def group(estimate: float, low: float, high: float) -> dict[str, Any]:
    return ends(low, estimate, high) | {"items": 100, "attempts": 1500, "ungraded": 3}


def steps(path: str) -> Iterator[tuple[float, float]]:
    """Yield the points of a path."""
    x = y = 0.0
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        coordinates = [float(number) for number in numbers.split()]
        if command == "H":
            (x,) = coordinates
        elif command == "V":
            (y,) = coordinates
        else:
            assert command in "ML", path
            x, y = coordinates
        yield x, y


def places(root: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """Yield every corner of the drawing."""
    hatches = [path for pattern in root.iter("pattern") for path in pattern]
    for element in root.iter():
        at = {name: float(element.get(name, 0)) for name in ("x", "y", "cx", "cy", "r", "width", "height")}
        if element.tag == "path" and element not in hatches:
            yield from steps(element.attrib["d"])
        elif element.tag == "rect":
            assert at["width"] >= 0
            assert at["height"] >= 0
            yield at["x"], at["y"]
            yield at["x"] + at["width"], at["y"] + at["height"]
        elif element.tag == "circle":
            yield at["cx"] - at["r"], at["cy"] - at["r"]
            yield at["cx"] + at["r"], at["cy"] + at["r"]
        elif element.tag == "text":
            # Small print is smaller than what its width is reckoned with.
            room = width_of(element.text or "") * (0.8 if element.get("class") == "note" else 1)
            left = at["x"] - room * {"start": 0, "middle": 0.5, "end": 1}[element.attrib["text-anchor"]]
            yield left, at["y"] - 9
            yield left + room, at["y"]


def texts(root: ElementTree.Element, kind: str) -> list[str]:
    return [element.text or "" for element in root.iter("text") if element.get("class") == kind]


def parsed(chart: str) -> ElementTree.Element:
    """Return the chart as XML, after the checks that every chart must pass."""
    root = ElementTree.fromstring(chart)  # noqa: S314 - our own
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for x, y in places(root):
        assert -0.1 <= x <= width + 0.1, chart
        assert -0.1 <= y <= height + 0.1, chart
    for element in root.iter():
        assert element.tag in {"svg", "title", "desc", "g", "text", "path", "rect", "circle", "defs", "pattern"}
        assert set((element.get("class") or "chart").split()) <= CLASSES
        for name, value in element.attrib.items():
            assert not name.startswith(("on", "style", "href", "{"))
            assert not re.search(r"\b(nan|inf)\b|://", value)
    assert root.get("role") == "img"
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    assert root.attrib["aria-labelledby"].split() == ids[:2]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", chart)
    return root


def description(root: ElementTree.Element) -> str:
    return root.findtext("desc") or ""


@quickly
@given(rows())
def test_threshold_chart_stays_in_its_frame_with_its_numbers(row: ThresholdResult) -> None:
    chart = threshold_chart(row, "t1")
    if row.estimate.value is None:
        assert chart == ""
        return
    root = parsed(chart)
    value, low, high = figures(row.estimate, row.comparisons)
    assert f": {value} ({(row.estimate.confidence or 0) * 100:.4g}% CI {low} to {high})" in description(root)
    assert bounds_phrase(row) in description(root)
    assert len([element for element in root.iter() if element.get("class") == "bound"]) == len(row.comparisons)
    assert [float(label) for label in texts(root, "value")] == pytest.approx([float(value)], rel=0.01)


@quickly
@given(rows())
def test_every_measured_group_is_drawn(row: ThresholdResult) -> None:
    chart = groups_chart(row, "g1")
    measured = {name: group for name, group in row.by_group.items() if group.value is not None}
    if not measured:
        assert chart == ""
        return
    root = parsed(chart)
    assert len(texts(root, "value")) == len(measured)
    assert len([element for element in root.iter() if element.get("class") in ("dot", "ring")]) == len(measured)
    for measured_group in measured.values():
        value, low, high = figures(measured_group)
        assert f": {value} ({low} to {high})" in description(root)


@quickly
@given(st.lists(rows(), min_size=1, max_size=40))
def test_every_history_is_drawn(points: list[ThresholdResult]) -> None:
    chart = history(points)
    recent = points[-30:]
    if all(point.estimate.value is None or point.verdict == "invalid" for point in recent):
        assert chart == ""
        return
    root = parsed(chart)
    kinds = [
        element.get("class") for element in root.iter() if element.get("class") in ("dot", "cross", "ring", "square")
    ]
    assert len(kinds) == len(recent) + len({point.verdict for point in recent})
    for point in recent:
        value = "not" if point.estimate.value is None else figures(point.estimate, point.comparisons)[0]
        assert f"{point.verdict} {value}" in description(root)


@quickly
@given(st.lists(values, min_size=1, max_size=5), st.lists(st.one_of(st.none(), values), max_size=4), st.booleans())
def test_axis_positions_increase_with_values(points: list[float], far: list[float | None], log: bool) -> None:
    points = [abs(point) or 1.0 for point in points] if log else points
    axis = axis_over(points, far, 10, 350, log=log)
    assert all(10 <= axis.at(point) <= 350 for point in points)
    values = sorted([*points, *(end for end in far if end is not None), *axis.ticks()])
    at = [axis.at(value) for value in values]
    assert at == sorted(at)
    assert all(axis.holds(tick) and f"{tick:g}" for tick in axis.ticks())
    assert len({f"{tick:g}" for tick in axis.ticks()}) == len(axis.ticks()) <= 12


@quickly
@given(st.floats(1e-3, 1e3), st.floats(1.01, 1e6))
def test_equal_steps_of_a_logarithmic_axis_are_equal_ratios(low: float, wide: float) -> None:
    axis = Axis(low, low * wide, 0, 100, log=True)
    assert axis.at(low * math.sqrt(wide)) == pytest.approx(50)


@quickly
@given(st.lists(st.tuples(st.floats(0, 360), st.floats(0, 60)), max_size=5))
def test_labels_are_spread_apart_in_order(wanted: list[tuple[float, float]]) -> None:
    centers, widths = sorted(x for x, _ in wanted), [width for _, width in wanted]
    positions = spread(centers, widths, 0, 360)
    edges = [(x - width / 2, x + width / 2) for x, width in zip(positions, widths, strict=True)]
    assert all(after[0] - before[1] >= 6 - 1e-6 for before, after in pairwise(edges))
    assert all(low >= -1e-6 and high <= 360 + 1e-6 for low, high in edges)


@quickly
@given(names)
def test_names_fit_their_column_or_are_visibly_cut(name: str) -> None:
    lines = lines_of(name, 112)
    assert 1 <= len(lines) <= 3
    assert all(width_of(line) <= 112 for line in lines)
    if "…" not in "".join(lines):
        assert " ".join(lines).split() == name.split()


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "draw",
    [
        lambda name: threshold_chart(plain_row(0.7, 0.6, 0.8, title=name, slice={name: name}), "c"),
        lambda name: groups_chart(plain_row(0.7, 0.6, 0.8, attribute=name, by_group={name: group(0.5, 0.4, 0.6)}), "c"),
        lambda name: slices_chart([plain_row(0.7, 0.6, 0.8, slice={"job": name}).estimate], "job", "c"),
        lambda name: history([plain_row(0.7, 0.6, 0.8, title=name)]),
        lambda name: lines_chart(name, [Line(name, GroupResult.from_json(group(0.5, 0.4, 0.6)))], "c"),
    ],
    ids=["threshold", "groups", "slices", "history", "lines"],
)
def test_hostile_names_are_drawn_as_text(name: str, draw: Callable[[str], str]) -> None:
    root = parsed(draw(name))
    plain = [part for part in re.split(r"[^\w<>/ &;(){}!*%'\"=\[\].-]+", name) if part and part.isascii()]
    assert all(part in description(root) for part in plain)


def test_threshold_chart_describes_everything_in_words() -> None:
    words = description(parsed(threshold_chart(plain_row(0.712, 0.634, 0.798), "t")))
    assert words == (
        "ratio of advance, female to male: 0.712 (95% CI 0.634 to 0.798), 100 items, 3,000 attempts, 5 ungraded; "
        "bounds 0.8 to 1.2; parity is 1; verdict unfair; mark C; marks along the axis C from 0.61 to 0.7, "
        "B from 0.7 to 0.85, A from 0.85 to 1.18, B from 1.18 to 1.25; logarithmic axis."
    )


def test_infinite_and_distant_ends_are_arrows() -> None:
    def line(low: float | None, high: float | None) -> list[tuple[float, float]]:
        root = parsed(threshold_chart(plain_row(1.0, low, high), "t"))
        return list(steps(next(element.attrib["d"] for element in root.iter() if element.get("class") == "interval")))

    closed = line(0.9, 1.1)
    assert closed[2][0] == closed[3][0] == closed[4][0], "a cap is upright"
    assert closed[5][0] == closed[6][0] == closed[7][0]
    open_above = line(0.9, None)
    assert open_above[1][0] == WIDTH - 12
    assert open_above[5][0] == open_above[7][0] < open_above[6][0], "an arrow points out"
    far_below = line(1e-200, 1.1)
    assert far_below[0][0] == 12
    assert far_below[2][0] == far_below[4][0] > far_below[3][0]


def test_area_outside_the_bounds_is_hatched() -> None:
    root = parsed(threshold_chart(plain_row(0.712, 0.634, 0.798), "t"))
    hatched = [
        (float(element.attrib["x"]), float(element.attrib["x"]) + float(element.attrib["width"]))
        for element in root.iter("rect")
        if element.get("fill") == "url(#t-hatch)"
    ]
    bounds = [next(steps(element.attrib["d"]))[0] for element in root.iter() if element.get("class") == "bound"]
    assert hatched == [(12, pytest.approx(bounds[0], abs=0.2)), (pytest.approx(bounds[1], abs=0.2), WIDTH - 12)]


def test_bands_have_the_letters_of_the_scale_in_order() -> None:
    root = parsed(threshold_chart(plain_row(1.0, 0.3, 3.0), "t"))
    assert texts(root, "letter") == ["D", "C", "B", "A", "B", "C", "D"]
    split = MarkScale(A=(0.9, 1.1), B=[(0.5, 1), (1, 2)], C=(0.1, 10))
    root = parsed(threshold_chart(plain_row(1.0, 0.2, 6.0, scale=scaled(split)), "t"))
    assert texts(root, "letter") == ["C", "B", "A", "B", "C"]
    unscaled = parsed(threshold_chart(plain_row(1.0, 0.3, 3.0, scale=None), "t"))
    assert not texts(unscaled, "letter")


def test_groups_are_ordered_with_the_reference_named() -> None:
    groups = {"male": group(0.58, 0.5, 0.6), "other": group(0.3, 0.1, 0.5), "female": group(0.41, 0.4, 0.5)}
    unmeasured = {"unknown": {"estimate": None, "low": None, "high": None, "items": 0, "attempts": 0, "ungraded": 0}}
    root = parsed(groups_chart(plain_row(0.7, 0.6, 0.8, by_group=unmeasured | groups), "g"))
    assert texts(root, "name") == ["other", "female", "male", "unknown"]
    assert texts(root, "value") == ["0.300", "0.410", "0.580"]
    assert texts(root, "note") == ["reference", "not measured"]
    assert len([element for element in root.iter() if element.get("class") == "ring"]) == 1
    assert "male (the reference): 0.580 (0.500 to 0.600), 100 items, 1,500 attempts, 3 ungraded" in description(root)


def test_rows_of_many_groups_do_not_overlap() -> None:
    groups = {f"people of country number {number}": group(number / 30, 0, 1) for number in range(30)}
    root = parsed(groups_chart(plain_row(0.7, 0.6, 0.8, by_group=groups), "g"))
    rows_of = [float(element.attrib["cy"]) for element in root.iter("circle")]
    assert len(rows_of) == 30
    assert all(after - before >= 22 for before, after in pairwise(rows_of))


def test_history_verdicts_differ_in_shape_and_the_last_is_larger() -> None:
    points = [
        plain_row(0.9, 0.85, 0.95, verdict="fair"),
        plain_row(0.9, 0.7, 1.1, verdict="undecided"),
        replace(plain_row(0.0, None, None, verdict="invalid"), estimate=EstimateResult()),
        plain_row(0.7, 0.65, 0.75, verdict="unfair"),
        plain_row(0.95, 0.9, 1.0, verdict="fair"),
    ]
    root = parsed(history(points, [0.0, 1.76e9]))
    kinds = [
        element.get("class") for element in root.iter() if element.get("class") in ("dot", "cross", "ring", "square")
    ]
    assert kinds == ["dot", "ring", "square", "cross", "dot", "dot", "cross", "ring", "square"], "then what they mean"
    sizes = [float(element.attrib["r"]) for element in root.iter("circle") if element.get("class") == "dot"]
    assert sizes[1] > sizes[0]
    assert "2025-10-09 undecided 0.900 (95% CI 0.700 to 1.100)" in description(root)
    assert "5 runs, oldest first" in description(root)


def test_long_history_is_cut_and_says_so() -> None:
    points = [plain_row(0.9, 0.85, 0.95, verdict="fair") for _ in range(45)]
    assert "the last 30 of 45 runs, oldest first" in description(parsed(history(points)))
    assert "one run" in description(parsed(history(points[:1])))


def test_ratio_of_zero_is_drawn_on_a_linear_axis() -> None:
    root = parsed(threshold_chart(plain_row(0.0, 0.0, 0.4), "t"))
    assert "logarithmic" not in description(root)
    assert "0" in texts(root, "tick")


def test_missing_measurements_make_no_chart() -> None:
    assert lines_chart("", [], "l") == ""
    assert groups_chart(plain_row(0.7, 0.6, 0.8), "g") == ""


def test_every_css_class_has_a_style() -> None:
    style = (Path(pytest_fairness.report.__file__).parent / "html/templates/charts.css").read_text(encoding="utf-8")
    styled = set(re.findall(r"\.([A-Za-z-]+)", style.partition("*/")[2]))
    assert styled - {"rem"} == CLASSES


def test_history_shows_bounds_where_they_were_in_force() -> None:
    before = plain_row(0.7, 0.6, 0.8)
    now = plain_row(
        0.75, 0.6, 0.9, bounds=[0.7, 1.2], comparisons=[{"op": ">=", "bound": 0.7}, {"op": "<=", "bound": 1.2}]
    )
    chart = ElementTree.fromstring(history([before, before, now]))  # noqa: S314 - our own
    lower = [path.attrib["d"] for path in chart.iter() if path.attrib.get("class") == "bound"]
    assert len(lower) == 4
    assert "bounds 0.7 to 1.2 (before: 0.8 to 1.2)" in str(history([before, before, now]))
    assert sum(path.attrib.get("class") == "trace" for path in chart.iter()) == 1


def test_history_does_not_connect_other_measurements() -> None:
    rows = [plain_row(0.7, 0.6, 0.8, items_digest=digest) for digest in ("a", "a", "b", "b")]
    chart = ElementTree.fromstring(history(rows))  # noqa: S314 - our own
    classes = [path.attrib.get("class") for path in chart.iter()]
    assert classes.count("trace") == 2
    assert classes.count("parity") == 1
    assert "other items of the probe" in str(history(rows))


def test_history_leaves_out_runs_without_a_verdict() -> None:
    stopped = replace(plain_row(0.7, 0.6, 0.8), verdict="not judged", estimate=EstimateResult())
    chart = str(history([plain_row(0.7, 0.6, 0.8), stopped, plain_row(0.9, 0.8, 1.0)]))
    assert "2 runs, oldest first" in chart
    assert "not judged" not in chart
