"""The base class of graders in declarative files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pytest_fairness.core.grader_declarations import GraderDeclaration

BOOLEAN = ("true", "false")
"""The values of a grade that is true or false, in the spelling of expressions."""


class DeclarativeGrader:
    """Base class of graders for declarative files, in the entry-point group ``pytest_fairness.graders``.

    A subclass has a method ``grade``. By default the parameters in the file are its keyword arguments.

    >>> from pytest_fairness import Grade
    >>> from pytest_fairness.extending import GraderDeclaration
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
    unread_remedy: ClassVar[str] = ""
    """The way out for answers that it cannot read: an imperative without a period, shown with an invalid threshold."""

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
