"""The signed table of groups, and the marks of a suite's fields."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report.html.direction_table import group_directions
from pytest_fairness.report.html.threshold_section import article
from pytest_fairness.report.release import aggregate_marks
from pytest_fairness.report.threshold_view import ThresholdView
from tests.helpers.report_views import RATE, difference, row

GAP = difference("hired", "gender", "woman", "man")
SIZE = difference("hired", "gender", "woman", "man", absolute=True)


def compared(**changes: Any) -> dict[str, Any]:
    by_group = {
        "woman": {"estimate": 0.4, "low": 0.3, "high": 0.5, "items": 9, "attempts": 9, "ungraded": 0},
        "man": {"estimate": 0.6, "low": 0.5, "high": 0.7, "items": 9, "attempts": 9, "ungraded": 0},
    }
    groups = {"woman": 0.4, "man": 0.6}
    fields = {"attribute": "gender", "reference": "man", "groups": groups, "by_group": by_group}
    return row("unfair") | fields | changes


@pytest.mark.parametrize(
    ("changes", "lean"),
    [
        ({"estimate": 0.6, "low": 0.5, "high": 0.7}, "man"),
        ({"estimate": 1.6, "low": 1.5, "high": 1.7}, "woman"),
        ({"estimate": 0.9, "low": 0.7, "high": 1.1}, ""),
        (GAP | {"estimate": -0.2, "low": -0.3, "high": -0.1}, "man"),
        (GAP | {"estimate": 0.1, "low": -0.1, "high": 0.3}, ""),
        (SIZE | {"estimate": 0.2, "low": 0.1, "high": 0.3}, "man"),
        (SIZE | {"estimate": 0.2, "low": 0.0, "high": 0.3}, ""),
        ({"estimate": 0.6, "low": 0.5, "high": None}, ""),
    ],
)
def test_direction_table_shows_which_group_has_more(changes: dict[str, Any], lean: str) -> None:
    (pair,) = group_directions([article(ThresholdView(ThresholdResult.from_json(compared(**changes))), "model", "t1")])
    assert (pair.group, pair.reference) == ("woman", "man")
    (line,) = pair.lines
    assert line.lean == lean
    assert line.values == ("0.400", "0.600")


@pytest.mark.parametrize("changes", [{"reference": None}, RATE, {"estimate": None, "low": None}])
def test_comparison_without_two_groups_is_not_in_it(changes: dict[str, Any]) -> None:
    assert (
        group_directions([article(ThresholdView(ThresholdResult.from_json(compared(**changes))), "model", "t1")]) == []
    )


def test_suite_of_several_modules_has_a_mark_per_module() -> None:
    scale = {"A": [[0, 1]], "B": [[0, 1]], "C": [[0, 1]]}
    ids = ["s/test_one.py::test_a", "s/test_one.py::test_b", "s/test_two.py::test_a", "other/test_it.py::test_a"]
    marks = ["A", "B", "D", "C"]
    rows = [
        ThresholdResult.from_json(row(id=test, suite=test.partition("/")[0], mark=mark, scale=scale, model="m"))
        for test, mark in zip(ids, marks, strict=True)
    ]
    marks_by_name = {line.name: line.mark for line in aggregate_marks(rows)}
    assert marks_by_name == {
        "suite s": "C", "suite other": "C", "file s/one": "A", "file s/two": "D", "harm allocation": "C",
    }  # fmt: skip
