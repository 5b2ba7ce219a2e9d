"""Owners of claims: processes that have the store open. The claims of a dead process are released."""

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
from pytest_fairness.store import schema
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now

LEASE = 15.0
"""Seconds for which the claims of an owner are valid after its last heartbeat."""
HEARTBEAT_INTERVAL = 3.0
"""Seconds between the heartbeats of an owner."""
LONGEST_GAP = 2 * HEARTBEAT_INTERVAL
"""Seconds between two heartbeats after which an owner must wait a whole lease before it frees others' claims."""


_batches = select(schema.submissions.c.id)
"""Owners that are not processes: batches of a provider."""


class Owner(Protocol):
    """This process, as the other processes on the store see it."""

    id: str

    def release_dead(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners that have died; return whether any was found dead."""

    def has_company(self, connection: Connection, /) -> bool:
        """Return whether another process that is alive has the store open."""

    def release(self) -> None:
        """Release all claims, so that others may request their attempts."""


def owner_of(database: Database) -> Owner:
    """Return an owner whose death other processes on this database can detect."""
    location = database.location
    if isinstance(location, Path):
        return LockedOwner(database, location.with_name(f"{location.name}.owners"))
    return LeasedOwner(database)


class LockedOwner:
    """An owner that lives as long as its lock on a file does.

    The operating system drops the lock with the process, at once and whatever killed it, so a claim never outlives its
    owner. A lease would delay the others; a process number can belong to a zombie.
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
                f"the store {database.location} cannot be shared: {folder}: {error.strerror}; it needs a folder there "
                "that may be written: name another store with --fairness-store"
            ) from None

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"

    def _is_dead(self, owner: str) -> bool:
        """Return whether another owner's process is gone. Its lock file is removed if so."""
        if owner == self.id:
            return False
        path = self._path(owner)
        if not path.exists():
            return True
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):  # if the file cannot be opened, the owner may be alive
            return False
        self._remove(lock, path)
        return True

    def _remove(self, lock: BaseFileLock, path: Path) -> None:
        # In this order, since Windows deletes no open file. A process that locks it in between finds a dead owner too.
        lock.release()
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def release_dead(self, owners: Iterable[str]) -> bool:
        dead = [owner for owner in set(owners) if self._is_dead(owner)]
        if dead:
            claims = schema.claims.c
            self._database.execute(delete(schema.claims).where(claims.owner.in_(dead), claims.owner.not_in(_batches)))
        return bool(dead)

    def has_company(self, _: Connection, /) -> bool:
        return any(not self._is_dead(path.stem) for path in self._folder.glob("*.lock") if path.stem != self.id)

    def release(self) -> None:
        try:
            self._database.execute(delete(schema.claims).where(schema.claims.c.owner == self.id))
        finally:
            self._remove(self._lock, self._path(self.id))


class LeasedOwner:
    """An owner that lives as long as its heartbeats come, across machines, on the database's clock.

    While the database is unreachable, no owner can send heartbeats. So an owner that has missed its own for a while
    frees no claims until the others have had a whole lease to resume theirs.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.id = uuid4().hex
        self._suspects: set[str] = set()
        self._released = threading.Event()
        self._send_heartbeat()
        self._thread = threading.Thread(target=self._send_heartbeats, name="fairness-lease", daemon=True)
        self._thread.start()

    def release_dead(self, owners: Iterable[str]) -> bool:
        # Done with the next heartbeat: the caller may be in a loop that must not wait for a server.
        self._suspects = self._suspects | set(owners)
        return False

    def has_company(self, connection: Connection, /) -> bool:
        owners = schema.owners.c
        alive = select(owners.id).where(owners.id != self.id, owners.seen >= Now() - LEASE)
        return connection.execute(alive).first() is not None

    def release(self) -> None:
        self._released.set()
        self._thread.join()
        self._database.write(self._delete_owner)

    def _send_heartbeats(self) -> None:
        while not self._released.wait(HEARTBEAT_INTERVAL):
            with suppress(StoreError):  # the engine, which cannot write either, reports it
                self._send_heartbeat()

    def _send_heartbeat(self) -> None:
        suspects, self._suspects = self._suspects - {self.id}, set()
        self._database.write(lambda connection: self._write_heartbeat(connection, suspects))

    def _write_heartbeat(self, connection: Connection, suspects: set[str]) -> None:
        owners = schema.owners.c
        connection.execute(self._database.insert_new(schema.owners).values(id=self.id, since=Now(), seen=Now()))
        since = case((owners.seen < Now() - LONGEST_GAP, Now()), else_=owners.since)
        connection.execute(update(schema.owners).where(owners.id == self.id).values(since=since, seen=Now()))
        if not suspects:
            return
        if connection.execute(select(Now() - owners.since).where(owners.id == self.id)).scalar_one() < LEASE:
            return
        ids = sorted(suspects)
        connection.execute(delete(schema.owners).where(owners.id.in_(ids), owners.seen < Now() - LEASE))
        claims = schema.claims.c
        is_gone = claims.owner.not_in(select(owners.id)) & claims.owner.not_in(_batches)
        connection.execute(delete(schema.claims).where(claims.owner.in_(ids), is_gone))

    def _delete_owner(self, connection: Connection) -> None:
        connection.execute(delete(schema.claims).where(schema.claims.c.owner == self.id))
        connection.execute(delete(schema.owners).where(schema.owners.c.id == self.id))
