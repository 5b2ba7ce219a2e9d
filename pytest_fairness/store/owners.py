"""Whose claims still hold: an owner is a process that has opened the store."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from filelock import BaseFileLock, FileLock, Timeout
from sqlalchemy import Connection, case, delete, select, update

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import tables
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now

LEASE = 15.0
"""Seconds for which the claims of an owner hold that is not heard of."""
BEAT = 3.0
"""Seconds between the signs of life of an owner."""
GAP = 2 * BEAT
"""Seconds between two signs after which an owner has to be alive for a whole lease before it buries others."""


_handed_in = select(tables.submissions.c.id)
"""Owners that are no processes: batches that a provider has."""


class Owner(Protocol):
    """This process, as the other processes on the store see it."""

    id: str

    def bury(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners that are gone; whether it is known already that there were any."""

    def has_company(self, connection: Connection, /) -> bool:
        """Whether another process that is alive has the store open."""

    def release(self) -> None:
        """Give up all claims: what is still claimed is free for others."""


def owner_of(database: Database) -> Owner:
    """An owner that the others on this database can tell the death of."""
    place = database.place
    if isinstance(place, Path):
        return LockedOwner(database, place.with_name(f"{place.name}.owners"))
    return LeasedOwner(database)


class LockedOwner:
    """An owner that lives as long as its lock on a file does.

    The operating system drops the lock with the process, at once and whatever killed it, so a
    claim never outlives its owner. A lease would have to be waited for; a process number can
    belong to a zombie.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self.id = uuid4().hex
        self._lock = FileLock(self._path(self.id), thread_local=False)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except OSError as error:
            raise StoreError(
                f"the store {database.place} cannot be shared: {folder}: {error.strerror}; it needs a folder there "
                "that may be written: name another store with --fairness-store"
            ) from None

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"

    def _is_dead(self, owner: str) -> bool:
        """Whether another owner's process is gone. Its lock file is removed if so."""
        if owner == self.id:
            return False
        path = self._path(owner)
        if not path.exists():
            return True
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):  # of a file that cannot be opened nothing is known
            return False
        self._remove(lock, path)
        return True

    def _remove(self, lock: BaseFileLock, path: Path) -> None:
        # In this order: Windows deletes no file that is open. Whoever locks it in between finds a dead owner as well.
        lock.release()
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def bury(self, owners: Iterable[str]) -> bool:
        dead = [owner for owner in set(owners) if self._is_dead(owner)]
        if dead:
            claims = tables.claims.c
            self._database.execute(delete(tables.claims).where(claims.owner.in_(dead), claims.owner.not_in(_handed_in)))
        return bool(dead)

    def has_company(self, _: Connection, /) -> bool:
        return any(not self._is_dead(path.stem) for path in self._folder.glob("*.lock") if path.stem != self.id)

    def release(self) -> None:
        try:
            self._database.execute(delete(tables.claims).where(tables.claims.c.owner == self.id))
        finally:
            self._remove(self._lock, self._path(self.id))


class LeasedOwner:
    """An owner that lives as long as it gives signs of life, across machines, on the database's clock.

    When the database was away, nobody could give any; so who was not heard of himself for a
    while buries nobody until the others have had the time of a lease to be heard of again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.id = uuid4().hex
        self._suspects: set[str] = set()
        self._released = threading.Event()
        self._beat()
        self._thread = threading.Thread(target=self._live, name="fairness-lease", daemon=True)
        self._thread.start()

    def bury(self, owners: Iterable[str]) -> bool:
        # With the next sign of life: who asks may be in a loop that must not wait for a server.
        self._suspects = self._suspects | set(owners)
        return False

    def has_company(self, connection: Connection, /) -> bool:
        owners = tables.owners.c
        alive = select(owners.id).where(owners.id != self.id, owners.seen >= Now() - LEASE)
        return connection.execute(alive).first() is not None

    def release(self) -> None:
        self._released.set()
        self._thread.join()
        self._database.write(self._leave)

    def _live(self) -> None:
        while not self._released.wait(BEAT):
            with suppress(StoreError):  # the engine, which cannot write either, tells it
                self._beat()

    def _beat(self) -> None:
        suspects, self._suspects = self._suspects - {self.id}, set()
        self._database.write(lambda connection: self._show_life(connection, suspects))

    def _show_life(self, connection: Connection, suspects: set[str]) -> None:
        owners = tables.owners.c
        connection.execute(self._database.insert_new(tables.owners).values(id=self.id, since=Now(), seen=Now()))
        since = case((owners.seen < Now() - GAP, Now()), else_=owners.since)
        connection.execute(update(tables.owners).where(owners.id == self.id).values(since=since, seen=Now()))
        if not suspects:
            return
        if connection.execute(select(Now() - owners.since).where(owners.id == self.id)).scalar_one() < LEASE:
            return
        ids = sorted(suspects)
        connection.execute(delete(tables.owners).where(owners.id.in_(ids), owners.seen < Now() - LEASE))
        claims = tables.claims.c
        gone = claims.owner.not_in(select(owners.id)) & claims.owner.not_in(_handed_in)
        connection.execute(delete(tables.claims).where(claims.owner.in_(ids), gone))

    def _leave(self, connection: Connection) -> None:
        connection.execute(delete(tables.claims).where(tables.claims.c.owner == self.id))
        connection.execute(delete(tables.owners).where(tables.owners.c.id == self.id))
