"""Merging of stores into one file, such as those of CI shards without a shared server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from sqlalchemy import Connection, Table, func, select, tuple_
from sqlalchemy.dialects import sqlite

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema
from pytest_fairness.store.database import Database
from pytest_fairness.store.location import StoreLocation

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
_ANSWER = ("text", "finish_reason", "reasoning", "actions")


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
                        if not database.scalar(select(func.count()).select_from(schema.runs)):
                            merged.empty.append(source)
                        merged.conflicts += _copy(target, database)
                if len(merged.empty) == len(sources):
                    raise StoreError(f"there is no run in {', '.join(map(str, sources))}: {LEFT_BEHIND}")
                merged.attempts, merged.runs = (
                    target.scalar(select(func.count()).select_from(table)) for table in (schema.attempts, schema.runs)
                )
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
            with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(copy)) as new:
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
        target.execute(_insert(target, schema.attempts), page)
    batches = {batch for (batch,) in source.rows(select(schema.submissions.c.id))}
    for table in _OTHER_TABLES:
        for page in _pages(source, table):
            rows = page
            if table is schema.grades:  # of the answer that its store had
                rows = [row for row in page if row["key"] not in conflicts]
            elif table is schema.claims:
                rows = [row for row in page if row["owner"] in batches]
            if rows:
                target.execute(_insert(target, table), rows)
    return len(conflicts)


def _insert(target: Database, table: Table) -> Any:
    """Return the insert of a table's rows, with the rule for rows that exist already."""
    old = table.c
    if table is schema.attempts:  # an error is no answer
        return target.insert_or_replace(table, lambda new: old.error.is_not(None) & new.error.is_(None))
    if table is schema.thresholds:  # one that a shard has judged
        return target.insert_or_replace(table, lambda _: old.result.is_(None))
    if table is schema.samples:  # a later look at a threshold holds the earlier ones
        return target.insert_or_replace(table, lambda new: new.attempts > old.attempts)
    if table is schema.looks:  # of the two numbers the later, whose interval is the wider
        return target.insert_or_replace(table, lambda new: new.number > old.number)
    if table is schema.runs:
        insert = sqlite.insert(table)
        return insert.on_conflict_do_update(
            index_elements=["id"],
            set_={
                "started": func.min(old.started, insert.excluded.started),
                "git": func.coalesce(old.git, insert.excluded.git),
                "document": func.coalesce(old.document, insert.excluded.document),
            },
        )
    return target.insert_new(table)


def _conflicts(connection: Connection, rows: Sequence[dict[str, Any]]) -> set[str]:
    """Return the keys of those attempts that have a different answer already."""
    attempts = schema.attempts.c
    statement = select(attempts.key, *(attempts[name] for name in _ANSWER))
    new_answers = {row["key"]: tuple(row[name] for name in _ANSWER) for row in rows if row["error"] is None}
    stored = connection.execute(statement.where(attempts.key.in_(list(new_answers)), attempts.error.is_(None)))
    return {key for key, *answer in stored if tuple(answer) != new_answers[key]}


def _pages(database: Database, table: Table) -> Iterator[list[dict[str, Any]]]:
    """Yield all rows of a table, by its key, some at a time."""
    key = list(table.primary_key.columns)
    statement = select(table).order_by(*key).limit(_PAGE)
    page = database.rows(statement)
    while page:
        yield [dict(row._mapping) for row in page]
        last = tuple(page[-1]._mapping[column.name] for column in key)
        page = database.rows(statement.where(tuple_(*key) > last))
