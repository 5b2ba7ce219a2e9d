"""What the processes of a run have asked and spent: each writes its own rows, caps go by the sum.

A process that is killed leaves what it had under way: that may have been paid for, so it counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean
from typing import Literal, Protocol

from sqlalchemy import Connection, delete, insert, select

from pytest_fairness.store import tables

Role = Literal["probes", "graders"]
"""On whose behalf a model was asked."""
_ENOUGH = 1000
"""Answers of a model that tell how long the others are."""


@dataclass(slots=True)
class Entry:
    """What was asked of one model on behalf of probes or graders, and what it cost."""

    model: str
    """Its key."""
    role: Role
    calls: int = 0
    """Ended: answered, or failed in spite of retries."""
    requests: int = 0
    """Sent, those under way among them; a call that is retried is several."""
    input: int = 0
    output: int = 0
    """Tokens."""
    usd: float | None = 0.0
    """None where the price is not known."""
    held: int = 0
    """Calls under way."""
    held_usd: float = 0.0
    """What these are expected to cost."""
    errors: Counter[str] = field(default_factory=Counter)
    """Requests that failed, by kind."""

    def add(self, other: Entry) -> None:
        """Take in another process's."""
        for name in ("calls", "requests", "input", "output", "held", "held_usd"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        self.errors += other.errors


class Purse(Protocol):
    """What a process has spent and may spend, as the store asks for it within a transaction."""

    is_capped: bool

    def refused(self, claimed: Collection[str], others: Sequence[Entry]) -> set[str]:
        """Which of these claims a cap forbids, after what the other processes have spent."""
        ...

    def may_retry(self, key: str, others: Sequence[Entry]) -> bool:
        """Whether a claim that is under way may be sent once more."""
        ...

    def entries(self, claimed: Collection[str]) -> Sequence[Entry]:
        """What this process has spent, with these claims under way; nothing where all that is written."""
        ...


def lock(connection: Connection, run: str) -> None:
    """Let one process at a time spend. SQLite's writing transactions are that already."""
    connection.execute(select(tables.runs.c.id).filter_by(id=run).with_for_update())


def settle(connection: Connection, run: str, owner: str, purse: Purse, claimed: Collection[str]) -> set[str]:
    """Write what a process has spent and is going to; which of its claims the caps forbid."""
    refused: set[str] = set()
    if purse.is_capped and claimed:
        refused = purse.refused(claimed, read(connection, run, besides=owner))
    write(connection, run, owner, purse.entries([key for key in claimed if key not in refused]))
    return refused


def write(connection: Connection, run: str, owner: str, entries: Sequence[Entry]) -> None:
    """Put these in the place of what the owner has written before."""
    if not entries:
        return
    spending = tables.spending
    connection.execute(delete(spending).where(spending.c.run == run, spending.c.owner == owner))
    rows = [{each.name: getattr(entry, each.name) for each in fields(Entry)} for entry in entries]
    own = {"run": run, "owner": owner}
    connection.execute(insert(spending), [{**row, **own, "errors": json.dumps(row["errors"])} for row in rows])


def read(connection: Connection, run: str, besides: str = "") -> list[Entry]:
    """What a run has spent, by model and role; or without one owner."""
    spending = tables.spending.c
    wanted = select(*(spending[each.name] for each in fields(Entry))).where(spending.run == run)
    total: dict[tuple[str, str], Entry] = {}
    for row in connection.execute(wanted.where(spending.owner != besides).order_by(spending.model, spending.role)):
        entry = Entry(**{**row._mapping, "errors": Counter(json.loads(row.errors))})
        total.setdefault((entry.model, entry.role), Entry(entry.model, entry.role)).add(entry)
    return list(total.values())


def answers(connection: Connection, model: str) -> tuple[float, float] | None:
    """The mean and the greatest number of tokens that a model's stored answers have; None where none tells."""
    attempts = tables.attempts.c
    wanted = select(attempts.usage).where(attempts.model == model, attempts.usage.is_not(None)).limit(_ENOUGH)
    counts = [json.loads(usage).get("output") for usage in connection.execute(wanted).scalars()]
    known = [count for count in counts if count is not None]
    return (fmean(known), max(known)) if known else None
