"""Rate limits of endpoints, as one process sees them; the processes of a run agree on them in the store.

The store holds one throttle for each endpoint (`pytest_fairness.store.throttle`). With each exchange a process reports
the replies it had there (`SlotRequest`) and is granted slots (`SlotGrant`): new requests and repeated ones.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.requests import Request
from pytest_fairness.store.store import SyncResult
from pytest_fairness.store.throttle import Rates, SlotGrant, SlotRequest, burst

_FAST = 0.005
"""Seconds of a call within this process, below which calls are claimed ahead: one transaction writes many of them.

A process that is killed repeats the calls that were not written; a longer call may have been paid for.
"""
_CLAIMED_AHEAD = 0.05
"""Seconds of fast calls that are claimed before their model is free."""
_MOST_AHEAD = 31
_TOKEN = 4
"""Characters of a text to a token, where a provider counts none."""


def endpoint_of(model: Model) -> str:
    """Return the key of a model's limits: a provider limits an account's model, whatever the decoding."""
    endpoint: str = getattr(model, "endpoint", model.key)
    return endpoint


class RateLimiter:
    """The requests of one process to one endpoint. Used by the engine's thread only.

    Args:
        endpoint: Its name.
        most: Requests in flight at most, of this process.
        ceiling: Requests in flight at most, of all processes that share it.
        rates: Requests and tokens a minute.
        wake: Has the engine ask the store for slots.
        gate: Closed while nothing new may leave.
        is_shared: Whether other processes share the endpoint.
        is_in_process: Whether calls run in this process: of fast ones some are claimed before the model is free.
    """

    def __init__(
        self,
        endpoint: str,
        most: int,
        ceiling: int,
        rates: Rates,
        wake: Callable[[], None],
        gate: asyncio.Event,
        *,
        is_shared: bool,
        is_in_process: bool,
    ) -> None:
        self.in_flight = 0
        self.generation = 0
        """The generation of the requests that leave now: see `SlotGrant`."""
        self.refused_for = 0.0
        """Seconds for which no request of the run was answered, and some were refused."""
        self.is_shared, self._is_in_process = is_shared, is_in_process
        self._turns, self._gate = asyncio.Semaphore(most), gate
        self._most, self._ahead, self._granted, self._rates, self._wake = most, 0, math.inf, rates, wake
        self._empty_report = self._report = SlotRequest(endpoint, ceiling, rates)
        """The answers and refusals since the last report to the store."""
        self._reported = (0, 0)
        """What the store has of this process: requests in flight, and those of them that wait to be sent again."""
        self._closed_until = 0.0
        self._waiting: set[asyncio.Future[None]] = set()
        """Requests in flight that have failed and are to be sent once more."""
        self._due_retries: deque[asyncio.Future[None]] = deque()
        """Those of them whose wait is over: they leave as soon as there is a slot."""

    def free(self, now: float) -> int:
        """Return how many requests may leave, as far as is known; ``now`` is in seconds of a monotonic clock."""
        if self.closed(now):
            return 0
        free = int(max(0, self._room - self.in_flight))
        return min(free, burst(self._rates)) if self.is_shared else free

    @property
    def _room(self) -> float:
        return min(self._most + self._ahead, self._granted)

    def closed(self, now: float) -> float:
        """Return the seconds for which nothing may leave, 0 where something may."""
        return max(0.0, self._closed_until - now)

    @property
    def waiting(self) -> int:
        """The number of requests that wait to be sent once more."""
        return len(self._waiting)

    async def permit(self, wait: float) -> None:
        """Wait until a request may be sent once more: so many seconds, then for a slot of a shared endpoint."""
        loop = asyncio.get_running_loop()
        slot = loop.create_future()
        self._waiting.add(slot)
        timer = loop.call_later(wait, self._queue if self.is_shared else _release, slot)
        try:
            await slot
        finally:
            timer.cancel()
            self._waiting.discard(slot)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the model is free for a call."""
        if not self._is_in_process:
            yield
            return
        async with self._turns:
            await self._gate.wait()
            # `end_waits` may open the endpoint before its time, and signals no event.
            while closed := self.closed(time.monotonic()):  # noqa: ASYNC110
                await asyncio.sleep(min(closed, 1.0))
            started = time.monotonic()
            try:
                yield
            finally:
                seconds = time.monotonic() - started
                calls = self._most * _CLAIMED_AHEAD / max(seconds, 1e-6)
                self._ahead = min(_MOST_AHEAD, int(calls)) if seconds < _FAST else 0

    def _queue(self, slot: asyncio.Future[None]) -> None:
        self._due_retries.append(slot)
        self._wake()

    def answered(self, prompt: Prompt, answer: Answer) -> None:
        """Count an answer."""
        tokens = 0 if self._rates.tokens is None else _tokens(prompt, answer)
        self._report = replace(self._report, answers=self._report.answers + 1, tokens=self._report.tokens + tokens)

    def refused(self, wait: float, generation: int) -> None:
        """Count a refusal for the rate.

        Args:
            wait: Seconds of quiet that the provider asked for.
            generation: The value of `generation` when the request left.
        """
        self._report = replace(
            self._report,
            refused=max(self._report.refused, generation),
            refusals=self._report.refusals + 1,
            quiet=max(self._report.quiet, wait),
        )
        self._wake()

    def slot_request(self, keys: Sequence[str], now: float) -> SlotRequest | None:
        """Return what to report and to request of the store; None where there is nothing.

        Args:
            keys: Keys of new requests, in order.
            now: Seconds of a monotonic clock.
        """
        if not self.is_shared:
            return None
        idle = 0 if self.closed(now) else int(max(0, self._room - self.in_flight + self.waiting))
        retries = min(idle, sum(not slot.done() for slot in self._due_retries))
        if not (keys or retries or (self.in_flight, self.waiting) != self._reported or self._report.refused >= 0):
            return None
        report, self._report = self._report, self._empty_report
        return replace(report, keys=keys, again=retries, in_flight=self.in_flight, waiting=self.waiting)

    def apply(self, requested: SlotRequest, grant: SlotGrant, claimed: int) -> None:
        """Adopt what the store granted, and send waiting requests again as far as it allows.

        Args:
            wanted: What was requested.
            grant: What was granted.
            claimed: How many of the keys are claimed.
        """
        self._reported = (requested.in_flight + claimed, requested.waiting - grant.again)
        self._granted = grant.room
        self.generation, self.refused_for = grant.generation, grant.refused_for
        if grant.wait:
            self._closed_until = max(self._closed_until, time.monotonic() + grant.wait)
        permits = grant.again
        while permits and self._due_retries:
            slot = self._due_retries.popleft()
            permits -= not slot.done()
            self._waiting.discard(slot)
            _release(slot)

    def end_waits(self) -> None:
        """Let all that wait continue at once: nothing is going to be sent any more."""
        self._closed_until = 0.0
        for slot in self._waiting:
            _release(slot)


