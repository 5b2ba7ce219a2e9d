"""Database of a store: made, read and written, with errors in one line."""

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
"""Seconds for which a server is waited for at the beginning: an address may as well be wrong."""
_DISK_FULL = "53100"


class Database:
    """A store's database, opened.

    All methods raise `StoreError`, in one line, where it cannot be read or written. A transaction that a server
    breaks off is repeated: every transaction must have the same result when it is done twice.
    """

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self._medium = _medium(location)
        self._engine = self._medium.engine
        self.dialect: str = self._engine.dialect.name
        self.insert_new = partial(insert_new, self.dialect)
        self.insert_or_replace = partial(insert_or_replace, self.dialect)
        self._tries_for = min(_OPENING, self._medium.tries_for)
        try:
            self.alone(self._prepare)
        except StoreError:
            self.close()
            raise
        self._tries_for = self._medium.tries_for

    def _prepare(self, connection: Connection) -> None:
        tables = inspect(connection).get_multi_columns()
        columns = {name: {column["name"] for column in listed} for (_, name), listed in tables.items()}
        if columns and "layout" not in columns:
            raise StoreError(f"{self.location} holds tables of another program: {self._medium.way_out}")
        number = connection.execute(select(schema.layout.c.number)).scalar() if columns else None
        if columns and (number is None or number < 1):
            raise StoreError(f"the store {self.location} is damaged, it has no layout: {self._medium.way_out}")
        if number == schema.LAYOUT and (lost := schema.lacking(columns)):
            raise StoreError(f"the store {self.location} is damaged, it has lost {lost}: {self._medium.way_out}")
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
    def _mended(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            message = " ".join(str(error.orig).split())
            raise StoreError(
                f"the store {self.location} failed: {message}; {self._medium.repair(error.orig)}"
            ) from None

    def _repeated(self, opened: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]) -> T:
        def once() -> T:
            with opened() as connection:
                return work(connection)

        return self._with_retries(once)

    def _with_retries(self, call: Callable[[], T]) -> T:
        with self._mended():
            if not self._tries_for:
                return call()
            # A file is never tried again.
            from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

            return Retrying(
                retry=retry_if_exception(_may_pass),
                stop=stop_after_delay(self._tries_for),
                wait=wait_random_exponential(0.05, max=1),
                reraise=True,
            )(call)

    def _autocommit(self) -> AbstractContextManager[Connection]:
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do some work in one transaction, which may be repeated."""

        return self._repeated(self._engine.begin, work)

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Do some work in one transaction, in which nobody else can open the store; it may be repeated."""

        return self._repeated(self._medium.preparing, work)

    def compact(self) -> None:
        """Give back the room of what was deleted."""

        self._repeated(self._autocommit, self._medium.compact)

    def size(self) -> int:
        """Return the bytes that it takes."""
        return self.read(self._medium.size)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do some work without a transaction; it may be repeated."""

        return self._repeated(self._autocommit, work)

    def execute(self, statement: Any, rows: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Write by one statement."""
        self.write(lambda connection: connection.execute(statement, rows))

    def rows(self, wanted: Any) -> Sequence[Any]:
        """Return all rows that a statement reads."""
        return self.read(lambda connection: connection.execute(wanted).all())

    def scalar(self, wanted: Any) -> Any:
        """Return the first column of the first row, or None."""
        return self.read(lambda connection: connection.execute(wanted).scalar())

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Let one process at a time, of those on this store, run the block."""

        def locked() -> AbstractContextManager[object]:
            lock = self._medium.lock(name)
            lock.__enter__()
            return lock

        lock = self._with_retries(locked)
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def close(self) -> None:
        self._engine.dispose()


def _medium(location: StoreLocation) -> sqlite.File | PostgresDatabase:
    if isinstance(location, Path):
        return sqlite.File(location)
    from pytest_fairness.store.postgresql import PostgresDatabase

    return PostgresDatabase(location)


def _may_pass(error: BaseException) -> bool:
    """Return whether it may go when it is tried again: a server that restarts, a deadlock, too many connections."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return getattr(error.orig, "sqlstate", None) != _DISK_FULL
