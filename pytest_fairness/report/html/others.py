"""What was estimated beside the thresholds: coverage of the groups, placebos, parts, times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fairness.core.numerals import figures
from pytest_fairness.report.view import Row


def others(results: Row, names: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """By suite, the lines of a table: every estimate that decided no threshold, in the order in which it was made.

    ``names`` are those of the models on the page.
    """
    judged = [_key(row) for row in results["thresholds"]]
    found: dict[str, list[dict[str, Any]]] = {}
    for row in results["metrics"]:
        if _key(row) not in judged:
            found.setdefault(row["suite"], []).append(_line(row, names[row["model"]]))
    return found


def _key(row: Row) -> tuple[Any, ...]:
    """Of an estimate. A threshold's size, ``abs difference(...)``, is another than the signed difference."""
    return row.get("probe", ""), row["model"], row["metric"], row["slice"]


def _line(row: Row, model: str) -> dict[str, Any]:
    value, low, high = figures(row)
    return {
        "probe": row.get("probe", "").rpartition("::")[2].removeprefix("test_").replace("_", " "),
        "model": model,
        "title": row["title"],
        "slice": ", ".join(f"{name} {part}" for name, part in row["slice"].items()),
        "value": value,
        "interval": f"{low} to {high}",
        "items": row["items"],
        "attempts": row["attempts"],
        "ungraded": sum(row["ungraded"].values()),
        "invalid": row["invalid"],
    }
