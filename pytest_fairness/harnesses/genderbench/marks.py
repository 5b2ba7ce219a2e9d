"""Marks of GenderBench's metrics, by its own rule and by ours."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fairness import Estimate, MarkScale


@dataclass(frozen=True, slots=True)
class BothMarks:
    """One metric, marked by GenderBench's rule and by ours.

    Its rule: the mildest mark that its 95% interval touches (a normal one, fitted to bootstrap means). So the wide
    interval of a few items leads to a good mark. Ours is that of the worse end of the interval, with the same ranges.
    """

    metric: str
    value: float
    its_low: float
    its_high: float
    its_mark: str
    """``A`` to ``D``; ``-`` for a metric without a value."""
    low: float
    high: float
    mark: str
    """Ours; ``-`` where the interval touches three marks or more."""
    note: str
    """A note that its rule is mild because its interval is wide; else empty."""


def scale_of(definition: Any) -> MarkScale:
    """Return the ranges of a metric's marks; the lowest end of all is open."""
    ranges, lowest = definition.mark_ranges, span_of(definition)[0]

    def spans_of(mark: int) -> list[tuple[float | None, float | None]]:
        return [(None if low == lowest else low, high) for low, high in ranges[mark]]

    return MarkScale(A=spans_of(0), B=spans_of(1), C=spans_of(2))


def span_of(definition: Any) -> tuple[float, float]:
    """Return the range of the metric's values, which the ranges of its marks cover."""
    ends = [end for spans in definition.mark_ranges.values() for span in spans for end in span]
    return min(ends), max(ends)


def both_marks(probe: Any, items: Sequence[Any], estimates: Mapping[str, Estimate], cycles: int) -> list[BothMarks]:
    """Return GenderBench's marks of items with evaluated attempts, together with the marks of the estimates."""
    intervals = _its_intervals(probe, items, cycles)
    return [
        _compare_marks(definition, intervals[definition.metric_name], estimates[definition.metric_name])
        for definition in type(probe).mark_definitions
    ]


def _its_intervals(probe: Any, items: Sequence[Any], cycles: int) -> Mapping[str, tuple[float, float]]:
    """Return GenderBench's own bootstrap intervals, as it calculates them at the end of a run."""
    state = probe.probe_items, probe.status
    probe.probe_items, probe.status = list(items), type(probe.status)["EVALUATED"]
    probe.bootstrap_cycles = cycles
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # its progress bar
            probe.calculate_metrics()
        intervals: Mapping[str, tuple[float, float]] = probe.metrics
        return intervals
    finally:
        probe.probe_items, probe.status = state


def _compare_marks(definition: Any, interval: tuple[float, float], estimate: Estimate) -> BothMarks:
    its_mark, scale = _its_letter(definition, interval), scale_of(definition)
    worst = max(scale.touched(*interval)) if its_mark != "-" else its_mark
    note = ""
    if its_mark < worst:
        note = f"its {its_mark} is the mildest mark of an interval so wide that it reaches {worst}"
        if its_mark < (of_value := scale.mark(estimate.value)):
            note += f"; the value itself is {of_value}"
    ends = estimate.low, estimate.high
    return BothMarks(definition.metric_name, estimate.value, *interval, its_mark, *ends, str(estimate.mark), note)


def _its_letter(definition: Any, interval: tuple[float, float]) -> str:
    try:
        rank = definition.calculate_mark(interval)
    except ValueError:  # outside of all of its ranges
        return "-"
    return "-" if math.isnan(rank) else "ABCD"[rank]
