"""``pytest-fairness prune``: a store without the runs and answers that are no longer needed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness.cli.arguments import Commands, add_command, add_store
from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.core.formatting import DAY, age, counted

if TYPE_CHECKING:
    from pytest_fairness.store.location import StoreLocation


def add(commands: Commands) -> None:
    """Declare the command."""
    prune = add_command(
        commands,
        "prune",
        "remove runs and answers that are no longer needed",
        "Remove the runs and answers that match every condition, and compact the store. Whatever a "
        "remaining run needs stays, as do its baseline, the latest run, the latest that passed, and the "
        "verdicts of every run: each is an interim look. What is younger than the project's `retention` stays.",
    )
    add_store(prune)
    prune.add_argument("--older-than", type=_age, metavar="90d|12h|4w", help="began or was answered before that")
    prune.add_argument("--run", dest="runs", action="append", default=[], metavar="RUN", help="this run (repeatable)")
    prune.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="used this model and no other (repeatable)"
    )
    prune.add_argument("--keep", action="append", default=[], metavar="RUN", help="keep this run (repeatable)")
    prune.add_argument("--dry-run", action="store_true", help="remove nothing; show what would be removed")
    prune.set_defaults(run=_prune)


def _age(text: str) -> float:
    try:
        return age(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"is {text!r}: {error}") from None


def _retention(store: StoreLocation) -> tuple[float | None, str]:
    """Return the longest period of retention of the projects of this folder and of the store's; and its file and line.

    Raises:
        FairnessError: A file with a table of this plugin has a malformed or misspelled period.
    """
    # test_store_of_another_folder_keeps_its_retention
    starts = [Path.cwd(), store.resolve().parent] if isinstance(store, Path) else [Path.cwd()]
    periods = [period for period in map(_retention_at, starts) if period is not None]
    return max(periods, default=(None, ""))


def _retention_at(start: Path) -> tuple[float, str] | None:
    from difflib import get_close_matches

    from pytest_fairness.core.pyproject import TOOL, Pyproject
    from pytest_fairness.plugin.config.project_settings import RETENTION, read_retention

    for folder in (start, *start.parents):
        file = Pyproject.read_ours(folder)
        table = file.table(way_out=f"write [tool.{TOOL}]")
        # test_misspelled_retention_removes_nothing
        for name in get_close_matches(RETENTION, table.keys() - {RETENTION}, 1):
            raise FairnessError(f"{file.where(name)}: [tool.{TOOL}] has no {name!r}; did you mean {RETENTION!r}?")
        if table:
            seconds = read_retention(file)
            return None if seconds is None else (seconds, file.where(RETENTION))
    return None


def _prune(options: argparse.Namespace) -> None:
    from pytest_fairness.store.location import no_store
    from pytest_fairness.store.prune import PruneSelection, prune

    if options.older_than is None and not options.runs and not options.model:
        raise StoreError("prune what? Give --older-than, --run or --model; --dry-run shows what would be removed")
    if not options.store.exists():
        raise no_store(options.store)
    retention, where = _retention(options.store)
    older_than = max(filter(None, (options.older_than, retention)), default=None)
    selection = PruneSelection(older_than, options.runs, options.model, options.keep)
    pruned = prune(options.store, selection, dry=options.dry_run)
    counts = (pruned.runs, "run"), (pruned.attempts, "answer"), (pruned.prompts, "prompt"), (pruned.grades, "grade")
    summary = ", ".join(counted(count, name) for count, name in counts)
    print(f"{'would be removed' if options.dry_run else 'removed'}: {summary} ({pruned.size:,} bytes of contents)")
    if retention is not None:
        print(f"kept: what is younger than {retention / DAY:g} days ({where}: retention)")
    if not options.dry_run:
        print(f"the store {options.store}: {pruned.before:,} bytes before, {pruned.after:,} now")
