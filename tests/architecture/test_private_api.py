"""Private names of pytest and its neighbors stand in one file, `session/compat.py`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import pytest_fairness
from tests.architecture.test_layers import nodes

PACKAGE = Path(pytest_fairness.__file__).parent
COMPAT = PACKAGE / "plugin" / "compat.py"
OTHERS = ("pytest", "_pytest", "pluggy", "xdist", "execnet", "hypothesis")
DOCUMENTED = {"_replace", "_fields", "_getframe"}
"""Names of named tuples and of `sys` that are documented although they begin with `_`."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_" and name.isidentifier()


def own_names(trees: list[ast.Module]) -> set[str]:
    """Return the private names that these modules define themselves."""
    names = set()
    for node in (node for tree in trees for node in nodes(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names


def uses_others(tree: ast.Module) -> bool:
    imports = [ast.unparse(node) for node in nodes(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return any(line.split()[1].partition(".")[0] in OTHERS for line in imports)


def foreign(tree: ast.Module, own: set[str]) -> Iterator[str]:
    """Yield the private names of others in a module that imports pytest, say: imported, read, or given as a text.

    A name that some module of ours defines is taken for ours.
    """
    if not uses_others(tree):
        return
    for node in nodes(tree):
        names: list[str] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            dotted = [f"{module}.{alias.name}" for alias in node.names]
            names = [part for name in dotted if name.lstrip(".").startswith(OTHERS) for part in name.split(".")]
        elif isinstance(node, ast.Attribute) and node.attr not in own:
            names = [node.attr]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr", "hasattr"):
            texts = [str(part.value) for part in node.args[1:2] if isinstance(part, ast.Constant)]
            names = [text for text in texts if text not in own]
        yield from (name for name in names if is_private(name) and name not in DOCUMENTED)


@pytest.mark.slow
def test_private_names_of_pytest_are_used_in_compat_only() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    own = own_names([tree for path, tree in trees.items() if path != COMPAT])
    private = {path.relative_to(PACKAGE).as_posix(): sorted(set(foreign(tree, own))) for path, tree in trees.items()}
    assert set(private.pop("plugin/compat.py")) >= {"_pytest", "_inicfg", "_call_history"}
    assert {path: names for path, names in private.items() if names} == {}


def test_private_methods_of_pytest_are_overridden_in_compat_only() -> None:
    overridden = set()
    for path in sorted((PACKAGE / "plugin").rglob("*.py")):
        module = import_module(".".join(("pytest_fairness", *path.relative_to(PACKAGE).with_suffix("").parts)))
        for _, kind in inspect.getmembers(module, inspect.isclass):
            bases = [base for base in kind.__mro__ if base.__module__.partition(".")[0] in OTHERS]
            names = {name for base in bases for name in vars(base) if is_private(name)} - {"_abc_impl"}
            if kind.__module__ == module.__name__ and (names & vars(kind).keys()):
                overridden.add((path, *(names & vars(kind).keys())))
    assert overridden == {(COMPAT, "_getobj")}


@pytest.mark.parametrize(
    "source",
    [
        "from _pytest.junitxml import LogXML",
        "import _pytest.config",
        "from pytest import _x",
        "import pytest\nitem._fixtureinfo",
        "import pytest\ngetattr(function, '_hypothesis_internal_use_seed', None)",
        "import xdist\nhasattr(config, '_inicfg')",
        "import pytest\nwriter._theirs",
    ],
)
def test_foreign_private_names_are_detected(source: str) -> None:
    assert list(foreign(ast.parse(source), {"_ours"}))
    allowed = "import pytest; self._ours; writer._ours; row._fields; x.__class__; getattr(x, 'public')"
    assert not list(foreign(ast.parse(allowed), {"_ours"}))


@pytest.mark.parametrize("part", ["stats"])
def test_modules_read_no_private_names_of_each_other(part: str) -> None:
    reads = set()
    for path in sorted((PACKAGE / part).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = own_names([tree])
        for node in nodes(tree):
            if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own | DOCUMENTED:
                reads.add(f"{path.name}: {ast.unparse(node)}")
            elif isinstance(node, ast.ImportFrom):
                reads |= {f"{path.name}: {alias.name}" for alias in node.names if is_private(alias.name)}
    assert reads == set()
