"""Rooms upstairs: packages that use the gate by its public names only, as a stranger's package would."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import pytest_fairness
from pytest_fairness import extending

PACKAGE = Path(pytest_fairness.__file__).parent
ROOMS = ("attestation", "design", "frameworks", "harnesses", "local", "records", "search")
"""Packages upstairs."""
PUBLIC = tuple(f"pytest_fairness{part}" for part in ("", ".graders", ".counterfactual", ".tables", ".extending"))
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
    public_imports = {(module, name) for module, name in imports if module in PUBLIC}
    assert {module for module, _ in imports - public_imports if not is_in(module, room)} == set()
    hidden = {(module, name) for module, name in public_imports if name not in import_module(module).__all__}
    assert hidden <= {("pytest_fairness", "__version__")}


def test_gate_imports_no_room() -> None:
    """Check that the gate imports neither a room nor the public names for rooms, which are above it."""
    downstairs = [folder for folder in PACKAGE.iterdir() if folder.is_dir() and folder.name not in ROOMS]
    imports = {module for folder in downstairs for module, _ in package_imports(folder)}
    assert {module for module in imports if any(is_in(module, name) for name in (*ROOMS, "extending"))} == set()


def test_every_name_for_extensions_is_used_or_documented() -> None:
    documented = re.findall(r"\w+", (PACKAGE.parent / "docs" / "extending.md").read_text(encoding="utf-8"))
    folders = [*(PACKAGE / room for room in ROOMS), PACKAGE.parent / "suites"]
    used = {name for folder in folders for module, name in package_imports(folder) if module == extending.__name__}
    assert used <= set(extending.__all__) <= used | set(documented)
