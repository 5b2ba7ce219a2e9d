"""The database of a store: how it is made, read, written, and what it says when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, insert, inspect, select, update
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import postgresql, sqlite, tables
from pytest_fairness.store.dialects import insert_new, insert_or_replace
from pytest_fairness.store.places import Place

T = TypeVar("T")
_OPENING = 10.0
"""Seconds for which a server is waited for at the beginning: an address may as well be wrong."""
_DISK_FULL = "53100"


class Database:
    """A store's database, opened.

    Raises `StoreError`, in one line, when it cannot be read or written. What a server that
    is restarted broke off is repeated: every transaction must come to the same when it is
    done twice.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._medium = sqlite.File(place) if isinstance(place, Path) else postgresql.Database(place)
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
        found = inspect(connection).get_multi_columns()
        known = {name: {column["name"] for column in columns} for (_, name), columns in found.items()}
        if known and "layout" not in known:
            raise StoreError(f"{self.place} holds tables of another program: {self._medium.way_out}")
        number = connection.execute(select(tables.layout.c.number)).scalar() if known else None
        if known and (number is None or number < 1):
            raise StoreError(f"the store {self.place} is damaged, it has no layout: {self._medium.way_out}")
        if number == tables.LAYOUT and (lost := tables.lacking(known)):
            raise StoreError(f"the store {self.place} is damaged, it has lost {lost}: {self._medium.way_out}")
        if number is None or number <= tables.LAYOUT:
            tables.metadata.create_all(connection)
        if number is None:
            connection.execute(insert(tables.layout).values(number=tables.LAYOUT))
        elif number > tables.LAYOUT:
            raise StoreError(
                f"the store {self.place} has layout {number} and this version of pytest-fairness reads up to "
                f"{tables.LAYOUT}: upgrade pytest-fairness, or name another store with --fairness-store"
            )
        elif number < tables.LAYOUT:
            tables.migrate(connection, number)
            connection.execute(update(tables.layout).values(number=tables.LAYOUT))

    @contextmanager
    def _mended(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            said = " ".join(str(error.orig).split())
            raise StoreError(f"the store {self.place} failed: {said}; {self._medium.repair(error.orig)}") from None

    def _repeated(self, work: Callable[[], T]) -> T:
        with self._mended():
            if not self._tries_for:
                return work()
            return Retrying(
                retry=retry_if_exception(_may_pass),
                stop=stop_after_delay(self._tries_for),
                wait=wait_random_exponential(0.05, max=1),
                reraise=True,
            )(work)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do this in one transaction, which may be repeated."""

        def once() -> T:
            with self._engine.begin() as connection:
                return work(connection)

        return self._repeated(once)

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Do this in one transaction, in which nobody else can open the store; it may be repeated."""

        def once() -> T:
            with self._medium.preparing() as connection:
                return work(connection)

        return self._repeated(once)

    def compact(self) -> None:
        """Give back the room of what was deleted."""

        def once() -> None:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                self._medium.compact(connection)

        self._repeated(once)

    def size(self) -> int:
        """The bytes that it takes."""
        return self.read(self._medium.size)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do this without a transaction; it may be repeated."""

        def once() -> T:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                return work(connection)

        return self._repeated(once)

    def execute(self, statement: Any, rows: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Write by one statement."""
        self.write(lambda connection: connection.execute(statement, rows))

    def rows(self, wanted: Any) -> Sequence[Any]:
        """All rows that a statement reads."""
        return self.read(lambda connection: connection.execute(wanted).all())

    def scalar(self, wanted: Any) -> Any:
        """The first column of the first row, or None."""
        return self.read(lambda connection: connection.execute(wanted).scalar())

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """One process at a time, of those on this store."""

        def locked() -> AbstractContextManager[object]:
            lock = self._medium.lock(name)
            lock.__enter__()
            return lock

        lock = self._repeated(locked)
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def close(self) -> None:
        self._engine.dispose()


def _may_pass(error: BaseException) -> bool:
    """Whether it may go when it is tried again: a server that restarts, a deadlock, too many connections."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return getattr(error.orig, "sqlstate", None) != _DISK_FULL
