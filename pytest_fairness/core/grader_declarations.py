"""Declarations of graders in declarative files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError


@dataclass(frozen=True, slots=True)
class DeclaredGrader:
    """A grader that a declarative file declares within another."""

    grader: Any
    values: Mapping[str, Collection[str] | None]
    """All values of each of its grades, in the spelling of expressions; None for any value."""


def _no_grader(field: str) -> DeclaredGrader:
    raise FairnessError(f"`{field}` is a grader inside of a grader: only a declarative file can name it")


@dataclass(frozen=True, slots=True)
class GraderDeclaration:
    """One entry under ``grade:`` of a declarative file, without its lines and columns.

    >>> GraderDeclaration("polite", {"words": ["please"]}).parameters["words"]
    ['please']
    """

    grade: str
    """The name of the grade."""
    parameters: Any
    """The mapping, list, text or number after the grader's name; an empty mapping after a name alone."""
    texts: Sequence[str] = ()
    """The entries of a list of parameters as they are written, such as 1.50."""
    choices: Sequence[str] | None = None
    """The values of the file's ``choices``; None where it has none."""
    tools: Sequence[str] = ()
    """The names of the file's ``tools``."""
    find_file: Callable[[str], Path] = Path
    """A function to the path of a file in the declaration; it raises `FairnessError` for one outside of its folder."""
    read_grader: Callable[[str], DeclaredGrader] = _no_grader
    """A function to the grader that a field of the parameters declares (in the schema ``#/$defs/grader``)."""
