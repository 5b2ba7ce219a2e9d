"""A store in a PostgreSQL database that many machines open."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from typing import Any
from urllib.parse import quote, unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumper, TextLoader

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema
from pytest_fairness.store.connection import Dialect, Pool, StoreConnection
from pytest_fairness.store.location import PostgresURL

_CONNECT_OPTIONS = {"connect_timeout": "10", "tcp_user_timeout": "20000", "application_name": "pytest-fairness"}
"""Defaults for what the URL does not set. The second, in milliseconds, detects a server that is cut off."""
_DISK_FULL = "53100"
_COLUMNS = """
SELECT relname, array_agg(attname::text) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relkind IN ('r', 'p', 'f') AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
GROUP BY relname
"""


class PostgresDatabase:
    """A database on a PostgreSQL server. Advisory locks end with the connection that holds them."""

    way_out = "name another, or an empty database, with --fairness-store"
    error = psycopg.Error

    def __init__(self, location: PostgresURL) -> None:
        self._options = _connect_options(location)
        self.pool = Pool(self._connect)
        # psycopg also logs lost connections; here they are simply reopened.
        logging.getLogger("psycopg").addHandler(logging.NullHandler())

    def _connect(self) -> StoreConnection:
        driver = psycopg.connect(**self._options, autocommit=True)
        driver.adapters.register_dumper(str, _EscapingDumper)
        for name in ("text", "varchar"):
            driver.adapters.register_loader(name, _EscapingLoader)
        return StoreConnection(driver, _DIALECT)

    def is_transient(self, error: BaseException) -> bool:
        """Return whether an error may pass: of a server that restarts, a deadlock, too many connections."""
        if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return False
        return error.sqlstate != _DISK_FULL

    def repair(self, _: BaseException) -> str:
        """Return the remedy for an error."""
        return "what was answered before is kept: see to the server and run again, or name another store"

    @contextmanager
    def preparing(self) -> Iterator[StoreConnection]:
        """Open the transaction in which tables are made: one process at a time."""
        with self.pool.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(:number)", number=_lock_number("layout"))
            yield connection

    def columns(self, connection: StoreConnection) -> dict[str, set[str]]:
        """Return the names of the columns of each table."""
        return {table: set(columns) for table, columns in connection.execute(_COLUMNS)}

    def compact(self, connection: StoreConnection) -> None:
        """Rewrite the tables without the rows that were deleted."""
        connection.execute(f"VACUUM (FULL, ANALYZE) {', '.join(table.name for table in schema.TABLES)}")

    def size(self, connection: StoreConnection) -> int:
        """Return the bytes of the tables."""
        return sum(
            connection.scalar("SELECT pg_total_relation_size(:name::regclass)", name=table.name)
            for table in schema.TABLES
        )

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Let one process at a time, of those on this store, run the block."""
        with closing(self._connect()) as connection:  # a connection of its own: the lock ends with it
            connection.execute("SELECT pg_advisory_lock(:number)", number=_lock_number(name))
            yield


def _connect_options(location: PostgresURL) -> dict[str, Any]:
    """Return the options of a connection, by their names in libpq."""
    rest = location.url.partition("://")[2]
    # A password may contain everything but @ as it is.
    rest = re.sub("^([^:/]*:)([^@]*)(?=@)", lambda match: match[1] + quote(unquote(match[2]), ""), rest)
    try:
        options = conninfo_to_dict(f"postgresql://{rest}")
        if "@" in str(options.get("host")) or not re.fullmatch("[0-9,]*", str(options.get("port", ""))):
            raise ValueError  # the first would be a part of the password
    except (psycopg.Error, ValueError):  # not chained: its message may hold the password
        raise StoreError(
            f"the store {location} is no URL: write postgresql+psycopg://user@host:port/database, "
            "with %XX for what is special in a password, or give that by PGPASSWORD"
        ) from None
    return {**_CONNECT_OPTIONS, **options, "client_encoding": "utf8"}


def _lock_number(name: str) -> int:
    """Return the number of a named advisory lock."""
    return int.from_bytes(blake2b(f"pytest-fairness {name}".encode(), digest_size=8).digest(), signed=True)


class _EscapingDumper(StrDumper):
    """Writer of texts. PostgreSQL allows no NUL, so it is escaped as two characters."""

    def dump(self, obj: str) -> Any:
        if "\x00" in obj or "\x1a" in obj:
            obj = obj.replace("\x1a", "\x1a1").replace("\x00", "\x1a0")
        return super().dump(obj)


class _EscapingLoader(TextLoader):
    """Reader of texts in which NUL is escaped."""

    def load(self, data: Any) -> Any:
        text = str(data, "utf-8")
        return text.replace("\x1a0", "\x00").replace("\x1a1", "\x1a") if "\x1a" in text else text


@cache
def _translate(statement: str) -> str:
    statement = statement.replace("unix_time()", "extract(epoch FROM clock_timestamp())::float8")
    statement = re.sub(r"IN (:\w+)", r"= ANY(\1)", statement)
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement.replace("BLOB", "BYTEA"))


_DIALECT = Dialect("postgresql", "BEGIN ISOLATION LEVEL READ COMMITTED", _translate, list)
