"""Names of tests beside the guards of the statistics: each exists."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.test_test_names import TESTS, names_of_tests

GUARDED = Path(__file__).parents[2] / "pytest_fairness" / "stats"
COMMENT = re.compile(r"^ *# (test_\w+(?:, test_\w+)*)$", re.MULTILINE)
"""A line of the tests that fail without the guard below it."""


def test_tests_that_guards_name_exist() -> None:
    comments = [line for path in GUARDED.rglob("*.py") for line in COMMENT.findall(path.read_text(encoding="utf-8"))]
    named = {name for line in comments for name in line.split(", ")}
    existing = {name for path in (TESTS / "stats").rglob("*.py") for name in names_of_tests(path)}
    assert len(named) > 40
    assert sorted(named - existing) == []
