"""The tables of the store, and the number of their layout."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

LAYOUT = 3
"""Raised by one with every change of the tables; a store of a higher number is refused."""

metadata = MetaData()

layout = Table("layout", metadata, Column("number", Integer, primary_key=True))

prompts = Table(
    "prompts",
    metadata,
    Column("digest", String(32), primary_key=True),
    Column("messages", Text, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("model", Text, nullable=False),
    Column("prompt", String(32), nullable=False),
    Column("repetition", Integer, nullable=False),
    Column("run", String(32), nullable=False),
    Column("at", Float, nullable=False),
    Column("text", Text),
    Column("finish_reason", Text),
    Column("reasoning", Text),
    Column("usage", Text),
    Column("latency", Float),
    Column("served_by", Text),
    # An attempt that failed is told to the other workers of its run, and asked again by the next.
    Column("error", Text),
)

claims = Table(
    "claims",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("owner", String(32), nullable=False),
)

grades = Table(
    "grades",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("grader", Text, primary_key=True),
    Column("value", Text),
    Column("ungraded", Text),
    Column("detail", Text),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("started", Float, nullable=False),
    Column("stopped", Integer, nullable=False, default=0),
    Column("work", Text),
    # The commit of the user's project.
    Column("git", Text),
    # What it told at its end, compressed: its results file, and the cards of its suites.
    Column("document", LargeBinary),
)

thresholds = Table(
    "thresholds",
    metadata,
    Column("run", String(32), primary_key=True),
    Column("test", Text, primary_key=True),
    # What is known of the test before it ran, and its row of the results file after.
    Column("expected", Text, nullable=False),
    Column("result", Text),
    Index("thresholds_by_test", "test"),
)

# What a probe measured of a model, enough to make every verdict again.
samples = Table(
    "samples",
    metadata,
    Column("run", String(32), primary_key=True),
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
    Column("run", String(32), primary_key=True),
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
    Column("run", String(32), primary_key=True),
    Column("test", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

MIGRATIONS: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE runs ADD COLUMN git TEXT",
        "CREATE INDEX IF NOT EXISTS thresholds_by_test ON thresholds (test)",
    ),
    2: ("ALTER TABLE runs ADD COLUMN document BLOB",),
}
"""From each older layout to the next, after the tables that were not there have been made."""
