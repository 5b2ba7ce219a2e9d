"""A store in one file of this machine that many processes open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event

from pytest_fairness.core.errors import StoreError

_WAY_OUT = "name another with --fairness-store"


class File:
    """The file. Locks are those of the operating system."""

    tries_for = 0.0
    """Seconds: an error of a file does not pass."""
    repair = f"mend it (free space, permissions) and run again, or {_WAY_OUT}"

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the store {path} cannot be made: {error.strerror}; {_WAY_OUT}") from None
        self.engine = self._connect()

    def _connect(self) -> Engine:
        engine = create_engine(f"sqlite:///{self._path}", connect_args={"timeout": 60})

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

    @contextmanager
    def preparing(self) -> Iterator[Connection]:
        """The transaction in which tables are made: one process at a time."""
        # Switching a fresh file to WAL takes a lock that SQLite does not wait for.
        try:
            with FileLock(f"{self._path}.lock", timeout=60, thread_local=False):
                with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                with self.engine.begin() as connection:
                    yield connection
        except (Timeout, OSError) as error:
            raise StoreError(f"the store {self._path} cannot be opened: {error}; {_WAY_OUT}") from None

    def lock(self, name: str) -> AbstractContextManager[object]:
        """One process at a time, of those on this store."""
        return FileLock(f"{self._path}.{name}", thread_local=False)
