"""Spending of a run: requests, tokens and cost in rows of each process; budgets cap the sum.

A process that is killed leaves its requests in flight: they may have been paid for, so they count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_fairness.core import json_text as json
from pytest_fairness.store import schema
from pytest_fairness.store.connection import StoreConnection

Role = Literal["probes", "graders"]
"""The purpose of a request: an attempt of a probe, or a grader."""
_ENOUGH = 1000
"""The most answers from which the mean length of a model's answers is estimated."""
_INSERT = schema.spending.insert()
_SELECT = """
SELECT model, role, calls, requests, input, output, usd, held, held_usd, errors FROM spending
WHERE run = :run AND owner <> :besides ORDER BY model, role
"""


@dataclass(slots=True)
class SpendingEntry:
    """Requests to one model on behalf of probes or graders, and what they cost."""

    model: str
    """Its key."""
    role: Role
    calls: int = 0
    """Completed calls: answered, or failed after all retries."""
    requests: int = 0
    """Sent requests, including those in flight; each retry is one more."""
    input: int = 0
    output: int = 0
    """Tokens."""
    usd: float | None = 0.0
    """None where the price is not known."""
    held: int = 0
    """Calls in flight."""
    held_usd: float = 0.0
    """Their expected cost."""
    errors: Counter[str] = field(default_factory=Counter)
    """Requests that failed, by kind."""

    def add(self, other: SpendingEntry) -> None:
        """Add another process's entry."""
        for name in ("calls", "requests", "input", "output", "held", "held_usd"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        self.errors += other.errors


@dataclass(frozen=True, slots=True)
class SpendingDecision:
    """The claims that the caps of a run allow a process, and its spending with them."""

    refused: Collection[str] = frozenset()
    """Claims that a cap forbids now."""
    entries: Sequence[SpendingEntry] = ()
    """Spending of the process, including the claims that are not refused; empty if it is unchanged."""
    version: int = 0
    """The version of the process's spending that the entries are from."""
    reason: str = ""
    """The cap that was reached; empty while none is."""
    waits: bool = False
    """Whether refused claims may be allowed after the requests in flight have completed."""


Decide = Callable[[Sequence[SpendingEntry]], SpendingDecision]
"""A function that decides, given the spending of the other processes. It must have no side effects: a transaction may
be repeated, and a decision holds only once it is written."""


def settle(
    connection: StoreConnection, run: str, owner: str, decide: Decide, *, is_weighed: bool = True
) -> SpendingDecision:
    """Decide on the spending of a process within a transaction, and write it.

    Args:
        connection: The transaction.
        run: The run whose caps hold.
        owner: The process.
        decide: Its decision.
        is_weighed: Whether the decision needs the others' spending; they then wait for this transaction: see `lock`.
    """
    decision = decide(read(connection, run, besides=owner) if is_weighed else [])
    if decision.entries:
        identity = {"run": run, "owner": owner}
        connection.execute("DELETE FROM spending WHERE run = :run AND owner = :owner", **identity)
        columns = [{name: getattr(entry, name) for name in SpendingEntry.__slots__} for entry in decision.entries]
        rows = [{**row, **identity, "errors": json.dumps(row["errors"])} for row in columns]
        connection.execute_many(_INSERT, rows)
    return decision


def lock(connection: StoreConnection, run: str) -> None:
    """Let one process at a time spend. SQLite's writing transactions are exclusive already."""
    connection.execute("SELECT id FROM runs WHERE id = :run FOR UPDATE", run=run)


def read(connection: StoreConnection, run: str, besides: str = "") -> list[SpendingEntry]:
    """Return the spending of a run by model and role, without that of one owner."""
    total: dict[tuple[str, str], SpendingEntry] = {}
    for row in connection.mappings(_SELECT, run=run, besides=besides):
        entry = SpendingEntry(**{**row, "errors": Counter(json.loads(row["errors"]))})
        total.setdefault((entry.model, entry.role), SpendingEntry(entry.model, entry.role)).add(entry)
    return list(total.values())


def answer_tokens(connection: StoreConnection, model: str) -> tuple[float, float] | None:
    """Return the mean and the greatest number of tokens of a model's stored answers; None where none is known."""
    statement = "SELECT usage FROM attempts WHERE model = :model AND usage IS NOT NULL LIMIT :limit"
    usages = connection.column(statement, model=model, limit=_ENOUGH)
    counts = [json.loads(usage).get("output") for usage in usages]
    known_counts = [count for count in counts if count is not None]
    return (math.fsum(known_counts) / len(known_counts), max(known_counts)) if known_counts else None
