"""The rate limit of one endpoint in one process."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.event_loops import Event, Future, Semaphore, get_running_loop, sleep
from pytest_fairness.core.items import Prompt
from pytest_fairness.engine.requests import Request
from pytest_fairness.store.rates import Rates, burst
from pytest_fairness.store.throttle import SlotGrant, SlotRequest

_FAST = 0.005
"""Longest call within this process, in seconds, of which several are claimed at a time: one transaction writes many.

A killed process repeats the calls that were not written. A longer call may have been paid for.
"""
_CLAIMED_AHEAD = 0.05
"""Seconds of fast calls that are claimed before their model is free."""
_MOST_AHEAD = 31
"""Largest number of calls that are claimed before their model is free."""
_PART_AHEAD = 2
"""The number of requests in flight for which a process claims one more, to send it as soon as one of them ends."""
_PROBE_INTERVAL = 2.0
"""Seconds between two requests for more slots than other processes leave: one may have died with its own."""
_CHARACTERS_PER_TOKEN = 4
"""Characters of a text per token, where a provider reports no tokens."""


class RateLimiter:
    """The requests of one process to one endpoint. Used by the engine's thread only.

    Args:
        endpoint: The name of the endpoint.
        most: The largest number of requests in flight of this process.
        ceiling: The largest number of requests in flight of all processes that share it.
        rates: The limits of requests and tokens a minute.
        wake: A function that starts the next round of the engine's loop, which requests slots of the store.
        gate: An event that is cleared while no new request may be sent.
        is_shared: Whether other processes share the endpoint.
        is_in_process: Whether calls run in this process: several fast ones are claimed before the model is free.
        claims_ahead: Whether requests are claimed before there are slots, where other processes have slots as well.
    """

    def __init__(
        self,
        endpoint: str,
        most: int,
        ceiling: int,
        rates: Rates,
        wake: Callable[[], None],
        gate: Event,
        *,
        is_shared: bool,
        is_in_process: bool,
        claims_ahead: bool,
    ) -> None:
        self.in_flight = 0
        self.claimed: deque[Request] = deque()
        """The requests that are claimed and were not sent."""
        self._slots = 0
        """The number of these that may be sent now."""
        self.generation = 0
        """The generation of the requests that are sent now: see `SlotGrant`."""
        self.refused_for = 0.0
        """Seconds for which all replies to the run were refusals."""
        self.is_shared, self.is_in_process, self._claims_ahead = is_shared, is_in_process, claims_ahead
        self._turns, self._gate = Semaphore(most), gate
        self._most, self._ahead, self._rates, self._wake = most, 0, rates, wake
        self._granted, self._next_probe = 0, 0.0
        """The requests that this process may have in flight beside the others, and when it asks for more than that."""
        self._empty_report = self._report = SlotRequest(endpoint, ceiling, rates)
        """The refusals since the last report to the store."""
        self._answers = self._tokens = 0
        """The answers since then, and their tokens."""
        self._reported = (0, 0)
        """The numbers of requests in flight and of waiting retries by the last exchange with the store."""
        self._closed_until = 0.0
        self._waiting: set[Future[None]] = set()
        """The retries that wait: requests in flight that have failed."""
        self._due_retries: deque[Future[None]] = deque()
        """The retries whose wait is over: they are sent as soon as there is a slot."""

    def free(self, now: float) -> int:
        """Return how many requests may be claimed; ``now`` is in seconds of a monotonic clock."""
        if self.closed(now):
            return 0
        ahead = self.in_flight // _PART_AHEAD if self._claims_ahead and self._granted < self._most else 0
        free = max(0, self._room(now) + ahead - self.in_flight - len(self.claimed))
        return min(free, burst(self._rates)) if self.is_shared else free

    def next_request(self) -> Request | None:
        """Count the next claimed request as in flight, and return it; None where none may be sent."""
        if not (self.claimed and self._slots and self._gate.is_set()):
            return None
        self._slots -= 1
        self.in_flight += 1
        return self.claimed.popleft()

    def end(self) -> None:
        """Count a request as ended; it leaves its slot to the next one, unless there are fewer slots by now."""
        self.in_flight -= 1
        now = Clock.monotonic()
        self._slots += not (self._report.refused >= 0 or self.closed(now)) and self.in_flight < self._room(now)

    def _room(self, now: float) -> int:
        most = self._most + self._ahead
        return min(most, self._granted) if now < self._next_probe else most

    def closed(self, now: float) -> float:
        """Return the seconds for which no request may be sent; 0 if one may."""
        return max(0.0, self._closed_until - now)

    @property
    def waiting(self) -> int:
        """The number of waiting retries."""
        return len(self._waiting)

    async def permit(self, wait: float) -> None:
        """Wait until a request may be sent again: for ``wait`` seconds, then for a slot of a shared endpoint."""
        loop = get_running_loop()
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
        """Wait until a model in this process is free for a call."""
        async with self._turns:
            await self._gate.wait()
            # `end_waits` may open the endpoint early, and sets no event.
            while closed := self.closed(Clock.monotonic()):
                await sleep(min(closed, 1.0))
            started = Clock.monotonic()
            try:
                yield
            finally:
                seconds = Clock.monotonic() - started
                calls = self._most * _CLAIMED_AHEAD / max(seconds, 1e-6)
                self._ahead = min(_MOST_AHEAD, int(calls)) if seconds < _FAST else 0

    def _queue(self, slot: Future[None]) -> None:
        self._due_retries.append(slot)
        self._wake()

    def answered(self, request: Request, answer: Answer) -> None:
        """Count an answer."""
        self._answers += 1
        if self._rates.tokens is not None:
            self._tokens += _tokens(request.sent_prompt, answer)

    def refused(self, wait: float, generation: int) -> None:
        """Count a refusal for the rate.

        Args:
            wait: The provider's wait in seconds.
            generation: The value of `generation` when the request was sent.
        """
        refusals, quiet = self._report.refusals + 1, max(self._report.quiet, wait)
        self._slow_down(replace(self._report, refusals=refusals, quiet=quiet), generation)

    def timed_out(self, generation: int) -> None:
        """Count a request that timed out behind others; ``generation`` is that of its sending."""
        self._slow_down(replace(self._report, timeouts=self._report.timeouts + 1), generation)

    def _slow_down(self, report: SlotRequest, generation: int) -> None:
        self._report = replace(report, refused=max(report.refused, generation))
        self._wake()

    def slot_request(self, keys: Sequence[str], now: float) -> SlotRequest | None:
        """Return the report and the request of slots for the store; None where there is neither.

        Args:
            keys: The keys of new requests, in order.
            now: The time in seconds of a monotonic clock.
        """
        if not self.is_shared:
            return None
        room = 0 if self.closed(now) else self._room(now)
        idle = max(0, room - self.in_flight + self.waiting)
        retries = min(idle, sum(not slot.done() for slot in self._due_retries))
        slots = min(max(0, room - self.in_flight), len(self.claimed) + len(keys))
        claimed = min(slots, len(self.claimed))
        in_flight = self.in_flight, self.waiting
        has_replies = self._answers or self._report.refused >= 0
        if not (slots or retries or has_replies or in_flight != self._reported):
            return None
        report = replace(
            self._report,
            keys=keys[: slots - claimed],
            claimed=claimed,
            again=retries,
            in_flight=self.in_flight,
            waiting=self.waiting,
            answers=self._answers,
            tokens=self._tokens,
        )
        self._report, self._answers, self._tokens = self._empty_report, 0, 0
        self._reported, self._slots = in_flight, 0
        if now >= self._next_probe and self.in_flight + slots > self._granted:
            self._next_probe = now + _PROBE_INTERVAL
        return report

    def apply(self, requested: SlotRequest, grant: SlotGrant, claimed: int) -> None:
        """Adopt what the store granted, and send waiting requests again as far as it allows.

        Args:
            requested: The report and the request that the store got.
            grant: The store's reply.
            claimed: The number of keys that are claimed.
        """
        slots = grant.claimed + claimed
        self._slots += slots
        self._reported = (requested.in_flight + slots, requested.waiting - grant.again)
        self._granted = grant.room
        self.generation, self.refused_for = grant.generation, grant.refused_for
        if grant.wait:
            self._closed_until = max(self._closed_until, Clock.monotonic() + grant.wait)
        permits = grant.again
        while permits and self._due_retries:
            slot = self._due_retries.popleft()
            permits -= not slot.done()
            self._waiting.discard(slot)
            _release(slot)

    def end_waits(self) -> None:
        """End all waits at once: no request will be sent any more."""
        self._closed_until = 0.0
        for slot in self._waiting:
            _release(slot)


def _release(slot: Future[None]) -> None:
    if not slot.done():
        slot.set_result(None)


def _tokens(prompt: Prompt, answer: Answer) -> int:
    """Return the tokens of a request and its answer, by their characters where the provider reports none.

    >>> prompt = Prompt("Hire Ada?")
    >>> _tokens(prompt, Answer("Yes")), _tokens(prompt, Answer("Yes", usage={"input": 5, "output": 2}))
    (3, 7)
    """
    if "input" in answer.usage and "output" in answer.usage:
        return answer.usage["input"] + answer.usage["output"]
    return (sum(len(message["content"]) for message in prompt.messages) + len(answer.text)) // _CHARACTERS_PER_TOKEN
