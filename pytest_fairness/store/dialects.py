"""Differences between SQLite and PostgreSQL: upserts, the clock, and text with NUL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Dialect, Float, Table, Text, TypeDecorator
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


def insert_new(dialect: str, table: Table) -> Any:
    """Return an insert that does nothing where a row with the same key exists."""
    return _insert(dialect, table).on_conflict_do_nothing()


def insert_or_replace(dialect: str, table: Table, where: Callable[[Any], Any] | None = None) -> Any:
    """Return an insert that replaces a row with the same key.

    ``where`` receives the columns of the new row, and returns a condition without which the old row stays.
    """
    statement = _insert(dialect, table)
    key = [column.name for column in table.primary_key]
    new = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in key}
    condition = None if where is None else where(statement.excluded)
    return statement.on_conflict_do_update(index_elements=key, set_=new, where=condition)


def _insert(dialect: str, table: Table) -> Any:
    # PostgreSQL's part of SQLAlchemy takes long to import, and most stores are SQLite.
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(table)


def batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Return keys in batches that a statement takes; SQLite before 3.32 takes 999 parameters."""
    return (keys[start : start + 900] for start in range(0, len(keys), 900))


class Now(FunctionElement[float]):
    """Seconds since 1970 on the database's clock: the clocks of the machines that share it may differ, or jump."""

    name = "now"
    type = Float()
    inherit_cache = True


@compiles(Now, "sqlite")
def _now_of_sqlite(*_: object, **__: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _now_of_postgresql(*_: object, **__: object) -> str:
    return "extract(epoch FROM clock_timestamp())::float8"


class Exact(TypeDecorator[str]):
    """A text column that can hold any answer. PostgreSQL allows no NUL, so there it is escaped as two characters."""

    impl = Text
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Any:
        return super().bind_processor(dialect) if dialect.name == "postgresql" else None

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        return super().result_processor(dialect, coltype) if dialect.name == "postgresql" else None

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - of SQLAlchemy
        if value is None or not ("\x00" in value or "\x1a" in value):
            return value
        return value.replace("\x1a", "\x1a1").replace("\x00", "\x1a0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - of SQLAlchemy
        if value is None or "\x1a" not in value:
            return value
        return value.replace("\x1a0", "\x00").replace("\x1a1", "\x1a")
