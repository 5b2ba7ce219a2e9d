"""``pytest-fairness merge``: several stores, joined into one."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.cli.arguments import Commands, add_command, store_location
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted


def add(commands: Commands) -> None:
    """Declare the command."""
    merge = add_command(
        commands,
        "merge",
        "join stores into one, such as those of shards without a server",
        "Join stores into a new file. Of two answers to the same attempt, the answer of the first store is "
        "kept, and their number is reported. Stores of older versions are read as well; none is changed.",
    )
    merge.add_argument("stores", nargs="+", type=store_location, metavar="STORE", help="a file, or the URL of a server")
    merge.add_argument("--out", type=store_location, required=True, metavar="FILE", help="the new store, a file")
    merge.set_defaults(run=_merge)


def _merge(options: argparse.Namespace) -> None:
    from pytest_fairness.store.merge import LEFT_BEHIND, merge

    if not isinstance(options.out, Path):
        raise FairnessError(f"--out is {options.out}, a server: stores are merged into a new file, so give its path")
    merged = merge(options.stores, options.out)
    for empty in merged.empty:
        print(f"there is no run in {empty}: {LEFT_BEHIND}")
    if merged.conflicts:
        print(
            f"{counted(merged.conflicts, 'attempt')} had another answer in an earlier store: the first is kept. Runs "
            "judged by another answer can no longer be verified here"
        )
    print(f"written: {options.out} ({counted(merged.attempts, 'attempt')}, {counted(merged.runs, 'run')})")
