"""One SQLite file that many processes open: how it is made, read, written, and what it says when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event, insert, select, update
from sqlalchemy.exc import DatabaseError

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import tables


class Database:
    """The file of a store, opened.

    Raises `StoreError`, in one line, when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"the store {path} cannot be made: {error.strerror}; name another with --fairness-store"
            ) from None
        self._engine = self._connect()
        with self._mended():
            # Switching a fresh file to WAL takes a lock that SQLite does not wait for.
            try:
                with FileLock(f"{path}.lock", timeout=60, thread_local=False):
                    self._prepare()
            except (Timeout, OSError) as error:
                raise StoreError(
                    f"the store {path} cannot be opened: {error}; name another with --fairness-store"
                ) from None

    def _connect(self) -> Engine:
        engine = create_engine(f"sqlite:///{self.path}", connect_args={"timeout": 60})

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

    def _prepare(self) -> None:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        with self._engine.begin() as connection:
            tables.metadata.create_all(connection)
            number = connection.execute(select(tables.layout.c.number)).scalar()
            if number is None:
                connection.execute(insert(tables.layout).values(number=tables.LAYOUT))
            elif number > tables.LAYOUT:
                raise StoreError(
                    f"the store {self.path} has layout {number} and this version of pytest-fairness reads up to "
                    f"{tables.LAYOUT}: upgrade pytest-fairness, or name another store with --fairness-store"
                )
            elif number < tables.LAYOUT:
                for older in range(number, tables.LAYOUT):
                    for statement in tables.MIGRATIONS[older]:
                        connection.exec_driver_sql(statement)
                connection.execute(update(tables.layout).values(number=tables.LAYOUT))

    @contextmanager
    def _mended(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            raise StoreError(
                f"the store {self.path} failed: {error.orig}; what was answered before is kept: "
                "mend it (free space, permissions) and run again, or name another with --fairness-store"
            ) from None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._mended(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._mended(), self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            yield connection

    def close(self) -> None:
        self._engine.dispose()
