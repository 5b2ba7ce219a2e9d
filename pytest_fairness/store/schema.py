"""The tables of the store, and the number of their layout."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Column, Connection, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text, inspect
from sqlalchemy.schema import CreateColumn

from pytest_fairness.store.dialects import Exact

LAYOUT = 8
"""Raised by one with every change of the tables; a store of a higher number is refused."""

metadata = MetaData()

layout = Table("layout", metadata, Column("number", Integer, primary_key=True))

prompts = Table(
    "prompts", metadata, Column("digest", String(32), primary_key=True), Column("messages", Text, nullable=False)
)

attempts = Table(
    "attempts",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("model", Text, nullable=False),
    Column("prompt", String(32), nullable=False),
    Column("repetition", Integer, nullable=False),
    Column("run", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("text", Exact),
    Column("finish_reason", Exact),
    Column("reasoning", Exact),
    Column("usage", Text),
    Column("latency", Float),
    Column("served_by", Exact),
    # Its calls of tools, as JSON; none of an answer without.
    Column("actions", Exact),
    Column("provider_state", Exact),
    # Of an attempt that failed; it counts for the session below alone, and is requested again by any other.
    Column("error", Exact),
    Column("session", Text),
)

claims = Table(
    "claims", metadata, Column("key", String(32), primary_key=True), Column("owner", String(32), nullable=False)
)

# Those that cannot hold a lock on a file that the others see; in seconds since 1970 on the database's clock.
owners = Table(
    "owners",
    metadata,
    Column("id", String(32), primary_key=True),
    # Since when it was never silent for long, and when it last gave a sign of life.
    Column("since", Float, nullable=False),
    Column("seen", Float, nullable=False),
)

grades = Table(
    "grades",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("grader", Text, primary_key=True),
    Column("value", Text),
    Column("ungraded", Text),
    Column("detail", Exact),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started", Float, nullable=False),
    Column("stopped", Integer, nullable=False, default=0),  # no longer read: see `stops`
    Column("work", Text),
    # The commit of the user's project.
    Column("git", Text),
    # Its results file and the cards of its suites, compressed.
    Column("document", LargeBinary),
)

thresholds = Table(
    "thresholds",
    metadata,
    Column("run", Text, primary_key=True),
    Column("test", Text, primary_key=True),
    # What is known of the test before it ran, and its row of the results file after.
    Column("expected", Text, nullable=False),
    Column("result", Text),
    Index("thresholds_by_test", "test"),
)

# Judgments of a threshold, each on answers of its own: recorded before its verdict, so that of two sessions at once the
# second is another look. What is judged again on the same answers has the row of the first.
looks = Table(
    "looks",
    metadata,
    Column("test", Text, primary_key=True),
    Column("probe", Text, primary_key=True),
    Column("model", String(32), primary_key=True),
    Column("identity", String(32), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("sequence", String(32), nullable=False),
    Column("run", Text, nullable=False),
    Column("session", Text, nullable=False),
    # None while its session judges, and for good where that was killed.
    Column("verdict", Text),
)

# What a probe measured of a model, enough to make every verdict again.
samples = Table(
    "samples",
    metadata,
    Column("run", Text, primary_key=True),
    Column("probe", Text, primary_key=True),
    Column("model_key", Text, primary_key=True),
    Column("model", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# What the tests of a probe measured in one process, for a report of runs in which no threshold took its whole sample.
parts = Table(
    "parts",
    metadata,
    Column("run", Text, primary_key=True),
    Column("probe", Text, primary_key=True),
    Column("model_key", Text, primary_key=True),
    Column("owner", String(32), primary_key=True),
    Column("model", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# What each cluster adds to the estimate that decided a threshold: two runs are compared by them, cluster by cluster.
influences = Table(
    "influences",
    metadata,
    Column("run", Text, primary_key=True),
    Column("test", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

# What each process of a run has asked of a model and spent on it; caps go by the sum.
spending = Table(
    "spending",
    metadata,
    Column("run", Text, primary_key=True),
    Column("owner", String(32), primary_key=True),
    Column("model", Text, primary_key=True),
    Column("role", String(16), primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("input", Integer, nullable=False),
    Column("output", Integer, nullable=False),
    Column("usd", Float),
    Column("held", Integer, nullable=False),
    Column("held_usd", Float, nullable=False),
    Column("errors", Text, nullable=False),
)

# A batch of requests that a provider has, or is about to have: it owns the claims of what is in it.
submissions = Table(
    "submissions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("model", Text, nullable=False),
    # The provider's; none while it is being submitted.
    Column("name", Text),
    Column("requests", Integer, nullable=False),
    Column("at", Float, nullable=False),
)

# Sessions that send nothing more: each is one call of pytest with all its workers.
stops = Table("stops", metadata, Column("session", Text, primary_key=True))

# How fast a run asks an endpoint, for all its processes.
paces = Table(
    "paces",
    metadata,
    Column("run", Text, primary_key=True),
    Column("endpoint", Text, primary_key=True),
    Column("state", Text, nullable=False),
)

MIGRATIONS: dict[int, tuple[Column[Any] | Index, ...]] = {
    1: (runs.c.git, *thresholds.indexes),
    2: (runs.c.document,),
    3: (),
    4: (attempts.c.session,),
    5: (),
    6: (attempts.c.actions,),
    7: (attempts.c.provider_state,),
}
"""Columns and indices that each older layout lacks of the next; whole tables are made first."""


def lacking(columns: Mapping[str, Collection[str]]) -> str:
    """Return the first table or column that is not among these; empty where none is missing."""
    for table in metadata.tables.values():
        if table.name not in columns:
            return f"the table {table.name}"
        for column in table.columns:
            if column.name not in columns[table.name]:
                return f"the column {column.name} of {table.name}"
    return ""


def migrate(connection: Connection, number: int) -> None:
    """Add columns and indices to the tables of an older layout."""
    for older in range(number, LAYOUT):
        for new in MIGRATIONS[older]:
            assert new.table is not None  # noqa: S101 - all are of tables above
            if isinstance(new, Index):
                new.create(connection, checkfirst=True)
            # A table that was not there has just been made with all its columns.
            elif new.name not in {column["name"] for column in inspect(connection).get_columns(new.table.name)}:
                described = CreateColumn(new).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {new.table.name} ADD COLUMN {described}")
