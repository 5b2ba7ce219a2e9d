"""Merging of stores into one file, such as those of CI shards without a shared server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema
from pytest_fairness.store.archive import readable
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database
from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.schema import Table

_PAGE = 1000
_OTHER_TABLES = (
    schema.prompts,
    schema.grades,
    schema.runs,
    schema.thresholds,
    schema.looks,
    schema.samples,
    schema.parts,
    schema.influences,
    schema.spending,
    schema.submissions,
    schema.claims,
)
"""Tables that are copied besides the attempts; of the claims only those of batches, as no session is running."""
LEFT_BEHIND = "was the file beside it left behind, whose name ends in -wal? It holds what was answered last"
_SELECT_ANSWERS = """
SELECT key, text, finish_reason, reasoning, actions FROM attempts WHERE key IN :keys AND error IS NULL
"""
_MERGE_RUNS = """
ON CONFLICT (id) DO UPDATE SET started = min(runs.started, excluded.started),
  git = coalesce(runs.git, excluded.git), document = coalesce(runs.document, excluded.document)
"""
_INSERTS = {
    # An error is no answer.
    schema.attempts: schema.attempts.insert_or_replace("attempts.error IS NOT NULL AND excluded.error IS NULL"),
    # One that a shard has judged.
    schema.thresholds: schema.thresholds.insert_or_replace("thresholds.result IS NULL"),
    # A later look at a threshold holds the earlier ones.
    schema.samples: schema.samples.insert_or_replace("excluded.attempts > samples.attempts"),
    # Of the two numbers the later, whose interval is the wider.
    schema.looks: schema.looks.insert_or_replace("excluded.number > looks.number"),
    schema.runs: f"{schema.runs.insert()} {_MERGE_RUNS}",
}
"""Inserts that may change a row; those of other tables keep the row of the first store."""


@dataclass(slots=True)
class MergeResult:
    """The outcome of a merge."""

    attempts: int = 0
    runs: int = 0
    conflicts: int = 0
    """Attempts with a different answer in an earlier store, whose answer is kept."""
    empty: list[StoreLocation] = field(default_factory=list)
    """Stores without a run."""


def merge(sources: Sequence[StoreLocation], out: Path) -> MergeResult:
    """Join stores into a new file. Of two answers to an attempt, that of the first store is kept, with its grades.

    Stores of older layouts are read as well; none is changed.

    Raises:
        StoreError: A store is not there, the file is, or no store has a run.
    """
    for source in sources:
        if not source.exists():
            raise StoreError(f"there is no store {source}")
    if out.exists():
        raise StoreError(f"{out} is there already: name a new file")
    merged = MergeResult()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_folder(out.with_name(f".{out.name}.merge")) as folder:
            merged_file = folder / "merged.sqlite"
            with closing(Database(merged_file)) as target:
                for number, source in enumerate(sources):
                    with _open_copy(source, folder / f"{number}.sqlite") as database:
                        if not database.scalar("SELECT count(*) FROM runs"):
                            merged.empty.append(source)
                        merged.conflicts += _copy(target, database)
                if len(merged.empty) == len(sources):
                    raise StoreError(f"there is no run in {', '.join(map(str, sources))}: {LEFT_BEHIND}")
                merged.attempts = target.scalar("SELECT count(*) FROM attempts")
                merged.runs = target.scalar("SELECT count(*) FROM runs")
            merged_file.rename(out)
    except OSError as error:
        raise StoreError(f"{out} cannot be made: {error.strerror}; name another file") from None
    return merged


@contextmanager
def _temporary_folder(folder: Path) -> Iterator[Path]:
    """Create a temporary folder. Files of a killed merge into the same file are deleted first."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def _open_copy(source: StoreLocation, copy: Path) -> Iterator[Database]:
    """Open a store for reading; of a file a copy, since opening migrates the layout."""
    if isinstance(source, Path):
        try:
            with (
                readable(source) as file,
                closing(sqlite3.connect(str(file))) as old,
                closing(sqlite3.connect(copy)) as new,
            ):
                old.backup(new)
        except sqlite3.Error as error:
            if error.sqlite_errorname.startswith("SQLITE_FULL"):
                raise StoreError(f"there is no room in {copy.parents[1]} for a copy of {source}") from None
            raise StoreError(f"the store {source} cannot be read where it is: {error}") from None
    with closing(Database(copy if isinstance(source, Path) else source)) as database:
        yield database
    copy.unlink(missing_ok=True)


def _copy(target: Database, source: Database) -> int:
    """Copy one store into another; return the number of its answers that were dropped for earlier ones."""
    conflicts: set[str] = set()
    for page in _pages(source, schema.attempts):
        conflicts |= target.write(lambda connection, rows=page: _conflicts(connection, rows))  # type: ignore[misc]
        target.execute_many(_INSERTS[schema.attempts], page)
    batches = {batch for (batch,) in source.rows("SELECT id FROM submissions")}
    for table in _OTHER_TABLES:
        for page in _pages(source, table):
            rows = page
            if table is schema.grades:  # of the answer that its store had
                rows = [row for row in page if row["key"] not in conflicts]
            elif table is schema.claims:
                rows = [row for row in page if row["owner"] in batches]
            if rows:
                target.execute_many(_INSERTS.get(table, table.insert_new()), rows)
    return len(conflicts)


def _conflicts(connection: StoreConnection, rows: Sequence[dict[str, Any]]) -> set[str]:
    """Return the keys of those attempts that have a different answer already."""
    new_rows = {row["key"]: row for row in rows if row["error"] is None}
    stored_rows = connection.mappings(_SELECT_ANSWERS, keys=list(new_rows))
    return {row["key"] for row in stored_rows if not row.items() <= new_rows[row["key"]].items()}


def _pages(database: Database, table: Table) -> Iterator[list[dict[str, Any]]]:
    """Yield all rows of a table, by its key, some at a time."""
    names = table.key.split(", ")
    order = f"ORDER BY {table.key} LIMIT {_PAGE}"
    page = database.mappings(f"{table.select()} {order}")
    while page:
        yield page
        last = {name: page[-1][name] for name in names}
        after = f"({table.key}) > ({', '.join(f':{name}' for name in names)})"
        page = database.mappings(f"{table.select()} WHERE {after} {order}", **last)
