"""The command line ``pytest-fairness``.

Every module of this package that has `add` declares a command, and so does each function of the entry-point group
``pytest_fairness.commands``.
"""

from __future__ import annotations

import logging
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType

from pytest_fairness import cli
from pytest_fairness.cli.arguments import Commands
from pytest_fairness.cli.extension_parser import LazyParser
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import COMMANDS
from pytest_fairness.core.version import __version__
from pytest_fairness.report.escaping import escape_controls

_REMOVED = {
    "certify": "pytest --fairness-certify RUN",
    "plan": "pytest --fairness-plan",
}
"""Commands that this version no longer has, with what replaces them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, or 2 with one line on stderr, or that of pytest."""
    logging.basicConfig(format="pytest-fairness: %(message)s", level=logging.WARNING)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # show characters that the terminal cannot encode by their numbers
            stream.reconfigure(errors="backslashreplace")
    typed = sys.argv[1:] if arguments is None else arguments
    if typed and typed[0] in _REMOVED:
        print(f"pytest-fairness: {typed[0]} is gone: write {_REMOVED[typed[0]]}", file=sys.stderr)
        return 2
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except FairnessError as error:
        # Messages on stores name the option of pytest.
        message = str(error).replace("--fairness-store", "--store") if hasattr(options, "store") else str(error)
        print(f"pytest-fairness: {escape_controls(message)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has closed the pipe, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> LazyParser:
    parser = LazyParser(
        prog="pytest-fairness",
        description="Commands for stored runs, suites and dry runs; `pytest --fairness-model ...` measures.",
    )
    parser.add_argument("--version", action="version", version=f"pytest-fairness {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    declare = {module.__name__.rpartition(".")[2]: module.add for module in _command_modules()}
    declare |= _extension_commands()
    for name in sorted(declare):
        declare[name](commands)
    return parser


def _command_modules() -> Iterator[ModuleType]:
    """Yield the modules that declare a command, in the order of their names."""
    for entry in pkgutil.iter_modules(cli.__path__):
        module = import_module(f"{cli.__name__}.{entry.name}")
        if hasattr(module, "add"):
            yield module


def _extension_commands() -> dict[str, Callable[[Commands], object]]:
    """Return the functions of installed packages that declare a command; one that cannot be loaded is named."""
    functions = {}
    for name in COMMANDS.names():
        try:
            functions[name] = COMMANDS.load_callable(name)
        except FairnessError as error:
            print(f"pytest-fairness: {escape_controls(str(error))}", file=sys.stderr)
    return functions
