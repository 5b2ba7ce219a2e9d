"""Aliases of models: short names that a project defines in its ``pyproject.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.pyproject import Pyproject
from pytest_fairness.models.names import compose_name

_TABLE = "[tool.pytest-fairness.models]"
_MEANT = (
    (r"(gpt|chatgpt|o\d)\b", "openai"),
    ("claude-", "anthropic"),
    ("gemini-", "gemini"),
    ("deepseek-", "deepseek"),
    ("(mistral|codestral|ministral)-", "mistral"),
    ("grok-", "xai"),
    (r".*\.toml$", "http"),
    (r".*\.jsonl$", "replay"),
)
"""Forms of names that are written without their provider, with the provider."""


def read_aliases(root: Path) -> dict[str, str]:
    """Return the aliases that the project at ``root`` defines; none where it has no ``pyproject.toml``.

    Raises:
        FairnessError: That file, or an alias in it, is malformed; with file and line.
    """
    file = Pyproject.read(root)
    table = file.table("models", way_out=f"write {_TABLE[:-1]}.ALIAS], and provider and name below it")
    names = {}
    for alias, value in table.items():
        where = file.where("models", alias)
        names[alias] = _compose(alias, value, where) if isinstance(value, dict) else value
        _check(alias, names[alias], where)
    return names


@contextmanager
def naming_alias(root: Path, name: str, aliases: Mapping[str, str]) -> Iterator[None]:
    """Prefix errors about a model with the file and line of its alias."""
    try:
        yield
    except FairnessError as error:
        if name not in aliases:
            raise
        raise FairnessError(f"{Pyproject.read(root).where('models', name)}: {error}") from None


def follow(text: str, aliases: Mapping[str, str]) -> str:
    """Return the full name of an alias, which may be one of another alias; a full name is returned as it is.

    >>> follow("small", {"small": "mini", "mini": "openai:gpt-5-mini"})
    'openai:gpt-5-mini'

    Raises:
        FairnessError: Aliases lead in a circle, or the word is no alias.
    """
    seen: list[str] = []
    while text in aliases:
        if text in seen:
            circle = " -> ".join([*seen[seen.index(text) :], text])
            raise FairnessError(f"model aliases of {_TABLE} lead in a circle: {circle}; end one at provider:NAME")
        seen.append(text)
        text = aliases[text]
    if ":" not in text:
        hint = did_you_mean(text, aliases) if aliases else "the pyproject.toml of pytest's rootdir defines no alias"
        hint = next((f"did you mean {meant}:{text}?" for form, meant in _MEANT if re.match(form, text)), hint)
        raise FairnessError(f"{text!r} is no alias of {_TABLE} and no provider:NAME; {hint}")
    return text


def _compose(alias: str, table: Mapping[str, Any], where: str) -> str:
    """Return the full name of an alias that is a table."""
    parts = {key: table.get(key) for key in ("provider", "name")}
    for key, part in parts.items():
        if not isinstance(part, str):
            shown = f"{key} = {part!r}" if key in table else f"no {key}"
            raise FairnessError(
                f'{where}: model alias {alias!r} has {shown}: write provider = "openai", name = "gpt-5-mini" and '
                "parameters"
            )
    try:
        return compose_name(
            str(parts["provider"]), str(parts["name"]), {key: value for key, value in table.items() if key not in parts}
        )
    except ValueError as error:
        raise FairnessError(f"{where}: model alias {alias!r}: {error}") from None


def _check(alias: str, name: object, where: str) -> None:
    if not isinstance(name, str) or not name.strip():
        raise FairnessError(f"{where}: model alias {alias!r} is {name!r}: it must be a table with provider and name")
    if not alias.strip() or ":" in alias or "?" in alias:
        raise FairnessError(f"{where}: model alias {alias!r} would hide a full name: leave ':' and '?' out of it")
    if alias != alias.strip() or not alias.isprintable() or set(alias) & set("()[]/\\"):
        raise FairnessError(
            f"{where}: model alias {alias!r} is shown as a name, and in the ids of tests: leave brackets, slashes, "
            "line breaks and outer spaces out of it"
        )
