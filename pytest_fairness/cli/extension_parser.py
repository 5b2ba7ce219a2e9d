"""Parsers of commands that extensions declare: an extension is imported when its own command is run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import ExtensionGroup
from pytest_fairness.report.escaping import escape_controls

Declare = Callable[["LazyParser", Sequence[str]], None]
"""A function that declares the arguments of a parser, given the command line that it will parse."""


class LazyParser(ArgumentParser):
    """A parser whose arguments are declared when it first parses."""

    def __init__(self, *args: Any, declare: Declare | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._declare = declare

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        declare, self._declare = self._declare, None
        if declare is not None:
            try:
                declare(self, args or ())
            except FairnessError as error:
                self.exit(2, f"pytest-fairness: {escape_controls(str(error))}\n")
        return super().parse_known_args(args, namespace)


def declare_commands(group: ExtensionGroup, declare: Callable[[LazyParser, str], str]) -> Declare:
    """Return a function that declares a command for each extension of a group.

    Args:
        group: The group of extensions.
        declare: A function that declares the arguments of one extension, by name, and returns its help.
    """

    def declare_one(name: str, parser: LazyParser, _: Sequence[str]) -> None:
        parser.description = declare(parser, name)

    def declare_all(parser: LazyParser, arguments: Sequence[str]) -> None:
        commands = parser.add_subparsers(required=True, metavar="NAME")
        wants_help = bool({"-h", "--help"} & set(arguments[:1]))
        for name in group.names():
            shown = _describe(declare, name) if wants_help else ""
            commands.add_parser(name, help=shown, declare=partial(declare_one, name))

    return declare_all


def _describe(declare: Callable[[LazyParser, str], str], name: str) -> str:
    try:
        text = declare(LazyParser(), name)
    except FairnessError as error:
        text = escape_controls(str(error))
    return text.replace("%", "%%")