def _release(slot: asyncio.Future[None]) -> None:
    if not slot.done():
        slot.set_result(None)


class RateLimiters:
    """The rate limits of all endpoints that a process uses.

    Args:
        ceiling: Requests in flight at most at one endpoint, of all processes.
        rates: Those of an endpoint whose model names none.
        wake: Has the engine ask the store for slots.
        batch_size: Returns how many requests to a model are submitted in one batch, None for one that has no batches.
        is_counted: Whether each request that is claimed counts toward a cap: none is claimed before it can leave.
    """

    def __init__(
        self,
        ceiling: int,
        rates: Rates,
        wake: Callable[[], None],
        batch_size: Callable[[Model], int | None],
        *,
        is_counted: bool,
    ) -> None:
        self._ceiling, self._rates, self._wake, self._batch_size = ceiling, rates, wake, batch_size
        self._is_counted = is_counted
        self.gate = asyncio.Event()
        """Closed while nothing new may leave."""
        self.gate.set()
        self._limits: dict[str, RateLimiter] = {}

    def of(self, model: Model) -> RateLimiter:
        """Return the limit that a model's requests are held to."""
        endpoint = endpoint_of(model)
        if endpoint not in self._limits:
            requests, tokens = getattr(model, "rates", (None, None))
            rates = Rates(requests or self._rates.requests, tokens or self._rates.tokens)
            size = self._batch_size(model)
            # Each process has a local model of its own, and its own calls of an application.
            is_shared = not model.local and getattr(model, "paced", True) and size is None
            most: int = getattr(model, "in_flight", self._ceiling) if size is None else size
            ceiling = max(most, self._ceiling)
            is_called_here = model.local or getattr(model, "in_process", False)
            is_in_process = is_called_here and size is None and not self._is_counted
            self._limits[endpoint] = RateLimiter(
                endpoint, most, ceiling, rates, self._wake, self.gate, is_shared=is_shared, is_in_process=is_in_process
            )
        return self._limits[endpoint]

    def free(self) -> dict[str, int]:
        """Return how many requests may leave now, by endpoint."""
        now = time.monotonic()
        return {name: limit.free(now) for name, limit in self._limits.items()}

    @property
    def waiting(self) -> int:
        """The number of requests that wait to be sent once more."""
        return sum(limit.waiting for limit in self._limits.values())

    def pause(self, longest: float) -> float:
        """Return the seconds until an endpoint opens again; its opening wakes no task."""
        now = time.monotonic()
        return min((longest, *(limit.closed(now) or longest for limit in self._limits.values())))

    def slot_requests(self, wanted: Mapping[str, Request]) -> list[SlotRequest]:
        """Return what to report of each endpoint, and to request for these requests."""
        keys: dict[str, list[str]] = {endpoint: [] for endpoint in self._limits}
        for key, request in wanted.items():
            keys[endpoint_of(request.model)].append(key)
        now = time.monotonic()
        slots = (limit.slot_request(keys[endpoint], now) for endpoint, limit in self._limits.items())
        return [slot for slot in slots if slot is not None]

    def apply(self, slots: Sequence[SlotRequest], result: SyncResult) -> set[str]:
        """Adopt the granted slots, and return the owners of the slots that were not granted."""
        holders: set[str] = set()
        for requested in slots:
            grant = result.grants[requested.endpoint]
            self._limits[requested.endpoint].apply(requested, grant, len(result.claimed.intersection(requested.keys)))
            holders |= grant.holders
        return holders


def _tokens(prompt: Prompt, answer: Answer) -> int:
    if "input" in answer.usage and "output" in answer.usage:
        return answer.usage["input"] + answer.usage["output"]
    return (sum(len(message["content"]) for message in prompt.messages) + len(answer.text)) // _TOKEN
