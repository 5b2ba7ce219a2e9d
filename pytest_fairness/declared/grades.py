"""Graders by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declared.data import AllowedFolders
from pytest_fairness.declared.nodes import Node

_BOOLEAN = ("true", "false")


def graders_of(declared: Node, folders: AllowedFolders, choices: Collection[str] | None) -> dict[str, Any]:
    """The graders of a probe, as its mark has them.

    Raises `DeclarationError` for one that cannot be made, and for a choice without choices.
    """
    graders = {}
    for name, node in declared.value.items():
        kind = node.text or next(iter(node.value))
        if kind == "choice" and choices is None:
            raise node.error("a choice needs `choices`: write what can be chosen")
        try:
            graders[name] = _grader(kind, node if node.text else node.value[kind], folders)
        except FairnessError as error:
            raise node.error(str(error)) from None
    return graders


def values_of(declared: Node, graders: dict[str, Any], choices: Collection[str] | None) -> dict[str, Any]:
    """Of every grade the values that it can have, spelled as in an expression; None where nobody knows."""
    from pytest_fairness.graders.judge import Judge
    from pytest_fairness.graders.rubric import Label

    values: dict[str, Any] = {}
    for name, node in declared.value.items():
        kind = node.text or next(iter(node.value))
        known = {"choice": choices, "yes-no": _BOOLEAN, "refusal": _BOOLEAN, "any-word": _BOOLEAN}
        if kind == "rubric" and isinstance(graders[name], Judge):
            fields = graders[name].fields
            values |= {each.name: each.labels if isinstance(each, Label) else None for each in fields}
        else:
            values[name] = known.get(kind)
    return values


def _grader(kind: str, node: Node, folders: AllowedFolders) -> Any:
    given = node.plain
    if kind == "yes-no":
        from pytest_fairness.graders.text import YesNo

        words = {} if isinstance(given, str) else {name: tuple(map(str, given[name])) for name in given}
        return YesNo(**words)
    if kind == "choice":
        from pytest_fairness.graders.choice import Choice

        return Choice()
    if kind == "refusal":
        from pytest_fairness.graders.refusal import Refusal

        return Refusal()
    if kind == "rating":
        from pytest_fairness.graders.rating import Rating

        return Rating(given["low"], given["high"])
    if kind in ("words", "any-word"):
        from pytest_fairness.graders.words import WordList

        return WordList(tuple(each.text for each in node.value), whether=kind == "any-word")
    if kind == "pattern":
        from pytest_fairness.graders.text import Regex

        return Regex(given["find"], values=given.get("values"), which=given.get("which", "only"))
    from pytest_fairness.graders.judge import Judge
    from pytest_fairness.graders.rubric import Rubric

    return Judge(Rubric.from_file(folders.path(node)) if isinstance(given, str) else Rubric.from_data(given))
