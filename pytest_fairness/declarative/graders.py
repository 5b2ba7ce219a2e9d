"""The graders of a declarative file: extensions of the group ``pytest_fairness.graders``, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.declarations import DeclarativeGrader, DeclaredGrader, GraderDeclaration
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import GRADERS
from pytest_fairness.declarative.data import AllowedFolders
from pytest_fairness.declarative.source import DeclarationError, LocatedValue
from pytest_fairness.declarative.validation import check_parameters


@dataclass(frozen=True, slots=True)
class DeclaredGraders:
    """The graders of one probe."""

    graders: Mapping[str, Any]
    """Graders by the name of the grade, as a mark takes them."""
    values: Mapping[str, Collection[str] | None]
    """The values of each grade, as an expression spells them; None if it may have any."""


def read_graders(
    declared: LocatedValue, folders: AllowedFolders, choices: Sequence[str] | None, tools: Sequence[str] = ()
) -> DeclaredGraders:
    """Return the graders of a probe.

    Args:
        declared: The mapping under ``grade``.
        folders: Where files that it names may lie.
        choices: The values of the probe's choices, if it has any.
        tools: The names of the tools that the probe offers.

    Raises:
        DeclarationError: A grader is not known, cannot be loaded, or its parameters do not fit.
    """
    graders: dict[str, Any] = {}
    values: dict[str, Collection[str] | None] = {}
    for name, node in declared.value.items():
        declared_grader = _read_grader(name, node, folders, choices, tools)
        graders[name] = declared_grader.grader
        values |= declared_grader.values
    return DeclaredGraders(graders, values)


def _read_grader(
    grade: str, node: LocatedValue, folders: AllowedFolders, choices: Sequence[str] | None, tools: Sequence[str]
) -> DeclaredGrader:
    """Return the grader of one node, with the values of its grades."""
    try:
        kind, declaration = _read_declaration(grade, node, folders, choices, tools)
        return DeclaredGrader(kind.from_declaration(declaration), kind.declared_values(declaration))
    except DeclarationError:
        raise
    except (FairnessError, TypeError) as error:
        raise node.error(str(error)) from None


def _read_declaration(
    grade: str, node: LocatedValue, folders: AllowedFolders, choices: Sequence[str] | None, tools: Sequence[str]
) -> tuple[type[DeclarativeGrader], GraderDeclaration]:
    name, parameters = (node.text, node) if node.text else next(iter(node.value.items()))
    try:
        kind = GRADERS.load_class(name, DeclarativeGrader)
    except FairnessError as error:
        raise node.error(str(error)) if node.text else parameters.key_error(str(error)) from None
    check_parameters(parameters, name, kind.schema, stands_alone=bool(node.text))
    texts = [entry.text for entry in parameters.value] if isinstance(parameters.value, list) else []
    return kind, GraderDeclaration(
        grade,
        {} if node.text else parameters.plain,
        texts,
        choices,
        tools,
        lambda path: folders.path(replace(parameters, text=path)),
        lambda field: _read_grader(grade, parameters.value[field], folders, choices, tools),
    )
