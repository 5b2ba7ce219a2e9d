"""The plugin's tables in ``pyproject.toml``, with their lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.serialization import KeyPath, RecordContext
from pytest_fairness.core.toml_files import TomlFile

TOOL = "pytest-fairness"
_MISSPELLED = "pytest_fairness"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Pyproject:
    """The tables of this plugin in a ``pyproject.toml``; none where there is no such file."""

    file: TomlFile

    @classmethod
    def read(cls, root: Path) -> Pyproject:
        """Return the file of the project at ``root``; an empty one where it has none.

        Raises:
            FairnessError: The file cannot be read; the message has file and line.
        """
        path = root / PYPROJECT
        try:
            file = TomlFile.read(path)
        except FileNotFoundError:
            return cls(TomlFile(path, str(path)))
        tools = file.document.get("tool")
        if isinstance(tools, dict) and _MISSPELLED in tools:
            raise FairnessError(
                f"{file.where('tool', _MISSPELLED)}: [tool.{_MISSPELLED}] is not read: write [tool.{TOOL}]"
            )
        return cls(file)

    @classmethod
    def read_ours(cls, root: Path) -> Pyproject:
        """Return the file at ``root`` where it has words to this plugin, else an empty one."""
        path = root / PYPROJECT
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        return cls.read(root) if TOOL.encode() in content else cls(TomlFile(path, str(path)))

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.file.path

    def table(self, *names: str, way_out: str) -> Mapping[str, Any]:
        """Return the table ``[tool.pytest-fairness.NAMES]``; empty where there is none.

        Raises:
            FairnessError: The value is no table; the message ends with the way out.
        """
        value: Any = self.file.document
        path: KeyPath = ()
        for name in ("tool", TOOL, *names):
            path = (*path, name)
            value = value.get(name, {})
            if not isinstance(value, dict):
                raise FairnessError(f"{self.file.where(*path)}: {name!r} is no table: {way_out}")
        table: Mapping[str, Any] = value
        return table

    def where(self, *names: str) -> str:
        """Return the file and line of a key below ``[tool.pytest-fairness]``, else of the nearest table around it."""
        return self.file.where("tool", TOOL, *names)

    def context(self, *names: str, subject: str = "", prefix: str = "", way_out: str = "") -> RecordContext:
        """Return the context of a table below ``[tool.pytest-fairness]``, as of `TomlFile.context`."""
        return self.file.context("tool", TOOL, *names, subject=subject, prefix=prefix, way_out=way_out)
