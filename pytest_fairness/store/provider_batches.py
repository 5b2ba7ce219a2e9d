"""Batches at providers: each owns the claims of its requests until its results are stored.

So no other process sends a request that is in a batch, even if the process that submitted it dies. A process claims a
batch, under its id, before it names it or fetches its results: one process at a time, and another if that one dies.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection, delete, func, select, update

from pytest_fairness.store import schema
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now, batches

_rows = schema.submissions.c
_claims = schema.claims.c


@dataclass(frozen=True, slots=True)
class Submission:
    """A batch that was, or is being, submitted to a provider."""

    id: str
    name: str | None
    """The provider's name for it; None where it was never received."""
    requests: int
    at: float
    """The time when it was submitted, in seconds since 1970 on the database's clock."""
    age: float
    """Seconds since then."""


class Submissions:
    """The batches of a store, for one of its owners. All raise `StoreError` where it cannot be read or written."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database, self._owner = database, owner

    def begin(self, model: str, keys: Sequence[str]) -> tuple[str, set[str]]:
        """Transfer the claims of this process on some keys to a new batch, and claim the batch.

        This is written before the batch is submitted: if the process dies in between, the next one looks for the batch
        at the provider.

        Returns:
            The id of the batch, and the keys whose claims it has now.
        """
        new = uuid4().hex

        def transfer(connection: Connection) -> set[str]:
            for page in batches(keys):
                owned = _claims.key.in_(page), _claims.owner == self._owner
                connection.execute(update(schema.claims).where(*owned).values(owner=new))
            transferred = set(connection.execute(select(_claims.key).where(_claims.owner == new)).scalars())
            row = {"id": new, "model": model, "requests": len(transferred)}
            connection.execute(self._database.insert_new(schema.submissions).values(**row, at=Now()))
            connection.execute(self._database.insert_new(schema.claims).values(key=new, owner=self._owner))
            return transferred

        return new, self._database.write(transfer)

    def name(self, id: str, name: str) -> None:
        """Record the provider's name of a batch, and release the batch."""

        def write(connection: Connection) -> None:
            connection.execute(update(schema.submissions).where(_rows.id == id).values(name=name))
            connection.execute(delete(schema.claims).where(_claims.key == id))

        self._database.write(write)

    def names(self) -> set[str]:
        """Return the names of all batches."""
        return {name for (name,) in self._database.rows(select(_rows.name).where(_rows.name.is_not(None)))}

    def read(self, id: str) -> Submission | None:
        """Return a batch; None where all its results are stored."""
        return self._database.read(lambda connection: submissions_of(connection, {id}).get(id))

    def take(self, id: str) -> str | None:
        """Claim a batch; return its owner after that, None where all its results are stored."""

        def claim(connection: Connection) -> str | None:
            connection.execute(self._database.insert_new(schema.claims).values(key=id, owner=self._owner))
            if not submissions_of(connection, {id}):
                connection.execute(delete(schema.claims).where(_claims.key == id))
                return None
            owner: str = connection.execute(select(_claims.owner).where(_claims.key == id)).scalar_one()
            return owner

        return self._database.write(claim)

    def finish(self, id: str, free: Sequence[str] = ()) -> None:
        """Release a batch and some of its claims; delete it once it has no claims left."""

        def write(connection: Connection) -> None:
            for page in batches(free):
                connection.execute(delete(schema.claims).where(_claims.key.in_(page), _claims.owner == id))
            if not connection.execute(select(func.count()).where(_claims.owner == id)).scalar():
                connection.execute(delete(schema.submissions).where(_rows.id == id))
            connection.execute(delete(schema.claims).where(_claims.key == id))

        self._database.write(write)

    def drop(self, id: str) -> None:
        """Delete a batch that no provider has, and free all its claims."""

        def write(connection: Connection) -> None:
            connection.execute(delete(schema.claims).where((_claims.owner == id) | (_claims.key == id)))
            connection.execute(delete(schema.submissions).where(_rows.id == id))

        self._database.write(write)


def submissions_of(connection: Connection, owners: Collection[str]) -> dict[str, Submission]:
    """Return the owners that are batches, by their ids."""
    if not owners:
        return {}
    statement = select(_rows.id, _rows.name, _rows.requests, _rows.at, (Now() - _rows.at).label("age"))
    rows = connection.execute(statement.where(_rows.id.in_(sorted(owners))))
    return {row.id: Submission(row.id, row.name, row.requests, row.at, row.age) for row in rows}
