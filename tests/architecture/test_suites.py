"""Suites are written as a user's would be: on public names only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_rooms import PUBLIC

SUITES = Path(__file__).parents[2] / "suites"
SUITES_MAY_IMPORT = (*PUBLIC, "pytest_fairness.design")
"""Modules whose names are public; ``pytest_fairness.design`` is the documented door of designed benchmarks."""


def private_imports(tree: ast.Module) -> Iterator[str]:
    """Yield the modules of ours that a suite may not import, wherever in the file it does."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            is_ours = name.split(".")[0] == "pytest_fairness"
            if is_ours and name not in SUITES_MAY_IMPORT and not name.startswith("pytest_fairness.records."):
                yield name


def test_suites_import_public_names_only() -> None:
    imports = {
        path.relative_to(SUITES).as_posix(): list(private_imports(ast.parse(path.read_text(encoding="utf-8"))))
        for path in SUITES.rglob("*.py")
    }
    assert len(imports) > 40
    assert {path: names for path, names in imports.items() if names} == {}


@pytest.mark.parametrize(
    "source", ["import pytest_fairness.store.store", "def f():\n    from pytest_fairness.core.items import Prompt"]
)
def test_private_imports_are_found(source: str) -> None:
    assert len(list(private_imports(ast.parse(source)))) == 1
    assert not list(private_imports(ast.parse("from pytest_fairness import Prompt; from .items import x")))


def threshold_marks(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the marks of the thresholds in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.threshold":
            yield node


def test_every_shipped_threshold_has_a_title_of_its_own() -> None:
    marks = [
        mark for path in SUITES.rglob("*.py") for mark in threshold_marks(ast.parse(path.read_text(encoding="utf-8")))
    ]
    titles = [keyword.value for mark in marks for keyword in mark.keywords if keyword.arg == "title"]
    texts = {title.value for title in titles if isinstance(title, ast.Constant)}
    assert len(texts) == len(marks) > 40
