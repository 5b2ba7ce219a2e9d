"""The tables of the store, and the number of their layout."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Column, Connection, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text, inspect
from sqlalchemy.schema import CreateColumn

from pytest_fairness.store.dialects import Exact

LAYOUT = 8
"""Incremented with every change of the tables; stores with a higher number are refused."""

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
    # Its tool calls, as JSON; null for an answer without any.
    Column("actions", Exact),
    Column("provider_state", Exact),
    # The error of a failed attempt. It holds for the session below only; other sessions request the attempt again.
    Column("error", Exact),
    Column("session", Text),
)

claims = Table(
    "claims", metadata, Column("key", String(32), primary_key=True), Column("owner", String(32), nullable=False)
)

# Processes on a server, which share no lock file. Times are seconds since 1970 on the database's clock.
owners = Table(
    "owners",
    metadata,
    Column("id", String(32), primary_key=True),
    # The start of its uninterrupted heartbeats, and the last heartbeat.
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
    # The facts about the test before it runs, and its row of the results file after.
    Column("expected", Text, nullable=False),
    Column("result", Text),
    Index("thresholds_by_test", "test"),
)

# Interim looks: judgments of a threshold, each on a sample of its own. A look is recorded before its verdict, so that
# of two simultaneous sessions the second is another look. A repeated judgment of the same answers has the same row.
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
    # Null until its session has judged; it stays so if that was killed.
    Column("verdict", Text),
)

# The sample of a probe on a model: enough to reproduce every verdict.
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

# The part of a sample that one process measured, for reports of runs in which no threshold took the whole sample.
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

# The influences of clusters on the estimate that decided a threshold: runs are compared cluster by cluster.
influences = Table(
    "influences",
    metadata,
    Column("run", Text, primary_key=True),
    Column("test", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

# Requests and spending of each process of a run, by model; budgets cap the sum.
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

# Batches that were, or are being, submitted to a provider: each owns the claims of its requests.
submissions = Table(
    "submissions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("model", Text, nullable=False),
    # The provider's name for it; null while it is being submitted.
    Column("name", Text),
    Column("requests", Integer, nullable=False),
    Column("at", Float, nullable=False),
)

# Stopped sessions, which send no more requests: each is one call of pytest with all its workers.
stops = Table("stops", metadata, Column("session", Text, primary_key=True))

# The rate limiter's state for an endpoint, shared by all processes of a run.
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
"""Columns and indices to add to each older layout; new tables are created first."""


def missing_part(columns: Mapping[str, Collection[str]]) -> str:
    """Return a description of the first missing table or column; empty where none is missing."""
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
        for addition in MIGRATIONS[older]:
            assert addition.table is not None  # noqa: S101 - all are of tables above
            if isinstance(addition, Index):
                addition.create(connection, checkfirst=True)
            # A table that was not there has just been made with all its columns.
            elif addition.name not in {
                column["name"] for column in inspect(connection).get_columns(addition.table.name)
            }:
                definition = CreateColumn(addition).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {addition.table.name} ADD COLUMN {definition}")
