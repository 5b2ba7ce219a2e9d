"""``pytest-fairness export``: a stored run in the form of another tool."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness.cli.arguments import Commands, add_command, add_run, view_of
from pytest_fairness.cli.extension_parser import LazyParser, declare_commands
from pytest_fairness.core.extensions import EXPORTS

if TYPE_CHECKING:
    from pytest_fairness.report.exports.exporter import Exporter


def add(commands: Commands) -> None:
    """Declare the command."""
    add_command(commands, "export", "write a stored run for another tool", declare=declare_commands(EXPORTS, _declare))


def _declare(parser: LazyParser, name: str) -> str:
    from pytest_fairness.report.exports.exporter import Exporter

    exporter = EXPORTS.make(name, Exporter)  # type: ignore[type-abstract]
    add_run(parser, exporter.run)
    exporter.add_arguments(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="PATH", help=exporter.out)
    parser.set_defaults(run=partial(_export, exporter))
    return exporter.help


def _export(exporter: Exporter, options: argparse.Namespace) -> None:
    from pytest_fairness.report.exports.exporter import RunReference

    print(exporter.export(RunReference(options.name, partial(view_of, options)), options.out, options))
