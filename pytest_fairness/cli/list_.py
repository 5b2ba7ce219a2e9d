"""``pytest-fairness list``: extensions of installed packages, with the commands that run their suites."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import GROUPS, SUITES, ExtensionGroup, describe_origin
from pytest_fairness.report.escaping import escape_controls


def add(commands: Commands) -> None:
    """Declare the command."""
    names = [group.name for group in GROUPS]
    parser = add_command(commands, "list", "list suites, graders, metrics and all else that is installed")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"only these: {', '.join(names)}")
    parser.set_defaults(run=_list)


def _list(options: argparse.Namespace) -> None:
    by_name = {group.name: group for group in GROUPS}
    unknown = [name for name in options.groups if name not in by_name]
    if unknown:
        raise FairnessError(f"there is no group {unknown[0]!r}: name one of {', '.join(by_name)}")
    for name in options.groups or by_name:
        print(f"{name}:")
        for line in [*_lines(by_name[name])] or ["none installed"]:
            print(f"  {escape_controls(line)}")


def _lines(group: ExtensionGroup) -> Iterator[str]:
    names = group.names()
    width = max(map(len, names), default=0)
    for name in names:
        try:
            entry = group.find(name)
        except FairnessError as error:
            yield f"{name:{width}}  {error}"
            continue
        yield f"{name:{width}}  {describe_origin(entry)}"
        if group is SUITES:
            yield f"{'':{width}}  pytest --pyargs {entry.value}"
