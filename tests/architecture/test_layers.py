"""The house as DESIGN describes it: imports go down, and heavy libraries stay inside functions."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import pytest_fairness

PACKAGE = Path(pytest_fairness.__file__).parent

MAY_IMPORT = {
    "core": {"core"},
    "models": {"core", "models"},
    "graders": {"core", "graders"},
    "store": {"core", "store"},
    "engine": {"core", "store", "engine"},
    "stats": {"core", "stats"},
    "counterfactual": {"core", "counterfactual"},
    "tables": {"core", "stats", "tables"},
    "declarative": {"core", "counterfactual", "graders", "stats", "tables", "declarative"},
    "report": {"core", "store", "stats", "report"},
    "planning": {"core", "stats", "planning"},
    "plugin": {
        "core",
        "planning",
        "models",
        "graders",
        "store",
        "engine",
        "stats",
        "counterfactual",
        "declarative",
        "report",
        "plugin",
    },
    "cli": {
        "core",
        "models",
        "store",
        "declarative",
        "counterfactual",
        "report",
        "plugin",
        "cli",
    },
}
PLUGIN_MAY_IMPORT = {
    "config": set[str](),
    "probes": {"config"},
    "session": {"config", "probes"},
    "collection": {"config", "probes", "session"},
    "samples": {"config", "probes", "session"},
    "judgment": {"config", "probes", "session", "samples"},
    "output": {"config", "probes", "session", "collection", "samples"},
    "hooks": {"config", "probes", "session", "collection", "samples", "judgment", "output"},
}
"""The rooms of ``plugin/``, with those that each may import besides the modules beside them."""
UPSTAIRS = {
    "attestation": set[str](),
    "design": {"numpy"},
    "frameworks": set[str](),
    "harnesses": {"numpy", "pytest"},
    "local": set[str](),
    "records": {"numpy"},
    "search": {"pytest"},
}
"""Rooms that use the gate by its public names, with the libraries that each may import on load."""
ANYWHERE = {
    "core": set[str](),
    "models": set[str](),
    "graders": set[str](),
    "tables": set[str](),
    "counterfactual": set[str](),
    "declarative": set[str](),
    "store": {"filelock", "psycopg", "tenacity"},
    "engine": {"tenacity"},
    "stats": {"numpy"},
    "report": {"jinja2", "markupsafe"},
    "planning": set[str](),
    "plugin": {"pytest"},
    "cli": set[str](),
    **UPSTAIRS,
}
"""Libraries that each package may import on load, besides the standard library and ours."""


@cache
def sources() -> tuple[tuple[str, Path, ast.Module], ...]:
    parts = ((path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path) for path in sorted(PACKAGE.rglob("*.py")))
    return tuple(
        (part, path, ast.parse(path.read_text(encoding="utf-8")))
        for part, path in parts
        if part not in ("__init__", "__main__", "extending", "lazy_names")
    )


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a module, which several tests search."""
    return tuple(ast.walk(tree))


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module]
    return []


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield each imported module, and each imported name with its module before it."""
    for node in nodes(tree):
        for module in imported(node):
            yield module
            if isinstance(node, ast.ImportFrom):
                yield from (f"{module}.{alias.name}" for alias in node.names)


def on_load(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement that runs when the module is loaded, except code for type checkers only."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_imports_go_down_the_layers(part: str) -> None:
    for owner, path, tree in sources():
        if owner != part:
            continue
        for node in nodes(tree):
            for name in imported(node):
                assert name != "pytest_fairness" or part == "cli", f"{path} imports the door of the package, above it"
                if name.startswith("pytest_fairness."):
                    assert name.split(".")[1] in MAY_IMPORT[part] | {"lazy_names"}, f"{path} imports {name}"


@pytest.mark.parametrize("room", sorted(PLUGIN_MAY_IMPORT))
def test_imports_go_down_the_rooms_of_the_plugin(room: str) -> None:
    above = PLUGIN_MAY_IMPORT.keys() - PLUGIN_MAY_IMPORT[room] - {room}
    trees = {path: tree for part, path, tree in sources() if part == "plugin"}
    for path in (PACKAGE / "plugin" / room).rglob("*.py"):
        rooms = {
            name.split(".")[2] for name in imported_names(trees[path]) if name.startswith("pytest_fairness.plugin.")
        }
        assert not rooms & above, f"{path} imports {rooms & above}"


def test_modules_outside_the_plugin_rooms_import_no_room() -> None:
    for part, path, tree in sources():
        if part == "plugin" and path.parent.name == "plugin" and path.name != "__init__.py":
            rooms = {name.split(".")[2] for name in imported_names(tree) if name.startswith("pytest_fairness.plugin.")}
            assert not rooms & PLUGIN_MAY_IMPORT.keys(), path


def test_every_package_has_a_layer() -> None:
    assert {part for part, _, _ in sources()} == MAY_IMPORT.keys() | UPSTAIRS.keys() == set(ANYWHERE)
    assert {path.parent.name for path in (PACKAGE / "plugin").glob("*/__init__.py")} == PLUGIN_MAY_IMPORT.keys()


def contents_of(part: str) -> str:
    """Return the first line of a package's docstring."""
    package = ast.parse((PACKAGE / part / "__init__.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(package) or "").partition("\n")[0]


def room_table() -> str:
    """Return the table of the rooms upstairs as the documentation prints it."""
    rows = ["| room | contents | libraries on load |", "|---|---|---|"]
    for room, libraries in UPSTAIRS.items():
        rows.append(f"| `{room}/` | {contents_of(room)} | {', '.join(sorted(libraries)) or 'standard library'} |")
    return "\n".join(rows)


def layer_table() -> str:
    """Return the table of layers as the documentation prints it, the highest first."""
    rows = ["| package | contents | may import |", "|---|---|---|"]
    for part in reversed(MAY_IMPORT):
        below = [name for name in MAY_IMPORT if name in MAY_IMPORT[part] - {part}]
        others = sorted(ANYWHERE[part])
        rows.append(f"| `{part}/` | {contents_of(part)} | {', '.join([*below, *others]) or 'standard library'} |")
    return "\n".join(rows)


def plugin_table() -> str:
    """Return the table of the rooms of the plugin as the documentation prints it, the highest first."""
    rows = ["| room | contents | may import |", "|---|---|---|"]
    for room in reversed(PLUGIN_MAY_IMPORT):
        below = [name for name in PLUGIN_MAY_IMPORT if name in PLUGIN_MAY_IMPORT[room]]
        rows.append(f"| `plugin/{room}/` | {contents_of(f'plugin/{room}')} | {', '.join(below) or 'none'} |")
    return "\n".join(rows)


@pytest.mark.parametrize("table", [layer_table, plugin_table, room_table])
def test_documentation_prints_the_layers(table: Callable[[], str]) -> None:
    """Compare with the tables; where one differs, copy what the failure shows."""
    assert table() in (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_heavy_libraries_are_not_imported_on_load() -> None:
    for part, path, tree in sources():
        for node in on_load(tree):
            for name in imported(node):
                top = name.split(".")[0]
                is_allowed = top in sys.stdlib_module_names or top == "pytest_fairness" or top in ANYWHERE[part]
                assert is_allowed, f"{path} imports {name} when it is loaded"


@pytest.mark.parametrize(("module", "binding"), [("json", "json_text.py"), ("asyncio", "event_loops.py")])
def test_one_module_binds_what_tests_may_replace(module: str, binding: str) -> None:
    """Check that everything else imports `core.json_text` and `core.event_loops`, which bind functions when loaded.

    A user's test that replaces `json.dumps` or `asyncio.sleep` then does not break the run around it.
    """
    importers = [path for _, path, tree in sources() for node in nodes(tree) if module in imported(node)]
    assert importers == [PACKAGE / "core" / binding]


def module_imports() -> dict[str, set[str]]:
    """Return what each module imports of the package, anywhere in it: on load, for types and inside functions."""
    trees = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): tree
        for _, path, tree in sources()
    }

    def targets(node: ast.AST) -> Iterator[str]:
        for name in imported(node):
            module = name.removeprefix("pytest_fairness.")
            members = {f"{module}.{alias.name}" for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
            yield from (members & trees.keys()) or ({module} & trees.keys())

    return {name: {target for node in nodes(tree) for target in targets(node)} for name, tree in trees.items()}


def test_modules_import_in_one_direction() -> None:
    imports = module_imports()
    reached: dict[str, set[str]] = {}
    for name in imports:
        reached[name], waiting = set(), list(imports[name])
        while waiting:
            if (module := waiting.pop()) not in reached[name]:
                reached[name].add(module)
                waiting.extend(imports[module])
    circles = {
        frozenset(other for other in modules if name in reached[other])
        for name, modules in reached.items()
        if name in modules
    }
    assert circles == set(), "these import each other in a circle: on load, for types or inside functions"


def test_files_have_at_most_440_lines_without_docstrings() -> None:
    for _, path, tree in sources():
        strings = (
            node.value
            for node in nodes(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        documented = sum((string.end_lineno or 0) - string.lineno + 1 for string in strings)
        assert len(path.read_text(encoding="utf-8").splitlines()) - documented <= 440, path


def test_loading_the_plugin_imports_pytest_and_the_stdlib_only() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import pytest_fairness.plugin; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(*sorted(new - sys.stdlib_module_names - {'pytest_fairness', '_pytest', 'pytest'}))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == ""
