"""Graders in declarative files: their base class, and the declarations that it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pytest_fairness.core.errors import FairnessError

BOOLEAN = ("true", "false")
"""The values of a grade that is true or false, in the spelling of expressions."""


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


class DeclarativeGrader:
    """Base class of graders for declarative files, in the entry-point group ``pytest_fairness.graders``.

    A subclass has a method ``grade``. By default the parameters in the file are its keyword arguments.

    >>> from pytest_fairness import Grade
    >>> class Longer(DeclarativeGrader):
    ...     schema = {"type": "object", "required": ["than"], "properties": {"than": {"type": "integer"}}}
    ...     grade_values = BOOLEAN
    ...     def __init__(self, than):
    ...         self.than = than
    ...     def grade(self, prompt, answer):
    ...         return Grade(len(answer.text) > self.than)
    >>> declaration = GraderDeclaration("long", {"than": 80})
    >>> Longer.from_declaration(declaration).than, Longer.declared_values(declaration)
    (80, {'long': ('true', 'false')})
    """

    schema: ClassVar[Mapping[str, Any]] = {"type": "object"}
    """JSON Schema of the parameters; it may refer to ``#/$defs/`` with text, value, words and grader."""
    grade_values: ClassVar[Collection[str] | None] = None
    """All values of its grades, in the spelling of expressions; None for any value."""

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> Any:
        """Return the grader that a file declares: a `Grader`, `ItemGrader`, `BatchGrader` or `Judge`.

        Args:
            declaration: Parameters that the schema allows.

        Raises:
            FairnessError: The parameters do not fit together. The message is shown with file and line.
        """
        return cls(**declaration.parameters)

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        """Return all values of each of its grades, in the spelling of expressions; None for any value.

        Args:
            declaration: The same as for `from_declaration`.
        """
        return {declaration.grade: cls.grade_values}
