"""How many requests an endpoint is sent, as one process sees it; the processes of a run agree on it in the store."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.asks import Ask
from pytest_fairness.store.pace import Grant, Rates, Wish, burst
from pytest_fairness.store.store import Turn

_WINDOW = 128
"""Answers, at least, whose median latency is compared."""
_TOKEN = 4
"""Characters of a text to a token, where a provider counts none."""


def endpoint_of(model: Model) -> str:
    """What its requests share with others: a provider limits a model of an account, whatever the decoding."""
    endpoint: str = getattr(model, "endpoint", model.key)
    return endpoint


def _is_paced(model: Model) -> bool:
    """Whether its requests are held to a pace that all processes share: not where each has a model of its own."""
    return not model.local and getattr(model, "paced", True)


def _rates_of(model: Model, default: Rates) -> Rates:
    """Its own rates, and the run's where it has none."""
    requests, tokens = getattr(model, "rates", (None, None))
    return Rates(requests or default.requests, tokens or default.tokens)


class Limit:
    """The requests of one process to one endpoint. Used by the engine's thread only.

    Without ``is_shared`` it is a ceiling for this process alone.
    """

    def __init__(self, endpoint: str, ceiling: int, rates: Rates, wake: Callable[[], None], *, is_shared: bool) -> None:
        self.in_flight = 0
        self.generation = 0
        """Of the requests that leave now."""
        self._endpoint, self._ceiling, self._rates, self._wake = endpoint, ceiling, rates, wake
        self._is_shared = is_shared
        self._room = ceiling
        self._told = 0
        """What the other processes believe to be in flight from here."""
        self._closed_until = 0.0
        self._again: deque[asyncio.Future[None]] = deque()
        self._answers = self._tokens = 0
        self._refused, self._quiet = -1, 0.0
        self._latencies: list[float] = []
        self._median: float | None = None

    def free(self, now: float) -> int:
        """How many more may leave now, as far as is known (``now`` in seconds of a monotonic clock)."""
        if self.closed(now):
            return 0
        free = max(0, self._room - self.in_flight)
        return min(free, burst(self._rates)) if self._is_shared else free

    def closed(self, now: float) -> float:
        """Seconds for which nothing may leave, 0 where something may."""
        return max(0.0, self._closed_until - now)

    @property
    def waits(self) -> bool:
        """Whether requests wait to be sent once more."""
        return bool(self._again)

    async def permit(self) -> None:
        """Wait until a request may be sent once more."""
        if self._is_shared and self._rates:
            self._again.append(asyncio.get_running_loop().create_future())
            self._wake()
            await self._again[-1]

    def answered(self, prompt: Prompt, answer: Answer, latency: float, generation: int) -> None:
        """An answer came, after so many seconds."""
        self._answers += 1
        if self._rates.tokens is not None:
            self._tokens += _tokens(prompt, answer)
        if generation == self.generation:
            self._latencies.append(latency)
            if len(self._latencies) >= max(_WINDOW, 2 * self.in_flight):
                self._median = median(self._latencies)
                self._latencies.clear()

    def refused(self, wait: float, generation: int) -> None:
        """The provider asked for fewer requests, and for ``wait`` seconds of quiet."""
        self._refused = max(self._refused, generation)
        self._quiet = max(self._quiet, wait)
        self._closed_until = max(self._closed_until, time.monotonic() + wait)
        self._wake()

    def wish(self, keys: Sequence[str], now: float) -> Wish | None:
        """What to tell the other processes and to ask of them; None where there is nothing."""
        again = sum(not each.done() for each in self._again) if not self.closed(now) else 0
        news = keys or again or self.in_flight != self._told or self._refused >= 0
        if not (self._is_shared and news):
            return None
        wish = Wish(
            self._endpoint,
            self._ceiling,
            self._rates,
            keys,
            again,
            self.in_flight,
            self._answers,
            self._tokens,
            self._refused,
            self._quiet,
            self._median,
        )
        self._answers = self._tokens = 0
        self._refused, self._quiet, self._median = -1, 0.0, None
        return wish

    def told(self, wish: Wish, grant: Grant, claimed: int) -> None:
        """What came of a wish, and how many of its keys were claimed."""
        self._told = wish.under_way + claimed
        self._room = grant.room
        if grant.generation != self.generation:
            self.generation = grant.generation
            self._latencies.clear()
        if grant.wait:
            self._closed_until = max(self._closed_until, time.monotonic() + grant.wait)
        permits = grant.again
        while permits and self._again:
            future = self._again.popleft()
            if not future.done():
                future.set_result(None)
                permits -= 1


class Limits:
    """Those of all endpoints that a process asks.

    ``together`` tells how many requests are handed to a model in one batch, None for one that is asked one by one.
    """

    def __init__(
        self, ceiling: int, rates: Rates, wake: Callable[[], None], together: Callable[[Model], int | None]
    ) -> None:
        self._ceiling, self._rates, self._wake, self._together = ceiling, rates, wake, together
        self._limits: dict[str, Limit] = {}

    def of(self, model: Model) -> Limit:
        """The limit that a model's requests are held to."""
        endpoint = endpoint_of(model)
        if endpoint not in self._limits:
            rates, together = _rates_of(model, self._rates), self._together(model)
            is_shared = _is_paced(model) and together is None
            own: int = getattr(model, "in_flight", self._ceiling)  # of one that many machines answer for
            ceiling = own if together is None else together
            self._limits[endpoint] = Limit(endpoint, ceiling, rates, self._wake, is_shared=is_shared)
        return self._limits[endpoint]

    def free(self, now: float, every: int | None = None) -> dict[str, int]:
        """How many more may leave now, by endpoint; ``every`` is said of each instead."""
        return {name: limit.free(now) if every is None else every for name, limit in self._limits.items()}

    @property
    def wait(self) -> bool:
        """Whether requests wait to be sent once more."""
        return any(limit.waits for limit in self._limits.values())

    def nap(self, longest: float) -> float:
        """Seconds until something may leave of which nobody is going to tell."""
        now = time.monotonic()
        return min((longest, *(limit.closed(now) or longest for limit in self._limits.values())))

    def wishes(self, wanted: Mapping[str, Ask]) -> list[Wish]:
        """What to say of each endpoint, and to ask for these."""
        keys: dict[str, list[str]] = {endpoint: [] for endpoint in self._limits}
        for key, ask in wanted.items():
            keys[endpoint_of(ask.model)].append(key)
        now = time.monotonic()
        wishes = (limit.wish(keys[endpoint], now) for endpoint, limit in self._limits.items())
        return [wish for wish in wishes if wish is not None]

    def heed(self, wishes: Sequence[Wish], turn: Turn) -> set[str]:
        """Go by what came of the wishes. The owners that hold the places which were not given."""
        holders: set[str] = set()
        for wish in wishes:
            grant = turn.grants[wish.endpoint]
            self._limits[wish.endpoint].told(wish, grant, len(turn.claimed.intersection(wish.keys)))
            holders |= grant.holders
        return holders


def _tokens(prompt: Prompt, answer: Answer) -> int:
    if "input" in answer.usage and "output" in answer.usage:
        return answer.usage["input"] + answer.usage["output"]
    return (sum(len(message["content"]) for message in prompt.messages) + len(answer.text)) // _TOKEN
