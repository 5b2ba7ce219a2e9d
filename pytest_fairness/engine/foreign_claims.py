"""Requests that other processes have claimed: they are polled until an answer is stored, or their owner is dead."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.clock import Clock
from pytest_fairness.engine.requests import Request
from pytest_fairness.engine.store_sync import StoreSync

POLL_INTERVAL = 0.05
"""Seconds between two polls."""
_SUSPICION_INTERVAL = 0.25
"""Seconds between two checks of owners that hold slots: in a run of several processes some always do."""
_INTERVAL_PER_REQUEST = 1e-5
"""Further seconds between two polls for each request: another process may submit a batch of many thousands."""


class ForeignClaims:
    """The requests of one process that other processes have claimed. Used by the engine's thread only."""

    def __init__(self, sync: StoreSync) -> None:
        self._sync = sync
        self._claims: dict[str, tuple[Request, str]] = {}
        """The requests and the owners of their claims, by key."""
        self._suspects: set[str] = set()
        self._last_poll = 0.0

    def add(self, request: Request, owner: str) -> None:
        """Add a request that an owner has claimed."""
        self._claims[request.key] = request, owner

    def suspect(self, owners: Iterable[str]) -> None:
        """Check at the next poll whether these owners are alive: a dead one still holds slots of an endpoint."""
        self._suspects |= set(owners)

    def __contains__(self, key: str) -> bool:
        return key in self._claims

    def __bool__(self) -> bool:
        return bool(self._claims)

    @property
    def is_due(self) -> bool:
        """Whether it is time for a poll."""
        interval = POLL_INTERVAL + _INTERVAL_PER_REQUEST * len(self._claims) if self._claims else _SUSPICION_INTERVAL
        due = self._last_poll + interval
        return bool(self._claims or self._suspects) and Clock.monotonic() >= due

    async def poll(self) -> tuple[dict[str, Attempt], list[Request]]:
        """Return the new answers, and the requests without a claim; claims of dead owners are released."""
        self._last_poll = Clock.monotonic()
        previous = self._claims
        owners = self._suspects | {owner for _, owner in previous.values()}
        self._suspects = set()
        answered, claims = await self._sync.call(self._read, list(previous), owners)
        self._claims = {key: (request, owner) for key, (request, owner) in previous.items() if claims.get(key) == owner}
        free = [request for key, (request, _) in previous.items() if key not in self._claims and key not in answered]
        return answered, free

    def _read(self, keys: list[str], owners: Collection[str]) -> tuple[dict[str, Attempt], dict[str, str]]:
        self._sync.store.release_dead(owners)
        return self._sync.store.foreign_claims(keys, self._sync.run)
