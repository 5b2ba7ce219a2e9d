"""A store in one file of this machine that many processes open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, create_engine, event

from pytest_fairness.core.errors import StoreError

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


class File:
    """A SQLite file. Locks are those of the operating system."""

    tries_for = 0.0
    """Seconds for which errors are retried: those of a file do not pass."""
    way_out = _WAY_OUT

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists() and not path.is_file():
            raise StoreError(f"the store {path} is {'a folder' if path.is_dir() else 'no file'}: {_WAY_OUT}")
        try:
            is_new = not path.parent.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            if (
                is_new and path.parent.name == _DEFAULT_FOLDER
            ):  # prompts and answers belong in no repository, as in .pytest_cache
                (path.parent / ".gitignore").write_text("# Made by pytest-fairness.\n*\n", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"the store {path} cannot be made: {error.strerror}; {_WAY_OUT}") from None
        self.engine = self._connect()

    def _connect(self) -> Engine:
        # Not as a URL in a text: a path may contain characters that are special there.
        engine = create_engine(
            URL.create("sqlite", database=str(self._path)), connect_args={"timeout": _WRITING / 1000}
        )

        @event.listens_for(engine, "connect")
        def configure(connection: Any, _: object) -> None:
            connection.isolation_level = None
            connection.execute("PRAGMA synchronous = NORMAL")

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # SQLAlchemy calls this for reading connections as well; those need no lock.
            if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
                connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine

    def repair(self, error: BaseException | None) -> str:
        """Return the remedy for an error."""
        kind = getattr(error, "sqlite_errorname", "").split("_")[1:2]
        return f"{_REPAIRS.get(kind[0] if kind else '', _DEFAULT_REPAIR)}, or {_WAY_OUT}"

    @contextmanager
    def preparing(self) -> Iterator[Connection]:
        """Open the transaction in which tables are made: one process at a time."""
        # Switching a fresh file to WAL takes a lock that SQLite does not wait for. Another program's lock on the file
        # is reported soon here: nothing has been requested yet.
        try:
            with FileLock(f"{self._path}.lock", timeout=60, thread_local=False):
                with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql(f"PRAGMA busy_timeout = {_OPENING}")
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                with self.engine.begin() as connection:
                    yield connection
                    connection.exec_driver_sql(f"PRAGMA busy_timeout = {_WRITING}")
        except (Timeout, OSError) as error:
            raise StoreError(f"the store {self._path} cannot be opened: {error}; {_WAY_OUT}") from None

    def compact(self, connection: Connection) -> None:
        """Rewrite the file without the rows that were deleted."""
        connection.exec_driver_sql("VACUUM")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self, connection: Connection) -> int:
        """Return the bytes of the file, including pages that are still in the write-ahead log."""
        pages, size = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("page_count", "page_size")
        )
        return int(pages * size)

    def lock(self, name: str) -> AbstractContextManager[object]:
        """Return a lock that one process at a time holds, of those on this store."""
        return FileLock(f"{self._path}.{name}", thread_local=False)
