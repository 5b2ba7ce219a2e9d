"""How many requests an endpoint is sent, as one process sees it; the processes of a run agree on it in the store."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.asks import Ask
from pytest_fairness.store.pace import Grant, Rates, Wish, burst
from pytest_fairness.store.store import Turn

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

    ``most`` bounds those of this process, ``ceiling`` those of all that share it; without ``is_shared`` nobody does.
    """

    def __init__(
        self, endpoint: str, most: int, ceiling: int, rates: Rates, wake: Callable[[], None], *, is_shared: bool
    ) -> None:
        self.in_flight = 0
        self.generation = 0
        """Of the requests that leave now."""
        self.refused_for = 0.0
        """Seconds for which nobody was answered here, and some were refused."""
        self.is_shared = is_shared
        self._endpoint, self._most, self._ceiling = endpoint, most, ceiling
        self._rates, self._wake = rates, wake
        self._room = most
        self._told = (0, 0)
        """What the other processes believe to be in flight from here, and to wait of that."""
        self._closed_until = 0.0
        self._waiting: set[asyncio.Future[None]] = set()
        """Of those in flight, the requests that are to be sent once more."""
        self._again: deque[asyncio.Future[None]] = deque()
        """Those of them that may be sent as soon as there is a place."""
        self._answers = self._tokens = self._refusals = 0
        self._refused, self._quiet = -1, 0.0

    def free(self, now: float) -> int:
        """How many more may leave now, as far as is known (``now`` in seconds of a monotonic clock)."""
        if self.closed(now):
            return 0
        free = max(0, self._room - self.in_flight)
        return min(free, burst(self._rates)) if self.is_shared else free

    def closed(self, now: float) -> float:
        """Seconds for which nothing may leave, 0 where something may."""
        return max(0.0, self._closed_until - now)

    @property
    def waiting(self) -> int:
        """How many requests wait to be sent once more."""
        return len(self._waiting)

    async def permit(self, wait: float) -> None:
        """Wait so long, and until a request may be sent once more: in line with those of the other processes."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.add(turn)
        timer = loop.call_later(wait, self._queue if self.is_shared else _end, turn)
        try:
            await turn
        finally:
            timer.cancel()
            self._waiting.discard(turn)

    def _queue(self, turn: asyncio.Future[None]) -> None:
        self._again.append(turn)
        self._wake()

    def answered(self, prompt: Prompt, answer: Answer) -> None:
        """An answer came."""
        self._answers += 1
        if self._rates.tokens is not None:
            self._tokens += _tokens(prompt, answer)

    def refused(self, wait: float, generation: int) -> None:
        """The provider asked for fewer requests, and for ``wait`` seconds of quiet."""
        self._refused, self._refusals = max(self._refused, generation), self._refusals + 1
        self._quiet = max(self._quiet, wait)
        self._wake()

    def wish(self, keys: Sequence[str], now: float) -> Wish | None:
        """What to tell the other processes and to ask of them; None where there is nothing."""
        if not self.is_shared:
            return None
        idle = 0 if self.closed(now) else max(0, self._room - self.in_flight + self.waiting)
        again = min(idle, sum(not each.done() for each in self._again))
        if not (keys or again or (self.in_flight, self.waiting) != self._told or self._refused >= 0):
            return None
        wish = Wish(
            self._endpoint,
            self._ceiling,
            self._rates,
            keys,
            again,
            self.in_flight,
            self.waiting,
            self._answers,
            self._tokens,
            self._refused,
            self._refusals,
            self._quiet,
        )
        self._answers = self._tokens = self._refusals = 0
        self._refused, self._quiet = -1, 0.0
        return wish

    def told(self, wish: Wish, grant: Grant, claimed: int) -> None:
        """What came of a wish, and how many of its keys were claimed."""
        self._told = (wish.under_way + claimed, wish.waiting - grant.again)
        self._room = min(self._most, grant.room)
        self.generation, self.refused_for = grant.generation, grant.refused_for
        if grant.wait:
            self._closed_until = max(self._closed_until, time.monotonic() + grant.wait)
        permits = grant.again
        while permits and self._again:
            turn = self._again.popleft()
            permits -= not turn.done()
            self._waiting.discard(turn)
            _end(turn)

    def end_waits(self) -> None:
        """Let all that wait go on at once: nothing is going to be sent any more."""
        for turn in self._waiting:
            _end(turn)


def _end(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


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
            # Of one that many machines answer for, or of an application, which may take one call at a time.
            own: int = getattr(model, "in_flight", self._ceiling)
            most = own if together is None else together
            ceiling = max(most, self._ceiling)
            self._limits[endpoint] = Limit(endpoint, most, ceiling, rates, self._wake, is_shared=is_shared)
        return self._limits[endpoint]

    def free(self, now: float, every: int | None = None) -> dict[str, int]:
        """How many more may leave now, by endpoint; ``every`` is said of each instead."""
        return {name: limit.free(now) if every is None else every for name, limit in self._limits.items()}

    @property
    def waiting(self) -> int:
        """How many requests wait to be sent once more."""
        return sum(limit.waiting for limit in self._limits.values())

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
