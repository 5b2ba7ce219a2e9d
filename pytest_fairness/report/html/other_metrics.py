"""Estimates beside the thresholds: coverage of the groups, placebos, parts, times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fairness.core.formatting import figures
from pytest_fairness.core.results import MetricResult, RunResults


def others(results: RunResults, names: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of a table by suite: every estimate that decided no threshold, in the order in which it was
    made.

    ``names`` are those of the models on the page.
    """
    judged = [_key(row) for row in results.thresholds]
    lines_by_suite: dict[str, list[dict[str, Any]]] = {}
    for row in results.metrics:
        if _key(row) not in judged:
            lines_by_suite.setdefault(row.suite, []).append(_line(row, names[row.model]))
    return lines_by_suite


def _key(row: MetricResult) -> tuple[Any, ...]:
    """Return the key of an estimate; the size of a threshold's difference is another than the signed difference."""
    return row.probe, row.model, row.metric, row.slice


def _line(row: MetricResult, model: str) -> dict[str, Any]:
    value, low, high = figures(row)
    return {
        "probe": row.probe.rpartition("::")[2].removeprefix("test_").replace("_", " "),
        "model": model,
        "title": row.title,
        "slice": ", ".join(f"{name} {part}" for name, part in row.slice.items()),
        "value": value,
        "interval": f"{low} to {high}",
        "items": row.items,
        "attempts": row.attempts,
        "ungraded": sum(row.ungraded.values()),
        "invalid": row.invalid,
    }
