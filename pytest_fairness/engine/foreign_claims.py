"""Requests that other processes have claimed: watched until they are answered, or their owner has died."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.engine.requests import Request
from pytest_fairness.engine.store_sync import StoreSync

POLL_INTERVAL = 0.05
"""Seconds between two looks."""
_PER_REQUEST = 1e-5
"""Seconds more for each request: another process may submit a batch of many thousands."""


class ForeignClaims:
    """The requests of one process that others have claimed. Used by the engine's thread only."""

    def __init__(self, sync: StoreSync) -> None:
        self._sync = sync
        self._claims: dict[str, tuple[Request, str]] = {}  # with the owner
        self._suspects: set[str] = set()
        self._polled = 0.0

    def add(self, request: Request, owner: str) -> None:
        """Watch a request that an owner has claimed."""
        self._claims[request.key] = request, owner

    def suspect(self, owners: Iterable[str]) -> None:
        """Check at the next look whether these owners live: a dead one holds slots of an endpoint in vain."""
        self._suspects |= set(owners)

    def __contains__(self, key: str) -> bool:
        return key in self._claims

    def __bool__(self) -> bool:
        return bool(self._claims)

    @property
    def is_due(self) -> bool:
        """Return whether it is time for a look."""
        due = self._polled + POLL_INTERVAL + _PER_REQUEST * len(self._claims)
        return bool(self._claims or self._suspects) and time.monotonic() >= due

    async def poll(self) -> tuple[dict[str, Attempt], list[Request]]:
        """Return what has been answered, and the requests that are free again. Claims of dead owners fall."""
        self._polled = time.monotonic()
        before = self._claims
        owners = self._suspects | {owner for _, owner in before.values()}
        self._suspects = set()
        answered, claims = await self._sync.call(self._read, list(before), owners)
        self._claims = {key: (request, owner) for key, (request, owner) in before.items() if claims.get(key) == owner}
        free = [request for key, (request, _) in before.items() if key not in self._claims and key not in answered]
        return answered, free

    def _read(self, keys: list[str], owners: Collection[str]) -> tuple[dict[str, Attempt], dict[str, str]]:
        self._sync.store.release_dead(owners)
        return self._sync.store.foreign_claims(keys, self._sync.run)
