"""What several commands take."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_fairness.core.errors import StoreError

if TYPE_CHECKING:
    from pytest_fairness.report.view import View
    from pytest_fairness.store.places import Place
    from pytest_fairness.store.store import Store

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""To which commands are added: argparse has no public name for it."""
STORE = Path(".fairness/store.sqlite")


def add_run(parser: argparse.ArgumentParser, more: str = "") -> None:
    """The run that a command reads, and the store that it is in; ``more`` is what it may be besides."""
    known = "a run's id, the beginning of it, or latest"
    parser.add_argument("name", metavar="RUN", help=f"{known}; {more}" if more else known)
    add_store(parser)


def add_store(parser: argparse.ArgumentParser) -> None:
    """The store that a command reads."""
    parser.add_argument(
        "--store", type=place, default=STORE, metavar="PATH|URL", help=f"where answers are kept ({STORE})"
    )


def place(text: str) -> Place:
    """A store as argparse reads one."""
    from pytest_fairness.store.places import place_of

    try:
        return place_of(text, Path())
    except StoreError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def hiding_secrets() -> Callable[[str], str]:
    """From a text to the same without the keys of this machine, nor what looks like one."""
    from pytest_fairness.core.secrets import redacted, secrets_in

    return partial(redacted, secrets=secrets_in(os.environ))


@contextmanager
def opened(path: Place) -> Iterator[Store]:
    """A store that is there. Raises `StoreError`, in one line, where it is not."""
    from pytest_fairness.store.store import Store

    if not path.exists():
        raise StoreError(f"there is no store {path}: name it with --store")
    store = Store(path)
    try:
        yield store
    finally:
        store.close()


def view_of(chosen: argparse.Namespace) -> View:
    """The run that was named. Raises `StoreError` where there is none."""
    from pytest_fairness.report.reading import read_view

    with opened(chosen.store) as store:
        return read_view(store, store.runs.find(chosen.name, "document"), hiding_secrets())
