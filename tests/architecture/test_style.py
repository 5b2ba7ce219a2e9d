"""The package follows the project's style, as far as a program can tell."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.architecture.style import check
from tests.architecture.test_layers import MAY_IMPORT, PACKAGE, sources

HOUSES = {
    **{package: PACKAGE / package for package in MAY_IMPORT},
    "suites": PACKAGE.parent / "suites",
    "tests": PACKAGE.parent / "tests",
}


@pytest.mark.parametrize("house", [*sorted(HOUSES.keys() - {"tests"}), pytest.param("tests", marks=pytest.mark.slow)])
def test_names_and_docstrings_follow_the_style(house: str) -> None:
    findings = [f"{path}:{line}: {fault}" for path, line, fault in check([HOUSES[house]])]
    assert not findings, "\n".join(findings)


def test_public_class_names_are_unique() -> None:
    homes = defaultdict(list)
    for _, path, tree in sources():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}
