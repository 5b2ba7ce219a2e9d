"""The database of a store: creation, migration, transactions, and errors in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema, sqlite
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.location import StoreLocation

if TYPE_CHECKING:
    from pytest_fairness.store.postgresql import PostgresDatabase

T = TypeVar("T")
_OPENING = 10.0
_RETRYING = 60.0
"""Seconds for which an unreachable server is retried; when the store is opened, the address may simply be wrong."""


class Database:
    """The open database of a store.

    All methods raise `StoreError`, in one line, where it cannot be read or written. A transaction that a server
    breaks off is repeated: every transaction must have the same result when it is done twice.
    """

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self._backend = _backend(location)
        self._pool = self._backend.pool
        self._tries_for = _OPENING
        try:
            self.alone(self._prepare)
        except StoreError:
            self.close()
            raise
        self._tries_for = _RETRYING

    def _prepare(self, connection: StoreConnection) -> None:
        columns = self._backend.columns(connection)
        if columns and "layout" not in columns:
            raise StoreError(f"{self.location} holds tables of another program: {self._backend.way_out}")
        number = connection.scalar("SELECT number FROM layout") if columns else 0
        if columns and (number is None or number < 1):
            raise StoreError(f"the store {self.location} is damaged, it has no layout: {self._backend.way_out}")
        if number > schema.LAYOUT:
            raise StoreError(
                f"the store {self.location} has layout {number} and this version of pytest-fairness reads up to "
                f"{schema.LAYOUT}: upgrade pytest-fairness, or name another store with --fairness-store"
            )
        if number < schema.LAYOUT:
            schema.upgrade(connection, columns)
            columns = self._backend.columns(connection)
        if missing := schema.missing_part(columns):
            raise StoreError(f"the store {self.location} is damaged, it has lost {missing}: {self._backend.way_out}")

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        try:
            yield
        except self._backend.error as error:
            message = " ".join(str(error).split())
            raise StoreError(f"the store {self.location} failed: {message}; {self._backend.repair(error)}") from None

    def _run(
        self, opened: Callable[[], AbstractContextManager[StoreConnection]], work: Callable[[StoreConnection], T]
    ) -> T:
        def once() -> T:
            with opened() as connection:
                return work(connection)

        return self._with_retries(once)

    def _with_retries(self, call: Callable[[], T]) -> T:
        with self._readable_errors():
            if isinstance(self._backend, sqlite.File):  # its errors do not pass
                self._backend.check()
                return call()
            from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

            return Retrying(
                retry=retry_if_exception(self._backend.is_transient),
                stop=stop_after_delay(self._tries_for),
                wait=wait_random_exponential(0.05, max=1),
                reraise=True,
            )(call)

    def write(self, work: Callable[[StoreConnection], T]) -> T:
        """Run a function in one transaction, which may be repeated; return its result."""
        return self._run(self._pool.transaction, work)

    def alone(self, work: Callable[[StoreConnection], T]) -> T:
        """Run a function in a transaction during which no other process can open the store; it may be repeated."""
        return self._run(self._backend.preparing, work)

    def read(self, work: Callable[[StoreConnection], T]) -> T:
        """Run a function that reads, without a transaction; it may be repeated."""
        return self._run(self._pool.connection, work)

    def compact(self) -> None:
        """Return the space of deleted rows to the file system."""
        self._run(self._pool.connection, self._backend.compact)

    def size(self) -> int:
        """Return the size of the database in bytes."""
        return self.read(self._backend.size)

    def execute(self, statement: str, /, **values: Any) -> None:
        """Execute one statement that writes."""
        self.write(lambda connection: connection.execute(statement, **values))

    def execute_many(self, statement: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute one statement that writes, once for each row."""
        self.write(lambda connection: connection.execute_many(statement, rows))

    def rows(self, statement: str, /, **values: Any) -> list[Any]:
        """Return all rows that a statement reads, as tuples."""
        return self.read(lambda connection: connection.rows(statement, **values))

    def mappings(self, statement: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return all rows that a statement reads, by the names of their columns."""
        return self.read(lambda connection: connection.mappings(statement, **values))

    def scalar(self, statement: str, /, **values: Any) -> Any:
        """Return the first column of the first row, or None."""
        return self.read(lambda connection: connection.scalar(statement, **values))

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Let one process at a time, of those on this store, run the block."""

        def locked() -> AbstractContextManager[object]:
            lock = self._backend.lock(name)
            lock.__enter__()
            return lock

        lock = self._with_retries(locked)
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def close(self) -> None:
        self._pool.close()


def _backend(location: StoreLocation) -> sqlite.File | PostgresDatabase:
    if isinstance(location, Path):
        return sqlite.File(location)
    try:
        from pytest_fairness.store.postgresql import PostgresDatabase
    except ImportError:
        raise StoreError(f"the store {location} needs psycopg: pip install ./pytest-fairness[postgres]") from None
    return PostgresDatabase(location)
