"""A store in one file of this machine that many processes open."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from os import F_OK, access
from pathlib import Path

from filelock import FileLock, Timeout

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import StoreError
from pytest_fairness.store.connection import Dialect, Pool, StoreConnection

_DEFAULT_FOLDER = ".fairness"
_WAY_OUT = "name another with --fairness-store"
_OPENING, _WRITING = 10_000, 60_000
"""Milliseconds to wait for a lock of another process, while the file is opened and later."""
_DEFAULT_REPAIR = "what was answered before is kept: mend it (free space, permissions) and run again"
_REPAIRS = {
    "NOTADB": "it is no SQLite file, or one no longer: remove it",
    "CORRUPT": "the file is damaged: put a copy back or try the command .recover of sqlite3",
    "BUSY": "another program holds it: end that",
}
"""Remedies for errors of SQLite, by their kind."""


class _Driver(sqlite3.Connection):
    def close(self) -> None:
        # A cursor that an exception still holds would keep the transaction of a closed connection open.
        with suppress(sqlite3.Error):
            self.rollback()
        super().close()


class File:
    """A SQLite file. Locks are those of the operating system."""

    way_out = _WAY_OUT
    error = sqlite3.Error
    _exists = staticmethod(partial(access, mode=F_OK))  # from Python 3.14 on, a mere partial is a method
    """Function that returns whether a real file exists, also while a test replaces the file system (pyfakefs)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists() and not path.is_file():
            raise StoreError(f"the store {path} is {'a folder' if path.is_dir() else 'no file'}: {_WAY_OUT}")
        if path.exists() and (names := path.stat().st_nlink) > 1:
            raise StoreError(
                f"the store {path} is a file of {names} names (hard links), by which two runs would damage it: name a "
                "copy, or a symbolic link"
            )
        try:
            is_new = not path.parent.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            # Prompts and answers belong in no repository, as in .pytest_cache.
            if is_new and path.parent.name == _DEFAULT_FOLDER:
                (path.parent / ".gitignore").write_text("# Made by pytest-fairness.\n*\n", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"the store {path} cannot be made: {error.strerror}; {_WAY_OUT}") from None
        # Locks are named after the file: a link and its target are one store.
        self._file = path.resolve()
        self.pool = Pool(self._connect)
        self._is_prepared = False

    def _connect(self) -> StoreConnection:
        driver = sqlite3.connect(
            self._file, timeout=_WRITING / 1000, isolation_level=None, check_same_thread=False, factory=_Driver
        )
        connection = StoreConnection(driver, _DIALECT)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:  # the file is no database
            connection.close()
            raise
        return connection

    def check(self) -> None:
        """Raise `StoreError` where the file was removed: SQLite would write on, and all of it would be lost."""
        if self._is_prepared and not self._exists(self._file):
            raise StoreError(f"the store {self._path} was removed while it was in use: what it held is lost; run again")

    def repair(self, error: BaseException) -> str:
        """Return the remedy for an error."""
        kind = getattr(error, "sqlite_errorname", "").split("_")[1:2]
        return f"{_REPAIRS.get(kind[0] if kind else '', _DEFAULT_REPAIR)}, or {_WAY_OUT}"

    @contextmanager
    def preparing(self) -> Iterator[StoreConnection]:
        """Open the transaction in which tables are made: one process at a time."""
        # Switching a fresh file to WAL takes a lock that SQLite does not wait for. Another program's lock on the file
        # is reported soon here: nothing has been requested yet.
        try:
            file_lock = FileLock(f"{self._file}.lock", timeout=60, thread_local=False)
            with file_lock, self.pool.connection() as connection:
                connection.execute(f"PRAGMA busy_timeout = {_OPENING}")
                connection.execute("PRAGMA journal_mode = WAL")
                with connection.transaction():
                    yield connection
                connection.execute(f"PRAGMA busy_timeout = {_WRITING}")
            self._is_prepared = True
        except (Timeout, OSError) as error:
            raise StoreError(f"the store {self._path} cannot be opened: {error}; {_WAY_OUT}") from None

    def columns(self, connection: StoreConnection) -> dict[str, set[str]]:
        """Return the names of the columns of each table."""
        columns: dict[str, set[str]] = {}
        for table, column in connection.execute(_COLUMNS):
            columns.setdefault(table, set()).add(column)
        return columns

    def compact(self, connection: StoreConnection) -> None:
        """Rewrite the file without the rows that were deleted."""
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self, connection: StoreConnection) -> int:
        """Return the bytes of the file, including pages that are still in the write-ahead log."""
        return int(connection.scalar("PRAGMA page_count") * connection.scalar("PRAGMA page_size"))

    def lock(self, name: str) -> AbstractContextManager[object]:
        """Return a lock that one process at a time holds, of those on this store."""
        return FileLock(f"{self._file}.{name}", thread_local=False)


_COLUMNS = """
SELECT tables.name, columns.name FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' AND tables.name NOT GLOB 'sqlite_*'
"""
_REPLACEMENTS = (
    (r"unix_time\(\)", "((julianday('now') - 2440587.5) * 86400.0)"),
    (r"IN (:\w+)", r"IN (SELECT value FROM json_each(\1))"),
    (r"octet_length\((\w+)\)", r"length(CAST(\1 AS BLOB))"),
    (r" FOR UPDATE", ""),  # writing transactions are exclusive already
)


@cache
def _translate(statement: str) -> str:
    for pattern, text in _REPLACEMENTS:
        statement = re.sub(pattern, text, statement)
    return statement


_DIALECT = Dialect("sqlite", "BEGIN IMMEDIATE", _translate, json.dumps)
