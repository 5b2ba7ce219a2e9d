"""Short names of models, from ``[tool.pytest-fairness.models]`` in ``pyproject.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, near

_TABLE = "[tool.pytest-fairness.models]"


def read_aliases(root: Path) -> dict[str, str]:
    """The aliases that the project at ``root`` defines; none where it has no ``pyproject.toml``.

    Raises `FairnessError`, with file and line, where that file or an alias in it is malformed.
    """
    path = root / "pyproject.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FairnessError(f"{path} cannot be read: {why}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        line = place[1] if place else str(text.count("\n") + 1)
        raise FairnessError(f"{path}:{line}: not valid TOML: {error}") from None
    table: Any = document
    for part in ("tool", "pytest-fairness", "models"):
        table = table.get(part, {})
        if not isinstance(table, dict):
            where = f"{path}:{_line_of(part, text)}"
            raise FairnessError(f'{where}: {part!r} is no table: write {_TABLE}, and alias = "provider:NAME" below it')
    for alias, name in table.items():
        _check(alias, name, f"{path}:{_line_of(alias, text)}")
    aliases: dict[str, str] = table
    return aliases


def follow(text: str, aliases: Mapping[str, str]) -> str:
    """The full name that an alias leads to, over other aliases too; a full name stays as it is.

    >>> follow("small", {"small": "mini", "mini": "openai:gpt-5-mini"})
    'openai:gpt-5-mini'

    Raises `FairnessError` for aliases that lead in a circle, and for a word that is no alias.
    """
    seen: list[str] = []
    while text in aliases:
        if text in seen:
            circle = " -> ".join([*seen[seen.index(text) :], text])
            raise FairnessError(f"model aliases of {_TABLE} lead in a circle: {circle}; end one at provider:NAME")
        seen.append(text)
        text = aliases[text]
    if ":" not in text and aliases:
        raise FairnessError(f"{text!r} is no alias of {_TABLE} and no provider:NAME; {near(text, aliases)}")
    return text


def _check(alias: str, name: object, where: str) -> None:
    if not isinstance(name, str) or not name.strip():
        raise FairnessError(f"{where}: model alias {alias!r} is {name!r}: it must be a text, provider:NAME")
    if not alias.strip() or ":" in alias or "?" in alias:
        raise FairnessError(f"{where}: model alias {alias!r} would hide a full name: leave ':' and '?' out of it")


def _line_of(key: str, text: str) -> int:
    """The line that defines a key; the table's own line where the key is written in another way."""
    for pattern in (rf"""(?m)^\s*["']?{re.escape(key)}["']?\s*=""", r"(?m)^\s*\[tool\.pytest-fairness"):
        found = re.search(pattern, text)
        if found:
            return text.count("\n", 0, found.end()) + 1
    return 1
