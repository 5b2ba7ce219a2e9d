"""Spending of a run: what each process has requested and paid, in rows of its own; caps go by the sum.

A process that is killed leaves its requests in flight: they may have been paid for, so they count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean
from typing import Literal

from sqlalchemy import Connection, delete, insert, select

from pytest_fairness.store import schema

Role = Literal["probes", "graders"]
"""The part of a run on whose behalf a model was asked."""
_ENOUGH = 1000
"""Answers of a model whose length is taken for that of the others."""


@dataclass(slots=True)
class SpendingEntry:
    """Requests to one model on behalf of probes or graders, and what they cost."""

    model: str
    """Its key."""
    role: Role
    calls: int = 0
    """Ended: answered, or failed in spite of retries."""
    requests: int = 0
    """Sent, those in flight among them; a call that is retried is several."""
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
    """Spending of the process, with the claims that are not refused; empty where all of it is written already."""
    version: int = 0
    """The state of the process's spending that the entries hold."""
    reason: str = ""
    """The cap that was reached for good."""
    waits: bool = False
    """Whether what is refused may be allowed once what is in flight has ended."""


Decide = Callable[[Sequence[SpendingEntry]], SpendingDecision]
"""Decides, given what the other processes have spent. It changes nothing: a transaction may be repeated, and a decision
holds only once it is written."""


def settle(
    connection: Connection, run: str, owner: str, decide: Decide, *, is_weighed: bool = True
) -> SpendingDecision:
    """Have a process decide on its spending within a transaction, and write what it has spent.

    Args:
        connection: The transaction.
        run: The run whose caps hold.
        owner: The process.
        decide: Its decision.
        is_weighed: Whether the other processes matter, who then wait for this transaction: see `lock`.
    """
    decision = decide(read(connection, run, besides=owner) if is_weighed else [])
    if decision.entries:
        spending = schema.spending
        connection.execute(delete(spending).where(spending.c.run == run, spending.c.owner == owner))
        rows = [
            {column.name: getattr(entry, column.name) for column in fields(SpendingEntry)} for entry in decision.entries
        ]
        own = {"run": run, "owner": owner}
        connection.execute(insert(spending), [{**row, **own, "errors": json.dumps(row["errors"])} for row in rows])
    return decision


def lock(connection: Connection, run: str) -> None:
    """Let one process at a time spend. SQLite's writing transactions are exclusive already."""
    connection.execute(select(schema.runs.c.id).filter_by(id=run).with_for_update())


def read(connection: Connection, run: str, besides: str = "") -> list[SpendingEntry]:
    """Return the spending of a run by model and role, without that of one owner."""
    spending = schema.spending.c
    wanted = select(*(spending[column.name] for column in fields(SpendingEntry))).where(spending.run == run)
    total: dict[tuple[str, str], SpendingEntry] = {}
    for row in connection.execute(wanted.where(spending.owner != besides).order_by(spending.model, spending.role)):
        entry = SpendingEntry(**{**row._mapping, "errors": Counter(json.loads(row.errors))})
        total.setdefault((entry.model, entry.role), SpendingEntry(entry.model, entry.role)).add(entry)
    return list(total.values())


def answer_tokens(connection: Connection, model: str) -> tuple[float, float] | None:
    """Return the mean and the greatest number of tokens of a model's stored answers; None where none is known."""
    attempts = schema.attempts.c
    wanted = select(attempts.usage).where(attempts.model == model, attempts.usage.is_not(None)).limit(_ENOUGH)
    counts = [json.loads(usage).get("output") for usage in connection.execute(wanted).scalars()]
    counted = [count for count in counts if count is not None]
    return (fmean(counted), max(counted)) if counted else None
