"""Whose claims still hold: an owner lives as long as its lock on a file does.

The operating system drops the lock with the process, at once and whatever killed it, so a
claim never outlives its owner. A lease would have to be waited for; a process number can
belong to a zombie.
"""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout


class Owner:
    """This process, as the other processes on the store see it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self.id = uuid4().hex
        self._lock = FileLock(self._path(self.id), thread_local=False)
        self._lock.acquire()

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"

    def is_dead(self, owner: str) -> bool:
        """Whether another owner's process is gone. Its lock file is removed if so."""
        if owner == self.id:
            return False
        path = self._path(owner)
        if not path.exists():
            return True
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        path.unlink(missing_ok=True)
        lock.release()
        return True

    def release(self) -> None:
        """Give up the lock: what is still claimed is free for others."""
        self._lock.release()
        self._path(self.id).unlink(missing_ok=True)
