"""Arguments that several commands share, and the runs and stores that they name."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_fairness.cli.extension_parser import Declare, LazyParser
from pytest_fairness.core.errors import StoreError

if TYPE_CHECKING:
    from pytest_fairness.report.view import View
    from pytest_fairness.store.location import StoreLocation
    from pytest_fairness.store.store import Store

Commands: TypeAlias = "argparse._SubParsersAction[LazyParser]"
"""The subparsers to which commands add theirs; argparse has no public name for the type."""
STORE = Path(".fairness/store.sqlite")


def add_command(
    commands: Commands, name: str, summary: str, description: str = "", *, declare: Declare | None = None
) -> argparse.ArgumentParser:
    """Add a command, and return its parser.

    Args:
        commands: The list of commands.
        name: The command.
        summary: The line in the list of commands.
        description: The text of its own help; by default the summary as a sentence.
        declare: A function that declares its arguments when it first parses, for commands of extensions.
    """
    sentence = f"{summary[0].upper()}{summary[1:]}."
    return commands.add_parser(name, help=summary, description=description or sentence, declare=declare)


def add_run(parser: argparse.ArgumentParser, alternative: str = "") -> None:
    """Add the run that a command reads, and its store; the alternative is a file that may be named instead."""
    names = "id of a run, the beginning of its id, or latest"
    parser.add_argument("name", metavar="RUN", help=f"{names}; {alternative}" if alternative else names)
    add_store(parser)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the store that a command reads."""
    parser.add_argument(
        "--store", type=store_location, default=STORE, metavar="PATH|URL", help=f"store of the answers ({STORE})"
    )


def store_location(text: str) -> StoreLocation:
    """Return the location of a store, as argparse reads an argument."""
    from pytest_fairness.store.location import parse_location

    try:
        return parse_location(text, Path())
    except StoreError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number(text: str) -> float:
    """Return a number, as argparse reads an argument."""
    from pytest_fairness.core.written_numbers import plain_number

    try:
        return float(text)
    except ValueError:
        plain = plain_number(text)
        raise argparse.ArgumentTypeError(f"{text!r} is no number: write {plain or 'one such as 0.8'}") from None


def whole_number(text: str) -> int:
    """Return a whole number, as argparse reads an argument."""
    value = number(text)
    if not value.is_integer():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number: write one such as 10")
    return int(value)


def secret_redactor() -> Callable[[str], str]:
    """Return a function that removes from a text the keys of this machine, and whatever looks like one."""
    from pytest_fairness.core.secrets import redacted, secrets_in

    return partial(redacted, secrets=secrets_in(os.environ))


@contextmanager
def open_store(location: StoreLocation) -> Iterator[Store]:
    """Open a store that exists, to read it. Raises `StoreError`, in one line, where it does not exist."""
    from pytest_fairness.store.store import open_to_read

    if not location.exists():
        from pytest_fairness.store.location import no_store

        raise no_store(location)
    with open_to_read(location) as store:
        yield store


def view_of(options: argparse.Namespace) -> View:
    """Return the run that an argument names. Raises `StoreError` where there is none."""
    from pytest_fairness.report.load_run import read_view

    with open_store(options.store) as store:
        return read_view(store, store.runs.find(options.name, "document"), secret_redactor())
