"""Owners of claims: processes that have the store open. The claims of a dead process are released."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from filelock import BaseFileLock, FileLock, Timeout

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import StoreError
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database

LEASE = 15.0
"""Seconds for which the claims of an owner are valid after its last heartbeat."""
HEARTBEAT_INTERVAL = 3.0
"""Seconds between the heartbeats of an owner."""
LONGEST_GAP = 2 * HEARTBEAT_INTERVAL
"""Seconds between two heartbeats after which an owner must wait a whole lease before it frees others' claims."""
_FOREIGN = """
SELECT owner, count(*) FROM claims WHERE owner NOT IN (SELECT owner FROM spending WHERE run = :run)
AND owner NOT IN (SELECT id FROM submissions) GROUP BY owner ORDER BY owner
"""
_DELETE_CLAIMS = "DELETE FROM claims WHERE owner = :id"
# Batches of a provider are owners, but no processes. The processes on a file are not in the table of owners.
_DELETE_CLAIMS_OF_DEAD = """
DELETE FROM claims WHERE owner IN :dead
AND owner NOT IN (SELECT id FROM owners) AND owner NOT IN (SELECT id FROM submissions)
"""
_HEARTBEAT = """
INSERT INTO owners (id, since, seen) VALUES (:id, unix_time(), unix_time())
ON CONFLICT (id) DO UPDATE SET
  since = CASE WHEN owners.seen < unix_time() - :gap THEN unix_time() ELSE owners.since END, seen = unix_time()
RETURNING unix_time() - since
"""
_DELETE_SILENT = "DELETE FROM owners WHERE id IN :suspects AND seen < unix_time() - :lease"


class Owner(Protocol):
    """This process, as the other processes on the store see it."""

    id: str

    def release_dead(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners that have died; return whether any was found dead."""

    def has_company(self, connection: StoreConnection, /) -> bool:
        """Return whether another process that is alive has the store open."""

    def release_claims(self) -> None:
        """Release all claims, so that others may request their attempts."""

    def release(self) -> None:
        """Release all claims, and end."""


def owner_of(database: Database) -> Owner:
    """Return an owner whose death other processes on this database can detect."""
    location = database.location
    if isinstance(location, Path):
        file = location.resolve()  # a link and its target are one store
        return LockedOwner(database, file.with_name(f"{file.name}.owners"))
    return LeasedOwner(database)


@dataclass(frozen=True, slots=True)
class ForeignOwner:
    """A process outside of a run that has claimed requests."""

    claims: int
    """The number of its claims."""
    process: int | None = None
    """Its number, on the machine with the store's file; None where it is not known."""
    since: float | None = None
    """The time at which it has opened the store, in seconds since 1970."""


def foreign_owners(database: Database, run: str) -> list[ForeignOwner]:
    """Return the processes outside of a run that have claimed requests."""
    owners = database.rows(_FOREIGN, run=run)
    return [ForeignOwner(claims, *_parse_id(owner)) for owner, claims in owners]


def _make_id() -> str:
    """Return an id of this process that no other one has or will have, from which the others can read who it is."""
    return f"{os.getpid():x}-{int(Clock.now_in_seconds()):x}-{uuid4().hex}"[:32]


def _parse_id(owner: str) -> tuple[int, float] | tuple[()]:
    """Return the process and the time of an id."""
    process, _, rest = owner.partition("-")
    since, _, digits = rest.partition("-")
    return (int(process, 16), float(int(since, 16))) if digits else ()


class LockedOwner:
    """An owner that lives as long as its lock on a file does.

    The operating system drops the lock with the process, at once and whatever killed it, so a claim never outlives its
    owner. A lease would delay the others; a process number can belong to a zombie.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self.id = _make_id()
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
            self._database.execute(_DELETE_CLAIMS_OF_DEAD, dead=dead)
        return bool(dead)

    def has_company(self, _: StoreConnection, /) -> bool:
        return any(not self._is_dead(path.stem) for path in self._folder.glob("*.lock") if path.stem != self.id)

    def release_claims(self) -> None:
        self._database.execute(_DELETE_CLAIMS, id=self.id)

    def release(self) -> None:
        try:
            self.release_claims()
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

    def has_company(self, connection: StoreConnection, /) -> bool:
        alive = "SELECT id FROM owners WHERE id <> :id AND seen >= unix_time() - :lease"
        return connection.scalar(alive, id=self.id, lease=LEASE) is not None

    def release_claims(self) -> None:
        self._database.execute(_DELETE_CLAIMS, id=self.id)

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

    def _write_heartbeat(self, connection: StoreConnection, suspects: set[str]) -> None:
        age = connection.scalar(_HEARTBEAT, id=self.id, gap=LONGEST_GAP)
        if suspects and age >= LEASE:
            connection.execute(_DELETE_SILENT, suspects=sorted(suspects), lease=LEASE)
            connection.execute(_DELETE_CLAIMS_OF_DEAD, dead=sorted(suspects))

    def _delete_owner(self, connection: StoreConnection) -> None:
        connection.execute(_DELETE_CLAIMS, id=self.id)
        connection.execute("DELETE FROM owners WHERE id = :id", id=self.id)
