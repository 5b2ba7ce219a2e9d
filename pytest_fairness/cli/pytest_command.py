"""Declaration of commands that call pytest with an option of this plugin."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from pytest_fairness.cli.arguments import Commands

_REST = "All other arguments are those of pytest: files, -k, --fairness-model (see `pytest --help`)."


def add_pytest_command(
    commands: Commands,
    name: str,
    summary: str,
    run: Callable[[argparse.ArgumentParser, Sequence[str]], int],
    *,
    metavar: str = "",
    about: str = "",
) -> None:
    """Add a command whose arguments pytest reads.

    Args:
        commands: The list of commands.
        name: The command.
        summary: One line about it.
        run: A function that is called with the parser and all arguments.
        metavar: Its own argument, before those of pytest.
        about: A sentence about that argument.
    """
    arguments = " ".join(filter(None, (metavar, "[PYTEST ARGUMENTS]")))
    # With a prefix other than a dash, argparse leaves all options to pytest, even `--help`.
    parser = commands.add_parser(
        name,
        prefix_chars="+",
        add_help=False,
        usage=f"pytest-fairness {name} {arguments}",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=" ".join(filter(None, (about, _REST))),
    )
    parser.add_argument("arguments", nargs="*", metavar=arguments, help=argparse.SUPPRESS)

    def command(options: argparse.Namespace) -> int:
        if {"-h", "--help"} & set(options.arguments):
            parser.print_help()
            return 0
        return run(parser, options.arguments)

    parser.set_defaults(run=command)
