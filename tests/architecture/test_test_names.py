"""Names of tests: plain words, subject first, short enough for a report."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LONGEST = 70
BEGINNINGS = ("test_what", "test_who", "test_of", "test_how", "test_nobody", "test_which", "test_whether")
"""Beginnings of names that ask a question, or begin in the middle of a sentence."""


def names_of_tests(path: Path) -> list[str]:
    """Return the names of the test functions and methods that a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [name for name in functions if name.startswith("test_")]


def is_plain(name: str) -> bool:
    """Return whether a name is short and begins with its subject."""
    return len(name) <= LONGEST and not any(name == start or name.startswith(f"{start}_") for start in BEGINNINGS)


@pytest.mark.slow
def test_names_of_tests_are_plain() -> None:
    names = {path.relative_to(TESTS): names_of_tests(path) for path in TESTS.rglob("*.py")}
    assert sum(map(len, names.values())) > 1_000
    assert [(str(path), name) for path, own in names.items() for name in own if not is_plain(name)] == []


@pytest.mark.parametrize(
    "name", ["test_what_cannot_be_meant", "test_of_two_bounds_the_worse_counts", "test_" + "x" * 66]
)
def test_names_that_are_not_plain_are_detected(name: str) -> None:
    assert not is_plain(name)
