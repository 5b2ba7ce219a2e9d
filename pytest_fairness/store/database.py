"""The database of a store: creation, migration, transactions, and errors in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, insert, inspect, select, update
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema, sqlite
from pytest_fairness.store.dialects import insert_new, insert_or_replace
from pytest_fairness.store.location import StoreLocation

if TYPE_CHECKING:
    from pytest_fairness.store.postgresql import PostgresDatabase

T = TypeVar("T")
_OPENING = 10.0
"""Seconds to wait for a server when the store is opened: the address may simply be wrong."""
_DISK_FULL = "53100"


class Database:
    """The open database of a store.

    All methods raise `StoreError`, in one line, where it cannot be read or written. A transaction that a server
    breaks off is repeated: every transaction must have the same result when it is done twice.
    """

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self._backend = _backend(location)
        self._engine = self._backend.engine
        self.dialect: str = self._engine.dialect.name
        self.insert_new = partial(insert_new, self.dialect)
        self.insert_or_replace = partial(insert_or_replace, self.dialect)
        self._tries_for = min(_OPENING, self._backend.tries_for)
        try:
            self.alone(self._prepare)
        except StoreError:
            self.close()
            raise
        self._tries_for = self._backend.tries_for

    def _prepare(self, connection: Connection) -> None:
        tables = inspect(connection).get_multi_columns()
        columns = {name: {column["name"] for column in listed} for (_, name), listed in tables.items()}
        if columns and "layout" not in columns:
            raise StoreError(f"{self.location} holds tables of another program: {self._backend.way_out}")
        number = connection.execute(select(schema.layout.c.number)).scalar() if columns else None
        if columns and (number is None or number < 1):
            raise StoreError(f"the store {self.location} is damaged, it has no layout: {self._backend.way_out}")
        if number == schema.LAYOUT and (missing := schema.missing_part(columns)):
            raise StoreError(f"the store {self.location} is damaged, it has lost {missing}: {self._backend.way_out}")
        if number is None:
            schema.metadata.create_all(connection, checkfirst=False)
            connection.execute(insert(schema.layout).values(number=schema.LAYOUT))
        elif number > schema.LAYOUT:
            raise StoreError(
                f"the store {self.location} has layout {number} and this version of pytest-fairness reads up to "
                f"{schema.LAYOUT}: upgrade pytest-fairness, or name another store with --fairness-store"
            )
        elif number < schema.LAYOUT:
            schema.metadata.create_all(connection)
            schema.migrate(connection, number)
            connection.execute(update(schema.layout).values(number=schema.LAYOUT))

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            message = " ".join(str(error.orig).split())
            raise StoreError(
                f"the store {self.location} failed: {message}; {self._backend.repair(error.orig)}"
            ) from None

    def _run(self, opened: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]) -> T:
        def once() -> T:
            with opened() as connection:
                return work(connection)

        return self._with_retries(once)

    def _with_retries(self, call: Callable[[], T]) -> T:
        with self._readable_errors():
            if not self._tries_for:
                return call()
            # Only servers are retried: an error of a file does not pass.
            from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

            return Retrying(
                retry=retry_if_exception(_is_transient),
                stop=stop_after_delay(self._tries_for),
                wait=wait_random_exponential(0.05, max=1),
                reraise=True,
            )(call)

    def _autocommit(self) -> AbstractContextManager[Connection]:
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a function in one transaction, which may be repeated; return its result."""

        return self._run(self._engine.begin, work)

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction during which no other process can open the store; it may be repeated."""

        return self._run(self._backend.preparing, work)

    def compact(self) -> None:
        """Return the space of deleted rows to the file system."""

        self._run(self._autocommit, self._backend.compact)

    def size(self) -> int:
        """Return the size of the database in bytes."""
        return self.read(self._backend.size)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function that reads, without a transaction; it may be repeated."""

        return self._run(self._autocommit, work)

    def execute(self, statement: Any, rows: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Execute one statement that writes."""
        self.write(lambda connection: connection.execute(statement, rows))

    def rows(self, statement: Any) -> Sequence[Any]:
        """Return all rows that a statement reads."""
        return self.read(lambda connection: connection.execute(statement).all())

    def scalar(self, statement: Any) -> Any:
        """Return the first column of the first row, or None."""
        return self.read(lambda connection: connection.execute(statement).scalar())

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
        self._engine.dispose()


def _backend(location: StoreLocation) -> sqlite.File | PostgresDatabase:
    if isinstance(location, Path):
        return sqlite.File(location)
    from pytest_fairness.store.postgresql import PostgresDatabase

    return PostgresDatabase(location)


def _is_transient(error: BaseException) -> bool:
    """Return whether an error is transient: a server that restarts, a deadlock, too many connections."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return getattr(error.orig, "sqlstate", None) != _DISK_FULL
