"""The plugin's tables in ``pyproject.toml``, with their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError

TOOL = "pytest-fairness"
_MISSPELLED = "pytest_fairness"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Pyproject:
    """The content of a ``pyproject.toml``; empty where there is none."""

    path: Path
    text: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path) -> Pyproject:
        """Return the file of the project at ``root``; an empty one where it has none.

        Raises:
            FairnessError: The file cannot be read; the message has file and line.
        """
        path = root / PYPROJECT
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise FairnessError(f"{path} cannot be read: {reason}") from None
        from pytest_fairness.core.toml_tables import parse_toml

        document = parse_toml(text, str(path))
        file = cls(path, text, document)
        tools = document.get("tool")
        if isinstance(tools, dict) and (misspelled := TOOL.replace("-", "_")) in tools:
            raise FairnessError(f"{file.where(misspelled)}: [tool.{misspelled}] is not read: write [tool.{TOOL}]")
        return file

    @classmethod
    def read_ours(cls, root: Path) -> Pyproject:
        """Return the file at ``root`` where it has words to this plugin, else an empty one."""
        path = root / PYPROJECT
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        return cls.read(root) if TOOL.encode() in content else cls(path)

    def table(self, *names: str, way_out: str) -> Mapping[str, Any]:
        """Return the table ``[tool.pytest-fairness.NAMES]``; empty where there is none.

        Raises:
            FairnessError: The value is no table; the message ends with the way out.
        """
        value: Any = self.document
        if isinstance(tools := self.document.get("tool"), dict) and _MISSPELLED in tools:
            line = self.text.count("\n", 0, self.text.find(_MISSPELLED)) + 1
            raise FairnessError(f"{self.path}:{line}: [tool.{_MISSPELLED}] is not read: write [tool.{TOOL}]")
        for name in ("tool", TOOL, *names):
            value = value.get(name, {})
            if not isinstance(value, dict):
                raise FairnessError(f"{self.where(name)}: {name!r} is no table: {way_out}")
        table: Mapping[str, Any] = value
        return table

    def line_of(self, key: str, table: str = "") -> int:
        """Return the line of a key (within a table, if one is given), else of the table of that name.

        A key that is a table of its own has the line of its header. If there is neither, the line of the plugin's
        first table.
        """
        own = rf"""(?m)^\s*\[[^\n]*["']?{re.escape(table)}["']?\s*\.\s*["']?{re.escape(key)}["']?\s*\]"""
        header = rf"""(?m)^\s*\[[^\n]*["']?{re.escape(table or key)}["']?\s*\]"""
        named = rf"""(?m)^\s*["']?{re.escape(key)}["']?\s*="""
        start = re.search(header, self.text) if table else None
        inside = re.compile(named).search(self.text, start.end() if start else 0)
        for match in (
            re.search(own, self.text) if table else None,
            inside,
            re.search(header, self.text),
            re.search(rf"(?m)^\s*\[tool\.{TOOL}", self.text),
        ):
            if match:
                return self.text.count("\n", 0, match.end()) + 1
        return 1

    def where(self, key: str) -> str:
        """Return the file and line of a key."""
        return f"{self.path}:{self.line_of(key)}"
