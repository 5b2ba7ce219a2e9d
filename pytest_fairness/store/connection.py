"""Connections to the database of a store: one SQL for SQLite and PostgreSQL, with named parameters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple


class Dialect(NamedTuple):
    """The SQL of one database, where it differs from that of the other."""

    name: str
    begin: str
    """The statement that begins a transaction."""
    translate: Callable[[str], str]
    """A function that returns a statement in this SQL."""
    array: Callable[[list[Any]], Any]
    """A function that returns a list in the form of a parameter."""


class StoreConnection:
    """A connection to either database, for one thread at a time.

    A statement is a constant text; values are its named parameters, as ``:name``. Besides what both databases accept it
    may contain ``unix_time()``, the seconds since 1970 on the database's clock (those of the machines that share it may
    differ, or jump), ``IN :names`` with a list, ``octet_length(column)``, ``BLOB`` and ``FOR UPDATE``.

    After an error the connection must be closed. This also rolls back its transaction.
    """

    def __init__(self, driver: Any, dialect: Dialect) -> None:
        self._driver = driver
        self._dialect = dialect
        self.dialect = dialect.name
        self.close = driver.close

    def execute(self, statement: str, /, **values: Any) -> Any:
        """Execute a statement; return its cursor."""
        array = self._dialect.array
        parameters = {name: array(value) if isinstance(value, list) else value for name, value in values.items()}
        return self._driver.execute(self._dialect.translate(statement), parameters)

    def execute_many(self, statement: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Execute a statement once for each row; return the number of rows that were written."""
        cursor = self._driver.cursor()
        cursor.executemany(self._dialect.translate(statement), rows)
        return int(cursor.rowcount)

    def rows(self, statement: str, /, **values: Any) -> list[Any]:
        """Return all rows that a statement reads, as tuples."""
        rows: list[Any] = self.execute(statement, **values).fetchall()
        return rows

    def mappings(self, statement: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return all rows that a statement reads, by the names of their columns."""
        cursor = self.execute(statement, **values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def column(self, statement: str, /, **values: Any) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self.execute(statement, **values)]

    def scalar(self, statement: str, /, **values: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self.execute(statement, **values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction."""
        self.execute(self._dialect.begin)
        yield
        self.execute("COMMIT")


class Pool:
    """Open connections that the threads of a process use in turn."""

    def __init__(self, connect: Callable[[], StoreConnection]) -> None:
        self._connect = connect
        self._idle: deque[StoreConnection] = deque()

    @contextmanager
    def connection(self) -> Iterator[StoreConnection]:
        """Yield a connection. After an error in the block it is closed: it may be broken."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    @contextmanager
    def transaction(self) -> Iterator[StoreConnection]:
        """Yield a connection, and run the block in one transaction."""
        with self.connection() as connection, connection.transaction():
            yield connection

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop().close()
