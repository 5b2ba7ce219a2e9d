"""Names of tests beside the guards of the statistics: each exists."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.test_test_names import TESTS, names_of_tests

GUARDED = Path(__file__).parents[2] / "pytest_fairness" / "stats"
COMMENT = re.compile(r"# (test_\w+)")
"""The beginning of a comment: the test that fails without the guard below or beside it."""


def test_tests_named_beside_guards_exist() -> None:
    named = {name for path in GUARDED.rglob("*.py") for name in COMMENT.findall(path.read_text(encoding="utf-8"))}
    existing = {name for path in (TESTS / "stats").rglob("*.py") for name in names_of_tests(path)}
    assert len(named) > 40
    assert sorted(named - existing) == []
