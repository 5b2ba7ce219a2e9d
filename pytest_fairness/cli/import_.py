"""``pytest-fairness import``: recorded answers of others as a replay file or a table."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.cli.extension_parser import LazyParser, declare_commands
from pytest_fairness.core.extensions import IMPORTS

if TYPE_CHECKING:
    from pytest_fairness.core.importer import Importer


def add(commands: Commands) -> None:
    """Declare the command."""
    add_command(
        commands,
        "import",
        "turn recorded answers of others into a replay file or a table",
        declare=declare_commands(IMPORTS, _declare),
    )


def _declare(parser: LazyParser, name: str) -> str:
    from pytest_fairness.core.importer import Importer

    importer = IMPORTS.make(name, Importer)  # type: ignore[type-abstract]
    importer.add_arguments(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=importer.out)
    parser.set_defaults(run=partial(_import, importer))
    return importer.help


def _import(importer: Importer, options: argparse.Namespace) -> None:
    from pytest_fairness.core.output_files import refuse_others
    from pytest_fairness.report.escaping import escape_controls

    refuse_others(options.out, importer.line_start)
    for line in importer.convert(options.out, options):
        print(escape_controls(line))  # names of columns are a stranger's
