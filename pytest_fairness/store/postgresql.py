"""A store in a PostgreSQL database that many machines open."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from sqlalchemy import URL, Connection, Engine, create_engine, func, make_url, select
from sqlalchemy.exc import ArgumentError

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema
from pytest_fairness.store.location import PostgresURL

_CONNECT_OPTIONS = {"connect_timeout": "10", "tcp_user_timeout": "20000", "application_name": "pytest-fairness"}
"""Defaults for what the URL does not set. The second, in milliseconds, detects a server that is cut off."""


class PostgresDatabase:
    """A database on a PostgreSQL server. Advisory locks end with the connection that holds them."""

    tries_for = 60.0
    """Seconds for which transactions are retried while the server is unreachable."""
    way_out = "name another, or an empty database, with --fairness-store"

    def __init__(self, location: PostgresURL) -> None:
        # Each process needs one connection for what it writes, one for its tests, and one for its lease.
        self.engine = _connect(location)

    def repair(self, _: object) -> str:
        """Return the remedy for an error."""
        return "what was answered before is kept: see to the server and run again, or name another store"

    @contextmanager
    def preparing(self) -> Iterator[Connection]:
        """Open the transaction in which tables are made: one process at a time."""
        with self.engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_lock_number("layout"))))
            yield connection

    def compact(self, connection: Connection) -> None:
        """Rewrite the tables without the rows that were deleted."""
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {', '.join(schema.metadata.tables)}")

    def size(self, connection: Connection) -> int:
        """Return the bytes of the tables."""
        sizes = [func.pg_total_relation_size(name) for name in schema.metadata.tables]
        return int(sum(connection.execute(select(*sizes)).one()))

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Let one process at a time, of those on this store, run the block."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.detach()  # so that closing it really ends the connection, and with it the lock
            connection.execute(select(func.pg_advisory_lock(_lock_number(name))))
            yield


def _connect(location: PostgresURL) -> Engine:
    try:
        url: URL = make_url(location.url)
    except (ArgumentError, ValueError):  # not chained: its message may hold the password
        raise StoreError(
            f"the store {location} is no URL: write postgresql+psycopg://user@host:port/database, "
            "with %XX for what is special in a password, or give that by PGPASSWORD"
        ) from None
    # psycopg also logs lost connections; here they are simply reopened.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    url = url.update_query_dict({name: value for name, value in _CONNECT_OPTIONS.items() if name not in url.query})
    try:
        return create_engine(url, pool_size=3, isolation_level="READ COMMITTED")
    except ModuleNotFoundError:
        raise StoreError(f"the store {location} needs psycopg: pip install ./pytest-fairness[postgres]") from None


def _lock_number(name: str) -> int:
    """Return the number of a named advisory lock."""
    return int.from_bytes(blake2b(f"pytest-fairness {name}".encode(), digest_size=8).digest(), signed=True)
