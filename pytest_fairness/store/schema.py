"""The tables of the store, and the number of their layout."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pytest_fairness.store.connection import StoreConnection

LAYOUT = 9
"""Incremented with every change of the tables; stores with a higher number are refused."""


class Table:
    """A table of the store, and the statements that have all its columns.

    Args:
        name: Its name.
        key: The columns of its primary key, with commas.
        definition: All columns with their types.
    """

    def __init__(self, name: str, key: str, definition: str) -> None:
        self.name, self.key = name, key
        self.columns = dict(column.split(maxsplit=1) for column in definition.split(","))
        self.texts = [column for column, kind in self.columns.items() if kind.startswith(("TEXT", "VARCHAR", "BLOB"))]

    def create(self) -> str:
        """Return the statement that creates the table."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({self.key}))"

    def select(self) -> str:
        """Return the statement that reads all columns of all rows."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name}"  # noqa: S608 - constants

    def insert_new(self) -> str:
        """Return an insert that does nothing where a row with the same key exists."""
        return f"{self.insert()} ON CONFLICT DO NOTHING"

    def insert_or_replace(self, where: str = "TRUE", **expressions: str) -> str:
        """Return an insert that replaces a row with the same key.

        Args:
            where: A condition without which the old row stays; the new row is called ``excluded``.
            **expressions: See `insert`.
        """
        key = self.key.split(", ")
        changes = ", ".join(f"{name} = excluded.{name}" for name in self.columns if name not in key)
        return f"{self.insert(**expressions)} ON CONFLICT ({self.key}) DO UPDATE SET {changes} WHERE {where}"

    def insert(self, **expressions: str) -> str:
        """Return an insert; ``expressions`` is the SQL of columns that are no parameters."""
        values = ", ".join(expressions.get(name, f":{name}") for name in self.columns)
        return f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({values})"  # noqa: S608 - constants


layout = Table("layout", "number", "number INTEGER NOT NULL")

prompts = Table("prompts", "digest", "digest VARCHAR(32) NOT NULL, messages TEXT NOT NULL")

# `actions` is the tool calls of an answer as JSON, null where it has none. `error` is of a failed attempt; it holds for
# `session` only, and other sessions request the attempt again. `reply_id` and `cache` are the server's evidence on
# whether the answer was made for its request.
attempts = Table(
    "attempts",
    "key",
    """
    key VARCHAR(32) NOT NULL, model TEXT NOT NULL, prompt VARCHAR(32) NOT NULL, repetition INTEGER NOT NULL,
    run TEXT NOT NULL, at FLOAT NOT NULL, text TEXT, finish_reason TEXT, reasoning TEXT, usage TEXT, latency FLOAT,
    served_by TEXT, actions TEXT, provider_state TEXT, error TEXT, session TEXT, reply_id TEXT, cache TEXT
    """,
)

claims = Table("claims", "key", "key VARCHAR(32) NOT NULL, owner VARCHAR(32) NOT NULL")

# Processes on a server, which share no lock file. Times are seconds since 1970 on the database's clock.
# `since` is the start of the uninterrupted heartbeats, `seen` the last heartbeat.
owners = Table("owners", "id", "id VARCHAR(32) NOT NULL, since FLOAT NOT NULL, seen FLOAT NOT NULL")

grades = Table(
    "grades",
    "key, grader",
    "key VARCHAR(32) NOT NULL, grader TEXT NOT NULL, value TEXT, ungraded TEXT, detail TEXT",
)

# `git` is the commit of the user's project, `document` the results file and the cards of the suites, compressed.
# `stopped` is no longer read: see `stops`.
runs = Table(
    "runs",
    "id",
    "id TEXT NOT NULL, started FLOAT NOT NULL, stopped INTEGER NOT NULL, work TEXT, git TEXT, document BLOB",
)

# `expected` is the facts about the test before it runs, `result` its row of the results file after.
thresholds = Table(
    "thresholds",
    "run, test",
    "run TEXT NOT NULL, test TEXT NOT NULL, expected TEXT NOT NULL, result TEXT",
)

# Interim looks: judgments of a threshold, each on a sample of its own. A look is recorded before its verdict, so that
# of two simultaneous sessions the second is another look. A repeated judgment of the same answers has the same row.
# `verdict` is null until its session has judged; it stays so if that was killed. `sequence` is no longer read.
looks = Table(
    "looks",
    "test, probe, model, identity",
    """
    test TEXT NOT NULL, probe TEXT NOT NULL, model VARCHAR(32) NOT NULL, identity VARCHAR(32) NOT NULL,
    number INTEGER NOT NULL, sequence VARCHAR(32) NOT NULL, run TEXT NOT NULL, session TEXT NOT NULL, verdict TEXT
    """,
)

# The sample of a probe on a model: enough to reproduce every verdict.
samples = Table(
    "samples",
    "run, probe, model_key",
    """
    run TEXT NOT NULL, probe TEXT NOT NULL, model_key TEXT NOT NULL, model TEXT NOT NULL, at FLOAT NOT NULL,
    attempts INTEGER NOT NULL, data BLOB NOT NULL
    """,
)

# The part of a sample that one process measured, for reports of runs in which no threshold took the whole sample.
parts = Table(
    "parts",
    "run, probe, model_key, owner",
    """
    run TEXT NOT NULL, probe TEXT NOT NULL, model_key TEXT NOT NULL, owner VARCHAR(32) NOT NULL, model TEXT NOT NULL,
    data BLOB NOT NULL
    """,
)

# The influences of clusters on the estimate that decided a threshold: runs are compared cluster by cluster.
influences = Table("influences", "run, test", "run TEXT NOT NULL, test TEXT NOT NULL, data BLOB NOT NULL")

# Requests and spending of each process of a run, by model; budgets cap the sum.
spending = Table(
    "spending",
    "run, owner, model, role",
    """
    run TEXT NOT NULL, owner VARCHAR(32) NOT NULL, model TEXT NOT NULL, role VARCHAR(16) NOT NULL,
    calls INTEGER NOT NULL, requests INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, usd FLOAT,
    held INTEGER NOT NULL, held_usd FLOAT NOT NULL, errors TEXT NOT NULL
    """,
)

# Batches that were, or are being, submitted to a provider: each owns the claims of its requests.
# `name` is the provider's; null while the batch is being submitted.
submissions = Table(
    "submissions",
    "id",
    "id VARCHAR(32) NOT NULL, model TEXT NOT NULL, name TEXT, requests INTEGER NOT NULL, at FLOAT NOT NULL",
)

# Stopped sessions, which send no more requests: each is one call of pytest with all its workers.
stops = Table("stops", "session", "session TEXT NOT NULL")

# The rate limiter's state for an endpoint, shared by all processes of a run.
paces = Table("paces", "run, endpoint", "run TEXT NOT NULL, endpoint TEXT NOT NULL, state TEXT NOT NULL")

TABLES = (
    *(layout, prompts, attempts, claims, owners, grades, runs, thresholds),
    *(looks, samples, parts, influences, spending, submissions, stops, paces),
)
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS thresholds_by_test ON thresholds (test)",
    "CREATE INDEX IF NOT EXISTS attempts_by_reply ON attempts (reply_id) WHERE reply_id IS NOT NULL",
)
_LATER_COLUMNS = {
    runs: ("git", "document"),
    attempts: ("session", "actions", "provider_state", "reply_id", "cache"),
}
"""Columns that tables of older layouts lack."""


def missing_part(columns: Mapping[str, Collection[str]]) -> str:
    """Return a description of the first missing table or column; empty where none is missing."""
    for table in TABLES:
        if table.name not in columns:
            return f"the table {table.name}"
        for column in table.columns:
            if column not in columns[table.name]:
                return f"the column {column} of {table.name}"
    return ""


def upgrade(connection: StoreConnection, columns: Mapping[str, Collection[str]]) -> None:
    """Create what an empty database, or a store of an older layout with these columns, lacks."""
    for table in TABLES:
        if table.name not in columns:
            connection.execute(table.create())
    for table, added in _LATER_COLUMNS.items():
        for name in added:
            if table.name in columns and name not in columns[table.name]:
                connection.execute(f"ALTER TABLE {table.name} ADD COLUMN {name} {table.columns[name]}")
    for index in _INDEXES:
        connection.execute(index)
    connection.execute("DELETE FROM layout")
    connection.execute("INSERT INTO layout (number) VALUES (:number)", number=LAYOUT)
