"""What other processes are asking: looked after until it is answered, or nobody asks it any more."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.engine.asks import Ask
from pytest_fairness.store.store import Store

AGAIN = 0.05
"""Seconds after which it is looked at again."""
_EACH = 1e-5
"""Seconds more for each: where another process hands in a great batch, they are many."""


class Elsewhere:
    """The asks of one process that others have claimed. Used by the engine's thread only."""

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run = store, run
        self._asks: dict[str, tuple[Ask, str]] = {}  # with its owner
        self._suspects: set[str] = set()
        self._looked = 0.0

    def add(self, ask: Ask, owner: str) -> None:
        """Another owner has claimed this."""
        self._asks[ask.key] = ask, owner

    def suspect(self, owners: Iterable[str]) -> None:
        """These hold places at an endpoint; one that has died holds them in vain."""
        self._suspects |= set(owners)

    def __contains__(self, key: str) -> bool:
        return key in self._asks

    def __bool__(self) -> bool:
        return bool(self._asks)

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        due = self._looked + AGAIN + _EACH * len(self._asks)
        return bool(self._asks or self._suspects) and time.monotonic() >= due

    async def look(
        self, in_store: Callable[[Callable[[], Any]], Awaitable[Any]]
    ) -> tuple[dict[str, Attempt], list[Ask]]:
        """What has been answered, and what nobody asks any more. The claims of the dead fall."""
        self._looked = time.monotonic()
        asks = self._asks
        owners = self._suspects | {owner for _, owner in asks.values()}
        self._suspects = set()
        answered, claims = await in_store(lambda: self._seen(list(asks), owners))
        self._asks = {key: (ask, owner) for key, (ask, owner) in asks.items() if claims.get(key) == owner}
        left = [ask for key, (ask, _) in asks.items() if key not in self._asks and key not in answered]
        return answered, left

    def _seen(self, keys: list[str], owners: Collection[str]) -> tuple[dict[str, Attempt], dict[str, str]]:
        self._store.bury(owners)
        return self._store.elsewhere(keys, self._run)
