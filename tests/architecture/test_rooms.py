"""Rooms upstairs: packages that use the gate by its public names only, as a stranger's package would."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_fairness
from pytest_fairness import extend

PACKAGE = Path(pytest_fairness.__file__).parent
ROOMS = ("attestation", "design", "harnesses", "local", "records", "search")
"""Packages upstairs."""
PUBLIC = ("pytest_fairness", "pytest_fairness.extend")
"""Modules whose names are public."""


def package_imports(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import of this package in a folder."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names if alias.name.startswith("pytest_fairness"))
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pytest_fairness"):
                yield from ((node.module or "", alias.name) for alias in node.names)


def is_in(module: str, room: str) -> bool:
    return f"{module}.".startswith(f"pytest_fairness.{room}.")


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_public_names_only(room: str) -> None:
    imports = set(package_imports(PACKAGE / room))
    internal = {(module, name) for module, name in imports if module not in PUBLIC and not is_in(module, room)}
    assert internal == set()
    assert {name for module, name in imports if module == "pytest_fairness"} <= {
        *pytest_fairness.__all__,
        "__version__",
    }


def test_gate_imports_no_room() -> None:
    """Check that the gate imports neither a room nor the public names for rooms, which are above it."""
    downstairs = [folder for folder in PACKAGE.iterdir() if folder.is_dir() and folder.name not in ROOMS]
    imports = {module for folder in downstairs for module, _ in package_imports(folder)}
    assert {module for module in imports if any(is_in(module, name) for name in (*ROOMS, "extend"))} == set()


def test_every_name_for_rooms_is_used_upstairs() -> None:
    folders = [*(PACKAGE / room for room in ROOMS), PACKAGE.parent / "suites"]
    used = {name for folder in folders for module, name in package_imports(folder) if module == extend.__name__}
    assert used == set(extend.__all__)
    assert all(hasattr(extend, name) for name in extend.__all__)
