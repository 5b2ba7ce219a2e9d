"""Batches at providers: each owns the claims of its requests until its results are stored.

So no other process sends a request that is in a batch, even if the process that submitted it dies. A process claims a
batch, under its id, before it names it or fetches its results: one process at a time, and another if that one dies.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import uuid4

from pytest_fairness.store import schema
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database

_INSERT = """
INSERT INTO submissions (id, model, requests, at) VALUES (:id, :model, :requests, unix_time()) ON CONFLICT DO NOTHING
"""
_DELETE = "DELETE FROM submissions WHERE id = :id"
_RELEASE = "DELETE FROM claims WHERE key = :id"


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

        def transfer(connection: StoreConnection) -> set[str]:
            change = "UPDATE claims SET owner = :new WHERE key IN :keys AND owner = :owner"
            connection.execute(change, new=new, keys=list(keys), owner=self._owner)
            transferred = set(connection.column("SELECT key FROM claims WHERE owner = :new", new=new))
            connection.execute(_INSERT, id=new, model=model, requests=len(transferred))
            connection.execute(schema.claims.insert_new(), key=new, owner=self._owner)
            return transferred

        return new, self._database.write(transfer)

    def name(self, id: str, name: str) -> None:
        """Record the provider's name of a batch, and release the batch."""

        def write(connection: StoreConnection) -> None:
            connection.execute("UPDATE submissions SET name = :name WHERE id = :id", id=id, name=name)
            connection.execute(_RELEASE, id=id)

        self._database.write(write)

    def names(self) -> set[str]:
        """Return the names of all batches."""
        return {name for (name,) in self._database.rows("SELECT name FROM submissions WHERE name IS NOT NULL")}

    def read(self, id: str) -> Submission | None:
        """Return a batch; None where all its results are stored."""
        return self._database.read(lambda connection: submissions_of(connection, {id}).get(id))

    def take(self, id: str) -> str | None:
        """Claim a batch; return its owner after that, None where all its results are stored."""

        def claim(connection: StoreConnection) -> str | None:
            connection.execute(schema.claims.insert_new(), key=id, owner=self._owner)
            if not submissions_of(connection, {id}):
                connection.execute(_RELEASE, id=id)
                return None
            owner: str = connection.scalar("SELECT owner FROM claims WHERE key = :id", id=id)
            return owner

        return self._database.write(claim)

    def finish(self, id: str, free: Sequence[str] = ()) -> None:
        """Release a batch and some of its claims; delete it once it has no claims left."""

        def write(connection: StoreConnection) -> None:
            connection.execute("DELETE FROM claims WHERE key IN :keys AND owner = :id", keys=list(free), id=id)
            if not connection.scalar("SELECT count(*) FROM claims WHERE owner = :id", id=id):
                connection.execute(_DELETE, id=id)
            connection.execute(_RELEASE, id=id)

        self._database.write(write)

    def drop(self, id: str) -> None:
        """Delete a batch that no provider has, and free all its claims."""

        def write(connection: StoreConnection) -> None:
            connection.execute("DELETE FROM claims WHERE owner = :id OR key = :id", id=id)
            connection.execute(_DELETE, id=id)

        self._database.write(write)


def submissions_of(connection: StoreConnection, owners: Collection[str]) -> dict[str, Submission]:
    """Return the owners that are batches, by their ids."""
    if not owners:
        return {}
    statement = "SELECT id, name, requests, at, unix_time() - at FROM submissions WHERE id IN :owners"
    return {row[0]: Submission(*row) for row in connection.rows(statement, owners=sorted(owners))}
